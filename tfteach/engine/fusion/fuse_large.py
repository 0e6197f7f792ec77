"""Chains of element-wise ops over large arrays, block by block.

An array of 40 MB does not fit the cache: each op of a chain reads it from memory and
writes it back.  In blocks of about 1 MB, only the first op reads from memory and only
the results that are needed are written there.  Blocks are independent and NumPy
releases the GIL while it computes, so that cores share them.  NumExpr works alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tfteach.engine.execute.instruction import Chain, Instruction
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.fusion.compiled_chains import Form, MachineCode
from tfteach.engine.plan.step import writes
from tfteach.framework import large_array_pool
from tfteach.framework import shape as shapes
from tfteach.framework.codegen import GeneratedFunction, SourceWriter
from tfteach.framework.loops.compile_loop import Loop
from tfteach.framework.shape import Shape
from tfteach.framework.threads import share, thread_count

# Elements of a block: with the argument and the result of an op it fits the second
# cache.  With smaller ones, threads mostly contend for the GIL.
BLOCK = 1 << 16
# With fewer elements, arrays may stay in the last cache, where NumPy's whole arrays are
# as fast: with 32 MB of it, blocks were slower below 2 M elements (20 ops) or 4 M (3).
MIN_ELEMENTS = 1 << 22
# Each result is copied from its blocks; that costs about as much as two ops save.  With
# a second thread two ops are worth it; one alone waits for the memory, not the cores.
MIN_PARTS_PER_RESULT = 4

# Expressions that are one operator, and what it is called as a function.
_ARITHMETIC = re.compile(r"(\{\d\}) ([-+*/]) (\{\d\})")
_UFUNCS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}


class _Group:
    """Instructions that may be fused, and the shape of their results."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.parts: list[tuple[int, Instruction]] = []


def fuse(
    code: Sequence[Instruction], shape_of: Callable[[int], Shape], keep: set[int]
) -> list[Instruction]:
    """The instructions with each chain of element-wise ones fused.

    Args:
      code: in execution order; their `frees` are ignored.
      shape_of: the static shape of a register.
      keep: registers that are used after the last instruction.
    """
    if not any(_is_candidate(instruction, shape_of) for instruction in code):
        return list(code)
    return Fuser(code, shape_of, keep).run()


def _is_candidate(instruction: Instruction, shape_of: Callable[[int], Shape]) -> bool:
    if not instruction.is_elementwise:
        return False
    shape = shape_of(instruction.outputs[0])
    return not shapes.is_full(shape) or math.prod(shape) >= MIN_ELEMENTS


class Fuser:
    """Groups adjacent instructions, and replaces each group by a fused one."""

    max_parts: float = math.inf

    def __init__(
        self,
        code: Sequence[Instruction],
        shape_of: Callable[[int], Shape],
        keep: set[int],
    ) -> None:
        self.code = code
        self.shape_of = shape_of
        self.keep = keep
        self.made_by: dict[int, _Group] = {}  # of the open groups
        self.open: dict[_Group, None] = {}
        self.result: list[Instruction] = []
        self.uses: dict[int, set[int]] = {}
        for i, instruction in enumerate(code):
            for slot in instruction.inputs:
                self.uses.setdefault(slot, set()).add(i)

    def run(self) -> list[Instruction]:
        for i, instruction in enumerate(self.code):
            found = (self.made_by.get(slot) for slot in instruction.inputs)
            sources = dict.fromkeys(group for group in found if group is not None)
            if self.is_candidate(instruction):
                self.join(i, instruction, list(sources))
                continue
            # An update works in place only if nothing else references its target.
            changes = writes(instruction.node) and not instruction.is_read
            for group in list(self.open) if changes else sources:
                self.close(group)
            self.result.append(instruction)
        for group in list(self.open):
            self.close(group)
        return self.result

    def is_candidate(self, instruction: Instruction) -> bool:
        """Whether it can be part of a fused instruction."""
        return _is_candidate(instruction, self.shape_of)

    def join(self, i: int, instruction: Instruction, sources: list[_Group]) -> None:
        shape = self.shape_of(instruction.outputs[0])
        joined = _Group(shape)
        for group in sources:
            size = len(joined.parts) + len(group.parts)
            if group.shape == shape and size < self.max_parts:
                joined.parts += group.parts
                del self.open[group]
            else:
                self.close(group)
        joined.parts.append((i, instruction))
        joined.parts.sort(key=lambda part: part[0])
        self.open[joined] = None
        for _, part in joined.parts:
            self.made_by[part.outputs[0]] = joined

    def close(self, group: _Group) -> None:
        if group not in self.open:
            return
        del self.open[group]
        inside = {i for i, _ in group.parts}
        parts = [part for _, part in group.parts]
        made = [part.outputs[0] for part in parts]
        for slot in made:
            del self.made_by[slot]
        outputs = tuple(
            slot
            for slot in made
            if slot in self.keep or not self.uses.get(slot, set()) or
            not self.uses[slot] <= inside
        )  # fmt: skip
        taken = (slot for part in parts for slot in part.inputs)
        inputs = tuple(dict.fromkeys(s for s in taken if s not in made))
        fused = self.fused(Chain(tuple(parts), inputs, outputs), group.shape)
        self.result += parts if fused is None else [fused]

    def fused(self, chain: Chain, shape: Shape) -> Instruction | None:
        """The chain as one instruction, or None if fusing does not pay."""
        least = MIN_PARTS_PER_RESULT / min(2, thread_count())
        if len(chain.parts) < least * len(chain.outputs):
            return None
        return chain.as_one(FusedKernel(chain, shapes.is_full(shape)))


class FusedKernel:
    """Several element-wise kernels as one.

    Args:
      chain: the fused instructions; a single output is returned bare.
      is_known: that each part's result has the same known shape.
    """

    def __init__(self, chain: Chain, is_known: bool) -> None:
        self.parts, inputs, outputs = chain
        self._is_known = is_known
        self._inputs = inputs
        self._outputs = outputs
        self._generated: GeneratedFunction[Instruction] | None = None
        self._machine_code = MachineCode(chain)
        behind: dict[int, set[int]] = {slot: {i} for i, slot in enumerate(inputs)}
        for part in self.parts:
            behind[part.outputs[0]] = set().union(*(behind[s] for s in part.inputs))
        # For each output the numbers of the arguments that it depends on.
        self._behind = [behind[slot] for slot in outputs]

    def __call__(self, *arrays: Any) -> Any:
        if self._generated is None:
            self._generated = self._generate()
        function = self._generated.function
        try:
            results = self._by_blocks(function, arrays)
            if results is None:
                results = function(*arrays)
        except Exception as error:
            part = self._generated.origin_of(error) or self.parts[-1]
            raise_blaming(error, part)
        assert results is not None
        return results if len(self._outputs) > 1 else results[0]

    def _by_blocks(
        self, function: Callable[..., Any], arrays: Sequence[Any]
    ) -> Sequence[Any] | None:
        """The results, computed block by block; None if the arrays do not qualify."""
        if max(array.size for array in arrays) < MIN_ELEMENTS:
            return None
        try:
            shape = np.broadcast_shapes(*{array.shape for array in arrays})
        except ValueError:  # the op itself raises the error
            return None
        is_whole = [array.shape == shape for array in arrays]
        if not all(any(is_whole[i] for i in behind) for behind in self._behind):
            return None
        blocks = _flat_blocks(arrays, is_whole) or _row_blocks(arrays, is_whole, shape)
        if blocks is None:
            return None
        is_flat, pieces_of = blocks
        forms: list[Form] = ["whole" if whole else "number" for whole in is_whole]
        loop = self._machine_code.loop(forms, math.prod(shape)) if is_flat else None
        if loop is not None:
            results = [
                large_array_pool.empty(shape, dtype)
                for dtype in self._machine_code.made
            ]
            targets = [result.reshape(-1) for result in results]
            share(list(pieces_of), lambda some: _run_loop(loop, some, targets))
            return results
        first = next(pieces_of)
        made = function(*first[2])
        results = [large_array_pool.empty(shape, piece.dtype) for piece in made]
        targets = [r.reshape(-1) if is_flat else r for r in results]
        _store(made, targets, first[0], first[1])
        share(list(pieces_of), lambda some: _run_blocks(function, some, targets))
        return results

    def _generate(self) -> GeneratedFunction[Instruction]:
        names = {slot: f"a{i}" for i, slot in enumerate(self._inputs)}
        writer = SourceWriter[Instruction]("chain", list(names.values()))
        for ufunc in _UFUNCS.values():
            writer.bind(ufunc.__name__, ufunc)
        last = {slot: i for i, p in enumerate(self.parts) for slot in p.inputs}
        stays = {*self._inputs, *self._outputs}
        own: set[int] = set()  # a fresh result of arithmetic: not aliased
        for i, part in enumerate(self.parts):
            taken = [names[slot] for slot in part.inputs]
            dying = {slot for slot in part.inputs if last[slot] == i} - stays
            operator = self._arithmetic(part)
            place = next((slot for slot in dying & own if operator), None)
            writer.release(*(names[slot] for slot in dying if slot != place))
            if operator and place is not None:
                name, (x, sign, y) = names[place], operator.groups()
                operands = f"{x}, {y}".format(*taken)
                value = f"{_UFUNCS[sign].__name__}({operands}, out={name})"
            else:
                name = writer.temporary()
                if part.expression is not None:
                    value = part.expression.format(*taken)
                else:
                    kernel = writer.bind(f"f{i}", part.function)
                    value = f"{kernel}({', '.join(taken)})"
            if operator:
                own.add(part.outputs[0])
            names[part.outputs[0]] = name
            writer.line(f"{name} = {value}", part)
        writer.line(f"return {', '.join(names[slot] for slot in self._outputs)},")
        return writer.compile("chain")

    def _arithmetic(self, part: Instruction) -> re.Match[str] | None:
        """Operands and operator, if the result may overwrite an operand.

        Overwriting an operand takes two thirds of the time of writing elsewhere.
        """
        dtype = part.node.op.outputs[0].dtype.numpy_dtype
        if not self._is_known or dtype.kind != "f":
            return None
        return _ARITHMETIC.fullmatch(part.expression or "")


def _run_blocks(
    function: Callable[..., Any], some: Sequence[_Block], targets: Sequence[Any]
) -> None:
    for start, stop, pieces in some:
        _store(function(*pieces), targets, start, stop)


def _run_loop(loop: Loop, some: Sequence[_Block], targets: Sequence[Any]) -> None:
    for start, stop, pieces in some:
        numbers = (piece if piece.ndim else piece[()] for piece in pieces)
        loop(*numbers, *(target[start:stop] for target in targets))


def _store(made: Any, targets: Sequence[Any], start: int, stop: int) -> None:
    for target, piece in zip(targets, made, strict=True):
        target[start:stop] = piece


_Block = tuple[int, int, list[Any]]
_Blocks = tuple[bool, Iterator[_Block]]


def _flat_blocks(arrays: Sequence[Any], is_whole: Sequence[bool]) -> _Blocks | None:
    """Ranges of elements, if all arrays but scalars are contiguous."""
    for array, whole in zip(arrays, is_whole, strict=True):
        if not (array.flags.c_contiguous if whole else array.ndim == 0):
            return None
    flat = [a.reshape(-1) if w else a for a, w in zip(arrays, is_whole, strict=True)]
    size = max(array.size for array in arrays)
    return True, _slices(flat, is_whole, size, BLOCK)


def _row_blocks(
    arrays: Sequence[Any], is_whole: Sequence[bool], shape: tuple[int, ...]
) -> _Blocks | None:
    """Ranges of rows (same first index); arguments shared by all rows are unchanged."""
    for array, whole in zip(arrays, is_whole, strict=True):
        if not whole and array.ndim == len(shape) and array.shape[0] != 1:
            return None
    rows = max(1, BLOCK // math.prod(shape[1:]))
    if 2 * rows > shape[0]:
        return None
    return False, _slices(arrays, is_whole, shape[0], rows)


def _slices(
    arrays: Sequence[Any], is_whole: Sequence[bool], length: int, step: int
) -> Iterator[tuple[int, int, list[Any]]]:
    pairs = list(zip(arrays, is_whole, strict=True))
    # All of about the same size, as some kernels compute small arrays differently.
    count = -(-length // step)
    cuts = [length * i // count for i in range(count + 1)]
    for start, stop in pairwise(cuts):
        yield start, stop, [a[start:stop] if whole else a for a, whole in pairs]
