"""Sigmoid and softmax of float32 in one pass over memory, compiled.

NumPy computes a sigmoid by four passes, and a softmax by five; arrays that exceed the
cache wait for the memory each time.  Here all operations on an element follow each
other in registers (framework/machine_code.py).

exp(x) is 2^n e^r with |r| <= ln(2) / 2, and e^r a polynomial of degree 6, fitted for
the least relative error.  Results are within 2 units in the last place.

Source: Cody and Waite, Software Manual for the Elementary Functions, 1980.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.framework import large_array_pool
from tfteach.framework.machine_code import CountedLoop, compiled, vectors
from tfteach.framework.threads import LARGE, share

# Elements from which a compiled function is used.  Blocks of larger arrays have more,
# so that results do not depend on the division into blocks (engine/fusion).
MIN_ELEMENTS = 1 << 14
# Elements for which a thread takes the GIL once.
_BLOCK = 1 << 17
# Vectors computed side by side, as each operation waits for the one before it.
_ABREAST = 2

_LN2_HIGH = float(np.float32(math.log(2)))
_LN2_LOW = math.log(2) - _LN2_HIGH
# Adding it rounds a float32 to an integer, which the last bits then hold.
_ROUNDING = 1.5 * 2**23
# Beyond these bounds exp is 0 or infinite.
_LEAST, _MOST = -104.0, 89.0
# (e^r - 1 - r) / r^2, from the constant on.
_EXP = (
    0.49999993050768704,
    0.16666514791832188,
    0.04166845677480217,
    0.0083694187593223,
    0.0013813145244475303,
)


def applies(size: int, dtype: np.dtype[Any]) -> bool:
    """Whether these functions compute arrays of this many elements here."""
    return size >= MIN_ELEMENTS and dtype == np.float32 and vectors() is not None


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)) of an array to which this module applies."""
    x = np.ascontiguousarray(x)
    result = large_array_pool.empty(x.shape, x.dtype)
    function = _function("sigmoid")
    source, target = x.ctypes.data, result.ctypes.data

    def run(starts: Sequence[int]) -> None:
        for start in starts:
            first, count = start * x.itemsize, min(_BLOCK, x.size - start)
            function(source + first, target + first, count, 1)

    _share(range(0, x.size, _BLOCK), x.size, run)
    return result


def softmax(x: Any) -> Any:
    """exp(x) / sum(exp(x)) along the last axis of an array to which this applies."""
    x = np.ascontiguousarray(x)
    result = large_array_pool.empty(x.shape, x.dtype)
    length = x.shape[-1]
    rows = x.size // length
    step = max(1, _BLOCK // length)
    function = _function("softmax")
    source, target = x.ctypes.data, result.ctypes.data

    def run(starts: Sequence[int]) -> None:
        for start in starts:
            first = start * length * x.itemsize
            count = min(step, rows - start)
            function(source + first, target + first, length, count)

    _share(range(0, rows, step), x.size, run)
    return result


def _share(
    starts: Sequence[int], size: int, run: Callable[[Sequence[int]], None]
) -> None:
    if size >= LARGE:
        share(starts, run)
    else:
        run(starts)


@functools.cache
def _function(name: str) -> Callable[..., None]:
    pointers, numbers = [ctypes.c_void_p] * 2, [ctypes.c_int64] * 2
    return compiled(
        lambda module: getattr(_Emitter(module), name)(), (*pointers, *numbers)
    )


class _Emitter:
    """Writes a function of two arrays of float32, the number of columns and of rows."""

    def __init__(self, module: Any) -> None:
        from llvmlite import ir

        found = vectors()
        assert found is not None
        self.ir, self.module = ir, module
        self.lanes = found.size_bytes // 4
        self.element, self.index = ir.FloatType(), ir.IntType(64)
        self.vector = ir.VectorType(self.element, self.lanes)
        self.integers = ir.VectorType(ir.IntType(32), self.lanes)
        kinds = [ir.PointerType(self.element)] * 2 + [self.index] * 2
        self.function = ir.Function(
            module, ir.FunctionType(ir.VoidType(), kinds), "function"
        )
        self.x, self.y, self.length, self.rows = self.function.args
        self.builder = ir.IRBuilder(self.function.append_basic_block())

    # ---- whole functions

    def sigmoid(self) -> Any:
        builder, one = self.builder, self._number(1)

        def each(x: Any, y: Any, mask: Any, nothing: Any) -> Any:
            power = self._exp(builder.fneg(self._load(x, mask, one)))
            self._store(builder.fdiv(one, builder.fadd(one, power)), y, mask)
            return nothing

        self._over_columns(self.x, self.y, [one] * _ABREAST, each)
        builder.ret_void()
        return self.function

    def softmax(self) -> Any:
        builder = self.builder
        over_rows = CountedLoop(builder, self.rows)
        start = builder.mul(over_rows.index, self.length)
        x, y = builder.gep(self.x, [start]), builder.gep(self.y, [start])
        least = self._number(-math.inf)

        def larger(x: Any, y: Any, mask: Any, most: Any) -> Any:
            value = self._load(x, mask, least)
            is_more = builder.fcmp_ordered(">", value, most)
            return builder.select(is_more, value, most)

        found = self._over_columns(x, y, [least] * _ABREAST, larger)
        most = self._splat(self._across(found, "max"))

        def exponential(x: Any, y: Any, mask: Any, total: Any) -> Any:
            shifted = builder.fsub(self._load(x, mask, least), most)
            value = self._exp(shifted)
            self._store(value, y, mask)
            return builder.fadd(total, value)

        zero = self._number(0)
        found = self._over_columns(x, y, [zero] * _ABREAST, exponential)
        total = self._splat(self._across(found, "add"))

        def divide(x: Any, y: Any, mask: Any, total: Any) -> Any:
            value = self._load(y, mask, zero)
            self._store(builder.fdiv(value, total), y, mask)
            return total

        self._over_columns(x, y, [total] * _ABREAST, divide)
        over_rows.end()
        builder.ret_void()
        return self.function

    def _over_columns(
        self, x: Any, y: Any, carried: list[Any], do: Callable[..., Any]
    ) -> list[Any]:
        """A loop over the columns: `do(x, y, mask, carried)` for each vector.

        The mask is None for whole vectors.  With masks for all of them, arrays that
        exceed the cache take three times as long.
        """
        builder, index = self.builder, self.index
        width = _ABREAST * self.lanes

        def abreast(first: Any, masks: Sequence[Any], values: list[Any]) -> list[Any]:
            a, b = builder.gep(x, [first]), builder.gep(y, [first])
            at = [[index(i * self.lanes)] for i in range(_ABREAST)]
            return [
                do(builder.gep(a, at[i]), builder.gep(b, at[i]), masks[i], values[i])
                for i in range(_ABREAST)
            ]

        def all_whole(values: list[Any]) -> list[Any]:
            loop = CountedLoop(builder, count, values)
            first = builder.mul(loop.index, index(width))
            values = abreast(first, [None] * _ABREAST, loop.carried)
            loop.end(values)
            return values

        def the_rest(values: list[Any]) -> list[Any]:
            left = builder.trunc(builder.sub(self.length, done), self.integers.element)
            left, masks = self._splat(left), []
            for i in range(_ABREAST):
                lanes = range(i * self.lanes, (i + 1) * self.lanes)
                places = [self.integers.element(lane) for lane in lanes]
                places = self.ir.Constant(self.integers, places)
                masks.append(builder.icmp_signed("<", places, left))
            return abreast(done, masks, values)

        count = builder.udiv(self.length, index(width))
        done = builder.mul(count, index(width))
        some = builder.icmp_signed(">", count, index(0))
        carried = self._only_if(some, carried, all_whole)
        more = builder.icmp_signed("<", done, self.length)
        return self._only_if(more, carried, the_rest)

    def _only_if(
        self, condition: Any, values: list[Any], do: Callable[[list[Any]], list[Any]]
    ) -> list[Any]:
        """The values, replaced by `do(values)` where the condition holds."""
        builder = self.builder
        before = builder.block
        with builder.if_then(condition):
            replaced = do(values)
            inside = builder.block
        merged = []
        for old, new in zip(values, replaced, strict=True):
            phi = builder.phi(old.type)
            phi.add_incoming(old, before)
            phi.add_incoming(new, inside)
            merged.append(phi)
        return merged

    # ---- formulas

    def _exp(self, x: Any) -> Any:
        builder, integers = self.builder, self.integers
        for sign, bound in ((">", _MOST), ("<", _LEAST)):
            limit = self._number(bound)
            x = builder.select(builder.fcmp_ordered(sign, x, limit), limit, x)
        rounding = self._number(_ROUNDING)
        rounded = self._call("fma", x, self._number(1 / math.log(2)), rounding)
        n = builder.fsub(rounded, rounding)
        r = self._call("fma", n, self._number(-_LN2_HIGH), x)
        r = self._call("fma", n, self._number(-_LN2_LOW), r)
        square = builder.fmul(r, r)
        power = self._call("fma", self._polynomial(_EXP, r), square, r)
        power = builder.fadd(power, self._number(1))
        exponent = builder.sub(
            builder.bitcast(rounded, integers), builder.bitcast(rounding, integers)
        )
        # In two steps, since 2^n may be no normal number where the result is one.
        half = builder.ashr(exponent, self._integer(1))
        for part in (half, builder.sub(exponent, half)):
            bits = builder.shl(builder.add(part, self._integer(127)), self._integer(23))
            power = builder.fmul(power, builder.bitcast(bits, self.vector))
        return power

    def _polynomial(self, coefficients: Sequence[float], x: Any) -> Any:
        total = self._number(coefficients[-1])
        for number in reversed(coefficients[:-1]):
            total = self._call("fma", total, x, self._number(number))
        return total

    # ---- vectors

    def _number(self, value: float) -> Any:
        return self.ir.Constant(self.vector, [self.element(value)] * self.lanes)

    def _integer(self, value: int) -> Any:
        return self.ir.Constant(
            self.integers, [self.integers.element(value)] * self.lanes
        )

    def _splat(self, value: Any) -> Any:
        kind = self.ir.VectorType(value.type, self.lanes)
        undefined = self.ir.Constant(kind, self.ir.Undefined)
        first = self.builder.insert_element(undefined, value, self.ir.IntType(32)(0))
        places = self.ir.Constant(self.integers, None)
        return self.builder.shuffle_vector(first, undefined, places)

    def _across(self, values: list[Any], how: str) -> Any:
        """The largest element, or the sum, of several vectors."""
        builder, ir = self.builder, self.ir

        def both(a: Any, b: Any) -> Any:
            if how == "add":
                return builder.fadd(a, b)
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        while len(values) > 1:
            values = [both(*values[i : i + 2]) for i in range(0, len(values), 2)]
        items = [
            builder.extract_element(values[0], ir.IntType(32)(i))
            for i in range(self.lanes)
        ]
        while len(items) > 1:
            items = [both(*items[i : i + 2]) for i in range(0, len(items), 2)]
        return items[0]

    def _load(self, place: Any, mask: Any, otherwise: Any) -> Any:
        place = self.builder.bitcast(place, self.ir.PointerType(self.vector))
        if mask is None:
            return self.builder.load(place, align=4)
        arguments = [place, self.ir.IntType(32)(4), mask, otherwise]
        return self._intrinsic("masked.load", ".p0", self.vector, arguments)

    def _store(self, value: Any, place: Any, mask: Any) -> None:
        place = self.builder.bitcast(place, self.ir.PointerType(self.vector))
        if mask is None:
            self.builder.store(value, place, align=4)
            return
        arguments = [value, place, self.ir.IntType(32)(4), mask]
        self._intrinsic("masked.store", ".p0", self.ir.VoidType(), arguments)

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._intrinsic(name, "", self.vector, arguments)

    def _intrinsic(
        self, name: str, suffix: str, result: Any, arguments: Sequence[Any]
    ) -> Any:
        name = f"llvm.{name}.v{self.lanes}f32{suffix}"
        found = self.module.globals.get(name)
        if found is None:
            kinds = [argument.type for argument in arguments]
            kind = self.ir.FunctionType(result, kinds)
            found = self.ir.Function(self.module, kind, name)
        return self.builder.call(found, arguments)
