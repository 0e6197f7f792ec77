"""`[x, y, ...] W + b` with variables of the current scope.

Source: contrib/rnn/python/ops/core_rnn_cell.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework import nest
from tfteach.framework.dtypes import int32
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, Initializer
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.constant import constant
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.nn.bias_add import bias_add
from tfteach.variables.initializers import Constant
from tfteach.variables.scope import get_variable, get_variable_scope, variable_scope


def joined_depth(inputs: Any) -> int:
    """The total number of columns of the matrices.

    Raises:
      ValueError: one is not a matrix, or its width is not known.
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


def _in_list(args: Any) -> Any:
    if args is None or (nest.is_sequence(args) and not args):
        raise ValueError("`args` must be specified")
    return args if nest.is_sequence(args) else [args]


def _bias_variable(
    outer: Any, size: Any, dtype: DTypeLike, initializer: Initializer | None
) -> Any:
    """A bias, which is never partitioned."""
    with variable_scope(outer) as inner:
        inner.set_partitioner(None)
        if initializer is None:
            initializer = Constant(0.0, dtype=dtype)
        return get_variable("bias", [size], dtype, initializer)


class Linear:
    """A matrix and optionally a bias, created immediately for inputs of this form.

    Args:
      args: a float Tensor [batch, depth] or a list of them.
      output_size: the size of the output.
      build_bias: whether to add a bias.
      bias_initializer: zeros if None.
      kernel_initializer: the variable scope's if None.

    Raises:
      ValueError: there are no inputs, or an input is not a matrix of known width.
    """

    def __init__(
        self,
        args: Any,
        output_size: int | None,
        build_bias: bool = True,
        bias_initializer: Initializer | None = None,
        kernel_initializer: Initializer | None = None,
    ) -> None:
        inputs = _in_list(args)
        self._is_list = nest.is_sequence(args)
        depth, dtype = joined_depth(inputs), inputs[0].dtype
        with variable_scope(get_variable_scope()) as outer:
            self._kernel = get_variable(
                "kernel", [depth, output_size], dtype, kernel_initializer
            )
            self._bias = None
            if build_bias:
                self._bias = _bias_variable(outer, output_size, dtype, bias_initializer)

    def __call__(self, args: Any) -> Tensor:
        """`[args] W (+ b)`, a Tensor [batch, output_size]."""
        inputs = args if self._is_list else [args]
        if len(inputs) == 1:
            product = matmul(inputs[0], self._kernel)
        else:
            axis = constant(1, dtype=int32)
            product = matmul(concat(inputs, axis), self._kernel)
        return product if self._bias is None else bias_add(product, self._bias)


def _linear(
    args: Any,
    output_size: int,
    bias: bool,
    bias_initializer: Initializer | None = None,
    kernel_initializer: Initializer | None = None,
) -> Tensor:
    """`[args] W (+ b)` with variables of the current scope, as called by old notebooks.

    Exported under its TF name, `core_rnn_cell._linear`.
    """
    inputs = _in_list(args)
    depth, dtype = joined_depth(inputs), inputs[0].dtype
    with variable_scope(get_variable_scope()) as outer:
        kernel = get_variable("kernel", [depth, output_size], dtype, kernel_initializer)
        joined = inputs[0] if len(inputs) == 1 else concat(inputs, 1)
        product = matmul(joined, kernel)
        if not bias:
            return product
        variable = _bias_variable(outer, output_size, dtype, bias_initializer)
        return bias_add(product, variable)


_Linear = Linear
