"""`Instruction`: one step of a compiled program."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.engine.plan.step import Node
from tfteach.framework.transaction import commit

read_cell = operator.attrgetter("value")


class Halves(NamedTuple):
    """A kernel of a card in two parts; see `Op.host_part`.

    Attributes:
      on_host: of the inputs; returns what the other takes.
      on_card: of that; returns the output.
    """

    on_host: Callable[..., Any]
    on_card: Callable[[Any], Any]


class Instruction(NamedTuple):
    """`registers[outputs] = function(*registers[inputs])`, then frees `frees`."""

    function: Callable[..., Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    frees: tuple[int, ...]
    node: Node
    expression: str | None = None  # Python source with {0}, {1} ... for the inputs
    is_elementwise: bool = False  # without side effects, on plain arrays
    scalar: str | None = None  # the expression for one element (of floats or truths)
    can_fuse: bool = False  # a kernel of the device, whose inputs stay as they are
    halves: Halves | None = None  # of the function, where it has them

    @property
    def is_read(self) -> bool:
        return self.function is read_cell

    @property
    def is_commit(self) -> bool:
        """Whether it performs the updates that the run has deferred."""
        return self.function is commit


def with_frees(code: Sequence[Instruction], spared: set[int]) -> list[Instruction]:
    """The instructions, each with the registers that it is the last to use.

    Args:
      code: in execution order.
      spared: registers that are never freed.
    """
    last: dict[int, int] = {}
    for i, instruction in enumerate(code):
        for slot in (*instruction.outputs, *instruction.inputs):
            last[slot] = i
    frees: list[list[int]] = [[] for _ in code]
    for slot, i in last.items():
        if slot not in spared:
            frees[i].append(slot)
    return [
        instruction._replace(frees=tuple(own))
        for instruction, own in zip(code, frees, strict=True)
    ]


class Chain(NamedTuple):
    """Instructions that can run as one, in order.

    Attributes:
      parts: the instructions; each makes one value.
      inputs: the registers that they read but do not define.
      outputs: the registers that are needed afterwards.
    """

    parts: tuple[Instruction, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def as_one(self, kernel: Callable[..., Any]) -> Instruction:
        """The instruction that calls `kernel` in place of the parts' kernels."""
        return Instruction(kernel, self.inputs, self.outputs, (), self.parts[-1].node)
