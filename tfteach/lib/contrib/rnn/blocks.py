"""LSTMs and GRUs with one op per step, or per sequence: faster, fewer nodes.

Source: contrib/rnn/python/ops/lstm_ops.py, gru_ops.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.contrib.rnn.shared import WithMemory
from tfteach.lib.layers.base import Layer
from tfteach.lib.layers.specs import InputSpec
from tfteach.lib.rnn.cell import LayerRNNCell
from tfteach.lib.rnn.cells import LSTMStateTuple, OfUnits
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.one_hot import sequence_mask
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_max
from tfteach.ops.nn import lstm_blocks as ops
from tfteach.variables.initializers import Constant


def _lstm_variables(layer: Any, depth: int, units: int, peepholes: bool) -> Any:
    """A kernel, a bias, and the peephole weights or None."""
    kernel = layer.add_variable("kernel", [depth + units, units * 4])
    bias = layer.add_variable("bias", [units * 4], initializer=Constant(0.0))
    weights = None
    if peepholes:
        names = [f"w_{gate}_diag" for gate in "ifo"]
        weights = [layer.add_variable(name, [units]) for name in names]
    return kernel, bias, weights


@export("contrib.rnn.LSTMBlockCell")
class LSTMBlockCell(WithMemory, LayerRNNCell):
    """A basic LSTM, optionally with peepholes and clipping, with one op per step.

    Its kernel is compatible with a BasicLSTMCell's.

    Args:
      num_units: the size of `c`, of `h` and of the output.
      forget_bias: added to the forget gate.
      cell_clip: the limit to which the cell state is clipped, if any.
      use_peephole: let the gates see the cell state.
      dtype: the variables' type; the input's if None.
      reuse: whether the variables must exist.
      name: the layer's name.

    Raises:
      ValueError: the depth of the inputs is not known; the state is not a pair.

    Example:
      >>> cell = tf.contrib.rnn.LSTMBlockCell(4)
      >>> x = tf.placeholder(tf.float32, [None, 7, 3])
      >>> outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)

    Source: Zaremba et al., "Recurrent neural network regularization", 2014;
    contrib/rnn/python/ops/lstm_ops.py.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: DTypeLike | None = None,
        reuse: bool | None = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        clip = -1 if cell_clip is None else cell_clip
        self._op = ops.LSTMBlockCell(float(forget_bias), float(clip), use_peephole)
        self.input_spec = InputSpec(ndim=2)

    def build(self, input_shape: TensorShape) -> None:
        depth = dimension_value(input_shape[1])
        if not depth:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {input_shape}")
        self._kernel, self._bias, self._peepholes = _lstm_variables(
            self, depth, self._num_units, self._op.use_peephole
        )
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        weights = self._peepholes
        if weights is None:
            weights = [zeros([self._num_units], dtype=self.dtype)] * 3
        c, h = state
        found = self._op(inputs, c, h, self._kernel, *weights, self._bias)
        return found[6], LSTMStateTuple(found[1], found[6])


@export("contrib.rnn.LSTMBlockWrapper")
class LSTMBlockWrapper(Layer, ABC):
    """Base of LSTMs that process a whole sequence in one op.

    A subclass has `num_units` and `_call_cell`.

    Source: contrib/rnn/python/ops/lstm_ops.py.
    """

    @property
    @abstractmethod
    def num_units(self) -> int:
        """The size of the cell state."""

    @abstractmethod
    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any,
        initial_output: Any,
        dtype: DTypeLike,
        sequence_length: Any,
    ) -> Any:
        """(all cell states, all outputs), Tensors [time, batch, num_units]."""

    def call(
        self,
        inputs: Tensor,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """Run over a sequence.

        Args:
          inputs: a float Tensor [time, batch, depth].
          initial_state: a pair (c, h) of Tensors [batch, num_units]; zeros if None.
          dtype: the type of the zeros; required without an initial state.
          sequence_length: int Tensor [batch]; later steps output zeros.

        Returns:
          (outputs [time, batch, num_units], LSTMStateTuple of the final state).

        Raises:
          ValueError: neither state nor type is given, or the state is not a pair.
        """
        is_list = isinstance(inputs, list)
        inputs = stack(inputs) if is_list else inputs
        steps, examples, _ = inputs.shape.with_rank(3).as_list()
        batch_size = shape(inputs)[1] if examples is None else examples
        time = shape(inputs)[0] if steps is None else steps
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            empty = zeros(stack([batch_size, self.num_units]), dtype=dtype)
            initial_state = empty, empty
        elif len(initial_state) != 2:
            raise ValueError(
                "Expecting initial_state to be a tuple with length 2 or None"
            )
        dtype = initial_state[0].dtype if dtype is None else dtype
        if sequence_length is not None:
            sequence_length = convert(sequence_length)
        begin_c, begin_h = initial_state
        memories, outputs = self._call_cell(
            inputs, begin_c, begin_h, dtype, sequence_length
        )
        if sequence_length is None:
            state = LSTMStateTuple(memories[-1], outputs[-1])
        else:
            mask = sequence_mask(sequence_length, time, dtype=dtype)
            mask = expand_dims(transpose(mask, [1, 0]), [-1])
            outputs = outputs * tile(mask, [1, 1, self.num_units])
            # With the initial state prepended, step `length` is the last one.
            memories = concat([expand_dims(begin_c, [0]), memories], 0)
            states = concat([expand_dims(begin_h, [0]), outputs], 0)
            state = LSTMStateTuple(
                _at(memories, sequence_length, batch_size),
                _at(states, sequence_length, batch_size),
            )
        return unstack(outputs) if is_list else outputs, state


def _at(values: Tensor, steps: Tensor, batch_size: Any) -> Tensor:
    """The values of each sequence at its step."""
    return gather_nd(values, stack([steps, range_of(batch_size)], axis=1))


@export("contrib.rnn.LSTMBlockFusedCell")
class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM that processes a whole sequence in one op, the fastest variant.

    It is called with the whole sequence, not by `dynamic_rnn`.

    Args:
      num_units: the size of `c`, of `h` and of the output.
      forget_bias: added to the forget gate.
      cell_clip: the limit to which the cell state is clipped, if any.
      use_peephole: let the gates see the cell state.
      reuse: whether the variables must exist.
      dtype: the variables' type; the input's if None.
      name: the layer's name.

    Example:
      >>> lstm = tf.contrib.rnn.LSTMBlockFusedCell(4)
      >>> x = tf.ones([7, 2, 3])  # [time, batch, depth]
      >>> outputs, state = lstm(x, dtype=tf.float32, sequence_length=[7, 5])

    Source: contrib/rnn/python/ops/lstm_ops.py.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: DTypeLike | None = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        clip = -1 if cell_clip is None else cell_clip
        self._op = ops.BlockLSTM(float(forget_bias), float(clip), use_peephole)
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        """The size of the cell state."""
        return self._num_units

    def build(self, input_shape: TensorShape) -> None:
        depth = dimension_value(input_shape[2])
        if depth is None:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {input_shape}")
        self._kernel, self._bias, self._peepholes = _lstm_variables(
            self, depth, self._num_units, self._op.use_peephole
        )
        self.built = True

    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any,
        initial_output: Any,
        dtype: DTypeLike,
        sequence_length: Any,
    ) -> Any:
        time: Any = dimension_value(inputs.shape[0])
        time = shape(inputs)[0] if time is None else time
        weights = self._peepholes
        if weights is None:
            weights = [zeros([self._num_units], dtype=dtype)] * 3
        steps = time if sequence_length is None else reduce_max(sequence_length)
        found = self._op(
            cast(steps, int64),
            inputs,
            initial_cell_state,
            initial_output,
            self._kernel,
            *weights,
            self._bias,
        )
        return found[1], found[6]


@export("contrib.rnn.GRUBlockCell")
class GRUBlockCell(OfUnits, LayerRNNCell):
    """A GRU with one op per step; its variables are w_ru, b_ru, w_c and b_c.

    Args:
      num_units: the size of state and output.
      cell_size: deprecated name of `num_units`.
      reuse: whether the variables must exist.
      name: the layer's name.

    Raises:
      ValueError: both sizes are given, or neither; the depth of the inputs is not
        known; the state's size does not match.

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder",
    2014; contrib/rnn/python/ops/gru_ops.py.
    """

    _names = "w_ru", "b_ru", "w_c", "b_c"

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        if cell_size is not None:
            get_logger().warning(
                "%s: cell_size is deprecated, use num_units instead", self
            )
        self._num_units: Any = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    def build(self, input_shape: TensorShape) -> None:
        depth, units = dimension_value(input_shape[1]), self._num_units
        if depth is None:
            raise ValueError("Expecting input_size to be set.")
        gates, gate_bias, candidate, candidate_bias = self._names
        self._gates = (
            self.add_variable(gates, [depth + units, units * 2]),
            self.add_variable(gate_bias, [units * 2], initializer=Constant(1.0)),
        )
        self._candidate = (
            self.add_variable(candidate, [depth + units, units]),
            self.add_variable(candidate_bias, [units], initializer=Constant(0.0)),
        )
        self.built = True

    def call(self, inputs: Tensor, state: Any) -> Any:
        size = state.shape.with_rank(2)[1]
        if dimension_value(size) not in (None, self._num_units):
            raise ValueError(
                f"Shape of h_prev[1] incorrect: cell_size {self._num_units} vs {size}"
            )
        (kernel, bias), (own_kernel, own_bias) = self._gates, self._candidate
        step = ops.GRUBlockCell()
        *_, new = step(inputs, state, kernel, own_kernel, bias, own_bias)
        return new, new


@export("contrib.rnn.GRUBlockCellV2")
class GRUBlockCellV2(GRUBlockCell):
    """`GRUBlockCell` whose variables have the same names as a GRUCell's.

    Source: contrib/rnn/python/ops/gru_ops.py.
    """

    _names = "gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"
