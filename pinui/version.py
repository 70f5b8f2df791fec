"""The version, in a module of its own: every room may ask for it."""

__version__ = "0.1.0"
