"""Updates of an array's rows by index, in host memory and on cards.

Source: core/kernels/scatter_functor.h, scatter_functor_gpu.cu.h.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.array.gather import are_inside
from tfteach.ops.array.jit_row_scatter import change_rows
from tfteach.ops.array.row_access import are_distinct, groups_of, put_rows, take_rows


def _change_distinct(
    xp: ArrayModule, how: str, target: Any, ids: Any, rows: Any
) -> None:
    changed = take_rows(xp, target, ids)
    getattr(xp, how)(changed, rows, out=changed)
    put_rows(xp, target, ids, changed)


# What CUDA's atomic functions add, and take the maximum of.
_ATOMIC_ADD = "float16 float32 float64 int32 uint32 uint64".split()
_ATOMIC_MAX = "float32 float64 int32 uint32 uint64".split()
_ATOMIC = {
    "add": _ATOMIC_ADD,
    "subtract": _ATOMIC_ADD,
    "maximum": _ATOMIC_MAX,
    "minimum": _ATOMIC_MAX,
}


def _change_on_card(
    xp: ArrayModule, how: str, target: Any, ids: Any, rows: Any
) -> None:
    """Rows of equal ids are applied in any order, as on TensorFlow's GPUs.

    Ids outside of the target are ignored.
    """
    if not ids.size or not target.size:
        return
    inside = are_inside(ids, len(target))
    if target.dtype.name not in _ATOMIC.get(how, ()):
        ids, rows = ids[inside], rows[inside]
        for here in _rounds(xp, ids):
            _change_distinct(xp, how, target, ids[here], rows[here])
        return
    # A row that is outside becomes one that changes nothing: no need to wait for how
    # many there are.
    ids = xp.where(inside, ids, 0)
    inside = inside.reshape(-1, *(1,) * (rows.ndim - 1))
    nothing = target[:1] if how in ("minimum", "maximum") else target.dtype.type(0)
    getattr(xp, how).at(target, ids, xp.where(inside, rows, nothing))


def _rounds(xp: ArrayModule, ids: Any) -> Iterator[Any]:
    """Positions of the first of each id, then of the second ones, and so on."""
    if not ids.size:
        return
    order, is_first = groups_of(xp, ids)
    starts = xp.flatnonzero(is_first)
    rounds = xp.arange(ids.size) - starts[xp.cumsum(is_first) - 1]
    for number in range(int(rounds.max()) + 1):
        yield order[rounds == number]


@with_card_kernel(_change_on_card)
def _change_rows(xp: ArrayModule, how: str, target: Any, ids: Any, rows: Any) -> None:
    """Update row by row: for equal ids the result is bitwise TensorFlow's."""
    if change_rows(how, target, ids, rows):
        return
    change_at = getattr(np, how).at
    if target.ndim == 1:
        change_at(target, ids, rows)
        return
    if are_distinct(np, ids):
        _change_distinct(np, how, target, ids, rows)
        return
    order, is_first = groups_of(np, ids)
    firsts = order[is_first]
    _change_distinct(np, how, target, ids[firsts], rows[firsts])
    later = np.sort(order[~is_first])
    width = target.size // len(target)
    # NumPy is faster here with a single dimension.
    elements = ids[later, None] * width + np.arange(width)
    change_at(target.reshape(-1), elements.reshape(-1), rows[later].reshape(-1))


def _divided(xp: ArrayModule, target: Any, row: Any) -> Any:
    if target.dtype.kind not in "iu":
        return target / row
    quotient = xp.abs(target) // xp.abs(row)  # truncated as in C++
    return xp.where((target < 0) != (row < 0), -quotient, quotient)


def _divide_on_card(xp: ArrayModule, target: Any, ids: Any, rows: Any) -> None:
    inside = are_inside(ids, len(target))
    ids, rows = ids[inside], rows[inside]
    for here in _rounds(xp, ids):
        at = ids[here]
        target[at] = _divided(xp, target[at], rows[here])


@with_card_kernel(_divide_on_card)
def _divide_rows(xp: ArrayModule, target: Any, ids: Any, rows: Any) -> None:
    if not change_rows("divide", target, ids, rows):
        for i, row in zip(ids.tolist(), rows, strict=True):
            target[i] = _divided(xp, target[i], row)


def _set_on_card(xp: ArrayModule, target: Any, ids: Any, rows: Any) -> None:
    inside = are_inside(ids, len(target))
    target[ids[inside]] = rows[inside]


@with_card_kernel(_set_on_card)
def _set_rows(xp: ArrayModule, target: Any, ids: Any, rows: Any) -> None:
    put_rows(xp, target, ids, rows)


def update_rows(xp: ArrayModule, how: str, target: Any, ids: Any, rows: Any) -> None:
    """Update `target[ids[i]]` by `rows[i]`, for all i, in place.

    Args:
      how: "set", "add", "subtract", "multiply", "divide", "minimum" or "maximum".
      target: array [n, ...].
      ids: int array [m], each in [0, n).
      rows: array [m, ...].
    """
    if how == "set":
        _set_rows(xp, target, ids, rows)  # the last of equal ids wins
    elif how == "divide":
        _divide_rows(xp, target, ids, rows)
    else:
        _change_rows(xp, how, target, ids, rows)
