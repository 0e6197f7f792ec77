"""A cell in a while loop controlled by a function.

Source: python/ops/rnn.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.loop import while_loop
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.lib.rnn.cell import RNNCell, require_cell, shape_of, size_shape
from tfteach.lib.rnn.steps import rnn_scope
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.compare import logical_not, logical_or
from tfteach.ops.math.reduce_functions import reduce_all
from tfteach.variables.scope.variable_scope import VariableScope


@export("nn.raw_rnn")
def raw_rnn(
    cell: RNNCell,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: VariableScope | str | None = None,
) -> tuple[Any, Any, Any]:
    """A cell in a while loop; `loop_fn` determines each step's input and state.

    `loop_fn(time, cell_output, cell_state, loop_state)` returns (which sequences have
    finished, bool [batch]; the next input; the next state; the values to emit; its own
    next state).  At time 0 all its arguments except the time are None, and the values
    it emits (or None) define their structure.

    Args:
      cell: an RNNCell.
      loop_fn: see above.
      parallel_iterations: the number of steps that may run concurrently.
      swap_memory: recorded in the graph, without effect.
      scope: the variable scope; "rnn" if None.

    Returns:
      (TensorArrays of the emitted values, the final state, the final loop state).

    Raises:
      TypeError: `cell` is not an RNNCell, or `loop_fn` is not a function.

    Source: python/ops/rnn.py.
    """
    require_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with rnn_scope(scope):
        time = constant(0, dtype=int32)
        begun = loop_fn(time, None, None, None)
        finished, next_input, state, emit_structure, init_loop_state = begun
        loop_state = init_loop_state
        if loop_state is None:
            loop_state = constant(0, dtype=int32)
        flat_input = nest.flatten(next_input)
        batch = flat_input[0].shape[0]
        for tensor in flat_input:
            batch = batch.merge_with(tensor.shape[0])
        known_batch = flat_input[0].shape.as_list()[0]
        batch_size = shape(flat_input[0])[0] if known_batch is None else known_batch
        nest.assert_same_structure(state, cell.state_size)
        state = nest.map_structure(convert, state)
        emit, zero_emit = _emitted(cell, emit_structure, state, known_batch, batch_size)
        returned = while_loop(
            lambda time, finished, *_: logical_not(reduce_all(finished)),
            _body(cell, loop_fn, zero_emit),
            [time, finished, next_input, emit, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        emit, state, last = returned[-3:]
        return emit, state, None if init_loop_state is None else last


def _emitted(
    cell: RNNCell, structure: Any, state: Any, known_batch: Any, batch_size: Any
) -> tuple[Any, Any]:
    """The TensorArrays for emitted values, and matching zeros."""
    if structure is None:
        structure = cell.output_size
        sizes = nest.flatten(structure)
        kinds = [nest.flatten(state)[0].dtype] * len(sizes)
    else:
        flat = nest.flatten(structure)
        sizes = [
            emit.shape if emit.shape.is_fully_defined() else shape(emit)
            for emit in flat
        ]
        kinds = [emit.dtype for emit in flat]
    arrays = [
        TensorArray(
            dtype=kind,
            dynamic_size=True,
            element_shape=TensorShape([known_batch]).concatenate(size_shape(size)),
            size=0,
            name=f"rnn_output_{i}",
        )
        for i, (kind, size) in enumerate(zip(kinds, sizes, strict=True))
    ]
    zero = [
        zeros(shape_of(batch_size, size), kind)
        for kind, size in zip(kinds, sizes, strict=True)
    ]
    return nest.pack_sequence_as(structure, arrays), nest.pack_sequence_as(
        structure, zero
    )


def _body(cell: RNNCell, loop_fn: Callable[..., Any], zero_emit: Any) -> Any:
    """One iteration of the loop."""

    def body(
        time: Tensor,
        finished: Tensor,
        current: Any,
        emit: Any,
        state: Any,
        loop_state: Any,
    ) -> Any:
        def kept(old: Any, new: Any) -> Any:
            if isinstance(old, TensorArray) or old.shape.ndims == 0:
                return new
            with get_default_graph().colocate_with(new):
                return where(finished, old, new)

        output, cell_state = cell(current, state)
        nest.assert_same_structure(state, cell_state)
        nest.assert_same_structure(cell.output_size, output)
        next_time = time + 1
        next_finished, next_input, next_state, emitted, next_loop_state = loop_fn(
            next_time, output, cell_state, loop_state
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(current, next_input)
        nest.assert_same_structure(emit, emitted)
        loop_state = loop_state if next_loop_state is None else next_loop_state
        emitted = nest.map_structure(kept, zero_emit, emitted)
        next_state = nest.map_structure(kept, state, next_state)
        emit = nest.map_structure(lambda ta, x: ta.write(time, x), emit, emitted)
        finished = logical_or(finished, next_finished)
        return next_time, finished, next_input, emit, next_state, loop_state

    return body
