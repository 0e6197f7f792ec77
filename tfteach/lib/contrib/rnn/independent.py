"""Cells whose units are recurrently independent: a vector instead of a matrix.

Source: contrib/rnn/python/ops/rnn_cell.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, Initializer
from tfteach.lib.contrib.rnn.shared import WithMemory, built_depth
from tfteach.lib.layers.specs import InputSpec
from tfteach.lib.rnn.cell import LayerRNNCell
from tfteach.lib.rnn.cells import LSTMStateTuple, OfUnits
from tfteach.ops.array.concat_split import split
from tfteach.ops.array.tile import Tile
from tfteach.ops.core.constant import constant
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.binary import add
from tfteach.ops.math.exponential import sigmoid, tanh
from tfteach.ops.math.multiply import multiply
from tfteach.ops.nn.bias_add import bias_add
from tfteach.variables.initializers import Constant, RandomUniform, Zeros


class _Independent(LayerRNNCell):
    def __init__(
        self,
        num_units: int,
        activation: Callable[[Any], Tensor] | None = None,
        reuse: bool | None = None,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer
        self._weights: dict[str, tuple[Any, Any, Any]] = {}

    def _make(
        self, scope: str, names: tuple[str, str], sizes: list[int], bias: Any
    ) -> None:
        """A scope's weights: for the input, for the state, and a bias."""
        w, u = names
        own = self._bias_initializer
        self._weights[scope] = (
            self.add_variable(
                scope + w, shape=sizes, initializer=self._kernel_initializer
            ),
            self.add_variable(
                scope + u,
                shape=[1, sizes[1]],
                initializer=RandomUniform(minval=-1, maxval=1, dtype=self.dtype),
            ),
            self.add_variable(
                scope + "bias",
                shape=sizes[1:],
                initializer=bias if own is None else own,
            ),
        )

    def _linear(self, scope: str, inputs: Tensor, state: Tensor, times: int) -> Tensor:
        """`inputs w + state u + b`, with the state repeated `times` times."""
        w, u, bias = self._weights[scope]
        from_input = matmul(inputs, w)
        if times > 1:
            state = Tile()(state, [1, times])
        return bias_add(from_input + state * u, bias)


@export("contrib.rnn.IndRNNCell")
class IndRNNCell(OfUnits, _Independent):
    """h' = tanh(x W + u h + b), with a vector u.

    Args:
      num_units: the size of state and output.
      activation: the activation instead of tanh.
      reuse: whether the variables must exist.
      name: the layer's name.
      dtype: the variables' type; the input's if None.

    Raises:
      ValueError: the depth of the inputs is not known.

    Source: Li et al., "Independently recurrent neural network", 2018;
    contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        activation: Callable[[Any], Tensor] | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, None, None, name, dtype)

    def build(self, input_shape: TensorShape) -> None:
        depth, units = built_depth(input_shape), self._num_units
        zeros = Zeros(dtype=self.dtype)
        self._make("", ("kernel_w", "kernel_u"), [depth, units], zeros)
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        output = self._activation(self._linear("", inputs, state, 1))
        return output, output


@export("contrib.rnn.IndyGRUCell")
class IndyGRUCell(OfUnits, _Independent):
    """A GRU whose units see only their own state.

    Args:
      num_units: the size of state and output.
      activation: the activation instead of tanh.
      reuse: whether the variables must exist.
      kernel_initializer, bias_initializer: for the input's weights, and the biases.
      name: the layer's name.
      dtype: the variables' type; the input's if None.

    Raises:
      ValueError: the depth of the inputs is not known.

    Source: Gonnet and Deselaers, "IndyLSTMs", 2019; contrib/rnn/python/ops/rnn_cell.py.
    """

    def build(self, input_shape: TensorShape) -> None:
        depth, units = built_depth(input_shape), self._num_units
        ones = Constant(1.0, dtype=self.dtype)
        zeros = Zeros(dtype=self.dtype)
        self._make("gates/", ("kernel_w", "kernel_u"), [depth, 2 * units], ones)
        self._make("candidate/", ("kernel", "kernel_u"), [depth, units], zeros)
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        gates = sigmoid(self._linear("gates/", inputs, state, 2))
        r, u = split(value=gates, num_or_size_splits=2, axis=1)
        kept = r * state
        c = self._activation(self._linear("candidate/", inputs, kept, 1))
        new_h = u * state + (1 - u) * c
        return new_h, new_h


@export("contrib.rnn.IndyLSTMCell")
class IndyLSTMCell(WithMemory, _Independent):
    """A basic LSTM whose units see only their own previous output.

    Args:
      num_units: the size of the cell state.
      forget_bias: added to the forget gate.
      activation: the activation instead of tanh.
      reuse: whether the variables must exist.
      kernel_initializer, bias_initializer: for the input's weights, and the biases.
      name: the layer's name.
      dtype: the variables' type; the input's if None.

    Raises:
      ValueError: the depth of the inputs is not known.

    Source: Gonnet and Deselaers, "IndyLSTMs", 2019; contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Callable[[Any], Tensor] | None = None,
        reuse: bool | None = None,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            num_units,
            activation,
            reuse,
            kernel_initializer,
            bias_initializer,
            name,
            dtype,
        )
        self._forget_bias = forget_bias

    def build(self, input_shape: TensorShape) -> None:
        depth, units = built_depth(input_shape), self._num_units
        zeros = Zeros(dtype=self.dtype)
        self._make("", ("kernel_w", "kernel_u"), [depth, 4 * units], zeros)
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        axis = constant(1, dtype=int32)
        c, h = state
        gates = self._linear("", inputs, h, 4)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=axis)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        kept = multiply(c, sigmoid(add(f, forget_bias)))
        new_c = add(kept, multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)
