"""What parsers of several formats share: Chrome JSON, protobuf, text, numbers, XLA's words."""
