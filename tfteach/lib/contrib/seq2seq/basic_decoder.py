"""The decoder that runs a cell, with a helper that determines the next inputs.

Source: contrib/seq2seq/python/ops/basic_decoder.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.framework import nest
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.seq2seq.decoder import Decoder
from tfteach.lib.contrib.seq2seq.helper import Helper
from tfteach.lib.layers.base import Layer
from tfteach.lib.rnn.cell import RNNCell, require_cell, size_shape


@export("contrib.seq2seq.BasicDecoderOutput")
class BasicDecoderOutput(NamedTuple):
    """Output of `BasicDecoder`: outputs of the cell (or layer), and sampled ids."""

    rnn_output: Any
    sample_id: Any


@export("contrib.seq2seq.BasicDecoder")
class BasicDecoder(Decoder):
    """A decoder that runs a cell; a helper samples its outputs and supplies the inputs.

    Args:
      cell: an RNNCell.
      helper: a Helper.
      initial_state: the cell's initial state, a nest of Tensors.
      output_layer: a layer applied to outputs before sampling, or None.

    Raises:
      TypeError: an argument has an unsupported type.

    Example:
      >>> cell = tf.nn.rnn_cell.GRUCell(6)
      >>> inputs, lengths = tf.zeros([2, 3, 4]), tf.constant([3, 2])
      >>> helper = tf.contrib.seq2seq.TrainingHelper(inputs, lengths)
      >>> state = cell.zero_state(2, tf.float32)
      >>> layer = tf.layers.Dense(5)
      >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state, layer)
      >>> outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
      >>> outputs.rnn_output  # [2, 3, 5]

    Source: contrib/seq2seq/python/ops/basic_decoder.py.
    """

    def __init__(
        self,
        cell: RNNCell,
        helper: Helper,
        initial_state: Any,
        output_layer: Any = None,
    ) -> None:
        require_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(
                f"output_layer must be a Layer, received: {type(output_layer)}"
            )
        self._cell, self._helper = cell, helper
        self._initial_state, self._output_layer = initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        """The batch size, from the helper."""
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        size = self._cell.output_size
        if self._output_layer is None:
            return size
        rows = TensorShape([None])
        shape = nest.map_structure(lambda s: rows.concatenate(size_shape(s)), size)
        shape = self._output_layer.compute_output_shape(shape)
        return nest.map_structure(lambda s: s[1:], shape)

    @property
    def output_size(self) -> BasicDecoderOutput:
        """The sizes of outputs and ids."""
        return BasicDecoderOutput(
            self._rnn_output_size(), self._helper.sample_ids_shape
        )

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The types of outputs (that of the state's first part) and ids."""
        kind = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            nest.map_structure(lambda _: kind, self._rnn_output_size()),
            self._helper.sample_ids_dtype,
        )

    def initialize(self, name: str | None = None) -> Any:
        """Initialize; returns (finished bool [batch], inputs, state)."""
        return (*self._helper.initialize(), self._initial_state)

    def step(
        self, time: Tensor, inputs: TensorLike, state: Any, name: str | None = None
    ) -> Any:
        """Run one step; returns (output, state, next inputs, finished bool [batch])."""
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=ids
            )
        return BasicDecoderOutput(outputs, ids), state, inputs, finished
