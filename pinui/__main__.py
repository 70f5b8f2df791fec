"""`python -m pinui` is `pinui`."""

from pinui.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
