"""Practice: plans tried where movements can be tried, and learned from."""
