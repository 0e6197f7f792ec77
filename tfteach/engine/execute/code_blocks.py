"""Blocks of instructions: the compiled form of steps with branches and loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.plan.step import Node


class Move(NamedTuple):
    """`registers[targets] = registers[sources]`, simultaneously, for a Merge."""

    targets: tuple[int, ...]
    sources: tuple[int, ...]
    node: Node


class Block:
    """Statements in order; registers local to the block are freed inside it.

    Attributes:
      statements: instructions, moves, branches and loops.
      parents: the enclosing blocks, and itself.
    """

    def __init__(self, parent: Block | None) -> None:
        self.statements: list[Statement] = []
        self.parents: tuple[Block, ...] = (*(parent.parents if parent else ()), self)


class Branch(NamedTuple):
    """Two blocks, one of which the predicate selects."""

    predicate: int
    blocks: tuple[Block, Block]  # if false, if true


class Loop(NamedTuple):
    """`before`, and while the predicate is true `body` and `before` again."""

    predicate: int
    before: Block
    body: Block


Statement = Instruction | Move | Branch | Loop


def read_by(statement: Statement) -> tuple[int, ...]:
    """The registers that the statement itself reads."""
    if isinstance(statement, Instruction):
        return statement.inputs
    if isinstance(statement, Move):
        return statement.sources
    return (statement.predicate,) if isinstance(statement, Branch) else ()


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    if isinstance(statement, Branch):
        return statement.blocks
    if isinstance(statement, Loop):
        return statement.before, statement.body
    return ()


def written_by(statement: Statement) -> tuple[int, ...]:
    """The registers that the statement itself writes."""
    if isinstance(statement, Instruction):
        return statement.outputs
    return statement.targets if isinstance(statement, Move) else ()


def read_in(statement: Statement) -> set[int]:
    """The registers that the statement and its blocks read."""
    found = set(read_by(statement))
    if isinstance(statement, Loop):
        found.add(statement.predicate)
    for block in blocks_of(statement):
        for inner in block.statements:
            found |= read_in(inner)
    return found


def written_in(statement: Statement) -> set[int]:
    """The registers that the statement and its blocks write."""
    found = set(written_by(statement))
    for block in blocks_of(statement):
        for inner in block.statements:
            found |= written_in(inner)
    return found


def instructions_in(statements: Iterable[Statement]) -> Iterator[Instruction]:
    """The instructions among the statements and in their blocks."""
    for statement in statements:
        if isinstance(statement, Instruction):
            yield statement
        for block in blocks_of(statement):
            yield from instructions_in(block.statements)
