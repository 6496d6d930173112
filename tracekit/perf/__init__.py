"""What `perf stat` writes: events, units, metrics, and its text, CSV and JSON lines."""
