"""Colors that all pictures share."""

from __future__ import annotations

#: Paul Tol's high-contrast scheme: distinct for the color-blind, and in grayscale by lightness.
BLUE, YELLOW, RED, GREY = "#004488", "#ddaa33", "#bb5566", "#767676"
BLACK = "#111111"
#: What has the same color in every chart: families of the keys of `tracekit.charts.chart.Key`.
FIXED = {"compute": BLUE, "communication": YELLOW, "copy": RED, "idle": GREY}
