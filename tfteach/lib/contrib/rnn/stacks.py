"""Stacked bidirectional layers: each one's input is the output of the one below.

Source: contrib/rnn/python/ops/rnn.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.dynamic import bidirectional_dynamic_rnn
from tfteach.lib.rnn.static import static_bidirectional_rnn
from tfteach.ops.array.concat_split import concat
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


def _check(cells_fw: Any, cells_bw: Any, states: dict[str, Any]) -> None:
    """Raise ValueError unless there is a cell, and a state or None, for each layer."""
    both = {"fw": cells_fw, "bw": cells_bw}
    for side, cells in both.items():
        if not cells:
            raise ValueError(
                f"Must specify at least one {side} cell for BidirectionalRNN."
            )
    for side, cells in both.items():
        if not isinstance(cells, list):
            raise ValueError(
                f"cells_{side} must be a list of RNNCells (one per layer)."
            )
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for side, given in states.items():
        if given is not None and not (
            isinstance(given, list) and len(given) == len(cells_fw)
        ):
            raise ValueError(
                f"initial_states_{side} must be a list of state tensors "
                "(one per layer)."
            )


def _layers(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    states_fw: Any,
    states_bw: Any,
    scope: Any,
    run: Callable[..., tuple[Any, Any, Any]],
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Each layer run by `run(scope, *cells, inputs, *states)`: outputs and states."""
    _check(cells_fw, cells_bw, {"fw": states_fw, "bw": states_bw})
    last_fw: list[Any] = []
    last_bw: list[Any] = []
    # As in TensorFlow, an empty list of states means None.
    begin_fw = states_fw or [None] * len(cells_fw)
    begin_bw = states_bw or [None] * len(cells_bw)
    with variable_scope(scope or "stack_bidirectional_rnn"):
        rows = zip(cells_fw, cells_bw, begin_fw, begin_bw, strict=True)
        for number, (cell_fw, cell_bw, state_fw, state_bw) in enumerate(rows):
            with variable_scope(f"cell_{number}") as opened:
                inputs, end_fw, end_bw = run(
                    opened, cell_fw, cell_bw, inputs, state_fw, state_bw
                )
            last_fw.append(end_fw)
            last_bw.append(end_bw)
    return inputs, tuple(last_fw), tuple(last_bw)


@export("contrib.rnn.stack_bidirectional_rnn")
def stack_bidirectional_rnn(
    cells_fw: Sequence[RNNCell],
    cells_bw: Sequence[RNNCell],
    inputs: Sequence[TensorLike],
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Tensor], tuple[Any, ...], tuple[Any, ...]]:
    """Layers of `tf.nn.static_bidirectional_rnn`.

    Args:
      cells_fw, cells_bw: lists of RNNCells, one for each layer.
      inputs: a list of Tensors [batch, depth].
      initial_states_fw, initial_states_bw: lists of states, one for each layer.
      dtype: the type of the states; required without initial ones.
      sequence_length: int Tensor [batch].
      scope: the variable scope; "stack_bidirectional_rnn" if None.

    Returns:
      (outputs, forward states, backward states); an output is the concatenation of both
      directions', the states are tuples with one entry per layer.

    Raises:
      ValueError: there are no cells, or the lists differ in length or are not lists.

    Source: contrib/rnn/python/ops/rnn.py.
    """

    def run(opened: Any, *cells_inputs_states: Any) -> Any:
        rest = dtype, sequence_length, opened
        return static_bidirectional_rnn(*(*cells_inputs_states, *rest))

    return _layers(
        cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, run
    )


@export("contrib.rnn.stack_bidirectional_dynamic_rnn")
def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[RNNCell],
    cells_bw: Sequence[RNNCell],
    inputs: TensorLike,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
    swap_memory: bool = False,
) -> tuple[Tensor, tuple[Any, ...], tuple[Any, ...]]:
    """Layers of `tf.nn.bidirectional_dynamic_rnn`.

    Args:
      cells_fw, cells_bw: lists of RNNCells, one for each layer.
      inputs: a Tensor [batch, time, depth].
      initial_states_fw, initial_states_bw: lists of states, one for each layer.
      dtype: the type of the states; required without initial ones.
      sequence_length: int Tensor [batch].
      parallel_iterations, time_major, swap_memory: as in `tf.nn.dynamic_rnn`.
      scope: the variable scope; "stack_bidirectional_rnn" if None.

    Returns:
      (outputs [batch, time, forward + backward size], forward states, backward states);
      the states are tuples with one entry per layer.

    Raises:
      ValueError: there are no cells, or the lists differ in length or are not lists.

    Example:
      >>> cells = [[tf.nn.rnn_cell.GRUCell(4) for _ in range(2)] for _ in range(2)]
      >>> outputs, fw, bw = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
      ...     cells[0], cells[1], tf.ones([2, 5, 3]), dtype=tf.float32)

    Source: contrib/rnn/python/ops/rnn.py.
    """

    def run(
        _: Any,
        cell_fw: RNNCell,
        cell_bw: RNNCell,
        below: Any,
        state_fw: Any,
        state_bw: Any,
    ) -> Any:
        outputs, ends = bidirectional_dynamic_rnn(
            cell_fw,
            cell_bw,
            below,
            sequence_length=sequence_length,
            initial_state_fw=state_fw,
            initial_state_bw=state_bw,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=time_major,
        )
        return concat(outputs, 2), *ends

    return _layers(
        cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, run
    )
