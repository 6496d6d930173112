"""Matches the launches of a timeline to the launches of a counter report.

`alignment.align` does it; `launches` has its input and output, `blocks` the method.
"""
