"""The inner loop of convolutions: sums of outer products, kept in registers.

It computes, for rows r, places p and columns c,

    o[r, p, c] = sum over t, k of a[r, t, k, p] b[t, k, c]

where `a` and `b` are read where they are: steps and tables of offsets say where.  For a
convolution p is a position of the output, k a channel and t a tap of the filter; for
the filter's gradient p is a channel, k a position and t a row of the output.

A tile of a few places and columns stays in registers while t and k run.  Goto and van
de Geijn, Anatomy of high-performance matrix multiplication, 2008.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.machine_code import CountedLoop, Vectors, compiled, vectors

# Accumulators that hide the latency of a multiply-add: 2 units, 4 cycles, a reserve.
_ENOUGH = 12


class Tiles(NamedTuple):
    """How a number of places is divided into tiles: `large` of them are one larger."""

    size: int  # of the larger ones
    large: int
    small: int


class Columns(NamedTuple):
    """A block of columns, which fills a few vectors but for the end of the last one."""

    first: int
    size: int
    vectors: int


class Sizes(NamedTuple):
    """The counts and distances of a computation, in elements."""

    length: int  # the number of values of k
    a_k: int
    a_p: int
    b_k: int
    o_p: int
    large: int  # the numbers of tiles
    small: int


def _vectors() -> Vectors:
    found = vectors()
    assert found is not None  # or callers would not be here
    return found


def column_blocks(count: int, itemsize: int) -> list[Columns]:
    """Divide columns into blocks of about as many vectors as a tile may have."""
    found = _vectors()
    lanes = found.size_bytes // itemsize
    whole = -(-count // lanes)
    blocks = -(-whole // (4 if found.registers == 32 else 2))
    cuts = [whole * i // blocks * lanes for i in range(blocks)] + [count]
    return [Columns(a, b - a, -(-(b - a) // lanes)) for a, b in pairwise(cuts)]


def tiles(places: int, columns: Columns) -> Tiles:
    """Divide places into tiles: equal ones if possible, else of two sizes."""
    found = _vectors()
    # The other registers have the columns of `b` and an element of `a`.
    limit = min((found.registers - 1 - columns.vectors) // columns.vectors, 12)
    least = -(-_ENOUGH // columns.vectors)
    for size in range(limit, least - 1, -1):
        if places % size == 0:
            return Tiles(size, places // size, 0)
    count = -(-places // limit)
    size = -(-places // count)
    large = places - count * (size - 1)
    return Tiles(size, large, count - large)


# The threads of a convolution ask at once, and would each compile.
_compiling = threading.Lock()


def kernel(tiles: Tiles, columns: Columns, dtype: np.dtype[Any]) -> Callable[..., None]:
    """The compiled function for tiles of these sizes.

    Its arguments are addresses and, at the end, three numbers:

      a, b, o: the first elements;
      rows_a, rows_o, offsets_a, offsets_b: int64 tables, for each r, r, t and t;
      sizes: `Sizes` as int64;
      rows, terms: the number of values of r and t;
      adds: 1 to add to `o`, 0 to replace it.
    """
    lanes = _vectors().size_bytes // dtype.itemsize
    kinds = (lanes, columns.vectors, columns.size % lanes, dtype.itemsize)
    with _compiling:
        return _kernel(tiles.size, tiles.small > 0, kinds)


@functools.cache
def _kernel(size: int, has_small: bool, kinds: tuple[int, ...]) -> Callable[..., None]:
    pointers, numbers = [ctypes.c_void_p] * 8, [ctypes.c_int64] * 3
    return compiled(
        lambda module: _Emitter(module, *kinds).rows(size, has_small),
        (*pointers, *numbers),
    )


class _Emitter:
    """Writes the function.

    Args:
      module: an `llvmlite.ir.Module`.
      lanes: the number of elements in a vector.
      width: the number of vectors in a tile's row.
      tail: how many elements of the last vector are used; 0 for all.
      itemsize: 4 for float32, 8 for float64.
    """

    def __init__(
        self, module: Any, lanes: int, width: int, tail: int, itemsize: int
    ) -> None:
        from llvmlite import ir

        self.ir, self.module = ir, module
        self.lanes, self.width, self.tail = lanes, width, tail
        self.align = itemsize
        self.element = ir.FloatType() if itemsize == 4 else ir.DoubleType()
        self.vector = ir.VectorType(self.element, self.lanes)
        self.index = ir.IntType(64)
        self.name = f"v{self.lanes}f{8 * itemsize}"

    def rows(self, size: int, has_small: bool) -> Any:
        """The function: a loop over rows, in it a loop for each size of tiles."""
        ir, index = self.ir, self.index
        number = ir.PointerType(index)
        array = ir.PointerType(self.element)
        kinds = [array] * 3 + [number] * 5 + [index] * 3
        function = ir.Function(
            self.module, ir.FunctionType(ir.VoidType(), kinds), "rows"
        )
        a, b, o, rows_a, rows_o, offsets_a, offsets_b, sizes, rows, *rest = (
            function.args
        )
        builder = ir.IRBuilder(function.append_basic_block())
        fields = [
            builder.load(builder.gep(sizes, [index(i)]))
            for i in range(len(Sizes._fields))
        ]
        given = Sizes(*fields)
        over_rows = CountedLoop(builder, rows)
        at = [over_rows.index]
        a = builder.gep(a, [builder.load(builder.gep(rows_a, at))])
        o = builder.gep(o, [builder.load(builder.gep(rows_o, at))])
        counts = {size: given.large}
        if has_small:
            counts[size - 1] = given.small
        for places, count in counts.items():
            tile = self._tile(places)
            over_tiles = CountedLoop(builder, count, [a, o])
            a, o = over_tiles.carried
            builder.call(tile, [a, b, o, offsets_a, offsets_b, *given, *rest])
            a = builder.gep(a, [builder.mul(given.a_p, index(places))])
            o = builder.gep(o, [builder.mul(given.o_p, index(places))])
            over_tiles.end([a, o])
        over_rows.end()
        builder.ret_void()
        return function

    def _tile(self, size: int) -> Any:
        ir, index = self.ir, self.index
        number, array = ir.PointerType(index), ir.PointerType(self.element)
        kinds = [array] * 3 + [number] * 2 + [index] * (len(Sizes._fields) + 2)
        function = ir.Function(
            self.module, ir.FunctionType(ir.VoidType(), kinds), f"tile{size}"
        )
        function.linkage = "internal"
        a, b, o, offsets_a, offsets_b, *fields, terms, adds = function.args
        given = Sizes(*fields)
        builder = ir.IRBuilder(function.append_basic_block())
        zeros = [ir.Constant(self.vector, None)] * (size * self.width)
        start = builder.block
        with builder.if_then(builder.icmp_signed("!=", adds, index(0))):
            found = self._each(builder, o, given.o_p, size, self._load)
            loaded = builder.block
        sums = []
        for zero, value in zip(zeros, found, strict=True):
            phi = builder.phi(self.vector)
            phi.add_incoming(zero, start)
            phi.add_incoming(value, loaded)
            sums.append(phi)
        over_terms = CountedLoop(builder, terms, sums)
        at = [over_terms.index]
        a = builder.gep(a, [builder.load(builder.gep(offsets_a, at))])
        b = builder.gep(b, [builder.load(builder.gep(offsets_b, at))])
        inner = CountedLoop(builder, given.length, [a, b, *over_terms.carried])
        a, b, *sums = inner.carried
        right = [self._load(builder, b, v) for v in range(self.width)]
        for p in range(size):
            place = builder.gep(a, [builder.mul(given.a_p, index(p))])
            left = self._broadcast(builder, builder.load(place, align=self.align))
            for v in range(self.width):
                i = p * self.width + v
                sums[i] = builder.call(self._fma(), [left, right[v], sums[i]])
        a, b = builder.gep(a, [given.a_k]), builder.gep(b, [given.b_k])
        inner.end([a, b, *sums])
        over_terms.end(sums)
        values = iter(sums)
        self._each(
            builder,
            o,
            given.o_p,
            size,
            lambda builder, row, v: self._store(builder, row, v, next(values)),
        )
        builder.ret_void()
        return function

    def _each(
        self, builder: Any, o: Any, step: Any, size: int, do: Callable[..., Any]
    ) -> list[Any]:
        """`do(builder, row, v)` for each vector of the tile in `o`."""
        rows = [builder.gep(o, [builder.mul(step, self.index(p))]) for p in range(size)]
        return [do(builder, row, v) for row in rows for v in range(self.width)]

    def _load(self, builder: Any, row: Any, v: int) -> Any:
        place, mask = self._place(builder, row, v), self._mask(v)
        if mask is None:
            return builder.load(place, align=self.align)
        kinds = [place.type, self.ir.IntType(32), mask.type, self.vector]
        load = self._function(f"llvm.masked.load.{self.name}.p0", self.vector, kinds)
        zero = self.ir.Constant(self.vector, None)
        return builder.call(load, [place, kinds[1](self.align), mask, zero])

    def _store(self, builder: Any, row: Any, v: int, value: Any) -> None:
        place, mask = self._place(builder, row, v), self._mask(v)
        if mask is None:
            builder.store(value, place, align=self.align)
            return
        kinds = [self.vector, place.type, self.ir.IntType(32), mask.type]
        void = self.ir.VoidType()
        store = self._function(f"llvm.masked.store.{self.name}.p0", void, kinds)
        builder.call(store, [value, place, kinds[2](self.align), mask])

    def _place(self, builder: Any, row: Any, v: int) -> Any:
        place = builder.gep(row, [self.index(v * self.lanes)])
        return builder.bitcast(place, self.ir.PointerType(self.vector))

    def _mask(self, v: int) -> Any:
        """Which elements of vector `v` exist; None for all."""
        if not self.tail or v < self.width - 1:
            return None
        bit = self.ir.IntType(1)
        used = [bit(int(i < self.tail)) for i in range(self.lanes)]
        return self.ir.Constant(self.ir.VectorType(bit, self.lanes), used)

    def _broadcast(self, builder: Any, value: Any) -> Any:
        ir = self.ir
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = builder.insert_element(undefined, value, ir.IntType(32)(0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), None)
        return builder.shuffle_vector(first, undefined, everywhere)

    def _fma(self) -> Any:
        kinds = [self.vector] * 3
        return self._function(f"llvm.fma.{self.name}", self.vector, kinds)

    def _function(self, name: str, result: Any, kinds: list[Any]) -> Any:
        found = self.module.globals.get(name)
        if found is None:
            kind = self.ir.FunctionType(result, kinds)
            found = self.ir.Function(self.module, kind, name)
        return found
