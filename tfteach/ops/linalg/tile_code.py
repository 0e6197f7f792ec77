"""Compiled parts of matrix products: tiles kept in registers, packing, transposing.

A tile is `ROWS` rows by a few vectors of columns of the result.  It stays in registers
while its inner dimension runs over up to `DEPTH` values; `b`'s columns have been copied
to panels as wide as a tile, in the order in which they are read, while `a` is read
where it is.  Goto and van de Geijn, Anatomy of high-performance matrix multiplication,
2008.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from tfteach.framework.machine_code import CountedLoop, compiled, vectors

ROWS = 6
# Values of the inner dimension for which a tile stays in registers: so many rows of a
# panel, and of `a`, remain in the second cache.
DEPTH = 256
# Rows whose tiles read one panel after another, so that they remain in the cache.
BLOCK = 40 * ROWS


class Sizes(NamedTuple):
    """The counts and distances of a part of a product, in elements."""

    rows: int
    columns: int
    length: int  # of the inner dimension
    a_row: int
    a_k: int
    b_k: int
    o_row: int
    panel: int  # the distance of packed panels
    packs: int  # 0 if `b` is packed panels already


def panel_vectors() -> int:
    """The number of vectors in a tile's row; its rows nearly fill the registers."""
    found = vectors()
    assert found is not None  # or callers would not be here
    return 4 if found.registers == 32 else 2


def panel_width(itemsize: int) -> int:
    """The number of columns of a tile."""
    found = vectors()
    assert found is not None
    return panel_vectors() * found.size_bytes // itemsize


@functools.cache
def product(itemsize: int, tail: int) -> Callable[..., None]:
    """The function that computes a part of a product.

    Its arguments are addresses: of `a`, `b`, the result, memory for packed panels, and
    `Sizes` as int64.

    Args:
      itemsize: 4 for float32, 8 for float64.
      tail: the number of vectors in the last panel if some of its columns are missing,
        otherwise 0.
    """
    return compiled(
        lambda module: _Emitter(module, itemsize).product(tail), [ctypes.c_void_p] * 5
    )


@functools.cache
def transpose(itemsize: int) -> Callable[..., None]:
    """The function that copies a matrix to its transpose.

    Its arguments are two addresses and, in elements, the distance of rows of the first
    and of the second array, and the numbers of rows and columns of the first.
    """
    pointers, numbers = [ctypes.c_void_p] * 2, [ctypes.c_int64] * 4
    return compiled(
        lambda module: _Emitter(module, itemsize).transpose(), (*pointers, *numbers)
    )


class _Emitter:
    """Writes these functions.

    Args:
      module: an `llvmlite.ir.Module`.
      itemsize: 4 for float32, 8 for float64.
    """

    def __init__(self, module: Any, itemsize: int) -> None:
        from llvmlite import ir

        found = vectors()
        assert found is not None
        self.ir, self.module, self.align = ir, module, itemsize
        self.lanes = found.size_bytes // itemsize
        self.width = panel_vectors()
        self.element = ir.FloatType() if itemsize == 4 else ir.DoubleType()
        self.vector = ir.VectorType(self.element, self.lanes)
        self.index, self.short = ir.IntType(64), ir.IntType(32)
        self.array = ir.PointerType(self.element)

    # ---- a product

    def product(self, tail: int) -> Any:
        """Loops over the inner dimension, blocks of rows, panels and tiles."""
        index = self.index
        numbers = self.ir.PointerType(index)
        function, builder = self._begin("product", [*[self.array] * 4, numbers])
        a, b, o, packed, sizes = function.args
        given = Sizes(
            *(
                builder.load(builder.gep(sizes, [index(i)]))
                for i in range(len(Sizes._fields))
            )
        )
        pack, whole = self._pack(), self._tiles(self.width)
        rest = self._tiles(tail, has_masks=True) if tail else whole
        width = index(self.width * self.lanes)
        panels = self._quotient(builder, given.columns, width)
        steps = self._quotient(builder, given.length, index(DEPTH))
        depth = self._quotient(builder, given.length, steps)
        packs = builder.icmp_signed("!=", given.packs, index(0))
        inner = CountedLoop(builder, steps)
        first = builder.mul(inner.index, depth)
        length = self._least(builder, depth, builder.sub(given.length, first))
        a_here = builder.gep(a, [builder.mul(first, given.a_k)])
        before = builder.block
        with builder.if_then(packs):
            source = builder.gep(b, [builder.mul(first, given.b_k)])
            over = CountedLoop(builder, panels)
            column = builder.mul(over.index, width)
            target = builder.gep(packed, [builder.mul(over.index, given.panel)])
            left = builder.sub(given.columns, column)
            here = builder.gep(source, [column])
            builder.call(pack, [here, target, given.b_k, length, left])
            over.end()
            inside = builder.block
        panel = builder.phi(self.array)
        unpacked = self.ir.IRBuilder(before)
        unpacked.position_before(before.terminator)
        ready = unpacked.gep(b, [unpacked.mul(first, width)])
        panel.add_incoming(ready, before)
        panel.add_incoming(packed, inside)
        blocks = CountedLoop(builder, self._quotient(builder, given.rows, index(BLOCK)))
        row = builder.mul(blocks.index, index(BLOCK))
        rows = self._least(builder, index(BLOCK), builder.sub(given.rows, row))
        a_here = builder.gep(a_here, [builder.mul(row, given.a_row)])
        o_here = builder.gep(o, [builder.mul(row, given.o_row)])
        over = CountedLoop(builder, panels)
        column = builder.mul(over.index, width)
        left = builder.sub(given.columns, column)
        arguments = [
            a_here,
            builder.gep(panel, [builder.mul(over.index, given.panel)]),
            builder.gep(o_here, [column]),
            given.a_row,
            given.a_k,
            given.o_row,
            rows,
            length,
            left,
            inner.index,
        ]
        is_whole = builder.icmp_signed(">=", left, width)
        with builder.if_else(is_whole) as (then, otherwise):
            with then:
                builder.call(whole, arguments)
            with otherwise:
                builder.call(rest, arguments)
        over.end()
        blocks.end()
        inner.end()
        builder.ret_void()
        return function

    def _pack(self) -> Any:
        """Copies columns of consecutive rows; missing columns become zeros."""
        index = self.index
        kinds = [self.array] * 2 + [index] * 3
        function, builder = self._begin("pack", kinds, is_internal=True)
        b, packed, b_k, length, columns = function.args
        width = self.width * self.lanes

        def copy(masks: list[Any]) -> None:
            loop = CountedLoop(builder, length, [b, packed])
            source, target = loop.carried
            for v, mask in enumerate(masks):
                self._store(builder, target, v, self._load(builder, source, v, mask))
            loop.end([builder.gep(source, [b_k]), builder.gep(target, [index(width)])])

        is_whole = builder.icmp_signed(">=", columns, index(width))
        with builder.if_else(is_whole) as (then, otherwise):
            with then:
                copy([None] * self.width)
            with otherwise:
                copy(self._masks(builder, columns, self.width))
        builder.ret_void()
        return function

    def _tiles(self, width: int, has_masks: bool = False) -> Any:
        """One panel's tiles of so many vectors, for all rows of a block."""
        index = self.index
        kinds = [self.array] * 3 + [index] * 7
        name = f"tiles{width}{has_masks}"
        function, builder = self._begin(name, kinds, is_internal=True)
        a, b, o, a_row, a_k, o_row, rows, length, columns, adds = function.args
        masks = self._masks(builder, columns, width) if has_masks else [None] * width
        count = self._quotient(builder, rows, index(ROWS))
        last = builder.sub(rows, index(1))
        over = CountedLoop(builder, count)
        row = builder.mul(over.index, index(ROWS))
        # Where rows are missing, the last one is computed again.
        places = [
            self._least(builder, builder.add(row, index(p)), last) for p in range(ROWS)
        ]
        lefts = [builder.gep(a, [builder.mul(place, a_row)]) for place in places]
        results = [builder.gep(o, [builder.mul(place, o_row)]) for place in places]
        zeros = [self.ir.Constant(self.vector, None)] * (ROWS * width)
        inner = CountedLoop(builder, length, [index(0), b, *zeros])
        at, right, *sums = inner.carried
        values = [self._load(builder, right, v) for v in range(width)]
        for p, left in enumerate(lefts):
            element = builder.load(builder.gep(left, [at]), align=self.align)
            factor = self._broadcast(builder, element)
            for v in range(width):
                i = p * width + v
                sums[i] = builder.call(self._fma(), [factor, values[v], sums[i]])
        following = builder.gep(right, [index(self.width * self.lanes)])
        inner.end([builder.add(at, a_k), following, *sums])
        targets = [(o, v, mask) for o in results for v, mask in enumerate(masks)]
        before = builder.block
        with builder.if_then(builder.icmp_signed("!=", adds, index(0))):
            # Read all before a repeated row is written.
            found = [self._load(builder, *target) for target in targets]
            added = [builder.fadd(x, y) for x, y in zip(found, sums, strict=True)]
            inside = builder.block
        totals = []
        for new, old in zip(added, sums, strict=True):
            total = builder.phi(self.vector)
            total.add_incoming(new, inside)
            total.add_incoming(old, before)
            totals.append(total)
        for (o, v, mask), total in zip(targets, totals, strict=True):
            self._store(builder, o, v, total, mask)
        over.end()
        builder.ret_void()
        return function

    # ---- a transpose

    def transpose(self) -> Any:
        """Squares of whole vectors, then the rows and columns that remain."""
        index = self.index
        function, builder = self._begin("transpose", [*[self.array] * 2, *[index] * 4])
        x, y, x_row, y_row, rows, columns = function.args
        lanes = index(self.lanes)
        whole_rows = builder.udiv(rows, lanes)
        whole_columns = builder.udiv(columns, lanes)

        def some(count: Any) -> Any:
            return builder.icmp_signed(">", count, index(0))

        with builder.if_then(builder.and_(some(whole_rows), some(whole_columns))):
            down = CountedLoop(builder, whole_rows)
            row = builder.mul(down.index, lanes)
            across = CountedLoop(builder, whole_columns)
            column = builder.mul(across.index, lanes)
            source = builder.gep(x, [builder.add(builder.mul(row, x_row), column)])
            target = builder.gep(y, [builder.add(builder.mul(column, y_row), row)])
            self._square(builder, source, target, x_row, y_row)
            across.end()
            down.end()
        copy = self._elements()
        done = builder.mul(whole_rows, lanes)
        left = builder.sub(rows, done)
        with builder.if_then(builder.and_(some(left), some(columns))):
            source = builder.gep(x, [builder.mul(done, x_row)])
            arguments = [source, builder.gep(y, [done]), x_row, y_row, left, columns]
            builder.call(copy, arguments)
        passed = builder.mul(whole_columns, lanes)
        left = builder.sub(columns, passed)
        with builder.if_then(builder.and_(some(left), some(done))):
            target = builder.gep(y, [builder.mul(passed, y_row)])
            arguments = [builder.gep(x, [passed]), target, x_row, y_row, done, left]
            builder.call(copy, arguments)
        builder.ret_void()
        return function

    def _square(self, builder: Any, x: Any, y: Any, x_row: Any, y_row: Any) -> None:
        """As many rows as a vector has elements: exchanged in ever larger blocks."""
        at = [builder.mul(x_row, self.index(i)) for i in range(self.lanes)]
        rows = [self._load(builder, builder.gep(x, [place]), 0) for place in at]
        size = 1
        while size < self.lanes:
            for i in range(self.lanes):
                if i & size:
                    continue
                both = rows[i], rows[i + size]
                first = [
                    j if not j & size else j - size + self.lanes
                    for j in range(self.lanes)
                ]
                second = [
                    j + size if not j & size else j + self.lanes
                    for j in range(self.lanes)
                ]
                rows[i] = self._shuffle(builder, *both, first)
                rows[i + size] = self._shuffle(builder, *both, second)
            size *= 2
        for i, row in enumerate(rows):
            target = builder.gep(y, [builder.mul(y_row, self.index(i))])
            self._store(builder, target, 0, row)

    def _elements(self) -> Any:
        index = self.index
        kinds = [*[self.array] * 2, *[index] * 4]
        function, builder = self._begin("elements", kinds, is_internal=True)
        x, y, x_row, y_row, rows, columns = function.args
        down = CountedLoop(builder, rows)
        across = CountedLoop(builder, columns)
        i, j = down.index, across.index
        source = builder.gep(x, [builder.add(builder.mul(i, x_row), j)])
        target = builder.gep(y, [builder.add(builder.mul(j, y_row), i)])
        builder.store(builder.load(source), target)
        across.end()
        down.end()
        builder.ret_void()
        return function

    # ---- vectors

    def _begin(
        self, name: str, kinds: list[Any], is_internal: bool = False
    ) -> tuple[Any, Any]:
        ir = self.ir
        kind = ir.FunctionType(ir.VoidType(), kinds)
        function = ir.Function(self.module, kind, name)
        if is_internal:
            function.linkage = "internal"
        return function, ir.IRBuilder(function.append_basic_block())

    def _masks(self, builder: Any, columns: Any, width: int) -> list[Any]:
        """Which elements of so many vectors exist."""
        count = self._broadcast(builder, builder.trunc(columns, self.short))
        masks = []
        for v in range(width):
            lanes = range(v * self.lanes, (v + 1) * self.lanes)
            places = [self.short(lane) for lane in lanes]
            places = self.ir.Constant(count.type, places)
            masks.append(builder.icmp_signed("<", places, count))
        return masks

    def _load(self, builder: Any, row: Any, v: int, mask: Any = None) -> Any:
        place = self._place(builder, row, v)
        if mask is None:
            return builder.load(place, align=self.align)
        zero = self.ir.Constant(self.vector, None)
        arguments = [place, self.short(self.align), mask, zero]
        return self._intrinsic(builder, "masked.load", ".p0", self.vector, arguments)

    def _store(
        self, builder: Any, row: Any, v: int, value: Any, mask: Any = None
    ) -> None:
        place = self._place(builder, row, v)
        if mask is None:
            builder.store(value, place, align=self.align)
            return
        arguments = [value, place, self.short(self.align), mask]
        void = self.ir.VoidType()
        self._intrinsic(builder, "masked.store", ".p0", void, arguments)

    def _place(self, builder: Any, row: Any, v: int) -> Any:
        place = builder.gep(row, [self.index(v * self.lanes)])
        return builder.bitcast(place, self.ir.PointerType(self.vector))

    def _broadcast(self, builder: Any, value: Any) -> Any:
        kind = self.ir.VectorType(value.type, self.lanes)
        undefined = self.ir.Constant(kind, self.ir.Undefined)
        first = builder.insert_element(undefined, value, self.short(0))
        return self._shuffle(builder, first, undefined, [0] * self.lanes)

    def _shuffle(self, builder: Any, a: Any, b: Any, places: list[int]) -> Any:
        kind = self.ir.VectorType(self.short, len(places))
        return builder.shuffle_vector(
            a, b, self.ir.Constant(kind, [self.short(i) for i in places])
        )

    def _fma(self) -> Any:
        name = f"llvm.fma.v{self.lanes}f{8 * self.align}"
        found = self.module.globals.get(name)
        if found is None:
            kind = self.ir.FunctionType(self.vector, [self.vector] * 3)
            found = self.ir.Function(self.module, kind, name)
        return found

    def _intrinsic(
        self, builder: Any, name: str, suffix: str, result: Any, arguments: list[Any]
    ) -> Any:
        name = f"llvm.{name}.v{self.lanes}f{8 * self.align}{suffix}"
        found = self.module.globals.get(name)
        if found is None:
            kinds = [argument.type for argument in arguments]
            kind = self.ir.FunctionType(result, kinds)
            found = self.ir.Function(self.module, kind, name)
        return builder.call(found, arguments)

    # ---- numbers

    def _quotient(self, builder: Any, a: Any, b: Any) -> Any:
        """a / b, rounded up."""
        above = builder.add(a, builder.sub(b, self.index(1)))
        return builder.udiv(above, b)

    def _least(self, builder: Any, a: Any, b: Any) -> Any:
        return builder.select(builder.icmp_signed("<", a, b), a, b)
