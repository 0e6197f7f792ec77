"""Wrappers of cells: attention to previous outputs, highway connections, compilation.

Source: contrib/rnn/python/ops/rnn_cell.py.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tfteach.framework import nest
from tfteach.framework.dimension import dimension_value
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.rnn.linear import Linear
from tfteach.lib.rnn.cell import RNNCell, require_cell
from tfteach.lib.rnn.cells import warn_of_joined_state
from tfteach.lib.rnn.wrappers import EnclosingCell
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.math.exponential import sigmoid, tanh
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.nn.bias_add import xw_plus_b
from tfteach.ops.nn.softmax import softmax
from tfteach.ops.windows.conv_2d import conv2d
from tfteach.variables.initializers import Constant
from tfteach.variables.scope import get_variable, variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


@export("contrib.rnn.AttentionCellWrapper")
class AttentionCellWrapper(RNNCell):
    """A cell that in each step attends to its own previous outputs.

    Its state is (the cell's state, the attention value, the flattened last outputs).

    Args:
      cell: an RNNCell.
      attn_length: the number of previous outputs.
      attn_size: the size of outputs; the cell's if None.
      attn_vec_size: the size in which query and outputs are compared; `attn_size` if
        None.
      input_size: the size of the cell's input; the wrapper's input size if None.
      state_is_tuple: False: the state is one Tensor.
      reuse: whether the variables must exist.

    Raises:
      TypeError: `cell` is not an RNNCell.
      ValueError: `attn_length` is not positive; the cell's state is a tuple and
        `state_is_tuple` is False.

    Source: Bahdanau et al., "Neural machine translation by jointly learning to align
    and translate", 2014; contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        cell: RNNCell,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        require_cell("cell", cell)
        if nest.is_sequence(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. "
                f"State size is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(
                f"attn_length should be greater than zero, got {attn_length}"
            )
        if not state_is_tuple:
            warn_of_joined_state(self)
        self.cell = cell
        self._state_is_tuple = state_is_tuple
        self._length = attn_length
        self._size = cell.output_size if attn_size is None else attn_size
        self._vector_size = self._size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._linear: dict[str, Linear] = {}

    @property
    def state_size(self) -> Any:
        """(the cell's size, the attention's, that of all outputs), or their sum."""
        sizes = self.cell.state_size, self._size, self._size * self._length
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """The size of outputs."""
        return self._size

    def _projected(self, part: str, values: Any, size: int | None) -> Tensor:
        if part not in self._linear:
            self._linear[part] = Linear(values, size)
        return self._linear[part](values)

    def _parts(self, state: Any) -> tuple[Any, Any, Any]:
        if self._state_is_tuple:
            own, read, outputs = state
            return own, read, outputs
        parts, begin = [], 0
        for size in (self.cell.state_size, self._size, self._size * self._length):
            parts.append(slice(state, [0, begin], [-1, size]))
            begin += size
        return parts[0], parts[1], parts[2]

    def call(self, inputs: Tensor, state: Any) -> Any:
        state, read, outputs = self._parts(state)
        outputs = reshape(outputs, [-1, self._length, self._size])
        input_size = self._input_size
        if input_size is None:
            input_size = inputs.shape.as_list()[1]
        inputs = self._projected("input", [inputs, read], input_size)
        output, new_state = self.cell(inputs, state)
        query = new_state
        if self._state_is_tuple:
            query = concat(nest.flatten(new_state), 1)
        new_read, kept = self._read(query, outputs)
        with variable_scope("attn_output_projection"):
            output = self._projected("output", [output, new_read], self._size)
        kept = concat([kept, expand_dims(output, 1)], 1)
        kept = reshape(kept, [-1, self._length * self._size])
        parts = new_state, new_read, kept
        return output, parts if self._state_is_tuple else concat(list(parts), 1)

    def _read(self, query: Tensor, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """The attention value, and the outputs without the oldest one."""
        size, compared = self._size, self._vector_size
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, size, compared])
            vector = get_variable("attn_v", [compared])
            hidden = reshape(outputs, [-1, self._length, 1, size])
            features = conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            y = self._projected("query", query, compared)
            y = reshape(y, [-1, 1, 1, compared])
            scores = reduce_sum(vector * tanh(features + y), [2, 3])
            weights = reshape(softmax(scores), [-1, self._length, 1, 1])
            mean = reduce_sum(weights * hidden, [1, 2])
            new_read = reshape(mean, [-1, size])
            return new_read, slice(outputs, [0, 1, 0], [-1, -1, -1])


@export("contrib.rnn.HighwayWrapper")
class HighwayWrapper(EnclosingCell):
    """A cell whose input is combined with its output: c x + t output.

    c = sigmoid(x W + b);  t = 1 - c, or a separate gate

    Args:
      cell: an RNNCell with equal input and output sizes.
      couple_carry_transform_gates: whether t = 1 - c.
      carry_bias_init: the initial bias of c; that of t is its negative.

    Raises:
      TypeError: inputs and outputs are nested differently.
      ValueError: they have different sizes.

    Source: Srivastava et al., "Highway networks", 2015;
    contrib/rnn/python/ops/rnn_cell.py.
    """

    def __init__(
        self,
        cell: RNNCell,
        couple_carry_transform_gates: bool = True,
        carry_bias_init: float = 1.0,
    ) -> None:
        super().__init__(cell)
        self._is_coupled = couple_carry_transform_gates
        self._carry_bias = carry_bias_init

    def _gate(self, name: str, inputs: Tensor, bias: float) -> Tensor:
        depth = dimension_value(inputs.shape.with_rank(2)[1])
        weights = get_variable(f"{name}_w", [depth, depth])
        biases = get_variable(f"{name}_b", [depth], initializer=Constant(bias))
        return sigmoid(xw_plus_b(inputs, weights, biases))

    def _mixed(self, inputs: Tensor, output: Tensor) -> Tensor:
        carry = self._gate("carry", inputs, self._carry_bias)
        if self._is_coupled:
            transform = 1 - carry
        else:
            transform = self._gate("transform", inputs, -self._carry_bias)
        return inputs * carry + output * transform

    def __call__(
        self, inputs: TensorLike, state: Any, scope: VariableScope | str | None = None
    ) -> Any:
        """Run the wrapped cell for one step, and combine."""
        outputs, state = self.cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        for given, made in zip(
            nest.flatten(inputs), nest.flatten(outputs), strict=True
        ):
            given.shape.assert_is_compatible_with(made.shape)
        return nest.map_structure(self._mixed, inputs, outputs), state


@export("contrib.rnn.CompiledWrapper")
class CompiledWrapper(EnclosingCell):
    """A cell that TensorFlow compiles with XLA, which is not supported here.

    Raises:
      NotImplementedError: always.
    """

    def __init__(self, cell: RNNCell, compile_stateful: bool = False) -> None:
        _refuse_compiling()


def _refuse_compiling() -> NoReturn:
    raise NotImplementedError(
        "tf.contrib.rnn.CompiledWrapper requires XLA, which is not supported. Use "
        "the cell itself: sessions already run steps as generated functions."
    )
