"""Colors that all pictures share."""

from __future__ import annotations

#: Paul Tol's high-contrast scheme: distinct for the color-blind, and in grayscale by lightness.
BLUE, YELLOW, RED, GREY = "#004488", "#ddaa33", "#bb5566", "#767676"
BLACK = "#111111"
#: What has the same color in every chart: families of the keys of `tracekit.charts.chart.Key`.
FIXED = {"compute": BLUE, "communication": YELLOW, "copy": RED, "idle": GREY}

#: Kinds of frames in stacks; device work as in timelines, what is around it in light colors.
FLAME = {
    "run": "#d9d9d9",
    "python": "#f3e3c3",
    "module": "#a6d8c5",
    "annotation": "#e3a5c8",
    "op": "#f0a878",
    "call": "#9cc7e6",
    "kernel": BLUE,
    "communication": YELLOW,
    "memcpy": RED,
    "memset": "#d98c99",
    "unknown": GREY,
    "merged": "#c4c4c4",
}
