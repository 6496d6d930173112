"""Forms of slices as members of a chain, each computed once."""

from __future__ import annotations

import numpy as np

from tracekit.attribution import names
from tracekit.attribution.columns import Codes, Texts
from tracekit.attribution.contexts import Symbol
from tracekit.attribution.forms import ANNOTATION, CALL, MODULE, Forms, SliceForm


class Symbols:
    """The symbol of each form of slices by its number, created on first use."""

    def __init__(self, forms: Forms, texts: Texts) -> None:
        """Number the forms: those that differ only in whether they may launch have one number."""
        self._texts = texts
        first: dict[SliceForm, int] = {}
        self._forms = forms.rows
        numbers = [
            first.setdefault(form._replace(may_launch=False), place)
            for place, form in enumerate(self._forms)
        ]
        #: The number of each form, by its code.
        self.numbers: Codes = np.array(numbers, np.int32)
        self._has_frames = any(form.kind == MODULE for form in self._forms)
        self._made: dict[int, Symbol | None] = {}

    def of(self, number: int) -> Symbol | None:
        """The symbol with a number; None for a slice that is not a member of chains."""
        if number not in self._made:
            self._made[number] = self._symbol(self._forms[number])
        return self._made[number]

    def _symbol(self, form: SliceForm) -> Symbol | None:
        name = self._texts.values[form.name] or ""
        if form.kind == CALL or (form.kind == ANNOTATION and names.is_step_mark(name)):
            return None
        if form.kind == MODULE:
            return self._module(name.removeprefix(names.MODULE_PREFIX))
        phase = names.phase_marked(name)
        basis = phase and "annotation"
        if form.kind == ANNOTATION:
            stands = not self._has_frames and form.is_users and names.is_users(name)
            return Symbol(
                "annotation",
                form.name,
                modules=((name, None),) if stands else (),
                module_basis="annotation",
                phase=phase,
                phase_basis=basis,
            )
        if names.is_autograd_node(name):
            phase, basis = "backward", "autograd"
        said = self._texts.values[form.module_hierarchy] or ""
        return Symbol(
            "op",
            form.name,
            form.signature,
            tuple(names.hierarchy(said)),
            "hierarchy",
            phase,
            basis,
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
