"""Sparse tensors as arrays: indices int64 [n, rank], values [n], shape [rank]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule

NUMBERS = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 "
    "bfloat16 uint16 complex128 float16 uint32 uint64"
)
REALS = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64"
)


def entries(indices: Shape, values: Shape, shape: Shape) -> tuple[Any, Any]:
    """(n, rank) of a sparse tensor, from the static shapes of its parts."""
    rows, columns = shapes.with_rank(indices, 2)
    (count,) = shapes.with_rank(values, 1)
    (rank,) = shapes.with_rank(shape, 1)
    merged = shapes.merge((rows, columns), (count, rank))
    return merged if merged is not None else (None, None)  # type: ignore[return-value]


def flat(indices: Any, shape: Any, is_checked: bool = True) -> Any:
    """The flat (row-major) index of each entry in the dense tensor, int64 [n].

    Args:
      indices: int64 [n, rank].
      shape: the sizes of the dense tensor.
      is_checked: whether an index out of range is an error.
    """
    sizes = [int(size) for size in shape]
    if is_checked:
        check_inside(np, indices, shape)
    if math.prod(sizes) >= 1 << 63:
        raise invalid_argument(
            f"Shape {_listed(sizes)} would have more than 2**63 - 1 elements"
        )
    places = np.zeros(len(indices), np.int64)
    for axis, size in enumerate(sizes):
        places = places * size + indices[:, axis]
    return places


def unflat(places: Any, shape: Any) -> Any:
    """The indices [n, rank] of flat indices.

    The first one is out of range where the flat index is.
    """
    sizes = [int(size) for size in shape]
    indices = np.empty((len(places), len(sizes)), np.int64)
    for axis in range(len(sizes) - 1, 0, -1):
        places, indices[:, axis] = np.divmod(places, max(sizes[axis], 1))
    if sizes:
        indices[:, 0] = places
    return indices


def check_inside(
    xp: ArrayModule, indices: Any, shape: Any, what: str = "indices"
) -> None:
    """Raise InvalidArgumentError for the first index that is out of range."""
    limits = xp.asarray(shape, "int64")
    outside = ((indices < 0) | (indices >= limits)).any(axis=1)
    if outside.any():
        at = int(xp.argmax(outside))
        raise invalid_argument(
            f"{what}[{at}] = {_listed(indices[at])} is out of bounds: need 0 <= index "
            f"< {_listed(limits)}"
        )


def check_ordered(xp: ArrayModule, indices: Any, shape: Any, what: str = "") -> None:
    """Raise InvalidArgumentError unless indices are in range, ordered and distinct."""
    check_inside(xp, indices, shape, what + "indices")
    if len(indices) < 2:
        return
    steps = xp.diff(indices, axis=0)
    moves = steps != 0
    first = moves.argmax(axis=1)
    step = steps[xp.arange(len(steps)), first]
    if (step > 0).all():
        return
    at = int(xp.argmax(step <= 0))
    problem = (
        "is repeated" if int(step[at]) == 0 else
        "is out of order. Many sparse ops require sorted indices.\n"
        "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
    )  # fmt: skip
    raise invalid_argument(
        f"{what}indices[{at + 1}] = {_listed(indices[at + 1])} {problem}"
    )


def _listed(index: Any) -> str:
    return "[" + ",".join(str(int(i)) for i in index) + "]"


def summed_by_place(places: Any, values: Any) -> tuple[Any, Any]:
    """Distinct flat indices in order, and the sum of the values at each."""
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    if not len(places):
        return places, values
    starts = np.flatnonzero(np.r_[True, places[1:] != places[:-1]])
    return places[starts], np.add.reduceat(values, starts).astype(values.dtype)
