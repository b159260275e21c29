"""The benchmark: many runs of many methods, their results, and the paper's figures beside ours."""
