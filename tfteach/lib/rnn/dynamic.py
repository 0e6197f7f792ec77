"""A cell run over a sequence in a while loop, forward and in both directions.

Source: python/ops/rnn.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.case import Assert
from tfteach.control.loop import while_loop
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.rnn.cell import (
    RNNCell,
    require_cell,
    shape_of,
    size_shape,
    static_shape_of,
)
from tfteach.lib.rnn.steps import (
    dtype_of,
    initial_state_of,
    rnn_scope,
    step_in_sequences,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.transpose_reverse import reverse, reverse_sequence, transpose
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_all, reduce_max, reduce_min
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


@export("contrib.rnn.transpose_batch_time")
def transpose_batch_time(x: Tensor) -> Tensor:
    """Swap the first two axes: [batch, time, ...] and [time, batch, ...]."""
    known = x.shape
    if known.ndims is not None and known.ndims < 2:
        return x
    swapped = transpose(x, concat(([1, 0], range_of(2, rank(x))), axis=0))
    if known.ndims is not None:
        sizes = known.as_list()
        swapped.set_shape([sizes[1], sizes[0], *sizes[2:]])
    return swapped


@export("contrib.rnn.best_effort_input_batch_size")
def batch_size_of(flat_input: Any) -> Any:
    """The batch size of time-major inputs: an int if known, else a Tensor."""
    for tensor in flat_input:
        sizes = tensor.shape
        if sizes.ndims is None:
            continue
        if sizes.ndims < 2:
            raise ValueError(f"Expected input tensor {tensor} to have rank at least 2")
        if sizes.as_list()[1] is not None:
            return sizes.as_list()[1]
    return shape(flat_input[0])[1]


@export("nn.dynamic_rnn")
def dynamic_rnn(
    cell: RNNCell,
    inputs: TensorLike,
    sequence_length: TensorLike | None = None,
    initial_state: Any = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
) -> tuple[Any, Any]:
    """A cell run over sequences, in a while loop.

    Args:
      cell: an RNNCell.
      inputs: a Tensor [batch, time, depth], or a nest of them.
      sequence_length: int Tensor [batch]; after its end a sequence outputs zeros and
        its state is unchanged.
      initial_state: the initial state; the cell's zeros if None.
      dtype: the type of the zeros; required without an initial state.
      parallel_iterations: the number of steps that may run concurrently.
      swap_memory: recorded in the graph, without effect.
      time_major: inputs and outputs are [time, batch, ...].
      scope: the variable scope; "rnn" if None.

    Returns:
      (outputs [batch, time, output_size], the final state).

    Raises:
      TypeError: `cell` is not an RNNCell.
      ValueError: the depth of the inputs is not known; lengths are not a vector;
        neither state nor type is given.

    Example:
      >>> words = tf.placeholder(tf.float32, [None, None, 3])
      >>> cell = tf.nn.rnn_cell.GRUCell(5)
      >>> outputs, state = tf.nn.dynamic_rnn(cell, words, dtype=tf.float32)

    Source: python/ops/rnn.py.
    """
    require_cell("cell", cell)
    with rnn_scope(scope):
        flat_input = nest.flatten(inputs)
        if not time_major:
            flat_input = [convert(tensor) for tensor in flat_input]
            flat_input = [transpose_batch_time(tensor) for tensor in flat_input]
        if sequence_length is not None:
            sequence_length = cast(sequence_length, int32)
            if sequence_length.shape.ndims not in (None, 1):
                raise ValueError(
                    "sequence_length must be a vector of length batch_size, but saw "
                    f"shape: {sequence_length.shape}"
                )
            # Named, so that it can be found in the graph.
            sequence_length = identity(sequence_length, name="sequence_length")
        batch_size = batch_size_of(flat_input)
        if initial_state is None and not dtype:
            raise ValueError("If there is no initial_state, you must give a dtype.")
        state = initial_state_of(cell, initial_state, batch_size, dtype)
        if sequence_length is not None and not get_default_graph().is_eager:
            checked = _assert_shape(sequence_length, [batch_size])
            with get_default_graph().control_dependencies([checked]):
                sequence_length = identity(sequence_length, name="CheckSeqLen")
        outputs, state = _loop(
            cell,
            nest.pack_sequence_as(inputs, flat_input),
            state,
            parallel_iterations or 32,
            swap_memory,
            sequence_length,
            dtype,
        )
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state


def _assert_shape(tensor: Tensor, sizes: list[Any]) -> Any:
    found, expected = shape(tensor), stack(sizes)
    return Assert(
        reduce_all(equal(found, expected)),
        [
            f"Expected shape for Tensor {tensor.name} is ",
            expected,
            " but saw shape: ",
            found,
        ],
    )


def _check_inputs(flat_input: list[Tensor]) -> tuple[int | None, int | None]:
    """(time steps, batch size) as far as known; raise ValueError if they differ."""
    sizes = [tensor.shape.with_rank_at_least(3).as_list() for tensor in flat_input]
    steps, batch = sizes[0][:2]
    for each in sizes:
        if None in each[2:]:
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, "
                "but saw value None."
            )
        if each[0] != steps:
            raise ValueError(
                "Time steps is not the same for all the elements in the input in a "
                "batch."
            )
        if each[1] != batch:
            raise ValueError(
                "Batch_size is not the same for all the elements in the input."
            )
    return steps, batch


def _arrays(
    flat_input: list[Tensor], sizes: list[Any], steps: Tensor, batch: Any, kind: Any
) -> tuple[tuple[TensorArray, ...], list[TensorArray]]:
    """TensorArrays for the outputs, and those that contain the inputs."""
    with name_scope("dynamic_rnn") as base_name:
        pass

    def array(name: str, element_shape: TensorShape, dtype: DTypeLike) -> TensorArray:
        return TensorArray(
            dtype=dtype,
            size=steps,
            element_shape=element_shape,
            tensor_array_name=base_name + name,
        )

    rows = TensorShape([batch])
    written = [
        array(f"output_{i}", rows.concatenate(size_shape(size)), kind)
        for i, size in enumerate(sizes)
    ]
    read = [
        array(f"input_{i}", tensor.shape[1:], tensor.dtype)
        for i, tensor in enumerate(flat_input)
    ]
    pairs = zip(read, flat_input, strict=True)
    return tuple(written), [ta.unstack(tensor) for ta, tensor in pairs]


def _loop(
    cell: RNNCell,
    inputs: Any,
    state: Any,
    parallel_iterations: int,
    swap_memory: bool,
    lengths: Tensor | None,
    dtype: DTypeLike | None,
) -> tuple[Any, Any]:
    """The loop over time-major inputs: time-major outputs and the final state."""
    flat_input = nest.flatten(inputs)
    sizes = nest.flatten(cell.output_size)
    steps = shape(flat_input[0])[0]
    batch_size = batch_size_of(flat_input)
    known_steps, known_batch = _check_inputs(flat_input)
    kind = dtype_of(dtype, state)
    flat_zero = [zeros(stack(shape_of(batch_size, size)), kind) for size in sizes]
    zero_output = nest.pack_sequence_as(cell.output_size, flat_zero)
    limits: Any = None
    longest: Any = steps
    if lengths is not None:
        limits = reduce_min(lengths), reduce_max(lengths)
        longest = limits[1]
    time = constant(0, dtype=int32, name="time")
    written, read = _arrays(flat_input, sizes, steps, known_batch, kind)

    def step(time: Tensor, written: Any, state: Any) -> Any:
        now = [ta.read(time) for ta in read]
        for tensor, source in zip(now, flat_input, strict=True):
            tensor.set_shape(source.shape[1:])
        now = nest.pack_sequence_as(inputs, now)
        if lengths is None:
            output, state = cell(now, state)
        else:
            output, state = step_in_sequences(
                time,
                lengths,
                limits,
                zero_output,
                state,
                lambda: cell(now, state),
                skip_conditionals=True,
            )
        flat = nest.flatten(output)
        written = tuple(ta.write(time, x) for ta, x in zip(written, flat, strict=True))
        return time + 1, written, state

    is_eager = get_default_graph().is_eager  # which takes all steps
    bound = steps if is_eager else minimum(steps, maximum(1, longest))
    _, written, state = while_loop(
        lambda time, *_: time < bound,
        step,
        (time, written, state),
        parallel_iterations=parallel_iterations,
        maximum_iterations=steps,
        swap_memory=swap_memory,
    )
    outputs = [ta.stack() for ta in written]
    for output, size in zip(outputs, sizes, strict=True):
        output.set_shape(static_shape_of([known_steps, known_batch], size))
    return nest.pack_sequence_as(cell.output_size, outputs), state


@export("nn.bidirectional_dynamic_rnn")
def bidirectional_dynamic_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: TensorLike,
    sequence_length: TensorLike | None = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """One cell run over sequences forward, and another one backward.

    Args:
      cell_fw, cell_bw: RNNCells.
      initial_state_fw, initial_state_bw: their initial states.
      scope: the variable scope; "bidirectional_rnn" if None.
      inputs, sequence_length, dtype, parallel_iterations, swap_memory, time_major: as
        in `tf.nn.dynamic_rnn`.

    Returns:
      ((forward outputs, backward outputs), (forward state, backward state)); both
      outputs are in temporal order.

    Source: python/ops/rnn.py.
    """
    require_cell("cell_fw", cell_fw)
    require_cell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reversed_in_time(tensor: Any) -> Tensor:
        if sequence_length is None:
            return reverse(tensor, axis=[time_axis])
        return reverse_sequence(
            tensor, sequence_length, seq_axis=time_axis, batch_axis=batch_axis
        )

    def run(cell: RNNCell, values: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        return dynamic_rnn(
            cell,
            values,
            sequence_length,
            state,
            dtype,
            parallel_iterations,
            swap_memory,
            time_major,
            scope,
        )

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = run(cell_fw, inputs, initial_state_fw, forward)
        with variable_scope("bw") as backward:
            turned = nest.map_structure(reversed_in_time, inputs)
            output, state_bw = run(cell_bw, turned, initial_state_bw, backward)
    output_bw = nest.map_structure(reversed_in_time, output)
    return (output_fw, output_bw), (state_fw, state_bw)
