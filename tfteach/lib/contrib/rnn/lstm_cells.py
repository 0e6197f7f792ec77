"""Variants of long short-term memory.

Source: contrib/rnn/python/ops/rnn_cell.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.dimension import dimension_value
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, Initializer, TensorLike
from tfteach.lib.contrib.rnn.linear import Linear
from tfteach.lib.contrib.rnn.shared import (
    WithMemory,
    normalized,
    require_known_depth,
    sharded_variable,
)
from tfteach.lib.rnn.cell import LayerRNNCell, RNNCell
from tfteach.lib.rnn.cells import LSTMStateTuple, clipped, warn_of_joined_state
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.array.slicing import slice
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.exponential import sigmoid, tanh
from tfteach.ops.nn.activations import relu
from tfteach.ops.nn.bias_add import bias_add
from tfteach.ops.nn.dropout import dropout
from tfteach.variables.initializers import Constant, Zeros
from tfteach.variables.scope import get_variable, get_variable_scope, variable_scope


@export("contrib.rnn.LayerNormBasicLSTMCell")
class LayerNormBasicLSTMCell(WithMemory, RNNCell):
    """A basic LSTM with layer normalization and recurrent dropout.

    Dropout is applied to the update of the cell state, not to the cell state itself.

    Args:
      num_units: the size of `c`, of `h` and of the output.
      forget_bias: added to the forget gate.
      input_size: ignored, deprecated.
      activation: a function.
      layer_norm: whether to normalize (otherwise there is a bias).
      norm_gain, norm_shift: the initial gamma and beta of the normalizations.
      dropout_keep_prob: the fraction to keep, a float or scalar Tensor.
      dropout_prob_seed: the seed of the dropout.
      reuse: whether the variables must exist.

    Example:
      >>> cell = tf.contrib.rnn.LayerNormBasicLSTMCell(4, dropout_keep_prob=0.9)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))

    Source: Ba et al., "Layer normalization", 2016; Semeniuta et al., "Recurrent dropout
    without memory loss", 2016; contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Callable[[Any], Tensor] = tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: TensorLike = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            get_logger().warning("%s: The input_size parameter is deprecated.", self)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed
        self._layer_norm = layer_norm
        self._gain, self._shift = norm_gain, norm_shift

    def _normalized(self, value: Tensor, scope: str) -> Tensor:
        if not self._layer_norm:
            return value
        return normalized(value, scope, self._gain, self._shift, dtype=value.dtype)

    def _gates(self, joined: Tensor) -> list[Tensor]:
        size, dtype = 4 * self._num_units, joined.dtype
        kernel = get_variable("kernel", [joined.shape[-1], size], dtype=dtype)
        gates = matmul(joined, kernel)
        if not self._layer_norm:
            gates = bias_add(gates, get_variable("bias", [size], dtype=dtype))
        parts = split(value=gates, num_or_size_splits=4, axis=1)
        names = "input", "transform", "forget", "output"
        pairs = zip(parts, names, strict=True)
        return [self._normalized(part, name) for part, name in pairs]

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = state
        i, j, f, o = self._gates(concat([inputs, h], 1))
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = dropout(new, self._keep_prob, seed=self._seed)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * new
        new_c = self._normalized(new_c, "state")
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


@export("contrib.rnn.CoupledInputForgetGateLSTMCell")
class CoupledInputForgetGateLSTMCell(WithMemory, RNNCell):
    """An LSTM with coupled gates: c' = f c + (1 - f) tanh(j).

    Args:
      num_units: the size of the cell state.
      use_peepholes: let the gates see the cell state, with diagonal weights.
      initializer: ignored, as in TensorFlow; the variable scope's is used.
      num_proj: the size to which the output is projected; None for no projection.
      proj_clip: the limit to which projected values are clipped, if any.
      num_unit_shards, num_proj_shards: the number of partitions of the matrices.
      forget_bias: added to the forget gate.
      state_is_tuple: state is an `LSTMStateTuple`; False: [c, h] in one Tensor.
      activation: a function.
      reuse: whether the variables must exist.
      layer_norm: whether to normalize gates and cell state; there is no bias then.
      norm_gain, norm_shift: the initial gamma and beta of the normalizations.

    Raises:
      ValueError: more shards than rows.

    Source: Greff et al., "LSTM: a search space odyssey", 2015;
    contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Initializer | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Callable[[Any], Tensor] = tanh,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            warn_of_joined_state(self)
        self._num_units, self._num_proj = num_units, num_proj
        self._use_peepholes = use_peepholes
        self._proj_clip = proj_clip
        self._unit_shards, self._proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._gain, self._shift = norm_gain, norm_shift

    @property
    def state_size(self) -> Any:
        """LSTMStateTuple(num_units, output_size), or their sum."""
        pair = super().state_size
        return pair if self._state_is_tuple else sum(pair)

    def _normalized(self, value: Tensor, scope: str) -> Tensor:
        if not self._layer_norm:
            return value
        return normalized(value, scope, self._gain, self._shift)

    def _gates(self, inputs: Tensor, h: Tensor, size: int) -> list[Tensor]:
        units, dtype = self._num_units, inputs.dtype
        depth = require_known_depth(inputs) + size
        kernel = sharded_variable("W", [depth, 3 * units], dtype, self._unit_shards)
        bias = get_variable("B", shape=[3 * units], initializer=Zeros(), dtype=dtype)
        gates = matmul(concat([inputs, h], 1), kernel)
        if not self._layer_norm:
            gates = bias_add(gates, bias)
        parts = split(value=gates, num_or_size_splits=3, axis=1)
        pairs = zip(parts, ("transform", "forget", "output"), strict=True)
        return [self._normalized(part, name) for part, name in pairs]

    def _diagonal(self, gate: str, dtype: DTypeLike) -> Any:
        if not self._use_peepholes:
            return None
        return get_variable(f"W_{gate}_diag", shape=[self._num_units], dtype=dtype)

    def call(self, inputs: Tensor, state: Any) -> Any:
        units, dtype = self._num_units, inputs.dtype
        size = units if self._num_proj is None else self._num_proj
        if self._state_is_tuple:
            c, h = state
        else:
            c = slice(state, [0, 0], [-1, units])
            h = slice(state, [0, units], [-1, size])
        j, f, o = self._gates(inputs, h, size)
        diagonal_f, diagonal_o = (self._diagonal(gate, dtype) for gate in "FO")
        forget = sigmoid(peeped(f + self._forget_bias, diagonal_f, c))
        new_c = forget * c + (1 - forget) * self._activation(j)
        new_c = self._normalized(new_c, "state")
        new_h = sigmoid(peeped(o, diagonal_o, new_c)) * self._activation(new_c)
        if self._num_proj is not None:
            sizes = [units, self._num_proj]
            kernel = sharded_variable("W_P", sizes, dtype, self._proj_shards)
            new_h = clipped(matmul(new_h, kernel), self._proj_clip)
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, concat([new_c, new_h], 1)


def peeped(gate: Tensor, diagonal: Any, memory: Tensor) -> Tensor:
    """A gate before its sigmoid, with a peephole if there is a weight for it."""
    return gate if diagonal is None else gate + diagonal * memory


@export("contrib.rnn.GLSTMCell")
class GLSTMCell(WithMemory, RNNCell):
    """An LSTM in groups, each of which sees a part of input and previous output.

    Args:
      num_units: the size of the cell state.
      initializer: for the kernels; the variable scope's if None.
      num_proj: the size to which the output is projected; None for no projection.
      number_of_groups: the number of groups.
      forget_bias: added to the forget gate.
      activation: a function.
      reuse: whether the variables must exist.

    Raises:
      ValueError: units, projection or inputs are not divisible by the groups.

    Source: Kuchaiev and Ginsburg, "Factorization tricks for LSTM networks", 2017;
    contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Initializer | None = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Callable[[Any], Tensor] = tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if num_units % number_of_groups != 0:
            raise ValueError("num_units must be divisible by number_of_groups")
        if num_proj and num_proj % number_of_groups != 0:
            raise ValueError("num_proj must be divisible by number_of_groups")
        self._num_units, self._num_proj = num_units, num_proj
        self._initializer = initializer
        self._groups = number_of_groups
        self._forget_bias = forget_bias
        self._activation = activation
        self._kernels: list[Linear] = []
        self._projection: Linear | None = None

    def _gates_of(self, group: int, parts: list[tuple[Tensor, int]], batch: Any) -> Any:
        """A group's gates from its share of each part (values, size of a share)."""
        with variable_scope(f"group{group}"):
            shares = [
                slice(
                    input_=values,
                    begin=[0, group * size],
                    size=[batch, size],
                    name=f"GLSTM_group{group}_input_generation",
                )
                for values, size in parts
            ]
            joined = concat(shares, axis=1)
            if group == len(self._kernels):
                size = 4 * (self._num_units // self._groups)
                self._kernels.append(Linear(joined, size, build_bias=False))
            return split(self._kernels[group](joined), 4, 1)

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = state
        batch = dimension_value(inputs.shape[0]) or shape(inputs)[0]
        depth = dimension_value(inputs.shape[1])
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % self._groups != 0:
            raise ValueError(
                f"input size ({depth}) must be divisible by number_of_groups "
                f"({self._groups})"
            )
        shares = [
            (inputs, depth // self._groups),
            (h, self.output_size // self._groups),
        ]
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            groups = [self._gates_of(g, shares, batch) for g in range(self._groups)]
            gates = self._with_biases(list(zip(*groups, strict=True)), inputs.dtype)
        i, j, f, o = gates
        new_c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        new_h = sigmoid(o) * self._activation(new_c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                if self._projection is None:
                    self._projection = Linear(new_h, self._num_proj, build_bias=False)
                new_h = self._projection(new_h)
        return new_h, LSTMStateTuple(new_c, new_h)

    def _with_biases(self, gates: list[Any], dtype: DTypeLike) -> list[Tensor]:
        biases = []
        for gate in "ijfo":
            zeros = Constant(0.0, dtype=dtype)
            biases.append(get_variable(f"bias_{gate}", [self._num_units], dtype, zeros))
        return [
            bias_add(concat(list(parts), axis=1), bias)
            for parts, bias in zip(gates, biases, strict=True)
        ]


@export("contrib.rnn.NASCell")
class NASCell(WithMemory, LayerRNNCell):
    """The recurrent cell found by neural architecture search.

    Args:
      num_units: the size of the cell state.
      num_proj: the size to which the output is projected; None for no projection.
      use_bias: whether to add a bias.
      reuse: whether the variables must exist.
      **kwargs: `name`, `dtype` and `trainable`, as for all layers.

    Source: Zoph and Le, "Neural architecture search with reinforcement learning", 2016;
    contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units, self._num_proj = num_units, num_proj
        self._use_bias = use_bias

    def build(self, input_shape: TensorShape) -> None:
        depth, units = dimension_value(input_shape.with_rank(2)[1]), self._num_units
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        size = units if self._num_proj is None else self._num_proj
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [size, 8 * units])
        self.kernel = self.add_variable("kernel", [depth, 8 * units])
        if self._use_bias:
            self.bias = self.add_variable("bias", [8 * units], initializer=Zeros())
        if self._num_proj is not None:
            sizes = [units, self._num_proj]
            self.projection_weights = self.add_variable("projection_weights", sizes)
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = state
        from_state = matmul(h, self.recurrent_kernel)
        from_input = matmul(inputs, self.kernel)
        if self._use_bias:
            from_state = bias_add(from_state, self.bias)
        m = split(axis=1, num_or_size_splits=8, value=from_state)
        x = split(axis=1, num_or_size_splits=8, value=from_input)
        first = [
            sigmoid(x[0] + m[0]),
            relu(x[1] + m[1]),
            sigmoid(x[2] + m[2]),
            relu(x[3] * m[3]),
            tanh(x[4] + m[4]),
            sigmoid(x[5] + m[5]),
            tanh(x[6] + m[6]),
            sigmoid(x[7] + m[7]),
        ]
        left = tanh(first[0] * first[1])
        right = tanh(first[2] + first[3])
        outer = tanh(first[4] * first[5])
        inner = sigmoid(first[6] + first[7])
        new_c = tanh(left + c) * right
        new_h = tanh(new_c * tanh(outer + inner))
        if self._num_proj is not None:
            new_h = matmul(new_h, self.projection_weights)
        return new_h, LSTMStateTuple(new_c, new_h)
