"""The formats tracekit reads: one file each."""
