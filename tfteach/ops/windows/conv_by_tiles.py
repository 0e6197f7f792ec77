"""Convolutions without copies of their windows, by a compiled inner loop.

The loop (outer_products.py) reads each window where it is: in the input, or in a padded
copy of a few images (or of a few rows of a large image) that fits in the cache.  The
parts are computed by all threads.  Results depend neither on their number nor on which
thread computes which part.

It is about as fast as the processor multiplies and adds, also where the matrices of
conv_kernels.py would be small: for few channels, or few outputs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework import epilogue, large_array_pool
from tfteach.framework.machine_code import INDEX, vectors
from tfteach.framework.threads import share
from tfteach.ops.windows import outer_products
from tfteach.ops.windows.conv_geometry import Windows
from tfteach.ops.windows.outer_products import Sizes

# Multiply-adds below which the compilation and the calls from Python do not pay.
MIN_WORK = 4_000_000
# Elements of the padded copy of a part of the input: 512 KB of float32.  Half as many
# cost 2.5 times as much with 512 channels, whose filter is read anew for each part.
_PART = 128 * 1024
# Bytes of the part of the filter that is used for all positions of a part of the input.
_FILTER_BYTES = 192 * 1024
# Parts into which the batch is divided for the threads, and sums of the gradient.
_PARTS = 8


def applies(x: Any, depth: int, windows: Windows) -> bool:
    """Whether these functions compute the convolution of `x` to `depth` outputs.

    The choice depends on shapes and types only, and on whether llvmlite is installed.
    """
    if x.dtype.char not in "fd" and x.dtype.itemsize != 2:
        return False
    work = prod(windows.out) * prod(windows.window) * depth * x.shape[-1]
    if len(x) * work < MIN_WORK:
        return False
    found = vectors()
    # A vector of which less than half is used loses against a matrix product.
    return found is not None and 2 * depth * _work_type(x).itemsize >= found.size_bytes


def convolve(x: Any, filters: Any, windows: Windows) -> Any:
    """The convolution; see conv_kernels.convolve, whose arguments these are."""
    dtype, depth = _work_type(x), filters.shape[-1]
    matrix = filters.astype(dtype, copy=False).reshape(-1, depth)
    shape = (x.shape[0], *windows.out, depth)
    result = large_array_pool.empty(shape, dtype)
    finish = epilogue.take(result)
    line = prod(windows.out[1:]) * depth
    blocks = [
        (columns, np.ascontiguousarray(matrix[:, columns.first :][:, : columns.size]))
        for columns in outer_products.column_blocks(depth, dtype.itemsize)
    ]

    def run(parts: Sequence[_Part]) -> None:
        for part, layout, source in _laid_out(x, windows, parts, dtype):
            plan = _plan(layout, windows, part.rows, x.shape[-1], depth, dtype)
            out = result[part.first :, part.row :].ctypes.data
            for columns, block in blocks:
                plan.convolve(source, block, out, columns)
            if finish is not None:  # a part is whole images, or rows of one image
                begin = (part.first * windows.out[0] + part.row) * line
                finish(begin, begin + part.images * part.rows * line)

    share(_parts(x, windows), run)
    return result.astype(x.dtype, copy=False)


def filter_gradient(x: Any, grad: Any, windows: Windows) -> Any:
    """The filters' gradient; see conv_kernels.filter_gradient."""
    dtype, channels, depth = _work_type(x), x.shape[-1], grad.shape[-1]
    grad = np.ascontiguousarray(grad, dtype)
    parts = _parts(x, windows)
    groups = min(_PARTS, len(parts))
    cuts = [len(parts) * i // groups for i in range(groups + 1)]
    shape = (*windows.window, channels, depth)
    totals = np.zeros((groups, *shape), dtype)
    blocks = outer_products.column_blocks(depth, dtype.itemsize)

    def run(numbers: Sequence[int]) -> None:
        for i in numbers:
            some = parts[cuts[i] : cuts[i + 1]]
            for part, layout, source in _laid_out(x, windows, some, dtype):
                plan = _plan(layout, windows, part.rows, channels, depth, dtype)
                lines = grad[part.first :, part.row :].ctypes.data
                for columns in blocks:
                    plan.add_gradient(source, lines, totals[i].ctypes.data, columns)

    share(range(groups), run)
    return totals.sum(axis=0).astype(x.dtype, copy=False)


def _work_type(x: Any) -> np.dtype[Any]:
    return np.dtype(np.float64 if x.dtype.itemsize == 8 else np.float32)


# ---- parts of the input


class _Part(NamedTuple):
    """Images, and rows of their outputs."""

    first: int
    images: int
    row: int
    rows: int


def _span(windows: Windows, axis: int, out: int) -> int:
    """How much of the input `out` positions cover along an axis."""
    window = (windows.window[axis] - 1) * windows.dilations[axis] + 1
    return (out - 1) * windows.strides[axis] + window


def _parts(x: Any, windows: Windows) -> list[_Part]:
    """The batch in parts that fit in the cache, at least `_PARTS` if it is large.

    Parts of more than one image are a multiple of `_PARTS`, the nearest one.
    """
    batch, height = len(x), windows.out[0]
    row = prod(_span(windows, i, n) for i, n in enumerate(windows.out) if i)
    row *= x.shape[-1]
    images = max(1, min(_PART // (_span(windows, 0, height) * row), batch // _PARTS))
    rows = height
    if images == 1:
        fitting = (_PART // row - _span(windows, 0, 1)) // windows.strides[0] + 1
        pieces = max(-(-height // max(fitting, 1)), -(-_PARTS // batch))
        rows = -(-height // pieces)
        cuts = list(range(batch + 1))
    else:  # alike for all threads: with 11 parts, one of two would wait for the other
        count = -(-batch // images)
        count = max(1, (count + _PARTS // 2) // _PARTS) * _PARTS
        cuts = [batch * i // count for i in range(count + 1)]
    return [
        _Part(i, j - i, r, min(rows, height - r))
        for i, j in pairwise(cuts)
        for r in range(0, height, rows)
    ]


class _Layout(NamedTuple):
    """Where the parts of the input are in memory: distances in elements."""

    images: int
    steps: tuple[int, ...]  # from one position to the next, along each axis
    image_step: int


def _laid_out(
    x: Any, windows: Windows, parts: Sequence[_Part], dtype: np.dtype[Any]
) -> Iterator[tuple[_Part, _Layout, int]]:
    """Each part with the address of its first window, valid until the next one."""
    axes, channels = len(windows.out), x.shape[-1]
    begin = [-before for before, _ in windows.pads]
    spans = [_span(windows, i, n) for i, n in enumerate(windows.out)]
    ends = [b + n for b, n in zip(begin, spans, strict=True)]
    inside = all(
        b >= 0 and e <= n for b, e, n in zip(begin, ends, x.shape[1:-1], strict=True)
    )
    if inside and x.dtype == dtype and x.flags.c_contiguous:
        steps = tuple(n // x.itemsize for n in x.strides)
        for part in parts:
            row = begin[0] + part.row * windows.strides[0]
            place = x.ctypes.data + x.itemsize * (
                part.first * steps[0]
                + row * steps[1]
                + sum(b * s for b, s in zip(begin[1:], steps[2:-1], strict=True))
            )
            yield part, _Layout(part.images, steps[1:-1], steps[0]), place
        return
    spans[0] = _span(windows, 0, max(part.rows for part in parts))
    images = max(part.images for part in parts)
    buffer = np.zeros((images, *spans, channels), dtype)
    steps = tuple(n // dtype.itemsize for n in buffer.strides)
    # What of the other axes is inside the input, and where it goes.
    source, target = [], []
    for axis in range(1, axes):
        low, high = max(begin[axis], 0), min(ends[axis], x.shape[1 + axis])
        source.append(slice(low, max(low, high)))
        target.append(slice(low - begin[axis], max(low, high) - begin[axis]))
    for part in parts:
        start = begin[0] + part.row * windows.strides[0]
        stop = start + _span(windows, 0, part.rows)
        low = min(max(start, 0), stop)
        high = max(min(stop, x.shape[1]), low)
        buffer[:, : low - start] = 0
        buffer[:, high - start : stop - start] = 0
        inner = x[part.first : part.first + part.images, low:high, *source]
        buffer[: part.images, low - start : high - start, *target] = inner
        yield part, _Layout(part.images, steps[1:-1], steps[0]), buffer.ctypes.data


# ---- the calls of the inner loop


def _table(*axes: tuple[int, int]) -> Any:
    """The offsets of all positions: the number of them and their distance per axis."""
    total = np.zeros(1, INDEX)
    for count, step in axes:
        total = np.add.outer(total, np.arange(count, dtype=INDEX) * step).reshape(-1)
    return total


class _Plan:
    """Tables for the calls for parts of one size.

    Positions along one axis of the output, the line, are the tiles' places (or, in the
    filter's gradient, the values summed).  Taps that are adjacent in memory are one.
    """

    def __init__(
        self,
        layout: _Layout,
        windows: Windows,
        rows: int,
        channels: int,
        depth: int,
        dtype: np.dtype[Any],
    ) -> None:
        self.depth, self.dtype = depth, dtype
        out = (rows, *windows.out[1:])
        # The last axis with more than one position.
        line = max((i for i, n in enumerate(out) if n > 1), default=len(out) - 1)
        self.places = out[line]
        strides = [s * n for s, n in zip(windows.strides, layout.steps, strict=True)]
        self.place_step = strides[line]
        lines = [i for i in range(len(out)) if i != line]
        distance = [prod(windows.out[i + 1 :]) * depth for i in range(len(out))]
        self.sources = _table(
            (layout.images, layout.image_step), *((out[i], strides[i]) for i in lines)
        )
        self.targets = _table(
            (layout.images, prod(windows.out) * depth),
            *((out[i], distance[i]) for i in lines),
        )
        taps = [
            (n, d * step)
            for n, d, step in zip(
                windows.window, windows.dilations, layout.steps, strict=True
            )
        ]
        self.run = channels
        merged = self.run * taps[-1][0]
        if taps[-1][1] == channels and merged * 256 <= _FILTER_BYTES:
            self.run = merged
            taps.pop()
        self.taps = _table(*taps)

    def convolve(self, source: int, block: Any, out: int, columns: Any) -> None:
        tiles = outer_products.tiles(self.places, columns)
        kernel = outer_products.kernel(tiles, columns, self.dtype)
        width = columns.size
        sizes = np.array(
            Sizes(self.run, 1, self.place_step, width, self.depth, *tiles[1:]), INDEX
        )
        weights = np.arange(len(self.taps), dtype=INDEX) * (self.run * width)
        fitting = _FILTER_BYTES // (self.run * width * self.dtype.itemsize)
        step = max(1, fitting)
        out += columns.first * self.dtype.itemsize
        for t in range(0, len(self.taps), step):
            kernel(
                source,
                block.ctypes.data,
                out,
                self.sources.ctypes.data,
                self.targets.ctypes.data,
                self.taps[t:].ctypes.data,
                weights[t:].ctypes.data,
                sizes.ctypes.data,
                len(self.sources),
                min(step, len(self.taps) - t),
                t > 0,
            )

    def add_gradient(self, source: int, grad: int, out: int, columns: Any) -> None:
        tiles = outer_products.tiles(self.run, columns)
        kernel = outer_products.kernel(tiles, columns, self.dtype)
        sizes = np.array(
            Sizes(self.places, self.place_step, 1, self.depth, self.depth, *tiles[1:]),
            INDEX,
        )
        first = columns.first * self.dtype.itemsize
        results = np.arange(len(self.taps), dtype=INDEX) * (self.run * self.depth)
        kernel(
            source,
            grad + first,
            out + first,
            self.taps.ctypes.data,
            results.ctypes.data,
            self.sources.ctypes.data,
            self.targets.ctypes.data,
            sizes.ctypes.data,
            len(self.taps),
            len(self.sources),
            1,
        )


@functools.lru_cache(256)
def _plan(*arguments: Any) -> _Plan:
    return _Plan(*arguments)
