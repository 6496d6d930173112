"""Reading Chrome trace event JSON: in blocks, in parts, exactly, and when it is damaged."""
