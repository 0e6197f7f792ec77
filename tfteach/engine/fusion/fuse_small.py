"""Chains of element-wise ops over arrays of known shapes, compiled to machine code.

Each op of a chain costs NumPy one call and one pass over memory; a compiled chain costs
one of each (framework/loops/; see fuse_large.py for large arrays).  Until it is
compiled, and if arrays have unexpected shapes or types, the ops run one by one.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.execute.instruction import Chain, Instruction
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.fusion.compiled_chains import Form, MachineCode, float_type
from tfteach.engine.fusion.fuse_large import Fuser
from tfteach.framework import large_array_pool
from tfteach.framework import shape as shapes
from tfteach.framework.codegen import GeneratedFunction, SourceWriter
from tfteach.framework.loops.compile_loop import Loop
from tfteach.framework.shape import Shape, size_of
from tfteach.framework.threads import share_evenly

# Elements from which a compiled call, of half a microsecond, is worth it.
MIN_ELEMENTS = 512
# Calls after which a chain is worth 20 ms of compiling.
CALLS_TO_COMPILE = 12

# Elements from which all threads compute a chain.
MIN_SHARED = 1 << 19
_SLOT = re.compile(r"\{\d\}")  # an input, in an instruction's expression

ShapeOf = Callable[[int], Shape]
NewRegister = Callable[[Shape], int]


def compile_chains(
    code: Sequence[Instruction],
    shape_of: ShapeOf,
    keep: set[int],
    new_register: NewRegister,
) -> list[Instruction]:
    """The instructions with each chain of element-wise ones fused.

    Args:
      code: in execution order; their `frees` are ignored.
      shape_of: the static shape of a register.
      keep: registers that are used after the last instruction.
      new_register: adds a register for values of some shape, and returns its number.
    """
    if not any(_is_candidate(instruction, shape_of) for instruction in code):
        return list(code)
    cut: list[Instruction] = []
    for instruction in code:
        cut += _in_pieces(instruction, shape_of, new_register)
    return _ChainFuser(cut, shape_of, keep).run()


def _in_pieces(
    instruction: Instruction, shape_of: ShapeOf, new_register: NewRegister
) -> list[Instruction]:
    dtype = float_type([instruction]) if instruction.is_elementwise else None
    if dtype is None:
        return [instruction]
    shape = shape_of(instruction.outputs[0])
    if not _is_large(shape):
        return [instruction]
    pieces = instruction.node.spec.pieces(size_of(shape) or 0, dtype)
    if not pieces:
        return [instruction]
    between = [new_register(shape) for _ in pieces[1:]]
    sources = [*instruction.inputs, *between]
    targets = [*between, *instruction.outputs]
    return [
        instruction._replace(
            function=piece.function,
            inputs=(source,),
            outputs=(target,),
            expression=None,
            scalar=piece.scalar,
        )
        for piece, source, target in zip(pieces, sources, targets, strict=True)
    ]


def _is_large(shape: Shape) -> bool:
    return (size_of(shape) or 0) >= MIN_ELEMENTS


def _is_candidate(instruction: Instruction, shape_of: ShapeOf) -> bool:
    """Whether it may be a part of a chain."""
    if instruction.scalar is None or float_type([instruction]) is None:
        return False
    shape = shape_of(instruction.outputs[0])
    if not _is_large(shape):
        return False
    forms = {form_of(shape_of(slot), shape) for slot in instruction.inputs}
    if None in forms:
        return False
    # Others than element-wise ops have rules of their own for unlike shapes.
    return instruction.is_elementwise or forms <= {"whole", "number"}


def form_of(shape: Shape, whole: Shape) -> Form | None:
    """Alignment of an argument with results of another shape, or None.

    Example:
      >>> form_of((5,), (3, 5)), form_of((3, 1), (3, 5))
      ('row', 'column')
    """
    if not shapes.is_full(shape):
        return None
    assert shape is not None
    assert whole is not None
    if shape == whole:
        return "whole"
    if size_of(shape) == 1:
        return "number"
    if len(shape) > len(whole):
        return None
    if shape == (*whole[:-1], 1):
        return "column"
    while shape[0] == 1:
        shape = shape[1:]
    return "row" if shape == whole[-len(shape) :] else None


class _ChainFuser(Fuser):
    # A compiler's time grows faster than what it compiles.
    max_parts = 32

    def is_candidate(self, instruction: Instruction) -> bool:
        return _is_candidate(instruction, self.shape_of)

    def fused(self, chain: Chain, shape: Shape) -> Instruction | None:
        parts = chain.parts
        if len(parts) == 1 and is_one_operation(parts[0].expression):
            return None  # NumPy does it in one pass too
        if float_type(parts) is None:
            return None
        assert shape is not None
        arguments = []
        for slot in chain.inputs:
            argument = self.shape_of(slot)
            form = form_of(argument, shape)
            assert form is not None
            arguments.append(Argument(form, argument))
        # Number of columns: a row may span the last few dimensions.
        widths = {size_of(a.shape) for a in arguments if a.form == "row"}
        if any(a.form == "column" for a in arguments):
            widths.add(shape[-1])
        if len(widths) > 1:
            return None
        return chain.as_one(ChainKernel(chain, shape, arguments))


@functools.cache
def is_one_operation(expression: str | None) -> bool:
    """Whether it is an expression that NumPy computes by one call."""
    if expression is None:
        return False
    nodes = ast.walk(ast.parse(_SLOT.sub("x", expression), mode="eval"))
    kinds = ast.BinOp | ast.UnaryOp | ast.Compare | ast.Call
    return sum(isinstance(node, kinds) for node in nodes) <= 1


class Argument(NamedTuple):
    """Alignment of a chain's argument with the results, and its shape."""

    form: Form
    shape: Shape


class ChainKernel:
    """Several element-wise kernels as one.

    Args:
      chain: the fused instructions; a single output is returned bare.
      shape: of all results.
      arguments: what is known of them.
    """

    def __init__(
        self, chain: Chain, shape: Shape, arguments: Sequence[Argument]
    ) -> None:
        self.parts, self._inputs, self._outputs = chain
        self.shape = shape
        self.arguments = arguments
        self.machine_code = MachineCode(chain)
        self._generated: GeneratedFunction[Instruction] | None = None
        self._compiled: Callable[..., Any] | None = None
        self._calls = 0

    def __call__(self, *arrays: Any) -> Any:
        if self._compiled is None:
            self._calls += 1
            if self._calls < CALLS_TO_COMPILE:
                return self.one_by_one(*arrays)
            forms = [form for form, _ in self.arguments]
            loop = self.machine_code.loop(forms, size_of(self.shape) or 0)
            if loop is None:
                return self.one_by_one(*arrays)
            self._generated = self._around(loop)
            self._compiled = self._generated.function
        return self._compiled(*arrays)

    def _around(self, loop: Loop) -> GeneratedFunction[Instruction]:
        """A function that passes flat arguments to the loop, and allocates the results.

        It is generated too: calls with lists of arguments took 15 us of an RNN's
        iteration.
        """
        names = [f"a{i}" for i in range(len(self.arguments))]
        made = [f"r{i}" for i in range(len(self._outputs))]
        is_large = 8 * (size_of(self.shape) or 0) >= large_array_pool.MIN_BYTES
        writer = SourceWriter[Instruction]("chain", names)
        writer.bind("loop", self._on_all_threads(loop))
        writer.bind("shape", self.shape)
        writer.bind("one_by_one", self.one_by_one)
        writer.bind("empty", large_array_pool.empty if is_large else np.empty)
        flat, checks = [], []
        for name, (form, shape) in zip(names, self.arguments, strict=True):
            if form == "number":
                flat.append(f"{name}.ravel()[0]" if shape else f"{name}[()]")
            else:
                flat.append(f"{name}.ravel()")
            checks.append(f"{name}.shape == {writer.bind(f'{name}_shape', shape)}")
        with writer.block(f"if not ({' and '.join(checks)}):"):
            writer.line(f"return one_by_one({', '.join(names)})")
        for name, dtype in zip(made, self.machine_code.made, strict=True):
            writer.line(f"{name} = empty(shape, {writer.bind(f'{name}_type', dtype)})")
            flat.append(f"{name}.ravel()")
        writer.line(f"loop({', '.join(flat)})")
        writer.line(f"return {', '.join(made)}")
        return writer.compile("compiled chain")

    def _on_all_threads(self, loop: Loop) -> Callable[..., Any]:
        """The loop, divided among the threads if the arrays are large."""
        size = size_of(self.shape) or 0
        if size < MIN_SHARED:
            return loop
        width = 1  # of a row
        for form, shape in self.arguments:
            if form == "row":
                width = size_of(shape) or 1
            elif form == "column":
                width = size // (size_of(shape) or 1)
        # The elements of each array that belong to a row; 0 if all rows share them.
        per_row = {"whole": width, "column": 1, "row": 0, "number": 0}
        counts = [per_row[form] for form, _ in self.arguments]
        counts += [width] * len(self._outputs)

        def compute(*arrays: Any) -> None:
            def run(first: int, last: int) -> None:
                cut = (
                    array[first * count : last * count] if count else array
                    for array, count in zip(arrays, counts, strict=True)
                )
                loop(*cut)

            share_evenly(size // width, size, run)

        return compute

    def one_by_one(self, *arrays: Any) -> Any:
        values = dict(zip(self._inputs, arrays, strict=True))
        part = self.parts[0]
        try:
            for part in self.parts:
                taken = [values[slot] for slot in part.inputs]
                values[part.outputs[0]] = part.function(*taken)
        except Exception as error:
            raise_blaming(error, part)
        results = tuple(values[slot] for slot in self._outputs)
        return results if len(results) > 1 else results[0]
