"""Algorithm 1 and its parts."""
