"""`Dimension`: one size of a static shape, as TensorFlow's public class.

Source: python/framework/tensor_shape.py (API and messages).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.type_aliases import IntLike, ShapeLike


@export("Dimension")
class Dimension:
    """One size of a `TensorShape`: an int, or unknown.

    Arithmetic with an unknown size returns an unknown size; comparison returns None.

    Args:
      value: an int >= 0, None, or a Dimension.

    Raises:
      ValueError: the number is negative or ambiguous.
      TypeError: `value` is not an integer.
    """

    __slots__ = ("_value",)

    def __init__(self, value: IntLike | str | bytes | None) -> None:
        if isinstance(value, Dimension):
            self._value: int | None = value._value
        elif value is None:
            self._value = None
        else:
            if isinstance(value, str | bytes):
                self._value = int(value)
            elif hasattr(value, "as_datatype_enum"):
                raise TypeError(f"Cannot convert {value!r} to Dimension")
            elif isinstance(value, int):
                self._value = int(value)
            else:
                # NumPy deprecates `int` of an array of one number, which TF accepts.
                array = isinstance(value, np.ndarray) and value.size == 1
                self._value = int(value.item() if array else value)
                if self._value != value:
                    raise ValueError(f"Ambiguous dimension: {value!s}")
            if self._value is not None and self._value < 0:
                raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        """The size, or None if unknown."""
        return self._value

    def is_compatible_with(self, other: IntLike | None) -> Any:
        """Whether both may be equal; NotImplemented if `other` is not a size."""
        found = _operand(other)
        if found is None:
            return NotImplemented
        return self._value is None or found._value in (None, self._value)

    def assert_is_compatible_with(self, other: IntLike | None) -> None:
        if self.is_compatible_with(other) is False:
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: IntLike | None) -> Any:
        """The merged dimension; NotImplemented if `other` is not a dimension.

        Raises:
          ValueError: the sizes differ.
        """
        found = _operand(other)
        if found is None:
            return NotImplemented
        self.assert_is_compatible_with(found)
        return Dimension(found._value if self._value is None else self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __hash__(self) -> int:
        return hash(self._value)

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]  # unknown: TypeError

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __bool__(self) -> bool:
        return True  # also of 0 and of an unknown size, as in TensorFlow

    def _both(self, other: object) -> tuple[int, int] | None:
        """Both numbers, or None if one is unknown.  Raises: LookupError: no number."""
        found = _operand(other)
        if found is None:
            raise LookupError
        m, n = self._value, found._value
        return None if m is None or n is None else (m, n)

    def _ordered(
        self, other: IntLike | None, compare: Callable[[int, int], bool]
    ) -> bool | None:
        """The comparison; None if a number is unknown."""
        m, n = self._value, as_dimension(other)._value
        return None if m is None or n is None else compare(m, n)

    def _computed(
        self, other: IntLike | None, compute: Callable[[int, int], int]
    ) -> Dimension:
        """The result; unknown if a number is."""
        try:
            pair = self._both(other)
        except LookupError:
            no_answer: Dimension = NotImplemented
            return no_answer
        return Dimension(None if pair is None else compute(*pair))

    def __eq__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            pair = self._both(other)
        except LookupError:
            return NotImplemented
        return None if pair is None else pair[0] == pair[1]

    def __ne__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            pair = self._both(other)
        except LookupError:
            return NotImplemented
        return None if pair is None else pair[0] != pair[1]

    def __lt__(self, other: IntLike | None) -> bool | None:
        return self._ordered(other, operator.lt)

    def __le__(self, other: IntLike | None) -> bool | None:
        return self._ordered(other, operator.le)

    def __gt__(self, other: IntLike | None) -> bool | None:
        return self._ordered(other, operator.gt)

    def __ge__(self, other: IntLike | None) -> bool | None:
        return self._ordered(other, operator.ge)

    def __add__(self, other: IntLike | None) -> Dimension:
        return self._computed(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other: IntLike | None) -> Dimension:
        return self._computed(other, operator.sub)

    def __rsub__(self, other: IntLike | None) -> Dimension:
        return self._computed(other, lambda m, n: n - m)

    def __mul__(self, other: IntLike | None) -> Dimension:
        return self._computed(other, operator.mul)

    __rmul__ = __mul__

    def __floordiv__(self, other: IntLike | None) -> Dimension:
        return self._computed(other, operator.floordiv)

    def __rfloordiv__(self, other: IntLike | None) -> Dimension:
        return self._computed(other, lambda m, n: n // m)

    def __truediv__(self, other: IntLike | None) -> NoReturn:
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and "
            f"'{type(other).__name__}', please use // instead"
        )

    def __rtruediv__(self, other: IntLike | None) -> NoReturn:
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and "
            "'Dimension', please use // instead"
        )

    def __mod__(self, other: IntLike | None) -> Dimension:
        return self._computed(other, operator.mod)

    def __rmod__(self, other: IntLike | None) -> Dimension:
        return self._computed(other, lambda m, n: n % m)


def _operand(value: object) -> Dimension | None:
    """`value` as a `Dimension`, or None: Python then tries the reflected operator."""
    try:
        return as_dimension(value)
    except (TypeError, ValueError):
        return None


def as_dimension(value: Any) -> Dimension:
    """`value` as a `Dimension`."""
    return value if isinstance(value, Dimension) else Dimension(value)


@export("dimension_value", "compat.dimension_value")
def dimension_value(dimension: Dimension | int | None) -> int | None:
    """The number in a `Dimension` or a plain number (tf.compat.dimension_value)."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


@export("dimension_at_index", "compat.dimension_at_index")
def dimension_at_index(shape: ShapeLike, index: int) -> Dimension:
    """The `Dimension` at an index of a TensorShape, which may have unknown rank."""
    if not hasattr(shape, "dims"):
        raise AssertionError(f"expected a TensorShape, got {shape!r}")
    return Dimension(None) if shape.dims is None else shape.dims[index]
