"""Static shapes: plain tuples internally, `TensorShape` and `Dimension` publicly.

Internally a shape is a tuple in which None means an unknown size, and None as a whole
an unknown rank; the functions below operate on these.  `TensorShape` is TF's public
class.

Source: python/framework/tensor_shape.py (API and messages).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from tfteach.framework.dimension import Dimension
from tfteach.framework.export import export_value

Shape = tuple[int | None, ...] | None


def is_full(shape: Shape) -> TypeGuard[tuple[int, ...]]:
    """Whether the rank and every size is known."""
    return shape is not None and None not in shape


def is_within(shape: Shape, invariant: Shape) -> bool:
    """Whether every shape that `shape` may stand for is one of those of `invariant`."""
    if invariant is None:
        return True
    return (
        shape is not None
        and len(shape) == len(invariant)
        and all(b is None or a == b for a, b in zip(shape, invariant, strict=True))
    )


def merge(a: Shape, b: Shape) -> Shape:
    """The merged shape.

    Raises:
      ValueError: they are incompatible.
    """
    if a is None or a == b:
        return b
    if b is None:
        return a
    if len(a) != len(b):
        raise ValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    sizes = []
    for i, (m, n) in enumerate(zip(a, b, strict=True)):
        if m is not None and n is not None and m != n:
            raise ValueError(
                f"Dimension {i} in both shapes must be equal, but are {m} and {n}. "
                f"Shapes are {text(a)} and {text(b)}."
            )
        sizes.append(n if m is None else m)
    return tuple(sizes)


def common(a: Shape, b: Shape) -> Shape:
    """The most specific shape compatible with both."""
    if a == b or a is None:
        return a
    if b is None or len(a) != len(b):
        return None
    return tuple(m if m == n else None for m, n in zip(a, b, strict=True))


def compatible(a: Shape, b: Shape) -> bool:
    """Whether some fully known shape matches both."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(
        m is None or n is None or m == n for m, n in zip(a, b, strict=True)
    )


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of an element-wise operation on `a` and `b` (NumPy's rules).

    An unknown size and 1 yield an unknown size; with n > 1 it must be n; with 0 it may
    be 1, and TF infers nothing.

    Raises:
      ValueError: two known sizes differ and neither is 1.
    """
    if a == b and is_full(a):
        return a
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    wide_a = (1,) * (rank - len(a)) + a
    wide_b = (1,) * (rank - len(b)) + b
    sizes: list[int | None] = []
    for m, n in zip(wide_a, wide_b, strict=True):
        if m == n or n == 1:
            sizes.append(m)
        elif m == 1:
            sizes.append(n)
        elif (m is None or n is None) and not m and not n:
            sizes.append(None)
        else:
            sizes.append(same_size(m, n))
    return tuple(sizes)


def same_size(a: int | None, b: int | None) -> int | None:
    """The merged dimension.  Raises: ValueError: they differ."""
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions must be equal, but are {a} and {b}")
    return b if a is None else a


def with_rank(shape: Shape, rank: int) -> tuple[int | None, ...]:
    """`shape` with the given rank.

    Raises:
      ValueError: its known rank differs.
    """
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(shape)}")
    return shape


def with_rank_at_least(shape: Shape, rank: int) -> Shape:
    """`shape`, or ValueError when its rank is known to be below `rank`."""
    if shape is not None and len(shape) < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {len(shape)}")
    return shape


def size_of(shape: Shape) -> int | None:
    """The number of elements, or None if unknown."""
    if shape is None or None in shape:
        return None
    return math.prod(size for size in shape if size is not None)


def text(shape: Shape) -> str:
    """TF's notation with spaces: `[?,784]` in messages of the shape functions."""
    if shape is None:
        return "?"
    return "[" + ",".join("?" if n is None else str(n) for n in shape) + "]"


def as_shape(value: Any) -> Shape:
    """Any form of a shape accepted from users, as a tuple or None."""
    if value is None:
        return None
    if isinstance(value, TensorShape):
        return value.dims_or_none
    if isinstance(value, tuple) and all(type(n) is int and n >= 0 for n in value):
        return value
    return TensorShape(value).dims_or_none


class TensorShape:
    """The static shape of a tensor: of unknown rank, or a list of `Dimension`.

    Args:
      dims: None, an int, a TensorShape, a TensorShapeProto, or a sequence of
        ints, `Dimension`s and None.

    Example:
      >>> tf.TensorShape([None, 784]).as_list()
      [None, 784]
    """

    __slots__ = ("dims_or_none",)
    _v2_behavior = False  # whether sizes are ints or None, instead of Dimensions

    dims_or_none: Shape

    def __init__(self, dims: Any) -> None:
        if dims is None or isinstance(dims, TensorShape):
            self.dims_or_none = None if dims is None else dims.dims_or_none
        elif hasattr(dims, "unknown_rank"):  # TensorShapeProto
            self.dims_or_none = (
                None
                if dims.unknown_rank
                else tuple(None if d.size == -1 else d.size for d in dims.dim)
            )
        elif isinstance(dims, str | bytes):
            raise TypeError(
                "A string has ambiguous TensorShape, please wrap in a list or convert "
                f"to an int: {dims!s}"
            )
        else:
            try:
                sizes = iter(dims)
            except TypeError:  # one number or Dimension
                sizes = iter([dims])
            self.dims_or_none = tuple(Dimension(size).value for size in sizes)

    @property
    def dims(self) -> list[Dimension] | None:
        """The list of `Dimension`, or None if the rank is unknown."""
        if self.dims_or_none is None:
            return None
        return [Dimension(size) for size in self.dims_or_none]

    @property
    def ndims(self) -> int | None:
        return None if self.dims_or_none is None else len(self.dims_or_none)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None if unknown."""
        return self.ndims

    def _known(self) -> tuple[int | None, ...]:
        if self.dims_or_none is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return self.dims_or_none

    def __len__(self) -> int:
        return len(self._known())

    def __bool__(self) -> bool:
        return self.dims_or_none is not None

    def _public_size(self, size: int | None) -> Any:
        return size if self._v2_behavior else Dimension(size)

    def __iter__(self) -> Iterator[Any]:
        if self.dims_or_none is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return (self._public_size(size) for size in self.dims_or_none)

    def __getitem__(self, key: Any) -> Any:
        """A `Dimension`, or for a slice a `TensorShape`."""
        if self.dims_or_none is not None:
            if isinstance(key, slice):
                return TensorShape(self.dims_or_none[key])
            return self._public_size(self.dims_or_none[key])
        if not isinstance(key, slice):
            return self._public_size(None)
        start, stop = key.start or 0, key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if stop is None or start < 0 or stop < 0:
            return TensorShape(None)
        return TensorShape([None] * max(0, stop - start))

    def num_elements(self) -> int | None:
        """The number of elements, or None if not fully known."""
        return size_of(self.dims_or_none)

    def merge_with(self, other: Any) -> TensorShape:
        """The merged shape; ValueError if they are incompatible."""
        other = as_tensor_shape(other)
        try:
            return TensorShape(merge(self.dims_or_none, other.dims_or_none))
        except ValueError:
            raise ValueError(f"Shapes {self} and {other} are not compatible") from None

    def concatenate(self, other: Any) -> TensorShape:
        """This shape followed by `other`; unknown if either rank is."""
        tail = as_shape(other)
        if self.dims_or_none is None or tail is None:
            return TensorShape(None)
        return TensorShape(self.dims_or_none + tail)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def assert_same_rank(self, other: Any) -> None:
        tail = TensorShape(other)
        if self.ndims is not None and tail.ndims not in (None, self.ndims):
            raise ValueError(f"Shapes {self} and {tail} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        if self.ndims not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape with the given rank; ValueError if it has another."""
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        if self.ndims is not None and self.ndims < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        if self.ndims is not None and self.ndims > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some fully known shape matches both."""
        return compatible(self.dims_or_none, as_shape(other))

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The most specific shape that is compatible with both this and `other`."""
        a, b = self.dims_or_none, as_shape(other)
        if a is None or b is None or len(a) != len(b):
            return TensorShape(None)
        pairs = zip(a, b, strict=True)
        return TensorShape([m if m == n else None for m, n in pairs])

    def is_fully_defined(self) -> bool:
        """Whether the rank and every size is known."""
        return is_full(self.dims_or_none)

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def as_list(self) -> list[int | None]:
        """The sizes as a list; ValueError if the rank is unknown."""
        if self.dims_or_none is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self.dims_or_none)

    def as_proto(self) -> Any:
        """The TensorShapeProto; an unknown size is -1."""
        from tfteach.framework.protos import TensorShapeProto

        if self.dims_or_none is None:
            return TensorShapeProto(unknown_rank=True)
        dim = TensorShapeProto.Dim
        return TensorShapeProto(
            dim=[dim(size=-1 if n is None else n) for n in self.dims_or_none]
        )

    def __eq__(self, other: object) -> bool:
        """Whether both are equal; unknown sizes are never equal."""
        if self is other:
            return True
        try:
            theirs = as_shape(other)
        except TypeError:
            return NotImplemented
        sizes = self.dims_or_none
        return sizes == theirs and (sizes is None or None not in sizes)

    def __ne__(self, other: object) -> bool:
        try:
            theirs = as_shape(other)
        except TypeError:
            return NotImplemented
        if self.dims_or_none is None or theirs is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == other

    def __hash__(self) -> int:
        return hash(self.dims_or_none)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.dims_or_none,)

    def __str__(self) -> str:
        if self.dims_or_none is None:
            return "<unknown>"
        unknown = "None" if self._v2_behavior else "?"
        sizes = [unknown if n is None else str(n) for n in self.dims_or_none]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

    def __repr__(self) -> str:
        if self.dims_or_none is None:
            return "TensorShape(None)"
        sizes = list(self.dims_or_none) if self._v2_behavior else self.dims
        return f"TensorShape({sizes!r})"


def as_tensor_shape(value: Any) -> TensorShape:
    """`value` as a `TensorShape`."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of unknown sizes, and of unknown rank if `rank` is None."""
    return TensorShape(None if rank is None else [None] * rank)


def sizes_of(values: Sequence[Any]) -> tuple[int | None, ...]:
    """Sizes from a shape vector, where -1 denotes an unknown one."""
    return tuple(None if int(n) < 0 else int(n) for n in values)


export_value(
    __name__, TensorShape="TensorShape",
)  # fmt: skip
