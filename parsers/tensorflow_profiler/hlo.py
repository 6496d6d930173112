"""The compiled programs in a dump, for kernels that name only the graph that launched them.

XLA captures parts of a program as a command buffer (a CUDA or HIP graph), whose name its kernels
then have as their instruction. Their real instruction is in the kernel's name: XLA names a kernel
after the instruction it compiled, with ``_`` for other characters (``GetSanitizedUniqueName``,
xla/service/gpu). Equal fusions share the kernel of the first. Field numbers: xla/service/hlo.proto
(OpenXLA).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tracekit.parsers.tensorflow_profiler.planes import Metadata, Plane
from tracekit.reading.protowire import Decoded, Decoder, schema
from tracekit.reading.xla.graphs import KERNEL_END

_PROTO = schema(
    """
OpMetadata
    2 op_name text
    3 source_file text
    4 source_line int
HloInstruction
    1 name text
    2 opcode text
    7 metadata OpMetadata
    11 fusion_kind text
    38 called uint*
HloComputation
    2 instructions HloInstruction*
    5 id uint
HloModule
    3 computations HloComputation*
HloProto
    1 module HloModule
"""
)["HloProto"]

_NO_LETTER = re.compile(r"\W", re.ASCII)
_PROGRAM = re.compile(r".*\((\d{1,20})\)", re.DOTALL)
_PROTO_STATS = ("hlo_proto", "Hlo Proto")
#: Instructions that run what they call; what others call is part of their kernel.
_RUNS_OTHERS = frozenset(("while", "conditional", "call", "async-start"))
#: xprof's words for kinds of fusions, and for opcodes where it has others.
_FUSIONS = {f"k{kind}": f"{kind.lower()} fusion" for kind in ("Loop", "Input", "Output", "Custom")}
_CATEGORIES = {"copy": "data formatting"}


@dataclass(frozen=True, slots=True)
class HloInstruction:
    """An instruction in its program; `category` has xprof's name."""

    name: str
    opcode: str | None
    category: str | None
    op_name: str | None
    source: str | None


@dataclass(slots=True)
class Programs:
    """The compiled programs of a dump, by ID; each is read at its first use."""

    _contents: dict[int, bytes] = field(default_factory=dict)
    _instructions: dict[int, dict[str, HloInstruction | None]] = field(default_factory=dict)

    def add(self, plane: Plane) -> None:
        """Add the programs of a plane."""
        for known in plane.metadata.values():
            named, content = _PROGRAM.fullmatch(known.name), _proto(known)
            if named and content:
                self._contents[int(named[1])] = content

    def instruction_of(self, program_id: int | None, kernel_name: str) -> HloInstruction | None:
        """Return the instruction that a kernel is named after.

        None if the program has none (a kernel of a library) or several with that name.
        """
        if program_id is None:
            return None
        program_id %= 1 << 64
        if program_id not in self._instructions:
            self._instructions[program_id] = _by_key(self._contents.get(program_id, b""))
        return self._instructions[program_id].get(_key(kernel_name))


def _proto(known: Metadata) -> bytes | None:
    found = (known.stats.get(name) for name in _PROTO_STATS)
    return next((content for content in found if isinstance(content, bytes)), None)


def _key(name: str) -> str:
    return _NO_LETTER.sub("_", name.removesuffix(KERNEL_END))


def _by_key(content: bytes) -> dict[str, HloInstruction | None]:
    """Return the instructions that can have kernels, by kernel name; None for several."""
    computations = Decoder(content).read(_PROTO).part("module").parts("computations")
    inner = {
        called
        for computation in computations
        for one in computation.parts("instructions")
        if one.get("opcode") not in _RUNS_OTHERS
        for called in one.get("called", ())
    }
    found: dict[str, HloInstruction | None] = {}
    for computation in computations:
        for one in computation.parts("instructions") if computation.get("id") not in inner else ():
            key = _key(one.get("name", ""))
            found[key] = None if key in found else _instruction(one)
    return found


def _instruction(one: Decoded) -> HloInstruction:
    about, opcode = one.part("metadata"), one.get("opcode")
    file = about.get("source_file")
    return HloInstruction(
        one.get("name", ""),
        opcode,
        _FUSIONS.get(one.get("fusion_kind", "")) or _CATEGORIES.get(opcode, opcode),
        about.get("op_name"),
        f"{file}:{about.get('source_line', 0)}" if file else None,
    )
