"""Cells that wrap other cells: dropout, residual connections, devices, stacks.

Source: python/ops/rnn_cell_wrapper_impl.py, rnn_cell_impl.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DeviceLike, DTypeLike, TensorLike
from tfteach.lib.layers.base import Layer
from tfteach.lib.rnn.cell import RNNCell, require_cell
from tfteach.lib.rnn.cells import LSTMStateTuple
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice
from tfteach.ops.math.division import div
from tfteach.ops.math.rounding import floor
from tfteach.ops.nn.dropout import dropout
from tfteach.ops.random.random_ops import random_uniform
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


class EnclosingCell(RNNCell):
    """A cell around another one, with the same state."""

    def __init__(self, cell: RNNCell, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        require_cell("cell", cell)
        self.cell = cell
        self._track_trackable(cell, "cell", overwrite=True)

    @property
    def state_size(self) -> Any:
        """The inner cell's state size."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """The inner cell's output size."""
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike | None) -> Any:
        """The inner cell's zero state."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)


class CellWrapper(EnclosingCell):
    """A wrapper without its own variables and scope."""

    @property
    def wrapped_cell(self) -> Any:
        """The inner cell."""
        return self.cell

    def __call__(self, inputs: TensorLike, state: Any, scope: Any = None) -> Any:
        """Run the wrapped cell for one step."""
        return self.wrapped(inputs, state, scope)

    def wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        """One step, implemented by subclasses."""
        raise NotImplementedError

    # A wrapper has no variables except the inner cell's.

    @property
    def trainable_weights(self) -> list[Any]:
        """The inner cell's trainable weights."""
        return getattr(self.cell, "trainable_weights", [])

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The inner cell's non-trainable weights."""
        return getattr(self.cell, "non_trainable_weights", [])


def _all_but_memory(part: Any) -> Any:
    """Filter of the state's parts to drop: not LSTM's `c`, not TensorArrays."""
    if isinstance(part, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(part, TensorArray)


@export("nn.rnn_cell.DropoutWrapper", "contrib.rnn.DropoutWrapper")
class DropoutWrapper(CellWrapper):
    """A cell with dropout of its inputs, outputs and state.

    Args:
      cell: an RNNCell.
      input_keep_prob, output_keep_prob, state_keep_prob: the fraction to keep, a float
        or scalar Tensor; 1 for no dropout.
      variational_recurrent: use the same mask in all steps of a run.
      input_size: the sizes of the inputs (without the batch); required for variational
        dropout of inputs.
      dtype: the type; required for variational dropout.
      seed: a seed from which each mask's seed is derived.
      dropout_state_filter_visitor: a function from a part of the state to whether it is
        dropped; the default excludes an LSTM's cell state `c`.

    Raises:
      TypeError: `cell` is not an RNNCell; the filter is not a function.
      ValueError: a probability is not in [0, 1]; an argument required for variational
        dropout is missing.

    Source: Gal and Ghahramani, "A theoretically grounded application of dropout in
    recurrent neural networks", 2016; python/ops/rnn_cell_wrapper_impl.py.
    """

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: TensorLike = 1.0,
        output_keep_prob: TensorLike = 1.0,
        state_keep_prob: TensorLike = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: DType | None = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        visitor = dropout_state_filter_visitor
        if visitor is not None and not callable(visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._is_dropped = visitor or _all_but_memory
        self._variational = variational_recurrent
        self._seed = seed
        self._noise: dict[str, Any] = {}
        with name_scope("DropoutWrapperInit"):
            given = {
                "input": input_keep_prob,
                "state": state_keep_prob,
                "output": output_keep_prob,
            }
            self._keep = {part: _probability(part, p) for part, p in given.items()}
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    def _make_noise(self, input_size: Any, dtype: DTypeLike | None) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        sizes = {"state": self.cell.state_size, "output": self.cell.output_size}
        if _may_drop(self._keep["input"]):
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is "
                    "unknown, input_size must be provided"
                )
            sizes = {"input": input_size, **sizes}
        for part, nested in sizes.items():
            noise = []
            for number, size in enumerate(nest.flatten(nested)):
                shape = concat(([1], TensorShape(size).as_list()), 0)
                seed = self._seed_of(part, number)
                noise.append(random_uniform(shape, seed=seed, dtype=dtype))
            self._noise[part] = noise

    def _seed_of(self, part: str, number: int) -> int | None:
        if self._seed is None:
            return None
        text = f"{self._seed}{part}_{number}".encode()
        return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropped(self, part: str, values: Any, chosen: Any = None) -> Any:
        """`values` after dropout, where `chosen` (of the same structure) is true."""
        keep = self._keep[part]
        flat = nest.flatten(values)
        wanted = [True] * len(flat) if chosen is None else nest.flatten(chosen)
        found = []
        for number, (value, is_dropped) in enumerate(zip(flat, wanted, strict=True)):
            if isinstance(is_dropped, bool) and not is_dropped:
                found.append(value)
            elif self._variational:
                noise = self._noise[part][number]
                is_kept = floor(keep + noise)
                kept = div(value, keep) * is_kept
                kept.set_shape(value.shape)
                found.append(kept)
            else:
                seed = self._seed_of(part, number)
                found.append(dropout(value, rate=1.0 - keep, seed=seed))
        return nest.pack_sequence_as(values, found)

    def wrapped(self, inputs: Tensor, state: Any, scope: VariableScope | str) -> Any:
        if _may_drop(self._keep["input"]):
            inputs = self._dropped("input", inputs)
        output, state = self.cell(inputs, state, scope=scope)
        if _may_drop(self._keep["state"]):
            state = self._dropped("state", state, _visited(self._is_dropped, state))
        if _may_drop(self._keep["output"]):
            output = self._dropped("output", output)
        return output, state


def _visited(visitor: Callable[[Any], Any], state: Any) -> Any:
    """The filter's result for each part; a single bool applies to a whole part."""
    said = visitor(state)
    if isinstance(said, bool) and nest.is_sequence(state):
        if not said:
            return nest.map_structure(lambda _: False, state)
        inner = [_visited(visitor, part) for part in nest.children(state)]
        return nest.pack_sequence_as(state, nest.flatten(inner))
    return said


def _probability(part: str, given: Any) -> Any:
    """A float if it is known, otherwise a Tensor."""
    tensor = convert(given)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if not 0 <= known <= 1:
        raise ValueError(
            f"Parameter {part}_keep_prob must be between 0 and 1: {int(known)}"
        )
    return float(known)


def _may_drop(probability: Any) -> bool:
    return not isinstance(probability, float) or probability < 1


@export("nn.rnn_cell.ResidualWrapper", "contrib.rnn.ResidualWrapper")
class ResidualWrapper(CellWrapper):
    """A cell whose input is added to its output.

    Args:
      cell: an RNNCell.
      residual_fn: a function of (inputs, outputs) instead of the sum.

    Raises:
      TypeError: `cell` is not an RNNCell, or inputs and outputs are nested differently.
      ValueError: inputs and outputs have different sizes.

    Source: Wu et al., "Google's neural machine translation system", 2016;
    python/ops/rnn_cell_wrapper_impl.py.
    """

    def __init__(self, cell: RNNCell, residual_fn: Any = None, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._residual = residual_fn or _sum

    def wrapped(self, inputs: Tensor, state: Any, scope: VariableScope | str) -> Any:
        outputs, state = self.cell(inputs, state, scope=scope)
        return self._residual(inputs, outputs), state


def _sum(inputs: Any, outputs: Any) -> Any:
    nest.assert_same_structure(inputs, outputs)
    for given, made in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
        given.shape.assert_is_compatible_with(made.shape)
    return nest.map_structure(lambda a, b: a + b, inputs, outputs)


@export("nn.rnn_cell.DeviceWrapper", "contrib.rnn.DeviceWrapper")
class DeviceWrapper(CellWrapper):
    """A cell that runs on a device.

    Args:
      cell: an RNNCell.
      device: a device string or function.

    Source: python/ops/rnn_cell_wrapper_impl.py.
    """

    def __init__(self, cell: RNNCell, device: DeviceLike, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: DTypeLike | None) -> Any:
        """Zeros on the device."""
        with (
            name_scope(type(self).__name__ + "ZeroState", values=[batch_size]),
            get_default_graph().device(self._device),
        ):
            return self.cell.zero_state(batch_size, dtype)

    def wrapped(self, inputs: Tensor, state: Any, scope: VariableScope | str) -> Any:
        with get_default_graph().device(self._device):
            return self.cell(inputs, state, scope=scope)


@export("nn.rnn_cell.MultiRNNCell", "contrib.rnn.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """Stacked cells: each one's input is the output of the one below.

    Args:
      cells: a list of RNNCells, the lowest first.
      state_is_tuple: state is a tuple of the cells' states; False: one Tensor.

    Raises:
      ValueError: there are no cells; or states are tuples and `state_is_tuple` is
          False.
      TypeError: `cells` is not a list.

    Example:
      >>> layers = [tf.nn.rnn_cell.GRUCell(n) for n in (8, 4)]
      >>> cell = tf.nn.rnn_cell.MultiRNNCell(layers)

    Source: python/ops/rnn_cell_impl.py.
    """

    def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_sequence(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            get_logger().warning(
                "At least two cells provided to MultiRNNCell are the same object and "
                "will share weights."
            )
        self._cells = cells
        for i, cell in enumerate(cells):
            self._track_trackable(cell, f"cell-{i}")
        self._state_is_tuple = state_is_tuple
        sizes = [cell.state_size for cell in cells]
        if not state_is_tuple and any(nest.is_sequence(size) for size in sizes):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is "
                f"not set.  State sizes are: {sizes}"
            )

    @property
    def state_size(self) -> Any:
        """The cells' state sizes."""
        sizes = [cell.state_size for cell in self._cells]
        return tuple(sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The output size of the top cell."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike | None) -> Any:
        """Zeros like the state."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable weights of all cells."""
        return self._of_cells("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The non-trainable weights of all cells."""
        others = self._of_cells("non_trainable_weights")
        if self.trainable:
            return others
        return self._of_cells("trainable_weights") + others

    def _of_cells(self, attribute: str) -> list[Any]:
        layers = [cell for cell in self._cells if isinstance(cell, Layer)]
        return [weight for layer in layers for weight in getattr(layer, attribute)]

    def call(self, inputs: Tensor, state: Any) -> Any:
        position, states = 0, []
        for number, cell in enumerate(self._cells):
            with variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    if not nest.is_sequence(state):
                        raise ValueError(
                            "Expected state to be a tuple of length "
                            f"{len(self.state_size)}, but received: {state}"
                        )
                    own = state[number]
                else:
                    own = slice(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                inputs, new = cell(inputs, own)
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else concat(states, 1)
