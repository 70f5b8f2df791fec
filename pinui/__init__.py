"""pinui: content-addressed storage for JSON, files and messages, through a pinning provider."""

__version__ = "0.1.0"
