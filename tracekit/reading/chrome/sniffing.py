"""What the first 64 KiB of a JSON file say about who wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_CATEGORY = re.compile(rb'"cat"\s*:\s*"([^"]{1,80})"')
_PHASE = re.compile(rb'"ph"\s*:\s*"([A-Za-z])"')
_KEY = re.compile(rb'"([A-Za-z_]{3,40})"\s*:')
_ROOT = re.compile(rb"[\[{]\s*(?:[\[{\"\]}]|$|(?:-?\d[\d.eE+-]*|true|false|null)\s*[,\]])")


@dataclass(frozen=True, slots=True)
class Survey:
    """Root, keys, categories and phases seen in the head of a JSON file."""

    root: str
    keys: frozenset[str]
    categories: frozenset[str]
    phases: frozenset[str]
    head: bytes

    @staticmethod
    def of(head: bytes) -> Survey:
        """Look at `head`; never raises."""
        return _survey(head)

    @property
    def is_onnx_runtime(self) -> bool:
        """Whether it is the profile of ONNX Runtime: a list that begins with its session."""
        return self.root == "[" and "Session" in self.categories and bool(self.phases & {"X"})

    def description(self) -> str | None:
        """What a JSON file is that no parser claims; None if it is not JSON."""
        if not self.root:
            return None
        if self.is_onnx_runtime:
            return "it is a profile of ONNX Runtime, which is not supported"
        if self.phases or "traceEvents" in self.keys:
            seen = ", ".join(sorted(self.categories)[:4]) or "none"
            return f"it is a Chrome trace of an unsupported tool (categories seen: {seen})"
        return "it is JSON, but has no trace events"


@lru_cache(maxsize=1)  # each dialect asks for the same head
def _survey(head: bytes) -> Survey:
    body = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return Survey(
        root=body[:1].decode("latin-1") if _ROOT.match(body) else "",
        keys=_names(_KEY, body),
        categories=_names(_CATEGORY, body),
        phases=_names(_PHASE, body),
        head=body,
    )


def _names(pattern: re.Pattern[bytes], body: bytes) -> frozenset[str]:
    return frozenset(match.decode("utf-8", "replace") for match in pattern.findall(body))
