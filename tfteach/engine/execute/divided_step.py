"""A step on one card in three parts: before it on the host, on it, and after it.

The card's part can be captured as a CUDA graph: no kernel in it needs a value that the
host computes from another one's result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.execute.compile import Compiled
from tfteach.engine.execute.instruction import Halves, Instruction, with_frees
from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.plan.step import Node, needs_context, writes
from tfteach.framework.variable_cell import Cell

_VALUES = np.ndarray, np.generic, bool, int, float


class UncapturableError(Exception):
    """Why a step cannot be captured."""


class DividedStep(NamedTuple):
    """The parts of a step.

    Attributes:
      before: instructions of the host, copies to the card, and kernels with a state of
        their own, whose results are handed to the card's part: those whole that have no
        halves.
      on_card: the kernels to capture.
      downloads: copies to the host of what they compute.
      after: the host's other instructions, which use these.
      entering: the registers that `before` sets and `on_card` reads.
      leaving: the registers that `on_card` sets, and that are read later.
      uploads: those of `before` that copy from the host what only the card reads.
      taken: the registers of what halves on the host return to those on the card.
      cells: the registers of the variables, and whether `on_card` writes them.
    """

    before: Sequence[Instruction]
    on_card: Sequence[Instruction]
    downloads: Sequence[Instruction]
    after: Sequence[Instruction]
    entering: Sequence[int]
    leaving: Sequence[int]
    uploads: Sequence[Instruction]
    taken: Sequence[int]
    cells: dict[int, bool]

    @property
    def may_fail_after(self) -> bool:
        """Whether the run can fail once the card has computed everything."""
        return bool(self.after)

    @property
    def rest(self) -> Sequence[Instruction]:
        """All that comes after the card's part."""
        return (*self.downloads, *self.after)


def divided(compiled: Compiled, card: Any) -> DividedStep:
    """The parts of a step.

    Raises:
      UncapturableError: the card would have to wait for the host in between.
    """
    if compiled.step.shared:
        raise UncapturableError("values that were read share memory with a variable")
    found = _Divider(compiled, card).run()
    if not found.on_card:
        raise UncapturableError("no kernel runs on the card")
    return found


class _Divider:
    def __init__(self, compiled: Compiled, card: Any) -> None:
        self.compiled = compiled
        self.card = card
        self.from_card: set[int] = set()  # registers of values that kernels compute
        self.from_after: set[int] = set()  # registers that the host sets afterwards
        self.before: list[Instruction] = []
        self.on_card: list[Instruction] = []
        self.downloads: list[Instruction] = []
        self.after: list[Instruction] = []
        self.taken: list[int] = []

    def run(self) -> DividedStep:
        for instruction in self.compiled.fused:
            if not instruction.is_commit:
                self.add(instruction)
        set_before = {slot for i in self.before for slot in i.outputs}
        set_before.update(self.compiled.feeds)
        read_on_card = [slot for i in self.on_card for slot in i.inputs]
        read_later = {slot for i in (*self.downloads, *self.after) for slot in i.inputs}
        read_later.update(slot for slot, _ in self.compiled.fetches)
        leaving = [s for i in self.on_card for s in i.outputs if s in read_later]
        made = {s for i in self.on_card for s in i.outputs}
        set_elsewhere = {s for s in read_on_card if s not in made}
        read_elsewhere = read_later | {s for i in self.before for s in i.inputs}
        uploads = [
            i
            for i in self.before
            if isinstance(i.node.spec, Recv)
            and i.node.device is self.card
            and i.outputs[0] not in read_elsewhere
            and i.outputs[0] in read_on_card
        ]
        return DividedStep(
            self.before,
            with_frees(self.on_card, set_elsewhere | set(leaving)),
            self.downloads,
            self.after,
            [
                s
                for s in dict.fromkeys(read_on_card)
                if s in set_before and s not in self.taken
            ],
            leaving,
            uploads,
            self.taken,
            self.cells(),
        )

    def add(self, instruction: Instruction) -> None:
        node, spec = instruction.node, instruction.node.spec
        needs_card = not self.from_card.isdisjoint(instruction.inputs)
        needs_after = not self.from_after.isdisjoint(instruction.inputs)
        if node.device is self.card and not needs_after:
            if isinstance(spec, Recv):
                self.before.append(instruction)
            elif instruction.halves and not needs_card:
                self.divide(instruction, instruction.halves)
            elif _has_own_state(instruction):
                if needs_card:
                    raise UncapturableError(f"{spec.op_type} has a state of its own")
                self.before.append(instruction)
            else:
                self.on_card.append(instruction)
                self.from_card.update(instruction.outputs)
            return
        if node.device is self.card:
            name = node.name.rpartition("/")[0] if isinstance(spec, Recv) else node.name
            raise UncapturableError(
                f"the card takes {name}, which the host computes from its values"
            )
        if isinstance(spec, Recv) and needs_card:
            self.downloads.append(instruction)
            self.from_after.update(instruction.outputs)
        elif needs_card or needs_after or (self.after and spec.is_stateful):
            self.after.append(instruction)
            self.from_after.update(instruction.outputs)
        else:
            self.before.append(instruction)

    def divide(self, instruction: Instruction, halves: Halves) -> None:
        """The halves of an instruction, with a new register between them."""
        self.compiled.registers.append(None)
        self.taken.append(len(self.compiled.registers) - 1)
        between, node = (self.taken[-1],), instruction.node
        self.before.append(
            Instruction(halves.on_host, instruction.inputs, between, (), node)
        )
        self.on_card.append(
            Instruction(halves.on_card, between, instruction.outputs, (), node)
        )
        self.from_card.update(instruction.outputs)

    def cells(self) -> dict[int, bool]:
        """The registers of variables, and whether the card's part writes them."""
        registers, xp = self.compiled.registers, self.card.xp
        known = (Cell, type(None), *_VALUES, xp.ndarray)
        found: dict[int, bool] = {}
        sources: dict[int, int] = {}  # the register of an update's output: its variable
        for instruction in self.on_card:
            is_write = writes(instruction.node) and not instruction.is_read
            for slot in instruction.inputs:
                slot = sources.get(slot, slot)
                value = registers[slot]
                if not isinstance(value, known):
                    name = instruction.node.name
                    raise UncapturableError(f"{name} takes a {type(value).__name__}")
                if isinstance(value, Cell):
                    found[slot] = found.get(slot, False) or is_write
                    if is_write:
                        sources.update(dict.fromkeys(instruction.outputs, slot))
        for instruction in (*self.before, *self.downloads, *self.after):
            if any(slot in found for slot in instruction.inputs):
                raise UncapturableError(
                    f"{instruction.node.name} takes a variable of the card"
                )
        return found


def _has_own_state(instruction: Instruction) -> bool:
    """Whether a kernel has another state than the variables that it is given."""
    node = instruction.node
    spec = node.spec
    if instruction.is_read or isinstance(spec, Send):
        return False
    if spec.collection_role is not None:  # a run's TensorArray
        return False
    if spec.calls_python or spec.calls_function or spec.may_wait or spec.uses_files:
        return True
    return needs_context(spec) and not _takes_handle(node)


def _takes_handle(node: Node) -> bool:
    """Whether its state is what it is given: a variable, or a run's TensorArray."""
    return any(t.dtype.is_ref or t.dtype.name == "resource" for t in node.op.inputs)
