"""What is known of a source in common: the texts, threads and forms that columns have codes of."""

from __future__ import annotations

from dataclasses import dataclass, field

from tracekit.attribution.columns import Texts
from tracekit.attribution.forms import Forms
from tracekit.attribution.tracks import Tracks


@dataclass(slots=True)
class SourceCodes:
    """Texts, threads and forms of slices, each once."""

    texts: Texts = field(default_factory=Texts)
    tracks: Tracks = field(default_factory=Tracks)
    forms: Forms = field(default_factory=Forms)
