"""`[x, y, ...] W + b` with variables of the current scope.

Source: contrib/rnn/python/ops/core_rnn_cell.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework import nest
from tfteach.framework.dtypes import int32
from tfteach.framework.operation import Tensor
from tfteach.initializers import Constant
from tfteach.ops.constant import constant
from tfteach.ops.join import concat
from tfteach.ops.linalg import matmul
from tfteach.ops.nn import bias_add
from tfteach.variable_scope import get_variable, get_variable_scope, variable_scope


def joined_depth(inputs: Any) -> int:
    """How wide the matrices are, side by side.

    Raises:
      ValueError: one is no matrix, or its width is not known.
    """
    shapes = [tensor.shape for tensor in inputs]
    depth = 0
    for each in shapes:
        if each.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        width = each.as_list()[1]
        if width is None:
            raise ValueError(
                "linear expects shape[1] to be provided for shape "
                f"{each}, but saw {each[1]}"
            )
        depth += width
    return depth


class Linear:
    """A matrix, and a bias or none, made at once for inputs like these.

    Args:
      inputs: a float Tensor [batch, depth] or a list of them.
      size: the size of the output.
      use_bias: whether there is a bias.

    Raises:
      ValueError: there are no inputs, or an input is no matrix of known width.
    """

    def __init__(self, inputs: Any, size: int, use_bias: bool = True) -> None:
        self._is_list = nest.is_sequence(inputs)
        if inputs is None or (self._is_list and not inputs):
            raise ValueError("`args` must be specified")
        inputs = inputs if self._is_list else [inputs]
        depth, dtype = joined_depth(inputs), inputs[0].dtype
        with variable_scope(get_variable_scope()) as outer:
            self._kernel = get_variable("kernel", [depth, size], dtype=dtype)
            self._bias = None
            if use_bias:
                with variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    zeros = Constant(0.0, dtype=dtype)
                    self._bias = get_variable("bias", [size], dtype, zeros)

    def __call__(self, inputs: Any) -> Tensor:
        """`[inputs] W (+ b)`, a Tensor [batch, size]."""
        inputs = inputs if self._is_list else [inputs]
        if len(inputs) == 1:
            product = matmul(inputs[0], self._kernel)
        else:
            axis = constant(1, dtype=int32)
            product = matmul(concat(inputs, axis), self._kernel)
        return product if self._bias is None else bias_add(product, self._bias)
