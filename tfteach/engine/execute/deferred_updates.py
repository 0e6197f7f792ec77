"""Updates of variables that can be deferred to the end of the run.

An update in place cannot be undone when a later op fails or the user interrupts the
run.  If no later op of the step observes the variable, its update is deferred to the
last instruction, after everything that can fail; training steps consist of such
updates.  Other updates in place work on a copy (framework/transaction.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.engine.execute.code_blocks import Statement, instructions_in
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.kernel_context import Context
from tfteach.engine.plan.step import Node, writes
from tfteach.framework.constant_values import handle_shape
from tfteach.framework.shape import size_of
from tfteach.framework.transaction import commit
from tfteach.framework.variable_cell import IN_PLACE_FROM, Cell


def allow_deferral(
    statements: Sequence[Statement],
    registers: Sequence[Any],
    contexts: Mapping[Node, Context],
) -> list[Instruction]:
    """Mark the kernels of a step's top level that may defer their updates.

    Args:
      statements: the top level, in execution order.
      registers: the initial registers, with the cells of variables.
      contexts: of the stateful nodes.

    Returns:
      Instructions to append to the step: `commit`, if any update is deferred.
    """
    cells = _cells_of_registers(statements, registers)
    observed: set[Cell] = set()
    last = None
    for statement in reversed(statements):
        touched: set[Cell] | None = set()
        for instruction in instructions_in((statement,)):
            found = _touched_by(instruction, cells, registers)
            touched = None if touched is None or found is None else touched | found
        if isinstance(statement, Instruction) and touched and writes(statement.node):
            is_last = touched.isdisjoint(observed) and not statement.is_read
            if is_last and not _is_small(statement.node):
                contexts[statement.node].may_defer = True
                last = last or statement.node
        if touched is None:
            break  # may observe any variable: earlier updates cannot be deferred
        observed |= touched
    return [] if last is None else [Instruction(commit, (), (), (), last)]


def _is_small(node: Node) -> bool:
    """Whether the variable is too small to be updated in place."""
    if node.device.is_asynchronous:  # where a kernel takes as long as its launch
        return False
    variable = node.op.inputs[0]
    is_ref = variable.dtype.is_ref
    size = size_of(variable.static_shape if is_ref else handle_shape(variable))
    return size is not None and size < IN_PLACE_FROM


def _cells_of_registers(
    statements: Sequence[Statement], registers: Sequence[Any]
) -> dict[int, Cell]:
    """The registers that hold a variable's cell in every run."""
    cells = {i: value for i, value in enumerate(registers) if isinstance(value, Cell)}
    for statement in statements:
        if not isinstance(statement, Instruction) or not statement.outputs:
            continue
        # An update returns its first input, the reference.
        tensors = statement.node.op.outputs
        if tensors and tensors[0].dtype.is_ref and not statement.is_read:
            cell = cells.get(statement.inputs[0]) if statement.inputs else None
            if cell is not None:
                cells[statement.outputs[0]] = cell
    return cells


def _touched_by(
    instruction: Instruction, cells: Mapping[int, Cell], registers: Sequence[Any]
) -> set[Cell] | None:
    """The variables that an instruction reads or writes; None for any."""
    node = instruction.node
    if node.spec.calls_python:
        return None
    found = {cells[slot] for slot in instruction.inputs if slot in cells}
    for slot, tensor in zip(instruction.inputs, node.op.inputs, strict=False):
        is_handle = tensor.dtype.is_ref or tensor.dtype.name == "resource"
        if is_handle and slot not in cells and registers[slot] is None:
            return None
    return found
