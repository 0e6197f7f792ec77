"""One run of nested blocks instruction by instruction, for observers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.engine.execute.code_blocks import Block, Branch, Loop, Move
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.execute.program import StepObserver
from tfteach.engine.flow.nested_blocks import Nested
from tfteach.engine.flow.nested_source import BlockUses
from tfteach.framework.waiting import end_if_over


class BlockRun:
    """A run of blocks.

    Args:
      nested: the blocks.
      observers: follow each instruction.
    """

    def __init__(self, nested: Nested, observers: Sequence[StepObserver]) -> None:
        self._nested = nested
        self._observers = observers
        self._uses = BlockUses(nested)
        self._ends: dict[Block, dict[int, list[int]]] = {}
        self._registers: dict[int, Any] = {}

    def run(self, values: Sequence[Any]) -> list[Any]:
        """The values of the fetched registers; None for those of other branches."""
        nested, registers = self._nested, self._registers
        registers.update(zip(nested.feeds, values, strict=True))
        try:
            self._run(nested.block)
            return [own(registers.get(slot)) for slot, own in nested.fetches]
        finally:
            registers.clear()

    def _value(self, slot: int) -> Any:
        if slot in self._registers:
            return self._registers[slot]
        return self._nested.registers[slot]

    def _run(self, block: Block) -> None:
        ends = self._ends.get(block)
        if ends is None:
            ends = self._ends[block] = self._uses.ends(block)
        for i, statement in enumerate(block.statements):
            if isinstance(statement, Instruction):
                self._compute(statement)
            elif isinstance(statement, Move):
                values = [self._value(slot) for slot in statement.sources]
                self._registers.update(zip(statement.targets, values, strict=True))
            elif isinstance(statement, Branch):
                self._run(statement.blocks[bool(self._value(statement.predicate))])
            else:
                self._repeat(statement)
            for slot in ends.get(i, ()):
                self._registers.pop(slot, None)

    def _repeat(self, loop: Loop) -> None:
        while True:
            end_if_over()
            self._run(loop.before)
            if not self._value(loop.predicate):
                return
            self._run(loop.body)

    def _compute(self, instruction: Instruction) -> None:
        observers = self._observers
        values = [self._value(slot) for slot in instruction.inputs]
        for observer in observers:
            observer.before(instruction)
        try:
            result = instruction.function(*values)
        except Exception as error:
            raise_blaming(error, instruction)
        values.clear()
        outputs = instruction.outputs
        results = (result,) if len(outputs) == 1 else tuple(result or ())
        self._registers.update(zip(outputs, results, strict=True))
        for observer in observers:
            observer.after(instruction, results)
        for observer in observers:
            observer.release(instruction)
