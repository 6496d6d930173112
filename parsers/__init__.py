"""The formats that tracekit reads: a module each, or a package."""
