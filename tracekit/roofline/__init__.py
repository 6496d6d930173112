"""Rooflines as numbers: the geometry, and the chart of each model, without drawing."""
