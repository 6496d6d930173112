"""Slices as members of a chain, each distinct one computed once."""

from __future__ import annotations

from tracekit.attribution import names
from tracekit.attribution.columns import Texts, firsts_of, together
from tracekit.attribution.contexts import Symbol
from tracekit.attribution.slices import ANNOTATION, CALL, MODULE, SIGNATURE, Slices


class Symbols:
    """The symbol of each slice by its number, created on first use."""

    def __init__(self, found: Slices, texts: Texts) -> None:
        """Number the distinct slices: kind, name, module hierarchy and signature."""
        self._found, self._texts = found, texts
        columns = (getattr(found, name) for name in ("name", "module_hierarchy", *SIGNATURE))
        self.numbers = together(found.kind * 2 + found.is_users, *columns)
        self._first = firsts_of(self.numbers)
        self._has_frames = bool((found.kind == MODULE).any())
        self._made: dict[int, Symbol | None] = {}

    def of(self, number: int) -> Symbol | None:
        """The symbol with a number; None for a slice that is not a member of chains."""
        if number not in self._made:
            self._made[number] = self._symbol(int(self._first[number]))
        return self._made[number]

    def _symbol(self, place: int) -> Symbol | None:
        kind, code = int(self._found.kind[place]), int(self._found.name[place])
        name = self._texts.values[code] or ""
        if kind == CALL or (kind == ANNOTATION and names.is_step_mark(name)):
            return None
        if kind == MODULE:
            return self._module(name.removeprefix(names.MODULE_PREFIX))
        phase = names.phase_marked(name)
        basis = phase and "annotation"
        if kind == ANNOTATION:
            stands = not self._has_frames and self._found.is_users[place] and names.is_users(name)
            return Symbol(
                "annotation",
                code,
                modules=((name, None),) if stands else (),
                module_basis="annotation",
                phase=phase,
                phase_basis=basis,
            )
        if names.is_autograd_node(name):
            phase, basis = "backward", "autograd"
        said = self._texts.values[int(self._found.module_hierarchy[place])] or ""
        signature = tuple(int(getattr(self._found, column)[place]) for column in SIGNATURE)
        return Symbol(
            "op", code, signature, tuple(names.hierarchy(said)), "hierarchy", phase, basis
        )

    def _module(self, name: str) -> Symbol:
        modules = ((name, names.type_of(name)),)
        return Symbol(
            "module",
            self._texts.code(name),
            modules=modules,
            module_basis="python",
            phase="forward",
            phase_basis="module",
        )
