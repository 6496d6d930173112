"""Rooflines as numbers: the geometry, and what a chart of each model is made of; no drawing."""
