"""The questions tracekit answers, one SELECT a file; importable as ``tracekit.queries``."""
