"""Tables for resizing along one axis: source pixels and weights of each output.

The tables are small NumPy arrays, cached by size; `resample` applies one to the rows
and one to the columns of images.  A table's transpose is that of the gradient.

Source: core/kernels/image_resizer_state.h (where an output pixel lies in the input),
resize_bilinear_op.cc, resize_nearest_neighbor_op.cc, resize_bicubic_op.cc,
resize_area_op.cc; R. Keys, Cubic convolution interpolation, 1981.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.errors import invalid_argument
from tfteach.framework.threads import share
from tfteach.framework.type_aliases import ArrayModule

F32 = np.float32
# Bytes resized at once: a few images, or some rows of a large one.
BLOCK_BYTES = 2 << 20
# With fewer channels columns are gathered element by element.
FEW_CHANNELS = 16
# Measured cost of an output along rows and along columns: a row is copied as a whole, a
# column pixel by pixel.
ROW_COST, COLUMN_COST = 0.65, 1.65


# Source, weight and is_lerp of the class below, on a device.
_Table = tuple[Any, Any, bool]


class Taps(NamedTuple):
    """One axis of a resizing: `out[i] = sum_k weight[k, i] * in[source[k, i]]`.

    Attributes:
      source: ints [k, size]; None for the identity.
      weight: float32 [k, size]; None if k is 1 and all weights are 1.
      is_lerp: whether k is 2 and each pair of weights adds up to 1.
    """

    source: np.ndarray[Any, Any] | None
    weight: np.ndarray[Any, Any] | None = None
    is_lerp: bool = False

    def size(self, input_size: int) -> int:
        """The number of outputs."""
        return input_size if self.source is None else int(self.source.shape[1])


def _centers(
    size: int, out: int, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray[Any, Any]:
    """Source positions of the outputs, in float32 as TensorFlow computes them."""
    places = np.arange(out, dtype=F32)
    scale = resize_scale(size, out, align_corners)
    if half_pixel_centers:
        return (places + F32(0.5)) * scale - F32(0.5)
    return places * scale


def resize_scale(size: int, out: int, align_corners: bool) -> np.float32:
    """The distance between two outputs, in input pixels."""
    if align_corners and out > 1:
        return F32(F32(size - 1) / F32(out - 1))
    return F32(F32(size) / F32(out))


@lru_cache(maxsize=256)
def bilinear(
    size: int, out: int, align_corners: bool, half_pixel_centers: bool
) -> Taps:
    """Interpolation between the two pixels next to the position."""
    places = _centers(size, out, align_corners, half_pixel_centers)
    below = np.floor(places)
    lower = np.maximum(below.astype(np.intp), 0)
    upper = np.minimum(np.ceil(places).astype(np.intp), size - 1)
    share = places - below
    if not share[lower != upper].any():
        return _plain(lower, size)
    return Taps(np.stack([lower, upper]), np.stack([1 - share, share]), True)


@lru_cache(maxsize=256)
def nearest(size: int, out: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """The pixel at the position; with aligned corners, the nearest pixel."""
    scale = resize_scale(size, out, align_corners)
    half = F32(0.5) if half_pixel_centers else F32(0)
    places = (np.arange(out, dtype=F32) + half) * scale
    # Halves are rounded up as by roundf; NumPy's rounding differs.
    found = np.floor(places.astype(float) + 0.5 if align_corners else places)
    return _plain(np.minimum(found.astype(np.intp), size - 1), size)


def _plain(index: np.ndarray[Any, Any], size: int) -> Taps:
    same = len(index) == size and bool((index == np.arange(size)).all())
    return Taps(None if same else index[None])


STEPS = 1024


@lru_cache(maxsize=2)
def _cubic(a: float) -> np.ndarray[Any, Any]:
    """Weights [STEPS + 1, 2] of pixels at distance x and 1 + x, for x in [0, 1]."""
    x = (np.arange(STEPS + 1) / STEPS).astype(F32).astype(float)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (x + 1).astype(F32).astype(float)
    far = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    return np.stack([near, far], 1).astype(F32)


@lru_cache(maxsize=256)
def bicubic(size: int, out: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Cubic interpolation of the four pixels around the position, from STEPS weights.

    With half-pixel centers Keys' cubic, ignoring pixels outside the image; without them
    a = -0.75, and the border pixel represents those outside.
    """
    places = _centers(size, out, align_corners, half_pixel_centers)
    below = np.floor(places)
    step = np.rint((places - below) * F32(STEPS)).astype(np.intp)
    table = _cubic(-0.5 if half_pixel_centers else -0.75)
    weight = np.stack(
        [table[step, 1], table[step, 0], table[STEPS - step, 0], table[STEPS - step, 1]]
    )
    wanted = below.astype(np.intp) + np.arange(-1, 3)[:, None]
    index = np.clip(wanted, 0, size - 1)
    if half_pixel_centers:
        weight = np.where(index == wanted, weight, F32(0))
        weight = weight / weight.sum(0, dtype=F32)
    return Taps(index, weight)


@lru_cache(maxsize=256)
def area(size: int, out: int, align_corners: bool) -> Taps:
    """The mean of the pixels under the output, weighted by their overlap."""
    scale = resize_scale(size, out, align_corners)
    first, last = (np.arange(n, out + n, dtype=F32) * scale for n in (0, 1))
    start, stop = np.floor(first).astype(np.intp), np.ceil(last).astype(np.intp)
    cell = start + np.arange(max(1, int((stop - start).max())))[:, None]
    inside_left, inside_right = cell >= first, cell + 1 <= last
    part = np.where(inside_right, (cell + 1 - first).astype(F32), scale)
    rest = np.where(inside_right, F32(1), (last - cell).astype(F32))
    weight = np.where(inside_left, rest, part).astype(F32)
    weight = np.where(cell < stop, weight, F32(0))
    with np.errstate(invalid="ignore"):  # one pixel with aligned corners: 0 / 0
        weight = weight / scale
    return Taps(np.clip(cell, 0, size - 1), weight)


@lru_cache(maxsize=256)
def transposed(make: Callable[..., Taps], size: int, *rest: Any) -> Taps:
    """The gradient of `make(size, *rest)`, a table of `size` outputs."""
    if size <= 0:
        raise invalid_argument(f"Image sizes must be positive, got {size}")
    return transpose(make(size, *rest), size)


def transpose(taps: Taps, size: int) -> Taps:
    """The table that maps the outputs' gradient to the inputs'."""
    if taps.source is None:
        return taps
    weight = np.ones(taps.source.shape, F32) if taps.weight is None else taps.weight
    tap, place = np.nonzero(weight)
    to, weight = taps.source[tap, place], weight[tap, place]
    order = np.lexsort((place, to))
    to, place, weight = to[order], place[order], weight[order]
    count = np.bincount(to, minlength=size)
    if (count == 1).all() and (weight == 1).all():
        return _plain(place, taps.source.shape[1])
    rank = np.arange(len(to)) - (np.cumsum(count) - count)[to]
    # Taps of weight 0 are multiplied too: use neighbours, so that NaN does not spread.
    first = np.zeros(size, np.intp)
    first[to[::-1]] = place[::-1]
    index = np.tile(np.maximum.accumulate(first), (max(1, int(count.max())), 1))
    table = np.zeros(index.shape, F32)
    index[rank, to], table[rank, to] = place, weight
    return Taps(index, table)


def resample(
    xp: ArrayModule, images: Any, rows: Taps, columns: Taps, dtype: Any
) -> Any:
    """Images with both axes resized.

    Args:
      xp: NumPy or CuPy.
      images: an array [batch, height, width, channels].
      rows: the table of axis 1.
      columns: the table of axis 2.
      dtype: the type to compute in, and of the result.

    Returns:
      A new array [batch, rows' size, columns' size, channels].
    """
    batch, height, width, channels = images.shape
    out = rows.size(height), columns.size(width)
    result = xp.empty((batch, *out, channels), dtype)
    if not images.size or not result.size:
        result[...] = 0
        return result
    # Few channels are merged into the columns, many have a separate axis.
    few = channels < FEW_CHANNELS
    together, inner = (channels, ()) if few else (1, (channels,))
    down, across = _ready(xp, rows, 1, dtype), _ready(xp, columns, together, dtype)
    rows_first = ROW_COST * width * out[0] + COLUMN_COST * out[0] * out[1] <= (
        COLUMN_COST * height * out[1] + ROW_COST * out[0] * out[1]
    )

    def along_rows(part: Any, table: _Table, to: Any) -> None:
        part = part.reshape(*part.shape[:2], -1)
        _blend(xp, part, *table, to.reshape(*to.shape[:2], -1))

    def along_columns(part: Any, to: Any) -> None:
        flat = part.reshape(-1, part.shape[2] * together, *inner)
        _blend(xp, flat, *across, to.reshape(len(flat), -1, *inner))

    def run(blocks: Sequence[tuple[slice, slice]]) -> None:
        for some, lines in blocks:
            table, needed = _only(down, lines)
            part = images[some, needed].astype(dtype, copy=False)
            to = result[some, lines]
            if rows_first:
                half = xp.empty((*to.shape[:2], *part.shape[2:]), dtype)
                along_rows(part, table, half)
                along_columns(half, to)
            else:
                half = xp.empty((*part.shape[:2], *to.shape[2:]), dtype)
                along_columns(part, half)
                along_rows(half, table, to)

    largest = max(height, out[0]) * max(width, out[1]) * channels * result.itemsize
    share(_blocks(xp, batch, out[0], largest), run)
    return result


ALL = slice(None)


@with_card_kernel(lambda xp, batch, lines, image_bytes: [(ALL, ALL)])
def _blocks(
    xp: ArrayModule, batch: int, lines: int, image_bytes: int
) -> list[tuple[slice, slice]]:
    """Slices of images, or of one image's lines, of about BLOCK_BYTES on the host."""
    count = BLOCK_BYTES // max(1, image_bytes)
    if count:
        return [(slice(i, i + count), ALL) for i in range(0, batch, count)]
    step = -(-lines * BLOCK_BYTES // image_bytes)
    tops = range(0, lines, step)
    return [
        (slice(i, i + 1), slice(top, top + step)) for i in range(batch) for top in tops
    ]


def _only(table: _Table, lines: slice) -> tuple[_Table, slice]:
    """Some of a table's outputs, and the slice of inputs they need, counted from 0."""
    index, weight, is_lerp = table
    if index is None or lines == ALL:
        return table, lines
    index = index[:, lines]
    first, last = int(index.min()), int(index.max())
    weight = None if weight is None else weight[:, lines]
    return (index - first, weight, is_lerp), slice(first, last + 1)


def _ready(xp: ArrayModule, taps: Taps, run: int, dtype: Any) -> _Table:
    """A table's arrays on the device, for pixels of `run` adjacent numbers."""
    index, weight = taps.source, taps.weight
    if index is None:
        return None, None, False
    if run > 1:
        index = (index[..., None] * run + np.arange(run)).reshape(len(index), -1)
    if weight is not None:
        weight = xp.asarray(np.repeat(weight, run, 1).astype(dtype))
    return xp.asarray(index), weight, taps.is_lerp


def _blend(
    xp: ArrayModule, array: Any, index: Any, weight: Any, is_lerp: bool, out: Any
) -> None:
    """Apply a table to axis 1 of an array with one or two more axes, into `out`."""
    if index is None:
        out[...] = array
    elif weight is None:
        out[...] = _take(xp, array, index[0])
    else:
        if array.ndim == 3:
            weight = weight[..., None]
        total, part = _take(xp, array, index[0]), None
        if is_lerp:  # exact where both are the same, unlike a weighted sum
            part = _take(xp, array, index[1])
            part -= total
            part *= weight[1]
            xp.add(total, part, out=out)
            return
        xp.multiply(total, weight[0], out=total if len(index) > 1 else out)
        for k in range(1, len(index)):
            part = _take(xp, array, index[k], part)
            part *= weight[k]
            xp.add(total, part, out=total if k + 1 < len(index) else out)


def _take_on_card(xp: ArrayModule, array: Any, index: Any, out: Any = None) -> Any:
    return array.take(index, 1)


@with_card_kernel(_take_on_card)
def _take(xp: ArrayModule, array: Any, index: Any, out: Any = None) -> Any:
    """A copy of `array[:, index]`, in the memory of `out` if possible."""
    # "wrap", which changes nothing here, has the cheapest check.
    return array.take(index, 1, mode="wrap", out=out)
