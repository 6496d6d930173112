"""The distinct forms of slices: what many slices have in common, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracekit.attribution.columns import Codes, firsts_of, together

OP, ANNOTATION, MODULE, CALL = range(4)
SIGNATURE = ("input_dims", "input_types", "input_strides", "concrete_inputs")


class SliceForm(NamedTuple):
    """What slices have in common; texts are codes.

    ``kind`` is OP, ANNOTATION, MODULE or CALL; ``is_users`` is true for the user's
    annotations, and ``may_launch`` for what is a call if work has its id: dumps of TensorFlow and
    JAX name a launch after its kernel, as an annotation with a correlation id.
    """

    kind: int
    is_users: bool
    may_launch: bool
    name: int
    input_dims: int
    input_types: int
    input_strides: int
    concrete_inputs: int
    module_hierarchy: int

    @property
    def signature(self) -> tuple[int, ...]:
        """The codes of the columns in SIGNATURE."""
        return (self.input_dims, self.input_types, self.input_strides, self.concrete_inputs)


_TYPES = {"kind": np.int8, "is_users": np.bool_, "may_launch": np.bool_}
#: The columns of a form that are codes of texts.
TEXTS = ("name", *SIGNATURE, "module_hierarchy")


@dataclass(slots=True)
class Forms:
    """Distinct forms; the code of a form is its place here."""

    rows: list[SliceForm] = field(default_factory=list)
    _codes: dict[SliceForm, int] = field(default_factory=dict)
    _columns: dict[str, NDArray[Any]] = field(default_factory=dict)

    def code(self, form: SliceForm) -> int:
        """The code of a form."""
        code = self._codes.setdefault(form, len(self.rows))
        if code == len(self.rows):
            self.rows.append(form)
        return code

    def codes(self, columns: Mapping[str, NDArray[Any]]) -> Codes:
        """The codes of the forms of slices."""
        flags = columns["kind"] * 4 + columns["is_users"] * 2 + columns["may_launch"]
        alike = together(flags, *(columns[name] for name in TEXTS))
        first = firsts_of(alike)
        rows = zip(*(columns[name][first].tolist() for name in SliceForm._fields), strict=True)
        known = [self.code(SliceForm(*row)) for row in rows]
        return np.array(known, np.int32)[alike]

    def column(self, name: str) -> NDArray[Any]:
        """What each form has in a column."""
        known = self._columns.get(name)
        if known is None or len(known) < len(self.rows):
            place = SliceForm._fields.index(name)
            known = np.array([form[place] for form in self.rows], _TYPES.get(name, np.int32))
            self._columns[name] = known
        return known

    def called(self) -> Codes:
        """The codes of the same forms as calls, which are added."""
        known = [
            self.code(form._replace(kind=CALL)) if form.may_launch else code
            for code, form in enumerate([*self.rows])
        ]
        return np.array(known, np.int32)

    def renamed(self, names: Codes, kind: int) -> Codes:
        """The codes of the same forms with other names, those of a kind; they are added."""
        told = names.tolist()
        known = [
            self.code(form._replace(name=told[form.name])) if form.kind == kind else code
            for code, form in enumerate([*self.rows])
        ]
        return np.array(known, np.int32)

    def absorb(self, others: Forms, texts: Codes) -> Codes:
        """Add the forms of `others`; their codes here, by their codes there.

        `texts` are the codes of texts here, by those there.
        """
        told = texts.tolist()
        known = [
            self.code(form._replace(**{name: told[getattr(form, name)] for name in TEXTS}))
            for form in others.rows
        ]
        return np.array(known, np.int32)
