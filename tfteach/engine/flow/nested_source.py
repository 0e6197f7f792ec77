"""Nested blocks as Python source, and the program that runs it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.engine.devices.array_module import IGNORED, float_errors
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.execute.program import FedShapes, OftenFed, StepObserver
from tfteach.engine.flow.code_blocks import (
    Block,
    Branch,
    Loop,
    Move,
    blocks_of,
    read_by,
    read_in,
    written_in,
)
from tfteach.engine.flow.dataflow import DataflowProgram
from tfteach.engine.flow.guards import UnstructuredError
from tfteach.engine.flow.nested_blocks import Nested, compile_nested
from tfteach.engine.flow.structured_control_flow import recover
from tfteach.engine.optimize.specialize import specialize
from tfteach.engine.plan.step import Step
from tfteach.framework.transaction import Deadline, atomically

_numbers = itertools.count()


class Script:
    """The function that a nested step becomes, and what its lines were made from."""

    def __init__(self, nested: Nested) -> None:
        self.nested = nested
        self.file = f"<tfteach step {next(_numbers)} with loops>"
        writer = _Writer(nested)
        self.source = writer.source()
        self.lines = writer.instructions
        namespace = writer.namespace
        exec(compile(self.source, self.file, "exec"), namespace)
        self.function: Callable[..., Any] = namespace["step"]

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
            raise_blaming(error, self.instruction_of(error))
        finally:
            float_errors.reset(mode)

    def instruction_of(self, error: BaseException) -> Instruction | None:
        """The instruction whose line of source raised `error`."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file:
                return self.lines.get(trace.tb_lineno)
            trace = trace.tb_next
        return None


class NestedProgram:
    """A runnable step with control flow; the same interface as `execute.Program`.

    Args:
      step: what it runs.
      nested: the step in blocks.
      specialize: the same for given shapes of the feeds.
      observed: makes the program for runs that are followed op by op.
    """

    def __init__(
        self,
        step: Step,
        nested: Nested,
        specialize: Callable[[FedShapes], Nested],
        observed: Callable[[], DataflowProgram],
    ) -> None:
        self.step = step
        self.script = Script(nested)
        self._often_fed = OftenFed(lambda shapes: Script(specialize(shapes)))
        self.hot: dict[FedShapes, Script] = self._often_fed.made
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
        shapes = tuple([value.shape for value in fed])
        script = self.hot.get(shapes) or self._often_fed.count(shapes)
        return (script or self.script).run(fed)


def program_with_flow(
    step: Step, resources: Resources, session: Any, structured: bool = True
) -> NestedProgram | DataflowProgram:
    """The program of a step with branches or loops.

    Args:
      step: optimized and placed.
      resources: the session's.
      session: the session.
      structured: False to run it as dataflow, whatever its structure.
    """

    def dataflow() -> DataflowProgram:
        return DataflowProgram(step, resources, session)

    def for_shapes(shapes: FedShapes) -> Nested:
        special = specialize(step, shapes)
        return compile_nested(special, recover(special), resources, session)

    if not structured:
        return dataflow()
    try:
        found = recover(step)
    except UnstructuredError:
        return dataflow()
    nested = compile_nested(step, found, resources, session)
    return NestedProgram(step, nested, for_shapes, dataflow)


class _Writer:
    def __init__(self, nested: Nested) -> None:
        self.nested = nested
        self.lines: list[str] = []
        self.instructions: dict[int, Instruction] = {}
        self.namespace: dict[str, Any] = {}
        self.names: dict[int, str] = {}
        for slot, value in enumerate(nested.registers):
            if value is not None:
                self.names[slot] = f"c{slot}"
                self.namespace[f"c{slot}"] = value
        self.uses: dict[int, set[Block]] = {}
        self.around: dict[Block, Block] = {}  # the block that contains it
        self.kept = {slot for slot, _ in nested.fetches}

    def source(self) -> str:
        nested = self.nested
        for slot in nested.feeds:
            self.names[slot] = f"s{slot}"
        arguments = ", ".join(self.names[slot] for slot in nested.feeds)
        self.lines.append(f"def step({arguments}):")
        self.note_uses(nested.block)
        self.write(nested.block, 1)
        fetched = []
        for i, (slot, own) in enumerate(nested.fetches):
            self.namespace[f"own{i}"] = own
            fetched.append(f"own{i}({self.name(slot)})")
        self.lines.append(f" return [{', '.join(fetched)}]")
        return "\n".join(self.lines)

    def name(self, slot: int) -> str:
        return self.names.get(slot) or f"s{slot}"

    # ---- which registers are given back where

    def note_uses(self, block: Block) -> None:
        for statement in block.statements:
            for slot in read_by(statement):
                self.uses.setdefault(slot, set()).add(block)
            for inner in blocks_of(statement):
                self.around[inner] = block
                self.note_uses(inner)
            if isinstance(statement, Loop):
                self.uses.setdefault(statement.predicate, set()).add(statement.before)

    def ends(self, block: Block) -> dict[int, list[int]]:
        """Statement -> the registers that are not needed after it."""
        last: dict[int, int] = {}
        for i, statement in enumerate(block.statements):
            for slot in read_in(statement) | written_in(statement):
                last[slot] = i
        found: dict[int, list[int]] = {}
        for slot, i in last.items():
            if (
                self.nested.homes.get(slot) is block
                and slot not in self.nested.scalars
                and slot not in self.kept
                and all(block in user.parents for user in self.uses.get(slot, ()))
                and not self.crosses(block, slot)
            ):
                found.setdefault(i, []).append(slot)
        return found

    def crosses(self, block: Block, slot: int) -> bool:
        """Whether a loop's body still uses what its condition has made."""
        return any(
            user is not block and block in user.parents and not self.holds(block, user)
            for user in self.uses.get(slot, ())
        )

    def holds(self, block: Block, inner: Block) -> bool:
        """Whether a statement of `block` contains the block `inner`."""
        child = inner.parents[inner.parents.index(block) + 1]
        return self.around[child] is block

    # ---- writing

    def write(self, block: Block, depth: int) -> None:
        indent = " " * depth
        ends = self.ends(block)
        start = len(self.lines)
        for i, statement in enumerate(block.statements):
            if isinstance(statement, Instruction):
                self.write_instruction(statement, indent)
            elif isinstance(statement, Move):
                self.write_move(statement, indent)
            elif isinstance(statement, Branch):
                self.write_branch(statement, depth)
            else:
                self.write_loop(statement, depth)
            ended = [self.name(slot) for slot in ends.get(i, ())]
            if ended:
                self.lines.append(f"{indent}{' = '.join(ended)} = None")
        if len(self.lines) == start:
            self.lines.append(f"{indent}pass")

    def write_instruction(self, instruction: Instruction, indent: str) -> None:
        inputs = [self.name(slot) for slot in instruction.inputs]
        if instruction.is_read:
            value = f"{inputs[0]}.value"
        elif instruction.expression is not None:
            value = instruction.expression.format(*inputs)
        else:
            function = f"f{len(self.lines)}"
            self.namespace[function] = instruction.function
            value = f"{function}({', '.join(inputs)})"
        outputs = ", ".join(self.name(slot) for slot in instruction.outputs)
        self.lines.append(f"{indent}{outputs} = {value}" if outputs else indent + value)
        self.instructions[len(self.lines)] = instruction

    def write_move(self, move: Move, indent: str) -> None:
        pairs = [
            (self.name(target), self.name(source))
            for target, source in zip(move.targets, move.sources, strict=True)
            if target != source
        ]
        if pairs:
            targets, sources = map(", ".join, zip(*pairs, strict=True))
            self.lines.append(f"{indent}{targets} = {sources}")

    def write_branch(self, branch: Branch, depth: int) -> None:
        indent = " " * depth
        if_false, if_true = branch.blocks
        predicate = self.name(branch.predicate)
        if not if_true.statements:
            self.lines.append(f"{indent}if not {predicate}:")
            self.write(if_false, depth + 1)
            return
        self.lines.append(f"{indent}if {predicate}:")
        self.write(if_true, depth + 1)
        if if_false.statements:
            self.lines.append(f"{indent}else:")
            self.write(if_false, depth + 1)

    def write_loop(self, loop: Loop, depth: int) -> None:
        indent = " " * depth
        predicate = self.name(loop.predicate)
        statements = loop.before.statements
        only = statements[0] if len(statements) == 1 else None
        if (
            isinstance(only, Instruction)
            and only.expression is not None
            and only.outputs == (loop.predicate,)
            and self.uses[loop.predicate] == {loop.before}
        ):
            inputs = [self.name(slot) for slot in only.inputs]
            condition = only.expression.format(*inputs)
            self.lines.append(f"{indent}while {condition}:")
            self.instructions[len(self.lines)] = only
        else:
            self.lines.append(f"{indent}while True:")
            if loop.before.statements:
                self.write(loop.before, depth + 1)
            self.lines.append(f"{indent} if not {predicate}: break")
        self.write(loop.body, depth + 1)
