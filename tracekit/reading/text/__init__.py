"""What parsers of text have in common: lines with their places, numbers by notation, units."""
