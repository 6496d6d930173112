"""Launches of a timeline put to the launches of a counter report that they are.

`alignment.align` does it; `launches` has what goes in and comes out, `blocks` the method.
"""
