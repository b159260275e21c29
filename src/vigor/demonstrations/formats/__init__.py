"""Recordings in the formats that people have: a module each, and one value that all of them give."""
