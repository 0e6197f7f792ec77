"""Wrappers formerly in TF's core: input embedding, input and output projection.

Source: contrib/rnn/python/ops/core_rnn_cell.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Initializer
from tfteach.lib.contrib.rnn.linear import Linear
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.wrappers import EnclosingCell
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.nn.embedding_lookup import embedding_lookup
from tfteach.variables.initializers import RandomUniform
from tfteach.variables.scope import get_variable, get_variable_scope


@export("contrib.rnn.EmbeddingWrapper")
class EmbeddingWrapper(EnclosingCell):
    """A cell whose inputs are ids, looked up in an embedding.

    The embedding and the cell's step are placed on "/cpu:0".

    Args:
      cell: an RNNCell.
      embedding_classes: the number of ids.
      embedding_size: the size of an id's embedding.
      initializer: of the embedding [classes, size]; the variable scope's, or uniform
        with variance 1, if None.
      reuse: whether the variable must exist.

    Raises:
      TypeError: `cell` is not an RNNCell.
      ValueError: the number of classes or the size is not positive.

    Example:
      >>> inner = tf.nn.rnn_cell.GRUCell(4)
      >>> cell = tf.contrib.rnn.EmbeddingWrapper(inner, 10, 3)
      >>> output, state = cell(tf.constant([7, 1]), cell.zero_state(2, tf.float32))

    Source: contrib/rnn/python/ops/core_rnn_cell.py.
    """

    def __init__(
        self,
        cell: RNNCell,
        embedding_classes: int,
        embedding_size: int,
        initializer: Initializer | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, _reuse=reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._sizes = [embedding_classes, embedding_size]
        self._initializer = initializer

    def call(self, inputs: Tensor, state: Any) -> Any:
        with get_default_graph().device("/cpu:0"):
            first = state[0] if isinstance(state, tuple) else state
            edge = math.sqrt(3)  # variance 1
            embedding = get_variable(
                "embedding",
                self._sizes,
                initializer=self._initializer
                or get_variable_scope().initializer
                or RandomUniform(-edge, edge),
                dtype=first.dtype,
            )
            vectors = embedding_lookup(embedding, reshape(inputs, [-1]))
            return self.cell(vectors, state)


class _Projecting(EnclosingCell):
    """A cell with a projection `x W + b` of its input or output."""

    def __init__(
        self,
        cell: RNNCell,
        size: int,
        activation: Callable[[Any], Tensor] | None,
        reuse: Any,
    ) -> None:
        super().__init__(cell, _reuse=reuse)
        self._projected_size = size
        self._activation = activation
        self._linear: Linear | None = None

    def _projected(self, values: Any) -> Tensor:
        if self._linear is None:
            self._linear = Linear(values, self._projected_size)
        projected = self._linear(values)
        if self._activation:
            projected = self._activation(projected)
        return projected


@export("contrib.rnn.InputProjectionWrapper")
class InputProjectionWrapper(_Projecting):
    """A cell whose input is `activation(x W + b)`.

    Args:
      cell: an RNNCell.
      num_proj: the size of the projected input.
      activation: a function; None for none.
      input_size: ignored, deprecated.
      reuse: whether the variables must exist.

    Raises:
      TypeError: `cell` is not an RNNCell.

    Source: contrib/rnn/python/ops/core_rnn_cell.py.
    """

    def __init__(
        self,
        cell: RNNCell,
        num_proj: int,
        activation: Callable[[Any], Tensor] | None = None,
        input_size: Any = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, num_proj, activation, reuse)
        if input_size is not None:
            get_logger().warning("%s: The input_size parameter is deprecated.", self)

    def call(self, inputs: Tensor, state: Any) -> Any:
        return self.cell(self._projected(inputs), state)


@export("contrib.rnn.OutputProjectionWrapper")
class OutputProjectionWrapper(_Projecting):
    """A cell that outputs `activation(output W + b)`.

    For long sequences a single product after all steps is faster.

    Args:
      cell: an RNNCell.
      output_size: its output size.
      activation: a function; None for none.
      reuse: whether the variables must exist.

    Raises:
      TypeError: `cell` is not an RNNCell.
      ValueError: `output_size` is not positive.

    Source: contrib/rnn/python/ops/core_rnn_cell.py.
    """

    def __init__(
        self,
        cell: RNNCell,
        output_size: int,
        activation: Callable[[Any], Tensor] | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, output_size, activation, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")

    @property
    def output_size(self) -> int:
        """The size of the projection."""
        return self._projected_size

    def call(self, inputs: Tensor, state: Any) -> Any:
        output, state = self.cell(inputs, state)
        return self._projected(output), state
