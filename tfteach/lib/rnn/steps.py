"""Shared parts of RNNs: scopes, sizes, and early ends of sequences.

Source: python/ops/rnn.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.control.branch import cond
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.rnn.cell import RNNCell
from tfteach.ops.array.where_select import where
from tfteach.variables.scope import variable_scope


@contextmanager
def rnn_scope(scope: Any) -> Iterator[Any]:
    """The variable scope of a run, with a caching device for its variables."""
    with variable_scope(scope or "rnn") as opened:
        read_where_used(opened)
        yield opened


def read_where_used(scope: Any) -> None:
    """Read variables created in a scope only once, unless inside a loop.

    In a loop they may change from one iteration to the next. In an eager program each
    read is one.
    """
    graph = get_default_graph()
    if graph.is_eager:
        return
    context = graph.control_flow_context
    while context is not None and not context.is_while:
        context = context.outer_context
    if context is None and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def initial_state_of(
    cell: RNNCell, state: Any, batch_size: Any, dtype: DTypeLike | None
) -> Any:
    """The given state, or the cell's zero state of a given type."""
    if state is not None:
        return state
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def dtype_of(dtype: DTypeLike | None, state: Any) -> Any:
    """The given type, or the type shared by all parts of the state.

    Raises:
      ValueError: the state is empty, or its parts have different types.
    """
    if dtype is not None:
        return dtype
    if not nest.is_sequence(state):
        return state.dtype
    found = [part.dtype for part in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(kind != found[0] for kind in found):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single "
            "representative dtype."
        )
    return found[0]


def step_in_sequences(
    time: Any,
    lengths: Tensor,
    limits: tuple[Tensor, Tensor],
    zero_output: Any,
    state: Any,
    call_cell: Callable[[], Any],
    skip_conditionals: bool = False,
) -> Any:
    """One step, in which sequences that have ended output zeros and retain their state.

    Args:
      time: the step's index.
      lengths: int32 Tensor [batch].
      limits: the smallest and the largest length.
      zero_output: the output of a sequence that has ended.
      state: the previous state.
      call_cell: a function that returns (output, state) of all sequences.
      skip_conditionals: always call the cell, without branching for steps in which no
        sequence, or every one, has ended.

    Returns:
      (output, state).
    """
    flat_zero, flat_state = nest.flatten(zero_output), nest.flatten(state)
    shortest, longest = limits
    has_ended = time >= lengths

    def kept(old: Any, new: Any) -> Any:
        if isinstance(old, TensorArray) or old.shape.ndims == 0:
            return new
        with get_default_graph().colocate_with(new):
            return where(has_ended, old, new)

    def stepped() -> tuple[list[Any], list[Any]]:
        output, new_state = call_cell()
        nest.assert_same_structure(zero_output, output)
        nest.assert_same_structure(state, new_state)
        return nest.flatten(output), nest.flatten(new_state)

    def some_kept(outputs: list[Any], states: list[Any]) -> list[Any]:
        pairs = zip(flat_zero + flat_state, outputs + states, strict=True)
        return [kept(old, new) for old, new in pairs]

    def unless_all_run() -> Any:
        outputs, states = stepped()
        return cond(
            time < shortest,
            lambda: outputs + states,
            lambda: some_kept(outputs, states),
        )

    if skip_conditionals:
        outputs, states = stepped()
        found = some_kept(outputs, states)
    else:
        found = cond(time >= longest, lambda: flat_zero + flat_state, unless_all_run)
        found = found if isinstance(found, list) else list(found)
    for new, old in zip(found, flat_zero + flat_state, strict=True):
        if not isinstance(new, TensorArray):
            new.set_shape(old.shape)
    count = len(flat_zero)
    return (
        nest.pack_sequence_as(zero_output, found[:count]),
        nest.pack_sequence_as(state, found[count:]),
    )
