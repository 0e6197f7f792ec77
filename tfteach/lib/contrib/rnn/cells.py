"""Cells with few gates: UGRNN, intersection RNN, SRU, phased LSTM.

Source: contrib/rnn/python/ops/rnn_cell.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, Initializer
from tfteach.lib.contrib.rnn.linear import Linear
from tfteach.lib.contrib.rnn.shared import WithMemory, built_depth, require_known_depth
from tfteach.lib.layers.specs import InputSpec
from tfteach.lib.rnn.cell import LayerRNNCell, RNNCell
from tfteach.lib.rnn.cells import LSTMStateTuple, OfUnits
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.array.where_select import where
from tfteach.ops.core.identity_reshape import stop_gradient
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.cast import cast
from tfteach.ops.math.exponential import exp, log, sigmoid, tanh
from tfteach.ops.math.modulo import floormod
from tfteach.ops.nn.activations import relu
from tfteach.ops.nn.bias_add import bias_add
from tfteach.ops.random.random_ops import random_uniform
from tfteach.variables.initializers import Constant, RandomUniform, Zeros
from tfteach.variables.scope import get_variable, get_variable_scope, variable_scope


@export("contrib.rnn.UGRNNCell")
class UGRNNCell(OfUnits, RNNCell):
    """A cell with one gate: h' = g h + (1 - g) c, with [g, c] from [x, h] W + b.

    Args:
      num_units: the size of state and output.
      initializer: for the variables; the variable scope's if None.
      forget_bias: added to the gate.
      activation: a function.
      reuse: whether the variables must exist.

    Raises:
      ValueError: the depth of the inputs is not known.

    Source: Collins et al., "Capacity and trainability in recurrent neural networks",
    2016; contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Initializer | None = None,
        forget_bias: float = 1.0,
        activation: Callable[[Any], Tensor] = tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._linear: Linear | None = None

    def call(self, inputs: Tensor, state: Any) -> Any:
        require_known_depth(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            joined = concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 2 * self._num_units)
            both = self._linear(joined)
            gate, candidate = split(axis=1, num_or_size_splits=2, value=both)
            c = self._activation(candidate)
            g = sigmoid(gate + self._forget_bias)
            new_state = g * state + (1.0 - g) * c
        return new_state, new_state


@export("contrib.rnn.IntersectionRNNCell")
class IntersectionRNNCell(OfUnits, RNNCell):
    """A cell with one gated path through time and another through depth.

    h' = g h + (1 - g) tanh(.);  y = q x + (1 - q) relu(.)

    Args:
      num_units: the size of state and output.
      num_in_proj: the number of units, for inputs of a different size, which are then
        projected; None if the sizes are equal.
      initializer: for the variables; the variable scope's if None.
      forget_bias: added to both gates.
      y_activation: the activation of the output.
      reuse: whether the variables must exist.

    Raises:
      ValueError: the depth of the inputs is not known, or it differs from `num_units`
        and `num_in_proj` is None.

    Source: Collins et al., "Capacity and trainability in recurrent neural networks",
    2016; contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Initializer | None = None,
        forget_bias: float = 1.0,
        y_activation: Callable[[Any], Tensor] = relu,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._num_in_proj = num_in_proj
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._y_activation = y_activation
        self._projection: Linear | None = None
        self._linear: Linear | None = None

    def _fitting(self, inputs: Tensor) -> Tensor:
        """The inputs, projected to the number of units if necessary."""
        if require_known_depth(inputs) == self._num_units:
            return inputs
        if not self._num_in_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, "
                "num_in_proj should be set to num_units at cell init."
            )
        with variable_scope("in_projection"):
            if self._projection is None:
                self._projection = Linear(inputs, self._num_units)
            return self._projection(inputs)

    def call(self, inputs: Tensor, state: Any) -> Any:
        units = self._num_units
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            inputs = self._fitting(inputs)
            joined = concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 4 * units)
            parts = self._linear(joined)
            gate_h = parts[:, :units]
            candidate_h = parts[:, units : 2 * units]
            gate_y = parts[:, 2 * units : 3 * units]
            candidate_y = parts[:, 3 * units : 4 * units]
            h = tanh(candidate_h)
            y = self._y_activation(candidate_y)
            g = sigmoid(gate_h + self._forget_bias)
            q = sigmoid(gate_y + self._forget_bias)
            new_state = g * state + (1.0 - g) * h
            output = q * inputs + (1.0 - q) * y
        return output, new_state


@export("contrib.rnn.SRUCell")
class SRUCell(OfUnits, LayerRNNCell):
    """A simple recurrent unit: its gates depend only on the input.

    c' = f c + (1 - f) x1;  output = r tanh(c') + (1 - r) x2

    Args:
      num_units: the size of state and output.
      activation: the activation instead of tanh.
      reuse: whether the variables must exist.
      name: the layer's name.
      **kwargs: `dtype` and `trainable`, as for all layers.

    Raises:
      ValueError: the depth of the inputs is not known.

    Source: Lei et al., "Training RNNs as fast as CNNs", 2017;
    contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        activation: Callable[[Any], Tensor] | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units = num_units
        self._activation = activation or tanh
        self.input_spec = InputSpec(ndim=2)

    def build(self, input_shape: TensorShape) -> None:
        depth, units = built_depth(input_shape), self._num_units
        self._kernel = self.add_variable("kernel", [depth, 4 * units])
        self._bias = self.add_variable("bias", [2 * units], initializer=Zeros())
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        parts = matmul(inputs, self._kernel)
        new, forget, reset, straight = split(value=parts, num_or_size_splits=4, axis=1)
        gates = sigmoid(bias_add(concat([forget, reset], 1), self._bias))
        f, r = split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * new
        return r * self._activation(c) + (1.0 - r) * straight, c


def _spread_over_magnitudes(smallest: float, largest: float) -> Any:
    """An initializer of numbers with uniformly distributed logarithms."""

    def initialize(
        shape: Any, dtype: DTypeLike = float32, partition_info: Any = None
    ) -> Tensor:
        return exp(random_uniform(shape, log(smallest), log(largest), dtype))

    return initialize


@export("contrib.rnn.PhasedLSTMCell")
class PhasedLSTMCell(WithMemory, RNNCell):
    """An LSTM whose units are open only during a part of their cycle.

    Args:
      num_units: the size of the cell state.
      use_peepholes: let the gates see the cell state.
      leak: the residual openness of closed units.
      ratio_on: the initial fraction of the cycle in which a unit is open.
      trainable_ratio_on: whether that is trainable.
      period_init_min, period_init_max: the range of the initial periods.
      reuse: whether the variables must exist.

    Example:
      >>> cell = tf.contrib.rnn.PhasedLSTMCell(4)
      >>> times, x = tf.zeros([2, 1]), tf.ones([2, 3])
      >>> output, state = cell((times, x), cell.zero_state(2, tf.float32))

    Source: Neil et al., "Phased LSTM", 2016; contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._periods = period_init_min, period_init_max
        self._linear: dict[str, Linear] = {}

    def _projected(self, scope: str, inputs: list[Tensor], size: int) -> Tensor:
        if scope not in self._linear:
            self._linear[scope] = Linear(inputs, size)
        return self._linear[scope](inputs)

    def _lstm(self, x: Tensor, c: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """The new cell state and output, as if the units were always open."""
        units, seen = self._num_units, [x, h]
        with variable_scope("mask_gates"):
            peeped = [*seen, c] if self._use_peepholes else seen
            gates = sigmoid(self._projected("mask_gates", peeped, 2 * units))
            i, f = split(axis=1, num_or_size_splits=2, value=gates)
        with variable_scope("new_input"):
            new = tanh(self._projected("new_input", seen, units))
        new_c = c * f + i * new
        with variable_scope("output_gate"):
            peeped = [*seen, new_c] if self._use_peepholes else seen
            o = sigmoid(self._projected("output_gate", peeped, units))
        return new_c, tanh(new_c) * o

    def _cycle_variables(self) -> tuple[Any, Any, Any]:
        sizes = [self._num_units]
        period = get_variable(
            "period", sizes, initializer=_spread_over_magnitudes(*self._periods)
        )
        phase = get_variable(
            "phase", sizes, initializer=RandomUniform(0.0, period.initial_value)
        )
        ratio_on = get_variable(
            "ratio_on",
            sizes,
            initializer=Constant(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        return period, phase, ratio_on

    def call(self, inputs: Tensor, state: Any) -> Any:
        (c, h), (time, x) = state, inputs
        new_c, new_h = self._lstm(x, c, h)
        period, phase, ratio_on = self._cycle_variables()
        # The elapsed part of the cycle; gradients bypass the modulo.
        shifted = time - cast(phase, dtype=time.dtype)
        length = cast(period, dtype=time.dtype)
        over = stop_gradient(floormod(shifted, length) - shifted) + shifted
        ratio = cast(over / length, dtype=float32)
        opening = 2 * ratio / ratio_on
        closing = 2 - opening
        closed = self._leak * ratio
        k = where(ratio < ratio_on, closing, closed)
        k = where(ratio < 0.5 * ratio_on, opening, k)
        new_c = k * new_c + (1 - k) * c
        new_h = k * new_h + (1 - k) * h
        return new_h, LSTMStateTuple(new_c, new_h)
