"""VIGOR: versatile robot behaviour from a handful of demonstrations."""

__version__ = "0.1.0"
