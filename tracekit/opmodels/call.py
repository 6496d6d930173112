"""One call of an operator with its shapes, types and values: the input of models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

_LARGEST = 2**63 - 1
_MOST_DIMS = 64  # what PyTorch allows

NO_SHAPES = "no shapes"
NO_TYPES = "element types are not in the file"
NO_VALUES = "values of arguments (strides, flags …) are not in the file"


class Unknown(Exception):  # noqa: N818 - usually a value: the reason for an unknown one
    """Why a value is unknown. A model returns it instead of a value, or raises it for all."""


def not_understood(what: str) -> Unknown:
    """The reason for shapes that the operator cannot have."""
    return Unknown(f"shape not understood: {what}")


def _excerpt(text: object) -> str:
    """Return text of a trace for a reason: quoted, truncated if it is long."""
    shown = str(text)
    return repr(shown if len(shown) <= 60 else shown[:59] + "…")


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type: name as in ceilings, size, and rank for promotion."""

    name: str
    size_bytes: int
    category: str


#: Categories of promotion, the lowest first.
CATEGORIES = ("bool", "int", "float", "complex")

BOOL = ElementType("bool", 1, "bool")
UINT8 = ElementType("uint8", 1, "int")
INT8 = ElementType("int8", 1, "int")
INT16 = ElementType("int16", 2, "int")
INT32 = ElementType("int32", 4, "int")
INT64 = ElementType("int64", 8, "int")
FP8 = ElementType("fp8", 1, "float")
FP16 = ElementType("fp16", 2, "float")
BF16 = ElementType("bf16", 2, "float")
FP32 = ElementType("fp32", 4, "float")
FP64 = ElementType("fp64", 8, "float")

#: Spellings of C++ compilers in `input_types`; torch 1.13 has `long`, Windows `__int64`.
_BY_SPELLING = {
    "bool": BOOL,
    "unsigned char": UINT8,
    "signed char": INT8,
    "char": INT8,
    "c10::qint8": INT8,
    "c10::quint8": UINT8,
    "c10::qint32": INT32,
    "short": INT16,
    "short int": INT16,
    "unsigned short": ElementType("uint16", 2, "int"),
    "int": INT32,
    "unsigned int": ElementType("uint32", 4, "int"),
    "long": INT64,
    "long int": INT64,
    "long long": INT64,
    "__int64": INT64,
    "unsigned long": ElementType("uint64", 8, "int"),
    "c10::Float8_e4m3fn": FP8,
    "c10::Float8_e4m3fnuz": FP8,
    "c10::Float8_e5m2": FP8,
    "c10::Float8_e5m2fnuz": FP8,
    "c10::Float8_e8m0fnu": FP8,
    "c10::Half": FP16,
    "c10::BFloat16": BF16,
    "float": FP32,
    "double": FP64,
    "c10::complex<c10::Half>": ElementType("complex32", 4, "complex"),
    "c10::complex<float>": ElementType("complex64", 8, "complex"),
    "c10::complex<double>": ElementType("complex128", 16, "complex"),
}
#: c10::ScalarType, the argument for the type of a result.
_BY_NUMBER = {
    0: UINT8,
    1: INT8,
    2: INT16,
    3: INT32,
    4: INT64,
    5: FP16,
    6: FP32,
    7: FP64,
    11: BOOL,
    15: BF16,
    23: FP8,
    24: FP8,
    25: FP8,
    26: FP8,
}
#: In `input_types`: not tensors. A list of numbers has a shape too, its length.
_NO_TENSORS = frozenset(
    ("", "Scalar", "ScalarList", "GenericList", "Int", "Bool", "Double", "String", "Device")
)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor that is read or written; the type is None if unknown."""

    dims: tuple[int, ...]
    type: ElementType | None
    strides: tuple[int, ...] | None = None

    @property
    def element_count(self) -> int:
        """Elements by its shape, including those that a broadcast repeats."""
        return math.prod(self.dims)

    @property
    def size_bytes(self) -> int:
        """Bytes of its distinct elements: a stride of 0 repeats one element.

        Raises Unknown without a type.
        """
        if self.type is None:
            raise Unknown(NO_TYPES)
        return self._stored_count * self.type.size_bytes

    @property
    def _stored_count(self) -> int:
        if self.strides is None or not self.element_count:
            return self.element_count
        pairs = list(zip(self.dims, self.strides, strict=True))
        reached = 1 + sum((dim - 1) * stride for dim, stride in pairs)
        return min(reached, math.prod(dim for dim, stride in pairs if stride))

    def shaped(self, dims: Sequence[int], of: ElementType | None = None) -> Tensor:
        """A dense tensor of that shape, by default with this element type."""
        return Tensor(tuple(dims), of or self.type)


@dataclass(frozen=True, slots=True)
class OpCall:
    """The arguments of one call, by place in the operator's signature, from 0.

    Access to anything that is not in the file raises Unknown.
    """

    name: str
    dims: list[Any] | None
    types: list[Any] | None
    strides: list[Any] | None
    values: list[Any] | None

    @classmethod
    def of(
        cls, name: str, dims: str | None, types: str | None, strides: str | None, values: str | None
    ) -> OpCall:
        """A call from the four columns of `slice`; raises Unknown if one is not a JSON list."""
        return cls(
            name,
            _list_in(dims, "input_dims"),
            _list_in(types, "input_types") or None,
            _list_in(strides, "input_strides"),
            _list_in(values, "concrete_inputs"),
        )

    def __len__(self) -> int:
        """The number of recorded arguments; raises Unknown without shapes."""
        return len(self._dims)

    # -- tensors ------------------------------------------------------------------------------

    def tensor(self, place: int) -> Tensor:
        """The tensor at a place; raises Unknown if there is none."""
        found = self.optional(place)
        if found is None:
            raise not_understood(f"argument {place} is not a tensor")
        return found

    def optional(self, place: int) -> Tensor | None:
        """The tensor at a place; None for a number, for None, and beyond the last argument."""
        if place >= len(self):
            return None
        dims, spelling = self._dims[place], self._spelling(place)
        if _is_of_lists(dims) or spelling == "TensorList":
            raise not_understood(f"argument {place} is a list of tensors")
        is_none = not dims if spelling is None else spelling in _NO_TENSORS
        if is_none:
            return None
        strides = _item(self.strides, place)
        return Tensor(_sizes(dims, place), _type_of(spelling), _strides(strides, dims, place))

    def tensors(self, place: int) -> tuple[Tensor, ...]:
        """The list of tensors at a place; their types are never in the file.

        Raises Unknown if the file does not have their shapes: torch before 2.2 does not write them.
        """
        dims, spelling = _item(self._dims, place), self._spelling(place)
        if spelling not in ("TensorList", None) or dims is None:
            raise not_understood(f"argument {place} is not a list of tensors")
        if not dims:
            raise Unknown("shapes of the tensors in a list are not in the file")
        if not _is_of_lists(dims):
            raise not_understood(f"argument {place} is not a list of tensors")
        strides = _item(self.strides, place)
        each = (
            strides if _is_of_lists(strides) and len(strides) == len(dims) else [None] * len(dims)
        )
        return tuple(
            Tensor(_sizes(one, place), None, _strides(of_one, one, place))
            for one, of_one in zip(dims, each, strict=True)
        )

    def is_list(self, place: int) -> bool:
        """Whether the argument at a place is a list of tensors."""
        return self._spelling(place) == "TensorList" or _is_of_lists(_item(self._dims, place))

    # -- numbers, flags -----------------------------------------------------------------------

    def text(self, place: int, default: str | None = None) -> str:
        """The value at a place as it was recorded.

        `default` replaces None and an argument beyond the last. Raises Unknown without a default,
        or if no value was recorded.
        """
        is_beyond = place >= len(self)
        if self.values is None:
            raise Unknown(NO_VALUES)
        spelling = self._spelling(place) or ""
        if spelling not in _NO_TENSORS:
            raise not_understood(f"argument {place} is a tensor")
        value = _item(self.values, place)
        if isinstance(value, str) and value:
            return value
        if default is None or not (is_beyond or (value == "" and not spelling)):
            raise Unknown(f"the value of argument {place} is not in the file")
        return default

    def flag(self, place: int, default: bool | None = None) -> bool:
        """True or False at a place."""
        text = self.text(place, None if default is None else str(default))
        if text not in ("True", "False"):
            raise not_understood(f"argument {place} is {_excerpt(text)}, not True or False")
        return text == "True"

    def flags(self, place: int) -> list[bool]:
        """A list of True and False, such as `output_mask`."""
        words = self.text(place).strip("[]").split(", ")
        if not {*words} <= {"True", "False"}:
            raise not_understood(f"argument {place} is {_excerpt(words)}, not a list of flags")
        return [word == "True" for word in words]

    def number(self, place: int, default: float | None = None) -> float:
        """A number at a place."""
        text = self.text(place, None if default is None else str(default))
        try:
            return float(text)
        except ValueError:
            raise not_understood(f"argument {place} is {_excerpt(text)}, not a number") from None

    def integer(self, place: int, default: int | None = None) -> int:
        """A whole number at a place."""
        (number,) = _integers(self.text(place, None if default is None else str(default)), place)
        return number

    def integers(self, place: int, default: Sequence[int] | None = None) -> list[int]:
        """A list of whole numbers, such as strides; one number is a list of one."""
        return _integers(self.text(place, None if default is None else str([*default])), place)

    def element_type(self, place: int) -> ElementType | None:
        """The type in an argument `dtype`; None if it is None."""
        text = self.text(place, "-1")
        found = _BY_NUMBER.get(int(text)) if text.isdecimal() else None
        if found is None and text != "-1":
            raise not_understood(f"argument {place} is {_excerpt(text)}, not an element type")
        return found

    # -- parsing of the texts ------------------------------------------------------------------

    @property
    def _dims(self) -> list[Any]:
        if self.dims is None:
            raise Unknown(NO_SHAPES)
        return self.dims

    def _spelling(self, place: int) -> str | None:
        """The type as written; None if the file has no types."""
        if self.types is None:
            return None
        found = _item(self.types, place)
        if isinstance(found, str):
            return found
        if place < len(self):
            raise not_understood(f"argument {place} has no type")
        return None


def _list_in(text: str | None, what: str) -> list[Any] | None:
    if text is None:
        return None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise not_understood(f"{what} is not JSON ({error})") from None
    if not isinstance(found, list):
        raise not_understood(f"{what} is not a list")
    return found


def _item(found: list[Any] | None, place: int) -> Any:
    return found[place] if found is not None and place < len(found) else None


def _is_of_lists(found: Any) -> bool:
    return isinstance(found, list) and bool(found) and isinstance(found[0], list)


def _type_of(spelling: str | None) -> ElementType | None:
    if spelling is not None and spelling not in _BY_SPELLING:
        raise not_understood(f"elements of type {_excerpt(spelling)}")
    return None if spelling is None else _BY_SPELLING[spelling]


def _sizes(dims: Any, place: int) -> tuple[int, ...]:
    if not isinstance(dims, list) or len(dims) > _MOST_DIMS:
        raise not_understood(f"argument {place} is {_excerpt(dims)}")
    for dim in dims:
        if type(dim) is not int or not 0 <= dim <= _LARGEST:
            raise not_understood(f"argument {place} has the dimension {_excerpt(dim)}")
    return tuple(dims)


def _strides(strides: Any, dims: list[Any], place: int) -> tuple[int, ...] | None:
    """The strides, if there is one for each dimension."""
    if not isinstance(strides, list) or len(strides) != len(dims):
        return None
    return _sizes(strides, place)


def _integers(text: str, place: int) -> list[int]:
    words = text.strip("[]").split(",") if text.strip("[]") else []
    try:
        found = [int(word) for word in words]
    except ValueError:
        raise not_understood(f"argument {place} is {_excerpt(text)}, not whole numbers") from None
    if any(abs(number) > _LARGEST for number in found):
        raise not_understood(f"argument {place} is {_excerpt(text)}, too large")
    return found
