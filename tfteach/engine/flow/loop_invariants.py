"""Loop-invariant code motion in nested steps whose shapes are known.

- A product with the transpose of a loop-invariant matrix: the transpose is laid out in
  memory once, before the loop.  Columns of the product that are never used are not
  computed.
- Chains of element-wise ops become machine code (fuse_small.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from tfteach.engine.execute.code_blocks import (
    Block,
    Loop,
    Statement,
    blocks_of,
    read_by,
    read_in,
    written_in,
)
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.fusion.fuse_small import compile_chains
from tfteach.engine.plan.step import kernel_of
from tfteach.framework.machine_code import is_installed
from tfteach.framework.shape import Shape, is_full


class BlockCompiler(Protocol):
    """The interface of the compiler of nested steps.

    Attributes:
      registers: the initial registers.
      preset: registers with the same value in every run.
      shapes: their static shapes.
      homes: register -> the block that defines it.
    """

    registers: list[Any]
    preset: set[int]
    shapes: dict[int, Shape]
    homes: dict[int, Block]

    def new_register(self, shape: Shape = None) -> int: ...


class LoopCode:
    """Rewrites the blocks of a step.

    Args:
      compiler: the compiler that built them.
      kept: registers that are used after the last statement.
    """

    def __init__(self, compiler: BlockCompiler, kept: set[int]) -> None:
        self.compiler = compiler
        self.shape_of = compiler.shapes.get
        self.kept = kept

    def improve(self, block: Block) -> None:
        """Rewrite the block and those in it."""
        self.lay_out_factors(block)
        if is_installed():
            self.compile_chains(block)

    # ---- products with transposed matrices

    def lay_out_factors(self, block: Block) -> None:
        for statement in list(block.statements):
            if isinstance(statement, Loop):
                place = block.statements.index(statement)
                block.statements[place:place] = self.factors_of(statement, block)
            for inner in blocks_of(statement):
                self.lay_out_factors(inner)

    def factors_of(self, loop: Loop, outer: Block) -> list[Instruction]:
        """Instructions to hoist out of the loop; rewrites its body to use them."""
        changing = {loop.predicate, *written_in(loop)}
        body = loop.body.statements
        added: list[Instruction] = []
        for i, statement in enumerate(body):
            if not isinstance(statement, Instruction) or not self.suits(statement):
                continue
            a, b = statement.inputs
            if b in changing:
                continue
            columns = slice(None)
            [product] = statement.outputs
            only = self.only_columns(body, product)
            if only is not None:
                place, columns = only
                [product] = body.pop(place).outputs  # type: ignore[union-attr]
            rows, depth = self.shape_of(b)  # type: ignore[misc]
            factor = self.compiler.new_register((depth, len(range(rows)[columns])))  # type: ignore[arg-type]
            self.compiler.homes[factor] = outer
            added.append(
                Instruction(
                    lambda b, columns=columns: np.ascontiguousarray(b[columns].T),
                    (b,),
                    (factor,),
                    (),
                    statement.node,
                )
            )
            plain = statement.node.spec.without_transpose()
            assert plain is not None
            kernel = kernel_of(plain, statement.node.device.xp)
            body[i] = statement._replace(
                function=kernel, inputs=(a, factor), outputs=(product,)
            )
        return added

    def suits(self, instruction: Instruction) -> bool:
        """Whether it is a matrix product of known shape with a transposed operand."""
        node = instruction.node
        return (
            len(instruction.inputs) == 2
            and node.spec.without_transpose() is not None
            and node.device.xp is np
            and node.op.outputs[0].dtype.numpy_dtype.kind == "f"
            and all(is_full(self.shape_of(slot)) for slot in instruction.inputs)
        )

    def only_columns(
        self, statements: list[Statement], product: int
    ) -> tuple[int, slice] | None:
        """Where the product's one user is, if that takes some columns, and which."""
        users = [i for i, s in enumerate(statements) if product in read_in(s)]
        if len(users) != 1 or product in self.kept:
            return None
        user = statements[users[0]]
        if not isinstance(user, Instruction) or user.inputs[0] != product:
            return None
        compiler, shape = self.compiler, self.shape_of(product)
        values = [
            compiler.registers[slot] if slot in compiler.preset else None
            for slot in user.inputs
        ]
        part = user.node.spec.constant_part(values, shape)
        if part is None or shape is None:
            return None
        rows, columns = part
        if len(range(shape[0] or 0)[rows]) != shape[0]:
            return None
        return users[0], columns

    # ---- chains

    def compile_chains(self, block: Block) -> None:
        users: dict[int, set[int]] = {}
        self.record_users(block, users, itertools.count())
        self.compile_runs(block, users, itertools.count())

    def record_users(
        self, block: Block, users: dict[int, set[int]], numbers: Iterator[int]
    ) -> None:
        """Register -> the numbers of the instruction runs that read it."""
        for run in _runs_of(block):
            number = next(numbers)
            for statement in run:
                for slot in read_by(statement):
                    users.setdefault(slot, set()).add(number)
                for inner in blocks_of(statement):
                    self.record_users(inner, users, numbers)

    def compile_runs(
        self, block: Block, users: dict[int, set[int]], numbers: Iterator[int]
    ) -> None:
        found: list[Statement] = []
        for run in _runs_of(block):
            number = next(numbers)
            if not isinstance(run[0], Instruction):
                [statement] = run
                for inner in blocks_of(statement):
                    self.compile_runs(inner, users, numbers)
                found.append(statement)
                continue
            code: list[Any] = run
            keep = self.kept | {
                slot
                for instruction in code
                for slot in instruction.outputs
                if users.get(slot, set()) - {number}
            }
            for instruction in compile_chains(
                code, self.shape_of, keep, self.compiler.new_register
            ):
                for slot in instruction.outputs:
                    self.compiler.homes.setdefault(slot, block)
                found.append(instruction)
        block.statements = found


def _runs_of(block: Block) -> list[list[Statement]]:
    """Runs of consecutive instructions; other statements one by one."""
    runs: list[list[Statement]] = []
    for statement in block.statements:
        is_plain = isinstance(statement, Instruction)
        if runs and is_plain and isinstance(runs[-1][-1], Instruction):
            runs[-1].append(statement)
        else:
            runs.append([statement])
    return runs
