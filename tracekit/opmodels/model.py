"""Models of operators: a function from a call to its work, declared in one line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tracekit.opmodels.call import OpCall, Tensor, Unknown, not_understood

#: Families whose operators call each other: in a nested pair, the inner one has the work.
HEAVY = frozenset(("matmul", "convolution", "attention"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The minimum work of one call; an unknown value is an Unknown with its reason.

    Attributes:
        flops: operations; a multiplication and its addition are two.
        reads: tensors that are read, each element once.
        writes: tensors that are written, each element once.
        precision: the type computed in; None: that of the first tensor read or written.
        message: tensors that this rank passes to a collective.
    """

    flops: int | Unknown
    reads: Sequence[Tensor | None] | Unknown = ()
    writes: Sequence[Tensor | None] | Unknown = ()
    precision: str | None = None
    message: Sequence[Tensor] | None = None


Function = Callable[[OpCall], Work]


@dataclass(frozen=True, slots=True)
class Model:
    """The model of operators of one family."""

    names: tuple[str, ...]
    family: str
    arguments: Collection[int]
    function: Function

    def work(self, call: OpCall) -> Work:
        """The work of one call; raises Unknown if all of it is unknown."""
        if self.arguments and len(call) not in self.arguments:
            raise not_understood(
                f"{len(call)} arguments; the operator takes {' or '.join(map(str, self.arguments))}"
            )
        return self.function(call)


def model(*names: str, family: str, arguments: Collection[int] = ()) -> Callable[[Function], Model]:
    """Declare the model of the operators called `names`, as a trace spells them.

    The decorated function takes the ``OpCall`` and returns its ``Work``, or raises ``Unknown`` with
    the reason why all of it is unknown. `arguments` are the possible numbers of arguments: calls
    from TorchScript are recorded with other values before the operator's arguments.
    """
    return lambda function: Model(names, family, arguments, function)
