"""Steps with branches and loops as nested blocks of instructions.

The same instructions on numbered registers as in compile.py, in blocks: a `Branch` has
two, a `Loop` has one for its condition and one for its body.  Switch, Enter, Exit and
the like cost nothing: they are aliases of registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.execute.code_blocks import Block, Branch, Loop, Move
from tfteach.engine.execute.compile import Compiler, own_copy
from tfteach.engine.execute.instruction import Instruction, read_cell
from tfteach.engine.execute.kernel_context import Context, Resources
from tfteach.engine.flow.loop_invariants import LoopCode
from tfteach.engine.flow.regions import Entry, Recovered, Region, Unit, Variable
from tfteach.engine.plan.references import carries_reference
from tfteach.engine.plan.shared_buffers import buffer_of
from tfteach.engine.plan.step import Edge, Node, Step, writes
from tfteach.framework import errors
from tfteach.framework import shape as shapes
from tfteach.framework.op_traits import Collection, Flow
from tfteach.framework.shape import Shape


class Nested(NamedTuple):
    """A step compiled to nested blocks; compare `Compiled`."""

    registers: list[Any]
    feeds: tuple[int, ...]
    kept_feeds: tuple[int, ...]
    block: Block
    fetches: tuple[tuple[int, Callable[[Any], Any]], ...]
    homes: dict[int, Block]  # register -> the block that defines it
    scalars: set[int]  # registers that are not worth freeing
    writes: bool  # whether it writes variables
    shapes: dict[int, Shape]  # register -> its static shape
    is_heavy: bool  # whether all cores should work on one kernel at a time


def compile_nested(
    step: Step, found: Recovered, resources: Resources, session: Any = None
) -> Nested:
    """Compile the regions of a step to blocks."""
    return _NestedCompiler(step, found, resources, session).compile_blocks()


class _NestedCompiler(Compiler):
    def __init__(
        self, step: Step, found: Recovered, resources: Resources, session: Any
    ) -> None:
        super().__init__(step, resources, session)
        self.root = found.root
        self.alive = found.alive
        self.homes: dict[int, Block] = {}
        self.block = Block(None)
        self.checked: set[tuple[int, Block]] = set()  # predicates that are scalars
        self.used = {edge for node in step.nodes for edge in node.inputs}
        self.used.update(step.fetches)

    def compile_blocks(self) -> Nested:
        feeds = self.add_feeds()
        for node in self.step.nodes:
            if node in self.alive:
                self.preset_node(node)
        block = self.block
        self.add_units(self.root.before)
        fetched = self.fetch_all()
        devices = {node.device for node in self.step.nodes}
        on_host = all(device.ledger is None for device in devices)
        if on_host and len(devices) < 2 and not self.step.shared:
            LoopCode(self, {slot for slot, _ in fetched}).improve(block)
        block.statements += self.allow_deferral(block.statements)
        return Nested(
            self.registers,
            feeds,
            self.kept_feeds(),
            block,
            fetched,
            self.homes,
            self.scalars,
            any(map(writes, self.step.nodes)),
            self.shapes,
            self.is_heavy(),
        )

    def add(self, instruction: Instruction) -> None:
        self.block.statements.append(instruction)
        for slot in instruction.outputs:
            self.homes.setdefault(slot, self.block)

    def add_units(self, units: Sequence[Unit]) -> None:
        """Append statements to the block, opening branches according to the guards."""
        outer = self.block
        opened: list[tuple[tuple[Edge, bool], Block]] = []
        for thing, guard in units:
            if not self.has_code(thing):
                continue
            depth = 0
            while depth < min(len(opened), len(guard)):
                if opened[depth][0] != guard[depth]:
                    break
                depth += 1
            del opened[depth:]
            for edge, value in guard[depth:]:
                around = opened[-1][1] if opened else outer
                opened.append(((edge, value), self.branch(around, edge, value)))
            self.block = opened[-1][1] if opened else outer
            if isinstance(thing, Region):
                self.add_loop(thing)
            elif isinstance(thing, Entry):
                self.add_entry(thing)
            else:
                self.add_node(thing)
        self.block = outer

    def has_code(self, thing: Node | Region | Entry) -> bool:
        if isinstance(thing, Region):
            return any(node in self.alive for node in thing.members) or any(
                self.has_code(child) for child in thing.children
            )
        if isinstance(thing, Entry):
            return thing.merge in self.alive
        return thing in self.alive and thing.values is None

    def branch(self, around: Block, edge: Edge, value: bool) -> Block:
        """The block for one outcome, of the branch just left if it is the same."""
        predicate = self.slot(edge)
        last = around.statements[-1] if around.statements else None
        if not isinstance(last, Branch) or last.predicate != predicate:
            last = Branch(predicate, (Block(around), Block(around)))
            around.statements.append(last)
        return last.blocks[value]

    def add_node(self, node: Node) -> None:
        if node.flow is Flow.MERGE:
            for i in range(2):  # the entries have set them
                self.homes[self.slot(Edge(node, i))] = self.block
        elif (
            node.routes_values
            or (node.forwards_input and node.inputs[0].node.device is node.device)
            or node in self.step.forwards
        ):
            self.rename(node)
        elif node in self.step.histories:
            self.add_history(node)
        elif not (node.spec.does_nothing or node.spec.returns_handle):
            self.emit(node)

    def add_history(self, node: Node) -> None:
        """Stacks of loop gradients cannot overflow or fail: plain lists."""
        role, edge = node.op.spec.collection_role, Edge(node, 0)
        if role is Collection.STACK:
            self.add(Instruction(list, (), (self.slot(edge),), (), node))
            return
        inputs = tuple(self.argument(node, i) for i in range(len(node.inputs)))
        if role is Collection.PUSH:
            self.slots[edge] = inputs[1]
            self.add(Instruction(list.append, inputs, (), (), node))
            return
        slot = self.slot(edge)
        self.shapes[slot] = shape = self.step.shapes.get(edge)
        if shapes.size_of(shape) == 1:
            self.scalars.add(slot)
        self.add(Instruction(list.pop, inputs, (slot,), (), node))

    def rename(self, node: Node) -> None:
        """The output is an alias of the input, which is read if it is a reference."""
        slot = self.argument(node, self.step.forwards.get(node, 0))
        for i in range(len(node.op.outputs)):
            self.slots[Edge(node, i)] = slot
        if node.flow is Flow.SWITCH and node.op.inputs[1].static_shape != ():
            self.add_check(node, self.argument(node, 1))

    def add_check(self, node: Node, predicate: int) -> None:
        """Fail the run if the predicate is not a scalar."""
        if any((predicate, block) in self.checked for block in self.block.parents):
            return
        self.checked.add((predicate, self.block))
        made = len(self.registers)
        self.registers.append(None)
        self.scalars.add(made)
        self.add(Instruction(_check_scalar, (predicate,), (made,), (), node))

    def add_entry(self, entry: Entry) -> None:
        merge, number = entry
        targets = [self.slot(Edge(merge, 0))]
        sources = [self.argument(merge, number)]
        index = self.slot(Edge(merge, 1))
        if self.index_is_used(merge):
            constant = len(self.registers)
            self.registers.append(np.int32(number))
            self.preset.add(constant)
            targets.append(index)
            sources.append(constant)
        self.block.statements.append(Move(tuple(targets), tuple(sources), merge))

    def index_is_used(self, merge: Node) -> bool:
        return Edge(merge, 1) in self.used

    def add_loop(self, loop: Region) -> None:
        assert loop.predicate is not None
        outer = self.block
        variables = [v for v in loop.variables if v.merge in self.alive]
        targets = tuple(self.slot(Edge(v.merge, 0)) for v in variables)
        for slot, variable in zip(targets, variables, strict=True):
            self.homes[slot] = outer
            merged = Edge(variable.merge, 0)
            self.shapes[slot] = self.step.shapes.get(
                merged, variable.merge.op.outputs[0].static_shape
            )
        starts = tuple(self.argument_at(v.merge, v.enter) for v in variables)
        if targets:
            outer.statements.append(Move(targets, starts, variables[0].merge))
        before, body = Block(outer), Block(outer)
        body.parents = (*before.parents, body)  # it sees values defined in `before`
        self.block = before
        self.add_units(loop.before)
        predicate = self.slot(loop.predicate)
        self.scalars.add(predicate)
        if not _is_scalar(loop.predicate):
            self.add_check(loop.predicate.node, predicate)
        self.block = body
        self.add_units(loop.body)
        nexts = tuple(self.next_value(v) for v in variables)
        if targets:
            body.statements.append(Move(targets, nexts, variables[0].merge))
        outer.statements.append(Loop(predicate, before, body))
        self.block = outer
        self.add_units(loop.after)

    def next_value(self, variable: Variable) -> int:
        """The register of a loop variable's next value, read if it is a reference."""
        slot = self.slot(variable.next)
        if carries_reference(variable.next) and not carries_reference(
            Edge(variable.merge, 0)
        ):
            value = self.new_register(variable.merge.op.outputs[0].static_shape)
            self.add(Instruction(read_cell, (slot,), (value,), (), variable.next.node))
            return value
        return slot

    def fetch(self, edge: Edge) -> tuple[int, Callable[[Any], Any]]:
        slot, own = super().fetch(edge)
        return slot, own_copy if edge.node in self.step.forwards else own

    def argument_at(self, merge: Node, edge: Edge) -> int:
        return self.argument(merge, merge.inputs.index(edge))

    def preset_node(self, node: Node) -> None:
        if node.values is not None:
            for i, value in enumerate(node.values):
                self.preset_constant(node, i, value)
        elif node.spec.returns_handle:
            context = Context(node.op, node.device, self.resources, self.session)
            handle = buffer_of(self.step, node, node.spec.compute(context))
            self.preset_value(Edge(node, 0), handle)


def _is_scalar(edge: Edge) -> bool:
    outputs = edge.node.op.outputs
    if edge.node.is_feed:
        return False
    return outputs[edge.index].static_shape == ()


def _check_scalar(predicate: Any) -> None:
    if predicate.ndim:
        raise errors.invalid_argument(
            "The second input must be a scalar, but it has shape "
            f"{shapes.text(predicate.shape)}"
        )
