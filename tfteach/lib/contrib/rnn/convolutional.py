"""LSTMs over images: convolutions instead of matrix products.

Source: contrib/rnn/python/ops/rnn_cell.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.cells import LSTMStateTuple
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.math.exponential import sigmoid, tanh
from tfteach.ops.windows.conv_1d import conv1d
from tfteach.ops.windows.conv_2d import conv2d
from tfteach.ops.windows.conv_3d import conv3d
from tfteach.variables.initializers import Constant
from tfteach.variables.scope import get_variable

_CONVOLUTIONS = {3: conv1d, 4: conv2d, 5: conv3d}


def _convolved(
    inputs: list[Tensor], kernel_shape: list[int], channels: int, use_bias: bool
) -> Tensor:
    """The concatenated inputs, convolved with variables of the current scope."""
    shapes: list[Any] = [tensor.shape.as_list() for tensor in inputs]
    ranks = {len(sizes) for sizes in shapes}
    if not ranks <= set(_CONVOLUTIONS):
        raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {shapes}")
    if len(ranks) > 1:
        raise ValueError(
            f"Conv Linear expects all args to be of same Dimension: {shapes}"
        )
    (rank,) = ranks
    depth = sum(sizes[-1] for sizes in shapes)
    dtype = inputs[0].dtype
    kernel = get_variable("kernel", [*kernel_shape, depth, channels], dtype=dtype)
    convolve: Any = _CONVOLUTIONS[rank]
    strides = 1 if rank == 3 else [1] * rank
    joined = concat(axis=rank - 1, values=inputs)
    found: Tensor = convolve(joined, kernel, strides, padding="SAME")
    if not use_bias:
        return found
    zeros = Constant(0.0, dtype=dtype)
    result: Tensor = found + get_variable(
        "biases", [channels], dtype=dtype, initializer=zeros
    )
    return result


@export("contrib.rnn.ConvLSTMCell")
class ConvLSTMCell(RNNCell):
    """An LSTM over images: gates are convolutions of the input and the previous output.

    Args:
      conv_ndims: 1, 2 or 3.
      input_shape: a list [size, ..., channels], without the batch.
      output_channels: the number of channels of cell state and output.
      kernel_shape: a list of `conv_ndims` sizes.
      use_bias: whether to add a bias.
      skip_connection: append the input to the output.
      forget_bias: added to the forget gate.
      initializers: ignored, as in TensorFlow.
      name: the layer's name.

    Raises:
      ValueError: `input_shape` does not match `conv_ndims`.

    Example:
      >>> cell = tf.contrib.rnn.Conv2DLSTMCell(
      ...     input_shape=[6, 5, 3], output_channels=4, kernel_shape=[3, 3])
      >>> state = cell.zero_state(2, tf.float32)
      >>> output, state = cell(tf.ones([2, 6, 5, 3]), state)  # output [2, 6, 5, 4]

    Source: Shi et al., "Convolutional LSTM network", 2015;
    contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: list[int],
        output_channels: int,
        kernel_shape: list[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(
                f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}."
            )
        self._kernel_shape = list(kernel_shape)
        self._output_channels = output_channels
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        *sizes, channels = input_shape
        self._axis = conv_ndims + 1
        memory = TensorShape([*sizes, output_channels])
        self._state_size = LSTMStateTuple(memory, memory)
        all_channels = output_channels + (channels if skip_connection else 0)
        self._output_size = TensorShape([*sizes, all_channels])

    @property
    def state_size(self) -> Any:
        """The shapes of cell state and output, without the batch."""
        return self._state_size

    @property
    def output_size(self) -> TensorShape:
        """The shape of the output, without the batch."""
        return self._output_size

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = state
        gates = _convolved(
            [inputs, h], self._kernel_shape, 4 * self._output_channels, self._use_bias
        )
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=self._axis)
        kept = sigmoid(f + self._forget_bias) * c
        new_c = kept + sigmoid(i) * tanh(j)
        output = tanh(new_c) * sigmoid(o)
        if self._skip_connection:
            output = concat([output, inputs], axis=-1)
        # As in TensorFlow the state includes the appended input and so cannot be fed
        # back.
        return output, LSTMStateTuple(new_c, output)


@export("contrib.rnn.Conv1DLSTMCell")
class Conv1DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` of sequences [size, channels]."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


@export("contrib.rnn.Conv2DLSTMCell")
class Conv2DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` of images [height, width, channels]."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


@export("contrib.rnn.Conv3DLSTMCell")
class Conv3DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` of volumes [depth, height, width, channels]."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
