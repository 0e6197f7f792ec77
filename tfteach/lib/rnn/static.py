"""A cell run over a list of inputs, unrolled.

Source: python/ops/rnn.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import unknown_shape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.rnn.cell import RNNCell, require_cell, shape_of, static_shape_of
from tfteach.lib.rnn.steps import (
    dtype_of,
    initial_state_of,
    rnn_scope,
    step_in_sequences,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.transpose_reverse import reverse_sequence
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_max, reduce_min
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


def _require_inputs(inputs: Any) -> None:
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _known_batch_size(inputs: Any, first: Tensor) -> int | None:
    """The batch size, if one of the inputs determines it.

    Raises:
      ValueError: they differ, or the depth of one is not known.
    """
    if first.shape.ndims == 1:
        return first.shape.as_list()[0]
    batch = Dimension(first.shape.with_rank_at_least(2)[0])
    for tensor in nest.flatten(inputs):
        sizes = tensor.shape.with_rank_at_least(2)
        batch = batch.merge_with(Dimension(sizes[0]))
        for i, size in enumerate(sizes.as_list()[1:]):
            if size is None:
                raise ValueError(
                    f"Input size (dimension {i} of inputs) must be accessible via "
                    "shape inference, but saw value None."
                )
    # As in TensorFlow, only the first input counts.
    return first.shape.as_list()[0]


@export("nn.static_rnn", "contrib.rnn.static_rnn")
def static_rnn(
    cell: RNNCell,
    inputs: Sequence[TensorLike],
    initial_state: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """A cell run over a list of inputs: its ops are repeated for each step.

    Args:
      cell: an RNNCell.
      inputs: a list with one entry per step, Tensors [batch, depth] (or nests).
      initial_state: the initial state; the cell's zeros if None.
      dtype: the type of the zeros; required without an initial state.
      sequence_length: int Tensor [batch]; after its end a sequence outputs zeros and
        its state is unchanged.
      scope: the variable scope; "rnn" if None.

    Returns:
      (a list of outputs [batch, output_size], the final state).

    Raises:
      TypeError: `cell` is not an RNNCell; `inputs` is not a list.
      ValueError: there are no inputs, or their depth is not known.

    Example:
      >>> steps = tf.unstack(tf.placeholder(tf.float32, [None, 7, 3]), axis=1)
      >>> cell = tf.nn.rnn_cell.BasicLSTMCell(5)
      >>> outputs, state = tf.nn.static_rnn(cell, steps, dtype=tf.float32)

    Source: python/ops/rnn.py.
    """
    require_cell("cell", cell)
    _require_inputs(inputs)
    outputs = []
    with rnn_scope(scope) as opened:
        first = nest.flatten(inputs)[0]
        known_batch = _known_batch_size(inputs, first)
        batch_size = known_batch or shape(first)[0]
        if initial_state is None and not dtype:
            raise ValueError("If no initial_state is provided, dtype must be specified")
        state = initial_state_of(cell, initial_state, batch_size, dtype)
        lengths: Any = None
        limits: Any = None
        zero_output: Any = None
        if sequence_length is not None:
            lengths = convert(sequence_length, name="sequence_length")
            if lengths.shape.ndims not in (None, 1):
                raise ValueError(
                    "sequence_length must be a vector of length batch_size"
                )
            kind = dtype_of(dtype, state)
            zero_output = nest.map_structure(
                lambda size: _zero_output(batch_size, known_batch, size, kind),
                cell.output_size,
            )
            lengths = cast(lengths, int32)
            limits = reduce_min(lengths), reduce_max(lengths)
        for time, now in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            if lengths is None:
                output, state = cell(now, state)
            else:
                output, state = _step(
                    cell, now, state, time, lengths, limits, zero_output
                )
            outputs.append(output)
    return outputs, state


def _zero_output(batch_size: Any, known_batch: Any, size: Any, kind: Any) -> Tensor:
    output = zeros(stack(shape_of(batch_size, size)), kind)
    output.set_shape(static_shape_of([known_batch], size))
    return output


def _step(
    cell: RNNCell,
    now: Any,
    state: Any,
    time: int,
    lengths: Tensor,
    limits: tuple[Tensor, Tensor],
    zero_output: Any,
) -> Any:
    return step_in_sequences(
        time, lengths, limits, zero_output, state, lambda: cell(now, state)
    )


@export("nn.static_state_saving_rnn", "contrib.rnn.static_state_saving_rnn")
def static_state_saving_rnn(
    cell: RNNCell,
    inputs: Sequence[TensorLike],
    state_saver: Any,
    state_name: Any,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """`tf.nn.static_rnn` that loads its state from a saver and saves it there.

    Args:
      cell: an RNNCell.
      inputs: a list of Tensors [batch, depth].
      state_saver: an object with `state(name)` and `save_state(name, value)`.
      state_name: a name, or a nest of names like the cell's state.
      sequence_length: int Tensor [batch].
      scope: the variable scope; "rnn" if None.

    Returns:
      (outputs, state), which depend on the save operations.

    Raises:
      ValueError: `state_name` and the state are nested differently.

    Source: python/ops/rnn.py.
    """
    size = cell.state_size
    if nest.is_sequence(size) != nest.is_sequence(state_name):
        raise ValueError(
            "state_name should be the same type as cell.state_size.  state_name: "
            f"{state_name}, cell.state_size: {size}"
        )
    names = nest.flatten(state_name)
    if len(names) != len(nest.flatten(size)):
        raise ValueError(
            "#elems(state_name) != #elems(state_size): "
            f"{len(names)} vs. {len(nest.flatten(size))}"
        )
    begin = nest.pack_sequence_as(size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(
        cell, inputs, begin, sequence_length=sequence_length, scope=scope
    )
    pairs = zip(names, nest.flatten(state), strict=True)
    saved = [state_saver.save_state(name, part) for name, part in pairs]
    with get_default_graph().control_dependencies(saved):
        outputs[-1] = nest.map_structure(identity, outputs[-1])
        state = nest.map_structure(identity, state)
    return outputs, state


@export("nn.static_bidirectional_rnn", "contrib.rnn.static_bidirectional_rnn")
def static_bidirectional_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: Sequence[TensorLike],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any, Any]:
    """One cell run over a list of inputs forward, and another one backward.

    Args:
      cell_fw, cell_bw: RNNCells.
      inputs: a list of Tensors [batch, depth].
      initial_state_fw, initial_state_bw: their initial states.
      dtype, sequence_length: as in `tf.nn.static_rnn`.
      scope: the variable scope; "bidirectional_rnn" if None.

    Returns:
      (outputs, forward state, backward state); an output is the concatenation of both
      cells' outputs.

    Source: python/ops/rnn.py.
    """
    require_cell("cell_fw", cell_fw)
    require_cell("cell_bw", cell_bw)
    _require_inputs(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            outputs_fw, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, forward
            )
        with variable_scope("bw") as backward:
            turned = _reversed(inputs, sequence_length)
            outputs, state_bw = static_rnn(
                cell_bw, turned, initial_state_bw, dtype, sequence_length, backward
            )
    outputs_bw = _reversed(outputs, sequence_length)
    both = [
        concat(list(pair), 1)
        for pair in zip(nest.flatten(outputs_fw), nest.flatten(outputs_bw), strict=True)
    ]
    return nest.pack_sequence_as(outputs_fw, both), state_fw, state_bw


def _reversed(inputs: Any, lengths: Any) -> list[Any]:
    """The steps in reverse; for each sequence only those before its end."""
    if lengths is None:
        return list(reversed(inputs))
    columns = zip(*(nest.flatten(step) for step in inputs), strict=True)
    rows: list[list[Any]] = [[] for _ in inputs]
    for sequence in columns:
        known = unknown_shape(sequence[0].shape.ndims)
        for tensor in sequence:
            known = known.merge_with(tensor.shape)
            tensor.set_shape(known)
        turned = unstack(reverse_sequence(stack(sequence), lengths, 0, 1))
        for row, tensor in zip(rows, turned, strict=True):
            tensor.set_shape(known)
            row.append(tensor)
    pairs = zip(inputs, rows, strict=True)
    return [nest.pack_sequence_as(step, row) for step, row in pairs]
