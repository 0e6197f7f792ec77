"""Reduction of rows with equal ids: the kernels of segment and scatter ops.

`ufunc.at` takes 10 ns per element.  Sorting the rows and reducing runs costs a quarter
to a half of that where many rows share an id or rows are wide; a bincount per column
costs a fifth where rows are narrow; rows with distinct ids need only a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.loops.language import FLOATS
from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.array.jit_row_scatter import change_rows
from tfteach.ops.array.row_access import put_rows, take_rows

# Up to this width a bincount per column is faster than sorting, unless there are many
# more segments than rows (measured: 10,000 rows of 16 into 1,000: 0.4 ms against 1.0).
_FEW_COLUMNS = 32
# Types that CuPy's atomic functions lack (with which of them is a sum): the type that
# is used instead, in which results are the same.
_ATOMIC = {("float16", False): "float32"}
_ATOMIC |= {(f"{u}int{n}", is_sum): "int32" for u in ("", "u") for n in (8, 16)
            for is_sum in (False, True)}  # fmt: skip


def _reduce_on_card(
    xp: ArrayModule, ufunc: str, data: Any, ids: Any, count: int, start: Any
) -> Any:
    dtype = data.dtype
    work = _ATOMIC.get((dtype.name, ufunc == "add"), dtype)
    out = xp.full((count, *data.shape[1:]), start, dtype).astype(work, copy=False)
    if not ids.size or not data.size:
        return out.astype(dtype, copy=False)
    data = data.astype(work, copy=False)
    if dtype == np.int64:  # as bits, which are added, or ordered, as unsigned numbers
        flipped = np.uint64(0 if ufunc == "add" else 1 << 63)
        bits = out.view("uint64") ^ flipped
        getattr(xp, ufunc).at(bits, ids, data.view("uint64") ^ flipped)
        return (bits ^ flipped).view(dtype)
    getattr(xp, ufunc).at(out, ids, data)
    return out.astype(dtype, copy=False)


@with_card_kernel(_reduce_on_card)
def reduce_rows(
    xp: ArrayModule, ufunc: str, data: Any, ids: Any, count: int, start: Any
) -> Any:
    """`out[ids[i]] = ufunc(out[ids[i]], data[i])` for all i, starting from `start`.

    Args:
      data: array [n, ...].
      ids: int array [n], values in [0, count).
      start: the value of a row that no data reach.
    """
    out = xp.full((count, *data.shape[1:]), start, data.dtype)
    if not ids.size or not data.size:
        return out
    if change_rows(ufunc, out, ids, data):
        return out
    steps, order = np.diff(ids), None
    if (steps < 0).any():
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        steps = np.diff(ids)
    is_first = np.concatenate(([True], steps != 0))
    firsts = np.flatnonzero(is_first)
    reduce = getattr(np, ufunc)
    if 2 * len(firsts) > len(ids):  # few shared ids: reduceat would cost more
        others = np.flatnonzero(~is_first)
        where = (firsts, others) if order is None else (order[firsts], order[others])
        put_rows(xp, out, ids[firsts], take_rows(xp, data, where[0]))
        if others.size:
            reduce.at(out, ids[others], data[where[1]])
    else:
        data = data if order is None else data[order]
        if ufunc == "add" and data.dtype in FLOATS:
            # One row at a time, as TensorFlow and the compiled loop do: NumPy's sums
            # are sums of partial sums, whereas it never reorders differences.
            data = np.negative(data)
            data[firsts] = -data[firsts]
            reduce = np.subtract
        out[ids[firsts]] = reduce.reduceat(data, firsts, axis=0, dtype=data.dtype)
    return out


def _segment_sum_on_card(xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
    return reduce_rows(xp, "add", data, ids, count, 0)


@with_card_kernel(_segment_sum_on_card)
def segment_sum(xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
    """The sum of the rows of each segment; ids in [0, count)."""
    if data.dtype in (np.float32, np.float64) and data.size:
        width = data.size // len(data)
        if width <= _FEW_COLUMNS and count <= 2 * len(data):
            columns = data.reshape(len(data), width)
            sums = [
                np.bincount(ids, columns[:, i], minlength=count) for i in range(width)
            ]
            whole = np.stack(sums, axis=1).astype(data.dtype)
            return whole.reshape((count, *data.shape[1:]))
    return reduce_rows(xp, "add", data, ids, count, 0)
