"""Shared parts of cells: sizes, partitioned weights, normalization.

Source: contrib/rnn/python/ops/rnn_cell.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.dimension import dimension_value
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.contrib.layers.normalization import layer_norm
from tfteach.lib.rnn.cells import LSTMStateTuple
from tfteach.ops.array.concat_split import concat
from tfteach.variables.initializers import Constant
from tfteach.variables.scope import get_variable, get_variable_scope, variable_scope


class WithMemory:
    """A cell with an LSTM's state; `_num_proj`, if given, is the size of the output."""

    _num_units: int
    _num_proj: int | None = None

    @property
    def state_size(self) -> Any:
        """LSTMStateTuple(num_units, output_size)."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """The number of units, or of projected units."""
        return self._num_proj or self._num_units


def require_known_depth(inputs: Tensor) -> int:
    """The number of columns of a matrix; ValueError if unknown."""
    depth: int | None = inputs.shape.with_rank(2).as_list()[1]
    if depth is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return depth


def built_depth(input_shape: TensorShape) -> int:
    """The same for the shape passed to `build`, with another message."""
    depth: int | None = dimension_value(input_shape[1])
    if depth is None:
        raise ValueError(
            f"Expected inputs.shape[-1] to be known, saw shape: {input_shape}"
        )
    return depth


def sharded_variable(name: str, sizes: list[int], dtype: DTypeLike, shards: int) -> Any:
    """A variable of the current scope, or `shards` of them concatenated in one Tensor.

    Raises:
      ValueError: there are more shards than rows.
    """
    rows = sizes[0]
    if shards > rows:
        raise ValueError(f"Too many shards: shape={sizes}, num_shards={shards}")
    parts = []
    for shard in range(shards):
        own = rows // shards + (1 if shard < rows % shards else 0)
        parts.append(get_variable(f"{name}_{shard}", [own, *sizes[1:]], dtype))
    if len(parts) == 1:
        return parts[0]
    made = f"{get_variable_scope().name}/{name}/concat:0"
    graph = get_default_graph()
    for tensor in graph.collection_list(GraphKeys.CONCATENATED_VARIABLES):
        if tensor.name == made:
            return tensor
    whole = concat(parts, 0, name=f"{name}/concat")
    graph.add_to_collection(GraphKeys.CONCATENATED_VARIABLES, whole)
    return whole


def normalized(
    value: Tensor, scope: str, gain: float, shift: float, **dtype: Any
) -> Tensor:
    """Each row of `value` normalized to mean 0 and variance 1; then gamma and beta."""
    size = value.shape[-1:]
    with variable_scope(scope):
        # `layer_norm` would initialize them to 1 and 0.
        get_variable("gamma", shape=size, initializer=Constant(gain), **dtype)
        get_variable("beta", shape=size, initializer=Constant(shift), **dtype)
    return layer_norm(value, reuse=True, scope=scope)
