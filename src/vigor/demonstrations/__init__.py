"""Demonstrations: the data set, its file, and the way from recordings to it."""
