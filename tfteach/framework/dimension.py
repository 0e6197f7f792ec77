"""`Dimension`: one size of a static shape, as TensorFlow's public class.

Source: python/framework/tensor_shape.py (API and messages).
"""

from __future__ import annotations

from typing import Any, NoReturn

from tfteach.framework.export import export


@export("Dimension")
class Dimension:
    """One size of a `TensorShape`: a whole number, or unknown.

    Arithmetic with an unknown size gives an unknown size; comparison gives None.

    Args:
      value: a whole number >= 0, None, or a Dimension.

    Raises:
      ValueError: the number is negative or ambiguous.
      TypeError: `value` is no whole number.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        if isinstance(value, Dimension):
            self._value: int | None = value._value
        elif value is None:
            self._value = None
        else:
            if isinstance(value, str | bytes):
                self._value = int(value)
            elif hasattr(value, "as_datatype_enum"):
                raise TypeError(f"Cannot convert {value!r} to Dimension")
            else:
                try:
                    self._value = value.__index__()
                except AttributeError:
                    self._value = int(value)
                    if self._value != value:
                        raise ValueError(f"Ambiguous dimension: {value}") from None
            if self._value is not None and self._value < 0:
                raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        """The size, or None if unknown."""
        return self._value

    def is_compatible_with(self, other: Any) -> bool:
        other = as_dimension(other)
        return self._value is None or other._value in (None, self._value)

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """What both sizes tell together; ValueError if they differ."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

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
        return bool(self._value)

    def _both(self, other: Any) -> tuple[int, int] | None:
        """Both numbers, or None if one is unknown."""
        m, n = self._value, as_dimension(other)._value
        return None if m is None or n is None else (m, n)

    def __eq__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            pair = self._both(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if pair is None else pair[0] == pair[1]

    def __ne__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            pair = self._both(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if pair is None else pair[0] != pair[1]

    def __lt__(self, other: Any) -> bool | None:
        pair = self._both(other)
        return None if pair is None else pair[0] < pair[1]

    def __le__(self, other: Any) -> bool | None:
        pair = self._both(other)
        return None if pair is None else pair[0] <= pair[1]

    def __gt__(self, other: Any) -> bool | None:
        pair = self._both(other)
        return None if pair is None else pair[0] > pair[1]

    def __ge__(self, other: Any) -> bool | None:
        pair = self._both(other)
        return None if pair is None else pair[0] >= pair[1]

    def __add__(self, other: Any) -> Dimension:
        pair = self._both(other)
        return Dimension(None if pair is None else pair[0] + pair[1])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Dimension:
        pair = self._both(other)
        return Dimension(None if pair is None else pair[0] - pair[1])

    def __rsub__(self, other: Any) -> Dimension:
        return as_dimension(other) - self

    def __mul__(self, other: Any) -> Dimension:
        pair = self._both(other)
        return Dimension(None if pair is None else pair[0] * pair[1])

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Dimension:
        pair = self._both(other)
        return Dimension(None if pair is None else pair[0] // pair[1])

    def __rfloordiv__(self, other: Any) -> Dimension:
        return as_dimension(other) // self

    def __truediv__(self, other: Any) -> NoReturn:
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and "
            f"'{type(other).__name__}', please use // instead"
        )

    def __rtruediv__(self, other: Any) -> NoReturn:
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and "
            "'Dimension', please use // instead"
        )

    def __mod__(self, other: Any) -> Dimension:
        pair = self._both(other)
        return Dimension(None if pair is None else pair[0] % pair[1])

    def __rmod__(self, other: Any) -> Dimension:
        return as_dimension(other) % self


def as_dimension(value: Any) -> Dimension:
    """`value` as a `Dimension`."""
    return value if isinstance(value, Dimension) else Dimension(value)


@export("dimension_value", "compat.dimension_value")
def dimension_value(dimension: Any) -> int | None:
    """The number in a `Dimension` or a plain number (tf.compat.dimension_value)."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


@export("dimension_at_index", "compat.dimension_at_index")
def dimension_at_index(shape: Any, index: int) -> Dimension:
    """The `Dimension` at a place of a TensorShape, also of one of unknown rank."""
    return Dimension(None) if shape.dims is None else shape.dims[index]
