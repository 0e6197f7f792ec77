"""The cells: plain, GRU and LSTM.

Source: python/ops/rnn_cell_impl.py.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from tfteach.framework.dtypes import DType, int32
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import Activation, DTypeLike, Initializer
from tfteach.lib.layers import activations_by_name
from tfteach.lib.layers.base import Layer
from tfteach.lib.layers.specs import InputSpec
from tfteach.lib.rnn.cell import LayerRNNCell, require_float_inputs, require_floats
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.array.slicing import slice
from tfteach.ops.core.constant import constant
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.binary import add
from tfteach.ops.math.clip_by_value import clip_by_value
from tfteach.ops.math.exponential import sigmoid, tanh
from tfteach.ops.math.multiply import multiply
from tfteach.ops.nn.bias_add import bias_add
from tfteach.variables.initializers import Constant, Zeros
from tfteach.variables.partitioners import fixed_size_partitioner

KERNEL, BIAS = "kernel", "bias"


class OfUnits:
    """A cell whose state and output have size `_num_units`."""

    _num_units: int

    @property
    def state_size(self) -> int:
        """The number of units."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The number of units."""
        return self._num_units


class _Cell(LayerRNNCell):
    """A cell of `num_units` units with an activation."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | None,
        reuse: Any,
        name: str | None,
        dtype: DTypeLike | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        require_floats(self)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = (
            activations_by_name.activation(activation) if activation else tanh
        )

    def _variable(
        self, name: str, sizes: list[int], initializer: Initializer | None = None
    ) -> Tensor:
        return self.add_variable(name, shape=sizes, initializer=initializer)

    def _linear(self, inputs: Any, state: Any, kernel: Any, bias: Any) -> Tensor:
        """[inputs, state] kernel + bias."""
        return bias_add(matmul(concat([inputs, state], 1), kernel), bias)


@export("nn.rnn_cell.BasicRNNCell", "contrib.rnn.BasicRNNCell")
class BasicRNNCell(OfUnits, _Cell):
    """h' = tanh([x, h] W + b); the output is the new state.

    Args:
      num_units: the size of state and output.
      activation: the activation instead of tanh.
      reuse: whether the variables must exist.
      name: the layer's name.
      dtype: the variables' type; the input's if None.

    Example:
      >>> cell = tf.nn.rnn_cell.BasicRNNCell(5)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))

    Source: python/ops/rnn_cell_impl.py.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DType | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, input_shape: TensorShape) -> None:
        depth, units = self.require_depth(input_shape), self._num_units
        require_floats(self)
        self._kernel = self._variable(KERNEL, [depth + units, units])
        self._bias = self._variable(BIAS, [units], Zeros(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        require_float_inputs(inputs, state)
        output = self._linear(inputs, state, self._kernel, self._bias)
        output = self._activation(output)
        return output, output


@export("nn.rnn_cell.GRUCell", "contrib.rnn.GRUCell")
class GRUCell(OfUnits, _Cell):
    """A gated recurrent unit: h' = u h + (1 - u) tanh([x, r h] W + b).

    The gates are [r, u] = sigmoid([x, h] G + g).

    Args:
      num_units: the size of state and output.
      activation: the activation instead of tanh.
      reuse: whether the variables must exist.
      kernel_initializer, bias_initializer: for the matrices and biases.
      name: the layer's name.
      dtype: the variables' type; the input's if None.

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder",
    2014; python/ops/rnn_cell_impl.py.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = None,
        name: str | None = None,
        dtype: DType | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer = activations_by_name.initializer(kernel_initializer)
        self._bias_initializer = activations_by_name.initializer(bias_initializer)

    def build(self, input_shape: TensorShape) -> None:
        depth, units = self.require_depth(input_shape), self._num_units
        require_floats(self)
        for part, size, bias in (
            ("gate", 2 * units, Constant(1.0, dtype=self.dtype)),
            ("candidate", units, Zeros(dtype=self.dtype)),
        ):
            scope = "gates" if part == "gate" else part
            kernel = self._variable(
                f"{scope}/{KERNEL}", [depth + units, size], self._kernel_initializer
            )
            own = self._bias_initializer
            bias_value = self._variable(
                f"{scope}/{BIAS}", [size], bias if own is None else own
            )
            setattr(self, f"_{part}_kernel", kernel)
            setattr(self, f"_{part}_bias", bias_value)
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        require_float_inputs(inputs, state)
        own: Any = self
        gates = self._linear(inputs, state, own._gate_kernel, own._gate_bias)
        r, u = split(value=sigmoid(gates), num_or_size_splits=2, axis=1)
        candidate = self._linear(
            inputs, r * state, own._candidate_kernel, own._candidate_bias
        )
        c = self._activation(candidate)
        new_h = u * state + (1 - u) * c
        return new_h, new_h


_Pair = namedtuple("LSTMStateTuple", ("c", "h"))  # type: ignore[name-match]


@export("nn.rnn_cell.LSTMStateTuple", "contrib.rnn.LSTMStateTuple")
class LSTMStateTuple(_Pair):
    """The state of an LSTM: the cell state `c` and the output `h`."""

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        """The type of both.

        Raises:
          TypeError: they differ.
        """
        if self.c.dtype != self.h.dtype:
            raise TypeError(
                f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}"
            )
        found: DType = self.c.dtype
        return found


def warn_of_joined_state(cell: Layer) -> None:
    """Warn that states concatenated in one Tensor are deprecated."""
    get_logger().warning(
        "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
        "state_is_tuple=True.",
        cell,
    )


@export("nn.rnn_cell.BasicLSTMCell", "contrib.rnn.BasicLSTMCell")
class BasicLSTMCell(_Cell):
    """Long short-term memory in its basic form.

    [i, j, f, o] = [x, h] W + b;  c' = c sigmoid(f + forget_bias) + sigmoid(i) tanh(j);
    h' = tanh(c') sigmoid(o)

    Args:
      num_units: the size of `c`, of `h` and of the output.
      forget_bias: added to the forget gate, so that it is open initially.
      state_is_tuple: state is an `LSTMStateTuple`; False: [c, h] in one Tensor.
      activation: the activation instead of tanh.
      reuse: whether the variables must exist.
      name: the layer's name.
      dtype: the variables' type; the input's if None.

    Source: Zaremba et al., "Recurrent neural network regularization", 2014;
    python/ops/rnn_cell_impl.py.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DType | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        if not state_is_tuple:
            warn_of_joined_state(self)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        """LSTMStateTuple(num_units, num_units), or their sum."""
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    @property
    def output_size(self) -> int:
        """The number of units."""
        return self._num_units

    def build(self, input_shape: TensorShape) -> None:
        depth, units = self.require_depth(input_shape), self._num_units
        require_floats(self)
        self._kernel = self._variable(KERNEL, [depth + units, 4 * units])
        self._bias = self._variable(BIAS, [4 * units], Zeros(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        require_float_inputs(inputs, state)
        one = constant(1, dtype=int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = split(value=state, num_or_size_splits=2, axis=one)
        gates = self._linear(inputs, h, self._kernel, self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        kept = multiply(c, sigmoid(add(f, forget_bias)))
        new_c = add(kept, multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, concat([new_c, new_h], 1)


@export("nn.rnn_cell.LSTMCell", "contrib.rnn.LSTMCell")
class LSTMCell(_Cell):
    """Long short-term memory with peepholes, clipping and projection.

    Args:
      num_units: the size of the cell state.
      use_peepholes: let the gates see the cell state, with diagonal weights.
      cell_clip: the limit to which the cell state is clipped, if any.
      initializer: for the kernels and peepholes.
      num_proj: the size to which the output is projected; None for no projection.
      proj_clip: the limit to which projected values are clipped, if any.
      num_unit_shards, num_proj_shards: the number of partitions of the kernels.
      forget_bias: added to the forget gate.
      state_is_tuple: state is an `LSTMStateTuple`; False: [c, h] in one Tensor.
      activation: the activation instead of tanh.
      reuse: whether the variables must exist.
      name: the layer's name.
      dtype: the variables' type; the input's if None.

    Source: Hochreiter and Schmidhuber, 1997; Sak et al., "Long short-term memory
    recurrent neural network architectures", 2014; python/ops/rnn_cell_impl.py.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DType | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        if not state_is_tuple:
            warn_of_joined_state(self)
        if num_unit_shards is not None or num_proj_shards is not None:
            get_logger().warning(
                "%s: The num_unit_shards and proj_unit_shards parameters are "
                "deprecated and will be removed in Jan 2017.  Use a variable scope "
                "with a partitioner instead.",
                self,
            )
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = activations_by_name.initializer(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._shards = num_unit_shards, num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._output_size = num_proj or num_units

    @property
    def state_size(self) -> Any:
        """LSTMStateTuple(num_units, output_size), or their sum."""
        sizes = self._num_units, self._output_size
        return LSTMStateTuple(*sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """The number of units, or of projected units."""
        return self._output_size

    def _kernel_variable(self, name: str, sizes: list[int], shards: Any) -> Tensor:
        partitioner = None if shards is None else fixed_size_partitioner(shards)
        return self.add_variable(
            name, shape=sizes, initializer=self._initializer, partitioner=partitioner
        )

    def build(self, input_shape: TensorShape) -> None:
        depth, units = self.require_depth(input_shape), self._num_units
        require_floats(self)
        inside = units if self._num_proj is None else self._num_proj
        unit_shards, proj_shards = self._shards
        self._kernel = self._kernel_variable(
            KERNEL, [depth + inside, 4 * units], unit_shards
        )
        self._bias = self._variable(BIAS, [4 * units], Zeros(dtype=self.dtype))
        if self._use_peepholes:
            self._diagonals = {
                gate: self._variable(f"w_{gate}_diag", [units], self._initializer)
                for gate in "fio"
            }
        if self._num_proj is not None:
            self._proj_kernel = self._kernel_variable(
                f"projection/{KERNEL}", [units, self._num_proj], proj_shards
            )
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        require_float_inputs(inputs, state)
        if self._state_is_tuple:
            c, m = state
        else:
            units = self._num_units
            size = units if self._num_proj is None else self._num_proj
            c = slice(state, [0, 0], [-1, units])
            m = slice(state, [0, units], [-1, size])
        if inputs.shape.with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = self._linear(inputs, m, self._kernel, self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        c = self._memory(i, j, f, c)
        m = self._peep(o, "o", c) * self._activation(c)
        if self._num_proj is not None:
            m = clipped(matmul(m, self._proj_kernel), self._proj_clip)
        if self._state_is_tuple:
            return m, LSTMStateTuple(c, m)
        return m, concat([c, m], 1)

    def _peep(self, value: Tensor, gate: str, memory: Tensor) -> Tensor:
        """A gate, with an optional peephole at the cell state."""
        if self._use_peepholes:
            value = value + self._diagonals[gate] * memory
        return sigmoid(value)

    def _memory(self, i: Tensor, j: Tensor, f: Tensor, c: Tensor) -> Tensor:
        kept = self._peep(f + self._forget_bias, "f", c) * c
        memory: Tensor = kept + self._peep(i, "i", c) * self._activation(j)
        return clipped(memory, self._cell_clip)


def clipped(value: Tensor, limit: float | None) -> Tensor:
    """The values clipped to -limit and limit; unchanged without a limit."""
    return value if limit is None else clip_by_value(value, -limit, limit)
