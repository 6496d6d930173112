"""The version: to look it up among the installed packages takes longer than most commands."""

__version__ = "0.1.0"
