"""The names of ceilings as in papers and datasheets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tracekit.render.text import inert

_TITLES = {
    "avx": "AVX",
    "avx2": "AVX2",
    "avx512": "AVX-512",
    "avx10": "AVX10",
    "sse": "SSE",
    "sse2": "SSE2",
    "sse4": "SSE4",
    "fma": "FMA",
    "neon": "NEON",
    "sve": "SVE",
    "sve2": "SVE2",
    "amx": "AMX",
    "dram": "DRAM",
    "hbm": "HBM",
    "vram": "VRAM",
    "llc": "LLC",
    "pcie": "PCIe",
    "nvlink": "NVLink",
    "scalar": "scalar",
    "vector": "vector",
    "launch": "launch",
    "overhead": "overhead",
}
#: fp32, tf32, bf16, int8, l1 and similar: letters of a format or a level, then digits.
_FORMAT = re.compile(r"(fp|tf|bf|int|l)\d{1,4}")


def ceiling_title(names: Iterable[str]) -> str:
    """The title of a line for these ceilings: ``Tensor FP16, FP32 AVX-512``.

    An unknown word stays as it is, made harmless.
    """
    return ", ".join(_title(name) for name in names if name)


def _title(name: str) -> str:
    words = [_word(word) for word in name.split("_") if word]
    if words and words[0] == "tensor":
        words[0] = "Tensor"
    return " ".join(words) or inert(name)


def _word(word: str) -> str:
    found = _TITLES.get(word.lower())
    if found is not None:
        return found
    return word.upper() if _FORMAT.fullmatch(word.lower()) else inert(word)
