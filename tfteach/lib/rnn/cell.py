"""`RNNCell`, the base of all cells, and the shapes of states.

Source: python/ops/rnn_cell_impl.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework import nest
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, int32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape, as_tensor_shape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.layers.base import Layer
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.shape_ops import shape
from tfteach.variables.creation import makes_eager_variables
from tfteach.variables.partitioned import PartitionedVariable
from tfteach.variables.scope import get_variable_scope, variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


def require_cell(argument: str, cell: RNNCell) -> None:
    """Raise TypeError, naming the argument, unless `cell` is like an RNNCell."""
    missing = [
        problem
        for is_there, problem in (
            (hasattr(cell, "output_size"), "'output_size' property is missing"),
            (hasattr(cell, "state_size"), "'state_size' property is missing"),
            (
                hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state"),
                "either 'zero_state' or 'get_initial_state' method is required",
            ),
            (callable(cell), "is not callable"),
        )
        if not is_there
    ]
    if missing:
        raise TypeError(
            f"The argument {argument!r} ({cell}) is not an RNNCell: "
            f"{', '.join(missing)}."
        )


# ---- shapes with a leading batch size


def static_shape_of(prefix: Any, suffix: Any) -> list[int | None] | None:
    """The concatenation of two static shapes, as far as known."""
    parts = []
    for part in (prefix, suffix):
        _as_vector(part)  # unused, but part of TensorFlow's graphs
        if isinstance(part, Tensor):
            value = constant_value(part)
            part = None if value is None else value.ravel().tolist()
            parts.append(TensorShape(part))
        else:
            parts.append(as_tensor_shape(part))
    whole = parts[0].concatenate(parts[1])
    return None if whole.ndims is None else whole.as_list()


def shape_of(prefix: Any, suffix: Any) -> Tensor:
    """The concatenation of two shapes, as an int32 vector.

    Raises:
      ValueError: a part is neither a Tensor nor fully known.
    """
    parts = []
    for part in (_as_vector(prefix), _as_vector(suffix)):
        if part is None:
            raise ValueError(
                f"Provided a prefix or suffix of None: {prefix} and {suffix}"
            )
        parts.append(part)
    return concat(parts, 0)


def _as_vector(part: Any) -> Tensor | None:
    if isinstance(part, Tensor):
        if part.shape.ndims == 0:
            return expand_dims(part, 0)
        if part.shape.ndims != 1:
            raise ValueError(
                "prefix tensor must be either a scalar or vector, but saw tensor: "
                f"{part}"
            )
        return part
    known = as_tensor_shape(part)
    if not known.is_fully_defined():
        return None
    return constant(known.as_list(), dtype=int32)


def size_shape(given: Any) -> TensorShape:
    """A size (an int, a shape or a Tensor of one) as a static shape."""
    if isinstance(given, Tensor):
        return TensorShape(constant_value(given))
    return as_tensor_shape(given)


def zero_tensors(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros [batch_size, size] for each size in a nest of sizes."""

    def zero(size: Any) -> Tensor:
        tensor = zeros(shape_of(batch_size, size), dtype=dtype)
        tensor.set_shape(static_shape_of(batch_size, size))
        return tensor

    return nest.map_structure(zero, state_size)


# ---- the base


@export("nn.rnn_cell.RNNCell", "contrib.rnn.RNNCell")
class RNNCell(Layer):
    """Base of all cells: `output, state = cell(input, state)`.

    A subclass has `state_size` and `output_size` (an int, a TensorShape or a nest of
    them) and `call(inputs, state)`.

    Example:
      >>> class Sum(tf.nn.rnn_cell.RNNCell):
      ...     state_size = output_size = 3
      ...     def call(self, inputs, state):
      ...         return inputs + state, inputs + state

    Source: python/ops/rnn_cell_impl.py.
    """

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._own_scope: Any = None

    def __call__(
        self, inputs: TensorLike, state: Any, scope: VariableScope | str | None = None
    ) -> Any:
        """Run the cell for one step.

        Args:
          inputs: a Tensor [batch, depth], or any input that `call` accepts.
          state: a nest of Tensors [batch, size], like `state_size`.
          scope: a VariableScope or name for the variables; the class's name if None.

        Returns:
          (output [batch, output_size], new state).
        """
        if scope is not None:
            with variable_scope(scope, custom_getter=self._record) as opened:
                return super().__call__(inputs, state, scope=opened)
        if self._own_scope is None:
            # Variables of tf.get_variable in `call` belong to the first call's scope.
            self._own_scope = variable_scope(
                get_variable_scope(), custom_getter=self._record
            )
        with self._own_scope:
            return super().__call__(inputs, state)

    def _record(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        """Record variables created by tf.get_variable inside `call` as weights."""
        variable = getter(*args, **kwargs)
        first = variable
        if isinstance(variable, PartitionedVariable):
            first = next(iter(variable))
        if makes_eager_variables():
            trained = first.trainable
        else:
            graph = get_default_graph()
            trainable = graph.collection_list(GraphKeys.TRAINABLE_VARIABLES)
            trained = any(first is v for v in trainable)
        own = self._trainable_weights if trained else self._non_trainable_weights
        if all(variable is not known for known in own):
            own.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The sizes of the state, without the batch: an int or a nest of ints."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output, without the batch."""
        raise NotImplementedError("Abstract method")

    def build(self, input_shape: TensorShape) -> None:
        # Cells whose `call` uses tf.get_variable have nothing to build; and `built` is
        # left unchanged: their scope is reused by the caller, not by the layer.
        pass

    def get_initial_state(
        self,
        inputs: TensorLike | None = None,
        batch_size: TensorLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """The initial state: zeros.

        Args:
          inputs: a Tensor [batch, ...] that determines batch size and type, or None.
          batch_size: an int or scalar Tensor; required without `inputs`.
          dtype: the type; required without `inputs`.

        Raises:
          ValueError: batch size or type are missing, or differ from those of `inputs`.
        """
        if inputs is not None:
            inputs = convert(inputs, name="inputs")
            static = inputs.shape.as_list()[0]
            if batch_size is not None:
                known = batch_size
                if isinstance(batch_size, Tensor):
                    known = constant_value(batch_size)
                if static != known:
                    raise ValueError(
                        "batch size from input tensor is different from the input "
                        f"param. Input tensor batch: {static}, "
                        f"batch_size: {batch_size!s}"
                    )
            if dtype is not None and inputs.dtype != as_dtype(dtype):
                raise ValueError(
                    "dtype from input tensor is different from the input param. Input "
                    f"tensor dtype: {inputs.dtype}, dtype: {dtype}"
                )
            batch_size = static or shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike | None) -> Any:
        """Zeros like the state.

        Args:
          batch_size: an int or a scalar Tensor.
          dtype: the type of the zeros.

        Returns:
          A nest of Tensors [batch_size, size] like `state_size`.
        """
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_tensors(self.state_size, batch_size, dtype)


@export("contrib.rnn.LayerRNNCell")
class LayerRNNCell(RNNCell):
    """A cell that creates its variables in `build`, as layers do."""

    def __call__(
        self,
        inputs: TensorLike,
        state: Any,
        scope: VariableScope | str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Run the cell for one step; see `RNNCell`."""
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def require_depth(self, input_shape: TensorShape) -> int:
        """The last size of the input.

        Raises:
          ValueError: it is not known.
        """
        sizes = input_shape.as_list()
        if sizes[-1] is None:
            known = tuple(sizes)
            raise ValueError(
                f"Expected inputs.shape[-1] to be known, saw shape: {known}"
            )
        depth: int = sizes[-1]
        return depth


def require_floats(cell: Layer) -> None:
    """Raise ValueError unless the cell computes with floats."""
    if cell.dtype is not None:
        kind = as_dtype(cell.dtype)
        if not (kind.is_floating or kind.is_complex):
            raise ValueError(
                "RNN cell only supports floating point inputs, but saw dtype: "
                f"{cell.dtype}"
            )


def require_float_inputs(*inputs: Any) -> None:
    """Raise ValueError unless all inputs and states are floats."""
    for tensor in nest.flatten(inputs):
        if hasattr(tensor, "dtype") and not (
            tensor.dtype.is_floating or tensor.dtype.is_complex
        ):
            raise ValueError(
                "RNN cell only supports floating point inputs, but saw dtype: "
                f"{tensor.dtype.base_dtype.name}"
            )
