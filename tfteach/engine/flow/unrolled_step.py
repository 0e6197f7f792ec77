"""Steps with loops as straight-line code, where the host knows each iteration.

A loop over the time steps of a sequence runs as often as the sequence is long: a number
that the shapes of the feeds determine.  Counters and conditions then have one value in
all runs; they are computed once, here, and what remains are the kernels of all
iterations, one after the other.  A card can receive these as one CUDA graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.engine.execute.code_blocks import Block, Branch, Loop, Move
from tfteach.engine.execute.compile import Compiled, Fuse
from tfteach.engine.execute.instruction import Instruction, with_frees
from tfteach.engine.flow.nested_blocks import Nested
from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.plan.step import Step
from tfteach.framework.shape import Shape

# Instructions of all iterations: more take long to capture.
MAX_INSTRUCTIONS = 20_000


class NotUnrolledError(Exception):
    """Why the iterations of a step are not known."""


def unrolled(step: Step, nested: Nested, fuse: Fuse) -> Compiled:
    """The step without branches and loops.

    Args:
      step: compiled to `nested`, for given shapes of its feeds.
      nested: its blocks.
      fuse: joins element-wise instructions.

    Raises:
      NotUnrolledError: a condition depends on values that only a run knows.
    """
    return _Unroller(step, nested).run(fuse)


class _Stack(list[int]):
    """A loop's history: the registers of the values that were pushed."""


class _Unroller:
    """Follows the blocks as a run does, with registers in place of unknown values."""

    def __init__(self, step: Step, nested: Nested) -> None:
        self.step = step
        self.nested = nested
        self.registers: list[Any] = []
        self.shapes: dict[int, Shape] = {}
        self.known: set[int] = set()  # registers with one value of the host in all runs
        self.code: list[Instruction] = []
        self.visited = 0
        # Register of `nested` -> the one that holds its value now, or a history.
        self.now: dict[int, int | _Stack] = {}

    def run(self, fuse: Fuse) -> Compiled:
        nested = self.nested
        feeds = tuple(self.defined(slot) for slot in nested.feeds)
        for slot, value in enumerate(nested.registers):
            if value is not None and slot not in nested.feeds:
                self.now[slot] = self.preset(value)
        self.follow(nested.block)
        fetches = tuple((self.register(slot), own) for slot, own in nested.fetches)
        keep = {slot for slot, _ in fetches}
        presets = {i for i, value in enumerate(self.registers) if value is not None}
        commits = [i for i in self.code if i.is_commit]
        code = [i for i in self.code if not i.is_commit]
        fused = fuse(code, self.shapes.get, keep, self.new_register)
        return Compiled(
            self.step,
            self.registers,
            feeds,
            nested.kept_feeds,
            self.code,
            fetches,
            [*with_frees(fused, keep | presets), *commits],
            is_heavy=False,
            is_transaction=nested.writes,
        )

    # ---- registers

    def new_register(self, shape: Shape = None) -> int:
        self.registers.append(None)
        self.shapes[len(self.registers) - 1] = shape
        return len(self.registers) - 1

    def preset(self, value: Any) -> int:
        slot = self.new_register(getattr(value, "shape", None))
        self.registers[slot] = value
        if isinstance(value, np.ndarray | np.generic | int):
            self.known.add(slot)
        return slot

    def defined(self, slot: int) -> int:
        """A new register for the value that a register of `nested` has from now on."""
        made = self.now[slot] = self.new_register(self.nested.shapes.get(slot))
        return made

    def register(self, slot: int) -> int:
        found = self.now.get(slot)
        if not isinstance(found, int):
            raise NotUnrolledError("a history is used as a value")
        return found

    # ---- statements

    def follow(self, block: Block) -> None:
        for statement in block.statements:
            if isinstance(statement, Instruction):
                self.instruction(statement)
            elif isinstance(statement, Move):
                held = [self.now[slot] for slot in statement.sources]
                self.now.update(zip(statement.targets, held, strict=True))
            elif isinstance(statement, Branch):
                self.follow(statement.blocks[self.condition(statement.predicate)])
            else:
                self.loop(statement)

    def loop(self, loop: Loop) -> None:
        while True:
            self.follow(loop.before)
            if not self.condition(loop.predicate):
                return
            self.follow(loop.body)

    def condition(self, slot: int) -> bool:
        found = self.register(slot)
        if found not in self.known:
            raise NotUnrolledError("a condition depends on what the run computes")
        return bool(self.registers[found])

    def instruction(self, instruction: Instruction) -> None:
        self.visited += 1
        if self.visited > MAX_INSTRUCTIONS:
            raise NotUnrolledError(f"more than {MAX_INSTRUCTIONS} instructions")
        if self.is_history(instruction):
            return
        inputs = tuple(self.register(slot) for slot in instruction.inputs)
        if self.known.issuperset(inputs) and _is_computed_once(instruction):
            self.compute(instruction, inputs)
            return
        outputs = tuple(self.defined(slot) for slot in instruction.outputs)
        self.code.append(instruction._replace(inputs=inputs, outputs=outputs))

    def is_history(self, instruction: Instruction) -> bool:
        """Whether it works on the stack of a gradient, which is followed here."""
        function, inputs = instruction.function, instruction.inputs
        if function is list:
            self.now[instruction.outputs[0]] = _Stack()
        elif function is list.append:
            self.history(inputs[0]).append(self.register(inputs[1]))
        elif function is list.pop:
            self.now[instruction.outputs[0]] = self.history(inputs[0]).pop()
        else:
            return False
        return True

    def history(self, slot: int) -> _Stack:
        found = self.now[slot]
        assert isinstance(found, _Stack)
        return found

    def compute(self, instruction: Instruction, inputs: Sequence[int]) -> None:
        try:
            found = instruction.function(*[self.registers[slot] for slot in inputs])
        except Exception as error:
            raise NotUnrolledError(str(error)) from error
        outputs = instruction.outputs
        values = (found,) if len(outputs) == 1 else tuple(found or ())
        for slot, value in zip(outputs, values, strict=True):
            self.now[slot] = self.preset(value)


def _is_computed_once(instruction: Instruction) -> bool:
    """Whether its value is the same in all runs, if its inputs' are."""
    node = instruction.node
    if instruction.is_read or instruction.is_commit or node.spec.is_stateful:
        return False
    if node.spec.calls_python or node.spec.calls_function:
        return False
    is_copy = isinstance(node.spec, Send | Recv)
    return is_copy or not node.device.is_asynchronous
