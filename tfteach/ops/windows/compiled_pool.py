"""Maxima of windows, and their gradient, as compiled passes over the images.

NumPy makes four passes over the input for each element of a window; here a window's
elements follow each other in registers, a vector of channels at a time
(framework/machine_code.py).  Results are those of pool_kernels.py: a function is
compiled once NumPy has computed for long enough (framework/loops/).

Tables list, for each position of the output, where its window's elements are: those
outside the input are left out, so that the loops know nothing of padding.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np

from tfteach.framework import epilogue, large_array_pool
from tfteach.framework.loops.compiled_loops import CALL, compiled_once
from tfteach.framework.machine_code import INDEX, CountedLoop, compiled, vectors
from tfteach.framework.threads import share_evenly
from tfteach.ops.windows.conv_geometry import Windows

# Elements of the input from which a call pays off.
MIN_ELEMENTS = 1 << 13
# How far ahead the memory is asked for what is needed: the processor does not find out
# by itself that several lines of an image are read at once.
_AHEAD_BYTES = 8192
# Elements of a part of the gradient that its epilogue finds in the cache.
_FINISHED = 96 * 1024
# NumPy's passes over the input: one for a maximum; for a gradient it compares, updates
# two arrays of truths, and selects.
_PASSES = {"maximum": 1, "first": 4, "all": 4}

# Of what the loops do at each window: find its maximum, or add the gradient to its
# first maximum, or to all of them.
Task = Literal["maximum", "first", "all"]


def maximum(x: Any, windows: Windows) -> Any | None:
    """The maximum of each window; NaN only where a window has nothing else.

    Args:
      x: array [batch, *sizes, channels].
      windows: the windows' geometry; every window contains an element.

    Returns:
      An array [batch, *windows.out, channels]; None if NumPy is to compute it.
    """
    function = _function("maximum", False, x)
    if function is None:
        return None
    plan = _plan(windows, x.shape[1:])
    result = large_array_pool.empty((len(x), *windows.out, x.shape[-1]), x.dtype)

    def run(first: int, last: int) -> None:
        plan.call(function, first, last, x, result)

    share_evenly(len(x), x.size, run)
    return result


def gradient(x: Any, y: Any, grad: Any, windows: Windows, to_all: bool) -> Any | None:
    """The gradient of `maximum`; see pool_kernels.max_gradient.

    Returns:
      An array like `x`; None if NumPy is to compute it.
    """
    overlap = not all(
        s >= w for s, w in zip(windows.strides, windows.window, strict=True)
    )
    function = _function("all" if to_all else "first", overlap, x, y, grad)
    if function is None:
        return None
    plan = _plan(windows, x.shape[1:])
    result = large_array_pool.empty(x.shape, x.dtype)
    finish = epilogue.take(result)
    image = x.size // len(x)
    step = len(x) if finish is None else max(1, _FINISHED // image)

    def run(first: int, last: int) -> None:
        for begin in range(first, last, step):
            end = min(begin + step, last)
            if overlap or not plan.covers:
                result[begin:end] = 0
            plan.call(function, begin, end, x, y, grad, result)
            if finish is not None:
                finish(begin * image, end * image)

    share_evenly(len(x), x.size, run)
    return result


def _function(task: Task, overlap: bool, *arrays: Any) -> Callable[..., None] | None:
    """The compiled function if it applies to these arrays, and once it pays off."""
    x = arrays[0]
    if x.size < MIN_ELEMENTS or x.dtype.char not in "fd":
        return None
    found = vectors()
    # Of a vector at least half should be used.
    if found is None or 2 * x.shape[-1] * x.itemsize < found.size_bytes:
        return None
    if not all(a.flags.c_contiguous and a.dtype == x.dtype for a in arrays):
        return None
    key = "pool", task, overlap, x.dtype
    work = _PASSES[task] * (x.size + CALL)
    return compiled_once(key, work, lambda: _compile(task, overlap, x.dtype))


# ---- the calls of the compiled functions


class _Plan:
    """Tables for the windows on images of one shape.

    The last axis of the images has tables of its own, the others have one: the first
    index of each position's offsets, and the offsets.
    """

    def __init__(self, windows: Windows, shape: tuple[int, ...]) -> None:
        *sizes, channels = shape
        axes = [_inside(windows, axis, size) for axis, size in enumerate(sizes)]
        inside = [math.prod(sizes[axis + 1 :]) * channels for axis in range(len(sizes))]
        lines = [
            [
                sum(i * n for i, n in zip(place, inside[:-1], strict=True))
                for place in product(*position)
            ]
            for position in product(*axes[:-1])
        ]
        places = [[i * channels for i in position] for position in axes[-1]]
        self.covers = all(
            len({i for position in axis for i in position}) == size
            for axis, size in zip(axes, sizes, strict=True)
        )
        self._tables = [*_as_tables(lines), *_as_tables(places)]
        self._tables.append(
            np.array([len(lines), len(places), channels, math.prod(shape)], INDEX)
        )
        self._addresses = [table.ctypes.data for table in self._tables]

    def call(
        self, function: Callable[..., None], first: int, last: int, *arrays: Any
    ) -> None:
        """Call a function for a range of images of the arrays; the result is last."""
        at = [array.ctypes.data + first * array.strides[0] for array in arrays]
        function(*at, *self._addresses, last - first)


@functools.lru_cache(256)
def _plan(windows: Windows, shape: tuple[int, ...]) -> _Plan:
    return _Plan(windows, shape)


def _inside(windows: Windows, axis: int, size: int) -> list[list[int]]:
    """For each position of the output: its window's elements inside the input."""
    reach = range(0, windows.window[axis] * windows.dilations[axis])
    found = []
    for position in range(windows.out[axis]):
        start = position * windows.strides[axis] - windows.pads[axis][0]
        taps = (start + tap for tap in reach[:: windows.dilations[axis]])
        found.append([i for i in taps if 0 <= i < size])
        assert found[-1], "a window of padding only"
    return found


def _as_tables(offsets: list[list[int]]) -> list[Any]:
    begin = np.cumsum([0, *map(len, offsets)], dtype=INDEX)
    return [begin, np.array([i for some in offsets for i in some], INDEX)]


# ---- the compiled functions


def _compile(task: Task, overlap: bool, dtype: np.dtype[Any]) -> Callable[..., None]:
    pointers = 5 + (2 if task == "maximum" else 4)
    arguments = [*[ctypes.c_void_p] * pointers, ctypes.c_int64]
    return compiled(
        lambda module: _Emitter(module, task, overlap, dtype).function, arguments
    )


class _Emitter:
    """Writes a function of the arrays, the tables, sizes, and the number of images.

    In this order pool_kernels.py adds the gradients of overlapping windows: from the
    last to the first.  Other positions are visited as they lie in memory.
    """

    def __init__(
        self, module: Any, task: Task, overlap: bool, dtype: np.dtype[Any]
    ) -> None:
        from llvmlite import ir

        found = vectors()
        assert found is not None
        self.ir, self.module, self.task, self.overlap = ir, module, task, overlap
        self.lanes = found.size_bytes // dtype.itemsize
        self.size_bytes = dtype.itemsize
        self.element = ir.FloatType() if dtype.itemsize == 4 else ir.DoubleType()
        self.index = ir.IntType(64)
        self.vector = ir.VectorType(self.element, self.lanes)
        array, table = ir.PointerType(self.element), ir.PointerType(self.index)
        arrays = 2 if task == "maximum" else 4
        kinds = [array] * arrays + [table] * 5 + [self.index]
        kind = ir.FunctionType(ir.VoidType(), kinds)
        self.function = ir.Function(module, kind, "function")
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        given = self.function.args
        self.arrays = given[:arrays]
        self.lines, self.places = given[arrays : arrays + 2], given[arrays + 2 :][:2]
        sizes, self.images = given[-2:]
        counts = [self._at(sizes, self.index(i)) for i in range(4)]
        self.line_count, self.place_count, self.channels, self.image = counts
        self._over_images()
        self.builder.ret_void()

    def _over_images(self) -> None:
        """All positions of all images."""
        builder = self.builder
        row = builder.mul(self.place_count, self.channels)
        over_images = CountedLoop(builder, self.images, self.arrays)
        over_lines = CountedLoop(builder, self.line_count)
        line = self._from_last(over_lines.index, self.line_count)
        over_places = CountedLoop(builder, self.place_count)
        place = self._from_last(over_places.index, self.place_count)
        out = builder.add(builder.mul(line, row), builder.mul(place, self.channels))
        taps = [self._taps(self.lines, line), self._taps(self.places, place)]
        self._over_channels(over_images.carried, out, taps)
        over_places.end()
        over_lines.end()
        pooled = builder.mul(self.line_count, row)
        if self.task == "maximum":
            steps = [self.image, pooled]
        else:
            steps = [self.image, pooled, pooled, self.image]
        following = zip(over_images.carried, steps, strict=True)
        over_images.end([builder.gep(array, [step]) for array, step in following])

    def _from_last(self, position: Any, count: Any) -> Any:
        if not self.overlap:
            return position
        builder = self.builder
        return builder.sub(builder.sub(count, position), self.index(1))

    def _taps(self, tables: Sequence[Any], position: Any) -> tuple[Any, Any]:
        """A window's elements along an axis: their offsets, and how many they are."""
        begin, offsets = tables
        after = self.builder.add(position, self.index(1))
        first, end = self._at(begin, position), self._at(begin, after)
        return self.builder.gep(offsets, [first]), self.builder.sub(end, first)

    def _at(self, table: Any, index: Any) -> Any:
        return self.builder.load(self.builder.gep(table, [index]))

    def _over_channels(self, arrays: list[Any], out: Any, taps: list[Any]) -> None:
        """All channels at a position: whole vectors, then what is left.

        Args:
          arrays: this image's part of them.
          out: the position's offset in the output.
          taps: see `_taps`.
        """
        builder, index = self.builder, self.index
        task = self._maximum if self.task == "maximum" else self._gradient
        count = builder.udiv(self.channels, index(self.lanes))
        done = builder.mul(count, index(self.lanes))
        with builder.if_then(builder.icmp_signed(">", count, index(0))):
            loop = CountedLoop(builder, count)
            first = builder.mul(loop.index, index(self.lanes))
            task([builder.gep(array, [first]) for array in arrays], out, taps, None)
            loop.end()
        left = builder.sub(self.channels, done)
        with builder.if_then(builder.icmp_signed(">", left, index(0))):
            numbers = self.ir.VectorType(self.ir.IntType(32), self.lanes)
            places = [numbers.element(lane) for lane in range(self.lanes)]
            places = self.ir.Constant(numbers, places)
            all_left = self._splat(builder.trunc(left, numbers.element), numbers)
            mask = builder.icmp_signed("<", places, all_left)
            task([builder.gep(array, [done]) for array in arrays], out, taps, mask)

    def _over_taps(
        self, taps: list[Any], carried: Any, do: Callable[[Any, Any], Any]
    ) -> Any:
        """`do(offset, carried)` for a window's elements in order; the last result."""
        builder = self.builder
        (rows, row_count), (columns, column_count) = taps
        over_rows = CountedLoop(builder, row_count, [carried])
        row = self._at(rows, over_rows.index)
        loop = CountedLoop(builder, column_count, over_rows.carried)
        offset = builder.add(row, self._at(columns, loop.index))
        found = [do(offset, *loop.carried)]
        loop.end(found)
        over_rows.end(found)
        return found[0]

    def _maximum(self, arrays: list[Any], out: Any, taps: list[Any], mask: Any) -> None:
        x, y = arrays

        def larger(offset: Any, most: Any) -> Any:
            place = self.builder.gep(x, [offset])
            self._prefetch(place, is_written=False)
            value = self._load(place, mask)
            return self._intrinsic("maxnum", "", self.vector, [most, value])

        nothing = self.ir.Constant(self.vector, [self.element(math.nan)] * self.lanes)
        most = self._over_taps(taps, nothing, larger)
        self._store(most, self.builder.gep(y, [out]), mask)

    def _gradient(
        self, arrays: list[Any], out: Any, taps: list[Any], mask: Any
    ) -> None:
        builder = self.builder
        x, y, grad, result = arrays
        most = self._load(builder.gep(y, [out]), mask)
        added = self._load(builder.gep(grad, [out]), mask)
        truths = self.ir.VectorType(self.ir.IntType(1), self.lanes)
        zero = self.ir.Constant(self.vector, None)

        def each(offset: Any, is_open: Any) -> Any:
            source, place = builder.gep(x, [offset]), builder.gep(result, [offset])
            self._prefetch(source, is_written=False)
            self._prefetch(place, is_written=True)
            value = self._load(source, mask)
            is_hit = builder.and_(builder.fcmp_ordered("==", value, most), is_open)
            share = builder.select(is_hit, added, zero)
            if self.overlap:
                share = builder.fadd(self._load(place, mask), share)
            self._store(share, place, mask)
            return is_open if self.task == "all" else builder.xor(is_open, is_hit)

        every = self.ir.Constant(truths, [truths.element(1)] * self.lanes)
        self._over_taps(taps, every, each)

    # ---- vectors

    def _splat(self, value: Any, kind: Any) -> Any:
        undefined = self.ir.Constant(kind, self.ir.Undefined)
        first = self.builder.insert_element(undefined, value, self.ir.IntType(32)(0))
        places = self.ir.VectorType(self.ir.IntType(32), self.lanes)
        return self.builder.shuffle_vector(
            first, undefined, self.ir.Constant(places, None)
        )

    def _prefetch(self, place: Any, is_written: bool) -> None:
        """Ask for what the loops reach soon; it may lie behind the array."""
        flag, index = self.ir.IntType(32), self.index(_AHEAD_BYTES // self.size_bytes)
        place = self.builder.gep(place, [index])
        nearest, data = flag(3), flag(1)
        arguments = [place, flag(int(is_written)), nearest, data]
        self._call("llvm.prefetch.p0", self.ir.VoidType(), arguments)

    def _load(self, place: Any, mask: Any) -> Any:
        """A vector; zeros where the mask, if any, does not hold."""
        place = self.builder.bitcast(place, self.ir.PointerType(self.vector))
        if mask is None:
            return self.builder.load(place, align=self.size_bytes)
        zeros = self.ir.Constant(self.vector, None)
        arguments = [place, self.ir.IntType(32)(self.size_bytes), mask, zeros]
        return self._intrinsic("masked.load", ".p0", self.vector, arguments)

    def _store(self, value: Any, place: Any, mask: Any) -> None:
        place = self.builder.bitcast(place, self.ir.PointerType(self.vector))
        if mask is None:
            self.builder.store(value, place, align=self.size_bytes)
            return
        arguments = [value, place, self.ir.IntType(32)(self.size_bytes), mask]
        self._intrinsic("masked.store", ".p0", self.ir.VoidType(), arguments)

    def _intrinsic(
        self, name: str, suffix: str, result: Any, arguments: Sequence[Any]
    ) -> Any:
        name = f"llvm.{name}.v{self.lanes}f{8 * self.size_bytes}{suffix}"
        return self._call(name, result, arguments)

    def _call(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        found = self.module.globals.get(name)
        if found is None:
            kinds = [argument.type for argument in arguments]
            kind = self.ir.FunctionType(result, kinds)
            found = self.ir.Function(self.module, kind, name)
        return self.builder.call(found, arguments)
