"""Compound instructions: whole branches and loops as one kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from tfteach.engine.execute.code_blocks import Statement, instructions_in
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.program import StepObserver


class BlockKernel(ABC):
    """The kernel of an instruction that stands for whole branches and loops.

    Args:
      statements: what it runs.

    Attributes:
      instructions: those among the statements and in their blocks.
    """

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.instructions = tuple(instructions_in(statements))

    @abstractmethod
    def __call__(self, *values: Any) -> Any:
        """Run it on the registers that it reads; returns those that are read later."""

    @abstractmethod
    def run_observed(
        self, values: Sequence[Any], observers: Sequence[StepObserver]
    ) -> Any:
        """Run it, followed instruction by instruction."""


def parts_of(instruction: Instruction) -> tuple[Instruction, ...]:
    """What an instruction stands for: itself, or the instructions of its blocks."""
    kernel = instruction.function
    return kernel.instructions if isinstance(kernel, BlockKernel) else (instruction,)
