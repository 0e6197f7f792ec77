"""The loop that runs a decoder until all its sequences have ended.

Source: contrib/seq2seq/python/ops/decoder.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tfteach.control.loop import while_loop
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.rnn.cell import zero_tensors
from tfteach.lib.rnn.dynamic import transpose_batch_time
from tfteach.lib.rnn.steps import read_where_used
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import fill, zeros_like
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.compare import logical_not, logical_or
from tfteach.ops.math.reduce_functions import reduce_all
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


@export("contrib.seq2seq.Decoder")
class Decoder(ABC):
    """Base of all decoders, run by `dynamic_decode`.

    A subclass has `initialize` and `step`, and the properties `batch_size`,
    `output_size` and `output_dtype`; `finalize` is optional.

    Source: contrib/seq2seq/python/ops/decoder.py.
    """

    @property
    def batch_size(self) -> Any:
        """The batch size: an int or a scalar int32 Tensor."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The sizes of a step's output without the batch: a nest of ints or shapes."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The types of a step's output, nested like `output_size`."""
        raise NotImplementedError

    @abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Initialize; returns (finished bool [batch], inputs, state)."""

    @abstractmethod
    def step(
        self, time: Tensor, inputs: TensorLike, state: Any, name: str | None = None
    ) -> Any:
        """Run one step; returns (outputs, state, next inputs, finished bool [batch]).

        Args:
          time: int32 scalar, the step's index.
          inputs: the cell's inputs in this step.
          state: the state after the previous step.
          name: the name scope.
        """

    def finalize(
        self, outputs: Any, final_state: Any, sequence_lengths: TensorLike
    ) -> Any:
        """Finalize; returns (outputs, state) to be used instead of these.

        Args:
          outputs: the outputs of all steps, [time, batch, ...].
          final_state: the state after the last step.
          sequence_lengths: int32 Tensor [batch].
        """
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether beams are reordered, so that finished ones may be replaced.

        If so, the result of `step` is used unchanged; otherwise a finished sequence
        remains finished.
        """
        return False


@export("contrib.seq2seq.dynamic_decode")
def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: TensorLike | None = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: VariableScope | str | None = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """A decoder's outputs, step by step until all its sequences have ended.

    Args:
      decoder: a Decoder.
      output_time_major: outputs are [time, batch, ...].
      impute_finished: zero the outputs of ended sequences, and retain their state.
      maximum_iterations: int32 scalar, the maximum number of steps; None: unlimited.
      parallel_iterations: the number of steps that may run concurrently.
      swap_memory: recorded in the graph, without effect.
      scope: the variable scope; "decoder" if None.

    Returns:
      (outputs [batch, time, ...], the final state, lengths int32 [batch]).

    Raises:
      TypeError: `decoder` is not a Decoder.
      ValueError: `maximum_iterations` is not a scalar.

    Example:
      >>> table = tf.get_variable("table", [6, 6])
      >>> cell = tf.nn.rnn_cell.GRUCell(6)
      >>> seq2seq = tf.contrib.seq2seq
      >>> helper = seq2seq.GreedyEmbeddingHelper(table, [1, 2], end_token=0)
      >>> state = cell.zero_state(2, tf.float32)
      >>> decoder = seq2seq.BasicDecoder(cell, helper, state)
      >>> outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=5)

    Source: contrib/seq2seq/python/ops/decoder.py.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(
            f"Expected decoder to be type Decoder, but saw: {type(decoder)}"
        )
    if kwargs:
        raise TypeError(
            f"dynamic_decode() got an unexpected keyword argument {min(kwargs)!r}: "
            "these are for decoders that are Keras layers, which are not supported."
        )
    with variable_scope(scope, "decoder") as opened:
        read_where_used(opened)
        if maximum_iterations is not None:
            maximum_iterations = convert(
                maximum_iterations, int32, name="maximum_iterations"
            )
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        sizes, kinds = decoder.output_size, decoder.output_dtype
        batch_size = decoder.batch_size
        zero_outputs = nest.map_structure(
            lambda size, kind: zero_tensors(size, batch_size, kind), sizes, kinds
        )
        if maximum_iterations is not None:
            finished = logical_or(finished, maximum_iterations <= 0)
        lengths = zeros_like(finished, dtype=int32)
        time = constant(0, dtype=int32)

        def array(size: Any, kind: Any) -> TensorArray:
            return TensorArray(
                dtype=kind,
                size=0,
                dynamic_size=True,
                element_shape=_element_shape(decoder.batch_size, size),
            )

        written = nest.map_structure(array, sizes, kinds)
        _, written, state, _, _, lengths = while_loop(
            lambda *values: logical_not(reduce_all(values[4])),
            _body(decoder, zero_outputs if impute_finished else None),
            (time, written, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = nest.map_structure(lambda ta: ta.stack(), written)
        with suppress(NotImplementedError):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


def _element_shape(batch_size: Any, size: Any) -> TensorShape | None:
    """Static shape of a step's output; unknown for scalars and plain sizes."""
    if not isinstance(size, TensorShape) or size.ndims == 0:
        return None
    known = python_constant_value(convert(batch_size, name="batch_size"))
    return TensorShape([None if known is None else int(known)]).concatenate(size)


def _body(decoder: Decoder, zero_outputs: Any) -> Callable[..., Any]:
    """One iteration of the loop; ended sequences output `zero_outputs`, if given."""

    def body(
        time: Tensor,
        written: Any,
        state: Any,
        inputs: Any,
        finished: Tensor,
        lengths: Tensor,
    ) -> Any:
        def kept(new: Any, old: Any) -> Any:
            if isinstance(old, TensorArray):
                return new
            new.set_shape(old.shape)
            return new if new.shape.ndims == 0 else where(finished, old, new)

        outputs, next_state, next_inputs, now_finished = decoder.step(
            time, inputs, state
        )
        if not decoder.tracks_own_finished:
            now_finished = logical_or(now_finished, finished)
        next_lengths = where(
            logical_not(finished), fill(shape(lengths), time + 1), lengths
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(written, outputs)
        nest.assert_same_structure(inputs, next_inputs)
        if zero_outputs is not None:
            outputs = nest.map_structure(
                lambda new, zero: where(finished, zero, new), outputs, zero_outputs
            )
            next_state = nest.map_structure(kept, next_state, state)
        written = nest.map_structure(lambda ta, x: ta.write(time, x), written, outputs)
        return time + 1, written, next_state, next_inputs, now_finished, next_lengths

    return body
