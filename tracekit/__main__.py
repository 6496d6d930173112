"""`python -m tracekit`."""

from tracekit.cli import main

if __name__ == "__main__":
    main()
