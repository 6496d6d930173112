"""Spellings of perf events, and the one spelling that they are matched by.

Files spell the same event ``cpu/event=0xc7,umask=0x1/``, ``cpu_core/FP_ARITH…/u``, ``r5301c7``,
``raw 0x5301c7`` or ``name [uncore_imc_0]``; see perf-list(1) and perf's event parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Spelling:
    """An event: the `key` it is matched by, its unit, and the modifier letters."""

    key: str
    pmu_name: str | None = None
    modifier_name: str | None = None

    @property
    def is_uncore(self) -> bool:
        """Whether its unit is not a core: perf may print one row per unit."""
        pmu = self.pmu_name
        return pmu is not None and pmu not in _OF_PERF and not is_core(pmu)


_LETTERS = "[ukhGHIpPSDWeRb]+"
_MODIFIED = re.compile(rf"(.+?):({_LETTERS})")
_IN_BRACKETS = re.compile(r"(\S.*?) \[(\S+)\]")
_OF_PMU = re.compile(rf"([^/\s]+)/(.*)/:?({_LETTERS})?", re.DOTALL)
_CORE = re.compile(
    r"cpu|cpu_core|cpu_atom|cpu_lowpower|default_core|armv\d.*|arm_?(?:cortex|neoverse).*|"
    r"apple_\w+_pmu"
)
_NUMBER = re.compile(r"_\d+$")
_RAW = re.compile(r"r([0-9a-f]{1,16})")
#: Not hardware units: perf writes their events with or without them.
_OF_PERF = ("software", "tool")
_RAW_NAME = re.compile(r"raw (0x[0-9a-f]{1,16})")
#: Terms for how perf displays or samples an event, not for what it counts.
_DROPPED = ("name", "period", "freq")
_FLAGS = ("edge", "any", "inv", "pc")
#: Terms for which zero is the same as absent.
_ZERO_IS_ABSENT = (*_FLAGS, "cmask", "umask")
_ORDER = {"event": 0, "umask": 1}


def is_core(pmu: str) -> bool:
    """Whether `pmu` is that of cores, such as cpu, cpu_core or armv8_pmuv3_0."""
    return bool(_CORE.fullmatch(_base(pmu.lower())))


@lru_cache(maxsize=1 << 14)
def spelling_of(name: str) -> Spelling:
    """The event that `name` spells.

    The key is in lower case, without modifiers. It is the bare name if a core counts the event,
    ``cpu/event=0xc7,umask=0x1/`` for a code of a core, and ``pmu/terms/`` for other units, without
    the number of the unit.
    """
    text = name.strip()
    if inside := _IN_BRACKETS.fullmatch(text):
        event, pmu = inside[1], inside[2]
        own = _OF_PMU.fullmatch(event)
        bare, modifier = (own[2], own[3]) if own else _without_modifier(event)
        return Spelling(_key(pmu, bare), pmu, modifier)
    if parts := _OF_PMU.fullmatch(text):
        return Spelling(_key(parts[1], parts[2]), parts[1], parts[3])
    bare, modifier = _without_modifier(text)
    return Spelling(_plain(bare.lower()), None, modifier)


def _without_modifier(text: str) -> tuple[str, str | None]:
    parts = _MODIFIED.fullmatch(text)
    return (parts[1], parts[2]) if parts else (text, None)


def _base(pmu: str) -> str:
    return _NUMBER.sub("", pmu)


def _key(pmu: str, terms: str) -> str:
    wanted = [_term(term) for term in terms.lower().split(",")]
    kept = [(name, value) for name, value in wanted if _says_what(name, value)]
    base = _base(pmu.lower())
    if base in _OF_PERF and len(kept) == 1 and kept[0][1] is None:
        return kept[0][0]
    if not is_core(pmu):
        return f"{base}/{_joined(kept)}/"
    if len(kept) == 1 and kept[0][1] is None:
        return _plain(kept[0][0])
    if len(kept) == 1 and kept[0][0] == "config" and (code := _number(kept[0][1])) is not None:
        return _raw(code)
    return f"cpu/{_joined(kept)}/"


def _term(text: str) -> tuple[str, str | None]:
    """A term and its value: numbers in hexadecimal, a bare flag as 0x1."""
    name, equals, value = text.strip().partition("=")
    if not equals:
        return (name, "0x1") if name in _FLAGS else (name, None)
    number = _number(value)
    return name, value if number is None else hex(number)


def _number(value: str | None) -> int | None:
    try:
        return int(value or "", 0)
    except ValueError:
        return None


def _says_what(name: str, value: str | None) -> bool:
    if not name or name in _DROPPED:
        return False
    return not (name in _ZERO_IS_ABSENT and value == "0x0")


def _joined(terms: list[tuple[str, str | None]]) -> str:
    terms = sorted(terms, key=lambda term: (_ORDER.get(term[0], 2), term[0]))
    return ",".join(name if value is None else f"{name}={value}" for name, value in terms)


def _plain(name: str) -> str:
    """The key of an event without a unit: a name, or a raw code."""
    code = _RAW.fullmatch(name) or _RAW_NAME.fullmatch(name)
    return _raw(int(code[1], 16)) if code else name


def _raw(code: int) -> str:
    """The key of a raw code, by the bits of IA32_PERFEVTSEL (Intel SDM vol. 3, 20.2.1).

    USR, OS, INT and EN set how it counts, not what; bits 32 to 35 are the upper bits of the event
    on AMD (PPR, PERF_CTL). A code with other bits is kept unchanged and matches nothing.
    """
    if code >> 36:
        return f"cpu/config={hex(code)}/"
    event = code & 0xFF | (code >> 24 & 0xF00)
    flags = {
        "edge": code >> 18 & 1,
        "pc": code >> 19 & 1,
        "any": code >> 21 & 1,
        "inv": code >> 23 & 1,
        "cmask": code >> 24 & 0xFF,
        "umask": code >> 8 & 0xFF,
    }
    terms = {"event": event} | {name: bits for name, bits in flags.items() if bits}
    return f"cpu/{_joined([(name, hex(bits)) for name, bits in terms.items()])}/"
