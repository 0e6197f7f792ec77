"""Large matrix products in tiles that stay in registers, on our own threads.

The sum over the inner dimension is formed in the same order for each element, however
the work is divided: results depend neither on the number of threads nor on the load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework import large_array_pool
from tfteach.framework.machine_code import INDEX, vectors
from tfteach.framework.threads import PARTS_PER_THREAD, cores, share
from tfteach.ops.linalg import tile_code
from tfteach.ops.linalg.tile_code import DEPTH, Sizes

# Multiply-adds from which BLAS is no faster, though its threads start 50 us earlier.
MIN_PRODUCT = 3 << 26
# Narrower results leave most of a tile empty.
MIN_SIDE = 32
# Panels that a part packs at a time, so that they stay in the second cache.
_PANELS = 4
# The least rows of a part: for fewer, packing takes too long.
_MIN_ROWS = 64


def applies(a: Any, b: Any) -> bool:
    """Whether `product` computes a @ b; this depends on types and shapes alone."""
    return (
        a.ndim == b.ndim == 2
        and a.shape[1] == b.shape[0]
        and a.size * b.shape[1] >= MIN_PRODUCT
        and min(a.shape[0], b.shape[1]) >= MIN_SIDE
        and a.dtype == b.dtype
        and a.dtype in (np.float32, np.float64)
        and vectors() is not None
    )


def product(a: Any, b: Any) -> Any:
    """a @ b, for matrices to which this module applies."""
    a, b = _readable(a), _readable(b)
    result = large_array_pool.empty((a.shape[0], b.shape[1]), a.dtype)
    (m, k), n = a.shape, b.shape[1]
    if not _has_rows(b) and m * (k + n) < k * n:
        # Pack `a` and transpose the result instead of packing `b`.
        _compute(b.T, a.T, result, is_transposed=True)
    else:
        _compute(a, b, result, is_transposed=False)
    return result


def _compute(a: Any, b: Any, result: Any, is_transposed: bool) -> None:
    """Set `result`, or its transpose, to a @ b."""
    itemsize = a.itemsize
    (rows, length), columns = a.shape, b.shape[1]
    if not _has_rows(b) and not _has_columns(b):
        b = np.ascontiguousarray(b)
    width = tile_code.panel_width(itemsize)
    lanes = width // tile_code.panel_vectors()
    function = tile_code.product(itemsize, -(-(columns % width) // lanes))
    a_row, a_k = (step // itemsize for step in a.strides)
    b_k, b_column = (step // itemsize for step in b.strides)
    packs = _has_rows(b)  # otherwise panels are transposes
    if is_transposed or not packs:
        transpose = tile_code.transpose(itemsize)
    panel = width * (-(-length // -(-length // DEPTH)) if packs else length)
    left, right, target = a.ctypes.data, b.ctypes.data, result.ctypes.data
    o_row = columns

    def run(parts: Sequence[tuple[int, int, int, int]]) -> None:
        room = _aligned(_PANELS * panel, a.dtype)
        packed = room.ctypes.data
        for row, height, column, breadth in parts:
            source = right + column * b_column * itemsize
            if not packs:
                if breadth % width:
                    room[breadth // width * panel :] = 0
                for first in range(0, breadth, width):
                    transpose(
                        source + first * b_column * itemsize,
                        packed + first * length * itemsize,
                        b_column,
                        width,
                        min(width, breadth - first),
                        length,
                    )
                source = packed
            part, step = target + (row * o_row + column) * itemsize, o_row
            if is_transposed:
                block = np.empty((height, breadth), a.dtype)
                part, step = block.ctypes.data, breadth
            sizes = np.array(
                Sizes(height, breadth, length, a_row, a_k, b_k, step, panel, packs),
                INDEX,
            )
            above = left + row * a_row * itemsize
            function(above, source, part, packed, sizes.ctypes.data)
            if is_transposed:
                first = target + (column * rows + row) * itemsize
                transpose(part, first, breadth, rows, height, breadth)

    share(_parts(rows, columns, width), run)


def _parts(rows: int, columns: int, width: int) -> list[tuple[int, int, int, int]]:
    """Rectangles of the result: first row, height, first column, breadth."""
    panels = -(-columns // width)
    wanted = PARTS_PER_THREAD * cores()
    across = -(-panels // _PANELS)
    if rows < 2 * columns:  # each column is packed once
        across = min(panels, max(across, wanted))
    down = max(1, min(-(-wanted // across), rows // _MIN_ROWS))
    sides = [panels * i // across * width for i in range(across)] + [columns]
    step = tile_code.ROWS
    heights = [-(-rows // step) * i // down * step for i in range(down)] + [rows]
    return [
        (heights[i], heights[i + 1] - heights[i], sides[j], sides[j + 1] - sides[j])
        for i in range(down)
        for j in range(across)
    ]


def _aligned(count: int, dtype: Any) -> Any:
    """Memory that starts at the start of a cache line."""
    memory = np.empty(count + 64 // dtype.itemsize, dtype)
    skip = -memory.ctypes.data % 64 // dtype.itemsize
    return memory[skip : skip + count]


def _readable(matrix: Any) -> Any:
    """The matrix, or a copy if its elements lie at odd addresses or distances."""
    is_whole = all(step % matrix.itemsize == 0 for step in matrix.strides)
    return matrix if matrix.flags.aligned and is_whole else matrix.copy()


def _has_rows(matrix: Any) -> bool:
    """Whether each row is contiguous."""
    return bool(matrix.strides[1] == matrix.itemsize)


def _has_columns(matrix: Any) -> bool:
    """Whether each column is contiguous."""
    return bool(matrix.strides[0] == matrix.itemsize)
