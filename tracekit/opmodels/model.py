"""What a model of an operator is: a function from a call to its work, declared in one line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tracekit.opmodels.call import OpCall, Tensor, Unknown, not_understood

#: Families whose operators call each other: of a nested pair the inner one does the work.
HEAVY = frozenset(("matmul", "convolution", "attention"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one call does at least; a figure that is not known is an Unknown with its reason.

    Attributes:
        flops: operations; a multiplication and the addition to it are two.
        reads: tensors that are read, each element once.
        writes: tensors that are written, each element once.
        precision: name of the type computed in; None: that of the first tensor read, or written.
        message: tensors that this rank hands to a collective.
    """

    flops: int | Unknown
    reads: Sequence[Tensor | None] | Unknown = ()
    writes: Sequence[Tensor | None] | Unknown = ()
    precision: str | None = None
    message: Sequence[Tensor] | None = None


Function = Callable[[OpCall], Work]


@dataclass(frozen=True, slots=True)
class Model:
    """The model of some operators of one family."""

    names: tuple[str, ...]
    family: str
    arguments: Collection[int]
    function: Function

    def work(self, call: OpCall) -> Work:
        """The work of one call; raises Unknown where nothing is known of it."""
        if self.arguments and len(call) not in self.arguments:
            raise not_understood(
                f"{len(call)} arguments; the operator takes {' or '.join(map(str, self.arguments))}"
            )
        return self.function(call)


def model(*names: str, family: str, arguments: Collection[int] = ()) -> Callable[[Function], Model]:
    """Declare the model of the operators called `names`, as a trace spells them.

    The decorated function takes the ``OpCall`` and gives its ``Work``. ``Unknown`` raised in it
    is the reason why nothing is known of a call. `arguments` says how many there can be: code that
    TorchScript runs is recorded with other values before them, which are none of the operator's.
    """
    return lambda function: Model(names, family, arguments, function)
