"""The benchmark: many runs of many methods, what they leave, and the paper's figures beside ours."""
