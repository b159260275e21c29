"""The version of the package, which runs and results record."""

__version__ = "0.1.0"
