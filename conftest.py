"""Lets a checkout without the links tracekit/parsers and tracekit/queries run its tests."""

from pathlib import Path

import tracekit

if not (Path(tracekit.__path__[0]) / "parsers").is_dir():
    tracekit.__path__.append(str(Path(__file__).parent))
