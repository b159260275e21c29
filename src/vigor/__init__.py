"""VIGOR: versatile robot behaviour from a handful of demonstrations."""

from vigor.basics.version import __version__

__all__ = ["__version__"]
