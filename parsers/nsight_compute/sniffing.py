"""What tells a file of ncu from others, and a page of it from its other lines."""

from __future__ import annotations

import re

#: The header of a page; another program may have rewritten it with other separators.
HEADER = re.compile(rb'"?ID"?([,;\t])"?Process ID"?\1"?Process Name"?\1')
#: That of a summary, in which a row is the mean over the launches of a kernel.
SUMMARY = re.compile(rb'"Process ID"(,)(?:"[^"]*",){1,20}"Invocations",')


def looks_like_it(text: str) -> bool:
    """Return whether a text has a section with a table of metrics, or the line of a launch."""
    section = r"^ {4}Section: \S.*\r?\n {4}-+ -+ -+\s*$"
    launch = r"^  \S.*, Context \S+, Stream \S+(?:, Device \S+, CC \d+\.\d+)?\s*?\n {4}(?:Sec|---)"
    mean = r"^ {2,4}\S.*(?:, Invocations \d+|, \d+ invocations)\s*$"
    return bool(re.search(f"{section}|{launch}|{mean}", text, re.MULTILINE))
