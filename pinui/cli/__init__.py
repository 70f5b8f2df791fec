"""The command line: bare `pinui` opens the workbench, a verb runs without it."""

from pinui.cli.main import main

__all__ = ["main"]
