"""The nested blocks of a step on several devices, divided among these.

A loop is one compound instruction of its device.  A branch is divided: for each device
there is a compound instruction that tests the predicate again and runs what stands on
that device.  All else remains as it is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.block_kernel import BlockKernel
from tfteach.engine.execute.code_blocks import (
    Block,
    Branch,
    Loop,
    Move,
    Statement,
    blocks_of,
    instructions_in,
    read_by,
    read_in,
    written_by,
    written_in,
)
from tfteach.engine.execute.compile import Compiled
from tfteach.engine.execute.executor_plan import run_collections, sources_of
from tfteach.engine.execute.generated_source import StepFunction
from tfteach.engine.execute.instruction import Instruction, with_frees
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.execute.program import StepObserver
from tfteach.engine.flow.block_run import BlockRun
from tfteach.engine.flow.nested_blocks import Nested
from tfteach.engine.flow.nested_source import NestedWriter
from tfteach.engine.plan.partition import UNCOPIED, Recv, Send
from tfteach.engine.plan.step import Node, Step
from tfteach.framework.variable_cell import Cell
from tfteach.framework.waiting import end_if_over

# The predicates under which a statement runs, outermost first.
Guard = tuple[tuple[int, bool], ...]


class UndividedError(Exception):
    """Why the devices of a step cannot compute beside each other."""


def divided_blocks(step: Step, nested: Nested, host: Device) -> Compiled:
    """A step with branches and loops as plain and compound instructions.

    Args:
      step: the step.
      nested: its blocks.
      host: the device that computes what loops count, whichever device they are on.

    Raises:
      UndividedError: a loop stands on several devices, or handles of variables pass
        through branches.
    """
    return _Divider(step, nested, host).compiled()


class CompiledBlock(BlockKernel):
    """Branches and loops as one generated function, made when it is first called."""

    def __init__(self, nested: Nested) -> None:
        super().__init__(nested.block.statements)
        self._nested = nested

    @functools.cached_property
    def generated(self) -> Any:
        """The function, and the instructions of its lines."""
        return _BlockWriter(self._nested).compile()

    def __call__(self, *values: Any) -> Any:
        generated = self.generated
        try:
            found = generated.function(*values)
        except Exception as error:
            raise_blaming(error, generated.origin_of(error))
        return found[0] if len(found) == 1 else found

    def run_observed(
        self, values: Sequence[Any], observers: Sequence[StepObserver]
    ) -> Any:
        """Run it, followed instruction by instruction."""
        found = BlockRun(self._nested, observers).run(values)
        return found[0] if len(found) == 1 else found


class _BlockWriter(NestedWriter):
    def compile(self) -> StepFunction:
        if self.kept:  # a branch may leave them as they are
            names = [f"s{slot}" for slot in sorted(self.kept)]
            self.writer.line(f"{' = '.join(names)} = None")
        return super().compile()

    def begin_iteration(self) -> None:
        # Ctrl-C interrupts one thread only, and the error of a device no other one.
        self.writer.line(f"{self.writer.bind('end_if_over', end_if_over)}()")


class _Leaf(NamedTuple):
    """What is not divided: an instruction, a Move, or a loop with its first Move."""

    guard: Guard
    statements: tuple[Statement, ...]


class _Divider:
    def __init__(self, step: Step, nested: Nested, host: Device) -> None:
        self.step = step
        self.nested = nested
        self.host = host
        self.fetched = {slot for slot, _ in nested.fetches}
        self.leaves = list(_leaves(nested.block.statements))
        last = self.leaves[-1].statements[0] if self.leaves else None
        self.commit: list[Instruction] = []
        if isinstance(last, Instruction) and last.is_commit:
            self.commit = [last]
            self.leaves.pop()
        self.devices = [self.device_of(leaf) for leaf in self.leaves]
        self.readers: dict[int, set[int]] = {}  # register -> the leaves that read it
        for i, leaf in enumerate(self.leaves):
            for slot in _read(leaf):
                self.readers.setdefault(slot, set()).add(i)

    def compiled(self) -> Compiled:
        nested = self.nested
        self.check_handles()
        code = [self.instruction([i]) for i in range(len(self.leaves))]
        sources = sources_of(self.with_code(code), code, run_collections(code))
        code = [self.instruction(own) for own in self.groups(sources)]
        spared = self.fetched | nested.scalars
        spared.update(s for s, v in enumerate(nested.registers) if v is not None)
        return self.with_code([*with_frees(code, spared), *self.commit])

    def with_code(self, code: list[Instruction]) -> Compiled:
        nested = self.nested
        return Compiled(
            self.step,
            nested.registers,
            nested.feeds,
            nested.kept_feeds,
            code,
            nested.fetches,
            code,
            nested.is_heavy,
            nested.writes,
        )

    def check_handles(self) -> None:
        """Refuse a Move of a variable or TensorArray: which one it is, is not known."""
        parts = list(instructions_in(self.nested.block.statements))
        registers = self.nested.registers
        handles = {s for s, value in enumerate(registers) if isinstance(value, Cell)}
        handles.update(run_collections(parts))
        for part in parts:
            for slot, tensor in zip(part.outputs, part.node.op.outputs, strict=False):
                is_handle = tensor.dtype.base_dtype.name in UNCOPIED
                if (is_handle or tensor.dtype.is_ref) and not part.is_read:
                    handles.add(slot)
        for move in _moves_in(self.nested.block.statements):
            if not handles.isdisjoint(move.sources):
                raise UndividedError("a branch or loop hands over a variable")

    # ---- devices

    def device_of(self, leaf: _Leaf) -> Device:
        """The one device of a leaf, apart from the host."""
        nodes = _nodes_in(leaf.statements)
        devices = dict.fromkeys(node.device for node in nodes)
        others = [device for device in devices if device is not self.host]
        if len(others) > 1:
            names = " and ".join(sorted(f"{d.device_type}:{d.index}" for d in others))
            loop = nodes[0].name.rpartition("/")[0]
            raise UndividedError(f"the loop {loop} stands on {names}")
        return others[0] if others else self.host

    # ---- which leaves become one instruction

    def groups(self, sources: Sequence[set[int]]) -> list[list[int]]:
        """The leaves of each instruction, in an order in which these can run.

        A leaf joins the last instruction of the same device and branch, unless one of a
        later place has to run before it.
        """
        found: list[list[int]] = []
        place: dict[int, int] = {}
        latest: dict[Any, int] = {}
        for own in self.atoms():
            needed = set().union(*(sources[i] for i in own)) - set(own)
            after = max((place[i] for i in needed), default=-1)
            predicates = {
                self.leaves[i].guard[0][0] for i in own if self.leaves[i].guard
            }
            key = self.devices[own[-1]], frozenset(predicates)
            target = latest.get(key, -1) if predicates else -1
            if target < max(after, 0):
                target = len(found)
                found.append([])
                latest[key] = target
            found[target] += own
            place.update(dict.fromkeys(own, target))
        return [sorted(own) for own in found]

    def atoms(self) -> list[list[int]]:
        """The leaves, those that set the same register together: a Merge's Moves."""
        setters: dict[int, list[int]] = {}
        merged: dict[int, list[int]] = {}
        for i, leaf in enumerate(self.leaves):
            own = [i]
            for slot in _written(leaf):
                other = setters.get(slot)
                if other is not None and other is not own:
                    own = other + [j for j in own if j not in other]
            for j in own:
                merged[j] = own
            for j in own:
                for slot in _written(self.leaves[j]):
                    setters[slot] = own
        atoms = {id(own): own for own in merged.values()}.values()
        return sorted(atoms, key=max)

    # ---- compound instructions

    def instruction(self, numbers: Sequence[int]) -> Instruction:
        """The instruction that runs these leaves."""
        leaves = [self.leaves[i] for i in numbers]
        if len(leaves) == 1 and not leaves[0].guard:
            [*statements] = leaves[0].statements
            if len(statements) == 1 and isinstance(statements[0], Instruction):
                return statements[0]
        block = _block_of(leaves)
        written = {slot for leaf in leaves for slot in _written(leaf)}
        read = dict.fromkeys(slot for leaf in leaves for slot in _read(leaf))
        registers = self.nested.registers
        inputs = tuple(s for s in read if s not in written and registers[s] is None)
        outputs = tuple(
            slot
            for slot in sorted(written)
            if slot in self.fetched or self.readers.get(slot, set()) - set(numbers)
        )
        nested = self.nested._replace(
            feeds=inputs,
            kept_feeds=(),
            block=block,
            fetches=tuple((slot, _unchanged) for slot in outputs),
            homes={s: home for s, home in _homes_in(block).items() if s in written},
        )
        kernel = CompiledBlock(nested)
        node = self.node_of(numbers)
        return Instruction(kernel, inputs, outputs, (), node)

    def node_of(self, numbers: Sequence[int]) -> Node:
        """The node that stands for a block: the first on its device that computes."""
        device = self.devices[numbers[-1]]
        nodes = _nodes_in(s for i in numbers for s in self.leaves[i].statements)
        nodes = [node for node in nodes if node.device is device] or nodes
        computing = [n for n in nodes if not isinstance(n.spec, Send | Recv)]
        return (computing or nodes)[0]


def _unchanged(value: Any) -> Any:
    return value


# ---- blocks


def _leaves(statements: Sequence[Statement], guard: Guard = ()) -> Iterator[_Leaf]:
    """The statements outside and inside branches, in order."""
    before: tuple[Move, ...] = ()  # what a loop that follows starts with
    for statement in statements:
        if isinstance(statement, Loop):
            yield _Leaf(guard, (*before, statement))
            before = ()
            continue
        if before:
            yield _Leaf(guard, before)
            before = ()
        if isinstance(statement, Move):
            before = (statement,)
        elif isinstance(statement, Branch):
            for value, block in enumerate(statement.blocks):
                inner = (*guard, (statement.predicate, bool(value)))
                yield from _leaves(block.statements, inner)
        else:
            yield _Leaf(guard, (statement,))
    if before:
        yield _Leaf(guard, before)


def _read(leaf: _Leaf) -> list[int]:
    """The registers that a leaf reads, its predicates first."""
    found = dict.fromkeys(slot for slot, _ in leaf.guard)
    for statement in leaf.statements:
        found.update(dict.fromkeys(sorted(read_in(statement))))
    return list(found)


def _written(leaf: _Leaf) -> set[int]:
    return set().union(*map(written_in, leaf.statements))


def _nodes_in(statements: Iterable[Statement]) -> list[Node]:
    """The nodes of the instructions; without any, those of the Moves."""
    statements = list(statements)
    found = [instruction.node for instruction in instructions_in(statements)]
    return found or [move.node for move in _moves_in(statements)]


def _moves_in(statements: Iterable[Statement]) -> Iterator[Move]:
    for statement in statements:
        if isinstance(statement, Move):
            yield statement
        for block in blocks_of(statement):
            yield from _moves_in(block.statements)


def _block_of(leaves: Iterable[_Leaf]) -> Block:
    """The leaves as a block, in branches by their guards."""
    root = Block(None)
    for guard, statements in leaves:
        block = root
        for predicate, value in guard:
            last = block.statements[-1] if block.statements else None
            if not isinstance(last, Branch) or last.predicate != predicate:
                last = Branch(predicate, (Block(block), Block(block)))
                block.statements.append(last)
            block = last.blocks[value]
        block.statements += [_copied(statement, block) for statement in statements]
    return root


def _copied(statement: Statement, around: Block) -> Statement:
    """The statement with blocks of its own, inside another block than before."""
    if isinstance(statement, Branch):
        if_false, if_true = (_copied_block(b, around) for b in statement.blocks)
        return Branch(statement.predicate, (if_false, if_true))
    if isinstance(statement, Loop):
        before = _copied_block(statement.before, around)
        # The body sees values defined in `before`.
        return Loop(statement.predicate, before, _copied_block(statement.body, before))
    return statement


def _copied_block(block: Block, around: Block) -> Block:
    found = Block(around)
    found.statements = [_copied(statement, found) for statement in block.statements]
    return found


def _homes_in(block: Block) -> dict[int, Block]:
    """For each register the innermost block around all that read and write it."""
    found: dict[int, Block] = {}
    for statement in block.statements:
        slots = [*read_by(statement), *written_by(statement)]
        inner = [_homes_in(b) for b in blocks_of(statement)]
        if isinstance(statement, Loop):
            inner[0].setdefault(statement.predicate, statement.before)
        for slot in slots:
            found[slot] = block
        for homes in inner:
            for slot, home in homes.items():
                known = found.get(slot)
                found[slot] = home if known is None else _around(known, home)
    return found


def _around(one: Block, other: Block) -> Block:
    """The innermost block around two blocks."""
    for block in reversed(one.parents):
        if block in other.parents:
            return block
    raise AssertionError("blocks of two steps")
