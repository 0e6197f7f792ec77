"""Nested blocks as Python source, and the program that runs it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.engine.devices.array_module import IGNORED, float_errors
from tfteach.engine.execute.code_blocks import (
    Block,
    Branch,
    Loop,
    Move,
    blocks_of,
    read_by,
    read_in,
    written_in,
)
from tfteach.engine.execute.generated_source import (
    StepFunction,
    assignment,
    write_fetches,
)
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.execute.program import (
    FedShapes,
    HotStep,
    OftenFed,
    StepObserver,
    fed_handles,
    shapes_of,
)
from tfteach.engine.flow.dataflow import DataflowProgram
from tfteach.engine.flow.guards import UnstructuredError
from tfteach.engine.flow.nested_blocks import Nested, compile_nested
from tfteach.engine.flow.structured_control_flow import recover
from tfteach.engine.optimize.specialize import specialize
from tfteach.engine.plan.step import Change, Step
from tfteach.framework.codegen import SourceWriter
from tfteach.framework.transaction import atomically
from tfteach.framework.waiting import Deadline


class Script:
    """A function that runs a nested step.

    Args:
      nested: the step.
      hot: the function; None to generate it.

    Attributes:
      log: what was done to the step, and what could not be done.
    """

    def __init__(self, nested: Nested, hot: HotStep | None = None) -> None:
        self.nested = nested
        self.log: Sequence[Change] = ()
        self.generated = NestedWriter(nested).compile() if hot is None else hot
        self.function = self.generated.function
        self.source = self.generated.source

    def run(self, fed: Sequence[Any]) -> Any:
        """Run once; see `Program.run`."""
        if self.nested.writes:
            return atomically(self._run_once, (fed,))
        return self._run_once(fed)

    def _run_once(self, fed: Sequence[Any]) -> Any:
        if self.nested.kept_feeds:
            fed = list(fed)
            for i in self.nested.kept_feeds:
                fed[i] = fed[i].copy()
        mode = float_errors.set(IGNORED)
        try:
            return self.function(*fed)
        except Exception as error:
            raise_blaming(error, self.generated.origin_of(error))
        finally:
            float_errors.reset(mode)


class NestedProgram:
    """A runnable step with control flow; the same interface as `execute.Program`.

    Args:
      step: what it runs.
      nested: the step in blocks.
      specialize: the function for given shapes of the feeds.
      observed: builds the program for runs with observers.
    """

    def __init__(
        self,
        step: Step,
        nested: Nested,
        specialize: Callable[[FedShapes], Script],
        observed: Callable[[], DataflowProgram],
    ) -> None:
        self.step = step
        self.script = Script(nested)
        self._often_fed = OftenFed(specialize)
        self.hot: dict[FedShapes, Script] = self._often_fed.made
        self._handles = fed_handles(step)
        self._observed = observed
        self._slow: DataflowProgram | None = None

    @property
    def source(self) -> str:
        """The Python source for any shapes."""
        return self.script.source

    def run(
        self,
        fed: Sequence[Any],
        observers: Sequence[StepObserver] = (),
        deadline: Deadline | None = None,
    ) -> Any:
        """Run once; see `Program.run`."""
        if observers or deadline is not None:  # which a loop could miss for ever
            if self._slow is None:
                self._slow = self._observed()
            return self._slow.run(fed, observers, deadline)
        if self._handles:
            shapes = shapes_of(fed, self._handles)
        else:
            shapes = tuple([value.shape for value in fed])
        script = self.hot.get(shapes) or self._often_fed.count(shapes)
        return (script or self.script).run(fed)


def program_with_flow(
    step: Step,
    resources: Resources,
    session: Any,
    structured: bool = True,
    hot_step: Callable[[Step, Nested], HotStep | None] | None = None,
) -> NestedProgram | DataflowProgram:
    """The program of a step with branches or loops.

    Args:
      step: optimized and placed.
      resources: the session's.
      session: the session.
      structured: False to run it as dataflow, whatever its structure.
      hot_step: makes a faster function of a step for given shapes, if it can.
    """

    def dataflow() -> DataflowProgram:
        return DataflowProgram(step, resources, session)

    def for_shapes(shapes: FedShapes) -> Script:
        special = specialize(step, shapes)
        nested = compile_nested(special, recover(special), resources, session)
        script = Script(nested, hot_step and hot_step(special, nested))
        script.log = special.log
        return script

    if not structured:
        return dataflow()
    try:
        found = recover(step)
    except UnstructuredError:
        return dataflow()
    nested = compile_nested(step, found, resources, session)
    return NestedProgram(step, nested, for_shapes, dataflow)


class BlockUses:
    """Where the registers of blocks are used last, and can be freed.

    Args:
      nested: the blocks.

    Attributes:
      of: register -> the blocks with a statement that reads it.
    """

    def __init__(self, nested: Nested) -> None:
        self.of: dict[int, set[Block]] = {}
        self._nested = nested
        self._kept = {slot for slot, _ in nested.fetches}
        self._around: dict[Block, Block] = {}  # the block that contains it
        self._record(nested.block)

    def _record(self, block: Block) -> None:
        for statement in block.statements:
            for slot in read_by(statement):
                self.of.setdefault(slot, set()).add(block)
            for inner in blocks_of(statement):
                self._around[inner] = block
                self._record(inner)
            if isinstance(statement, Loop):
                self.of.setdefault(statement.predicate, set()).add(statement.before)

    def ends(self, block: Block) -> dict[int, list[int]]:
        """Statement -> the registers whose last use it is."""
        last: dict[int, int] = {}
        for i, statement in enumerate(block.statements):
            for slot in read_in(statement) | written_in(statement):
                last[slot] = i
        found: dict[int, list[int]] = {}
        for slot, i in last.items():
            if (
                self._nested.homes.get(slot) is block
                and slot not in self._nested.scalars
                and slot not in self._kept
                and all(block in user.parents for user in self.of.get(slot, ()))
                and not self._crosses(block, slot)
            ):
                found.setdefault(i, []).append(slot)
        return found

    def _crosses(self, block: Block, slot: int) -> bool:
        """Whether a loop's body uses registers defined by its condition."""
        return any(
            user is not block and block in user.parents and not self._holds(block, user)
            for user in self.of.get(slot, ())
        )

    def _holds(self, block: Block, inner: Block) -> bool:
        """Whether a statement of `block` contains the block `inner`."""
        child = inner.parents[inner.parents.index(block) + 1]
        return self._around[child] is block


class NestedWriter:
    """Writes nested blocks as one Python function."""

    def __init__(self, nested: Nested) -> None:
        self.nested = nested
        self.writer = SourceWriter[Instruction](
            "step", [f"s{slot}" for slot in nested.feeds]
        )
        self.fed = set(nested.feeds)
        self.uses = BlockUses(nested)
        self.kept = {slot for slot, _ in nested.fetches}
        self.kernels = itertools.count()

    def compile(self) -> StepFunction:
        self.write(self.nested.block)
        write_fetches(self.nested.fetches, self.name, self.writer)
        return self.writer.compile("step with loops")

    def name(self, slot: int) -> str:
        value = self.nested.registers[slot]
        if value is None or slot in self.fed:
            return f"s{slot}"
        return self.writer.bind(f"c{slot}", value)

    # ---- writing

    def write(self, block: Block) -> None:
        ends = self.uses.ends(block)
        for i, statement in enumerate(block.statements):
            if isinstance(statement, Instruction):
                self.write_instruction(statement)
            elif isinstance(statement, Move):
                self.write_move(statement)
            elif isinstance(statement, Branch):
                self.write_branch(statement)
            else:
                self.write_loop(statement)
            ended = [self.name(slot) for slot in ends.get(i, ())]
            if ended:
                self.writer.line(f"{' = '.join(ended)} = None")

    def write_instruction(self, instruction: Instruction) -> None:
        inputs = [self.name(slot) for slot in instruction.inputs]
        kernel = f"f{next(self.kernels)}"
        text = assignment(instruction, inputs, self.name, self.writer, kernel)
        self.writer.line(text, instruction)

    def write_move(self, move: Move) -> None:
        pairs = [
            (self.name(target), self.name(source))
            for target, source in zip(move.targets, move.sources, strict=True)
            if target != source
        ]
        if pairs:
            targets, sources = map(", ".join, zip(*pairs, strict=True))
            self.writer.line(f"{targets} = {sources}")

    def write_branch(self, branch: Branch) -> None:
        if_false, if_true = branch.blocks
        predicate = self.name(branch.predicate)
        if not if_true.statements:
            with self.writer.block(f"if not {predicate}:"):
                self.write(if_false)
            return
        with self.writer.block(f"if {predicate}:"):
            self.write(if_true)
        if if_false.statements:
            with self.writer.block("else:"):
                self.write(if_false)

    def write_loop(self, loop: Loop) -> None:
        statements = loop.before.statements
        only = statements[0] if len(statements) == 1 else None
        if (
            isinstance(only, Instruction)
            and only.expression is not None
            and only.outputs == (loop.predicate,)
            and self.uses.of[loop.predicate] == {loop.before}
        ):
            inputs = [self.name(slot) for slot in only.inputs]
            condition = only.expression.format(*inputs)
            with self.writer.block(f"while {condition}:", only):
                self.begin_iteration()
                self.write(loop.body)
            return
        with self.writer.block("while True:"):
            self.begin_iteration()
            self.write(loop.before)
            self.writer.line(f"if not {self.name(loop.predicate)}: break")
            self.write(loop.body)

    def begin_iteration(self) -> None:
        """Write what an iteration of a loop begins with."""
