"""The tree of calling contexts: distinct chains of modules, annotations and operators."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tracekit.attribution import reasons

#: Deeper modules have the path of the module at this depth: each context has its whole path, and a
#: hostile file can nest without end.
DEEPEST_PATH = 100
#: Further contexts count as those around them: a hostile file can give each call its own.
MOST_CONTEXTS = 1 << 19

NO_PATH = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """A member of a chain, and what is known from it alone.

    ``kind`` is module, annotation or op. ``modules`` are those that it enters, with their types,
    known from ``module_basis``; ``phase`` is the phase that it marks, known from ``phase_basis``.
    ``name`` and ``signature`` are codes of texts; the signature is input dims, types, strides,
    concrete inputs. ``module_reason`` is its reason for being in no module, if it has one.
    """

    kind: str
    name: int
    signature: tuple[int, ...] = (0, 0, 0, 0)
    modules: tuple[tuple[str, str | None], ...] = ()
    module_basis: str | None = None
    phase: str | None = None
    phase_basis: str | None = None
    module_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One context: its parent (-1: none), its last member, and its properties."""

    parent: int
    depth: int
    symbol: Symbol
    path: int
    module_basis: str | None
    phase: str | None
    phase_basis: str | None
    module_reason: str | None


@dataclass(frozen=True, slots=True)
class Path:
    """A module with those around it; ``text`` has all of them, joined."""

    parent: int
    depth: int
    name: str
    type_name: str | None
    text: str


@dataclass(slots=True)
class Tree:
    """The contexts of a source, created when first seen."""

    nodes: list[Node] = field(default_factory=list)
    paths: list[Path] = field(default_factory=lambda: [Path(-1, 0, "", None, "")])
    _nodes: dict[tuple[object, ...], int] = field(default_factory=dict)
    _paths: dict[tuple[int, str], int] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether no more contexts are created."""
        return len(self.nodes) >= MOST_CONTEXTS

    def entered(
        self,
        parent: int,
        symbol: Symbol,
        number: int,
        forward: int | None = None,
        is_referred: bool = False,
    ) -> int:
        """The context of `symbol` (called `number` in this source) in the context `parent`.

        `forward` is the context of its forward operator, -1 if unknown, None if it is not a
        backward operator with a number. `is_referred`: a backward operator refers to it.
        """
        above = self.nodes[parent] if parent >= 0 else None
        path, basis, reason = self._module(above, symbol, forward)
        phase, phase_basis = _phase(above, symbol, forward is not None, is_referred)
        if phase == "backward" and reason == reasons.NO_MODULE:
            reason = reasons.NO_FORWARD
        key = (parent, number, path, phase)
        if key not in self._nodes:
            if self.is_full:
                return parent
            self._nodes[key] = len(self.nodes)
            depth = above.depth + 1 if above else 0
            known = None if path else symbol.module_reason or reason
            self.nodes.append(Node(parent, depth, symbol, path, basis, phase, phase_basis, known))
        return self._nodes[key]

    def copied(self, parent: int, original: int) -> int:
        """The context of the last member of `original`, called in the context `parent`.

        It keeps its module and phase; without one, that of `parent` counts.
        """
        key = (parent, "copy", original)
        if key not in self._nodes:
            if self.is_full:
                return parent
            above, node = (self.nodes[parent] if parent >= 0 else None), self.nodes[original]
            if above is not None:
                if not node.path:
                    node = replace(node, path=above.path, module_basis=above.module_basis)
                if node.phase is None:
                    node = replace(node, phase=above.phase, phase_basis=above.phase_basis)
            self._nodes[key] = len(self.nodes)
            depth = above.depth + 1 if above else 0
            reason = None if node.path else node.module_reason
            self.nodes.append(replace(node, parent=parent, depth=depth, module_reason=reason))
        return self._nodes[key]

    def _module(
        self, above: Node | None, symbol: Symbol, forward: int | None
    ) -> tuple[int, str | None, str | None]:
        """The modules of a context and their basis, or the reason for none."""
        path, basis, reason = NO_PATH, None, reasons.NO_MODULE
        if above is not None:
            path, basis, reason = above.path, above.module_basis, above.module_reason or reason
        if forward is not None and forward >= 0:
            origin = self.nodes[forward]
            path, basis = origin.path, "sequence" if origin.path else None
            reason = reasons.FORWARD_IN_NO_MODULE
        if symbol.modules and not (path and symbol.kind == "op"):
            path = self._path(path, symbol.modules, returns=basis == "sequence")
            basis = basis if basis == "sequence" else symbol.module_basis
        return path, basis, reason

    def _path(
        self, path: int, modules: tuple[tuple[str, str | None], ...], *, returns: bool
    ) -> int:
        for name, type_name in modules:
            again = self._again(path, name) if returns else NO_PATH
            path = again or self._below(path, name, type_name)
        return path

    def _again(self, path: int, name: str) -> int:
        """The module in a path that is called `name`: a recomputation enters it again."""
        while path != NO_PATH and self.paths[path].name != name:
            path = self.paths[path].parent
        return path

    def _below(self, path: int, name: str, type_name: str | None) -> int:
        above = self.paths[path]
        if above.depth >= DEEPEST_PATH:
            return path
        key = (path, name)
        if key not in self._paths:
            self._paths[key] = len(self.paths)
            text = f"{above.text}/{name}" if path else name
            self.paths.append(Path(path, above.depth + 1, name, type_name, text))
        return self._paths[key]


def _phase(
    above: Node | None, symbol: Symbol, is_backward: bool, is_referred: bool
) -> tuple[str | None, str | None]:
    """The phase of a context, and its basis.

    The innermost mark counts, with two exceptions: a forward pass inside a backward pass (a
    recomputation) belongs to the backward pass, and one inside data loading (preparation) to that.
    """
    phase, basis = (above.phase, above.phase_basis) if above else (None, None)
    if is_backward:
        return ("backward", "autograd") if phase != "backward" else (phase, basis)
    marked = (symbol.phase, symbol.phase_basis) if symbol.phase else (None, None)
    if marked[0] is None and is_referred:
        marked = ("forward", "sequence")
    if marked[0] is None or marked[0] == phase:
        return phase, basis
    if marked[0] == "forward" and phase in ("backward", "data"):
        return phase, basis
    return marked
