"""Softmax and its logarithm.

Source: core/ops/nn_ops.cc, python/ops/nn_ops.py, python/ops/nn_grad.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework import shape as shapes
from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import InvalidArgumentError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.threads import by_rows
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core import shape_ops
from tfteach.ops.math import vector_exp
from tfteach.ops.math.binary import subtract
from tfteach.ops.math.exponential import exp
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_sum

_BLOCK = 1 << 16  # elements: a block and its intermediate results fit in the L2 cache
_SHORT_ROW = 32  # elements
FLOATS = dtypes_of("half bfloat16 float32 float64")


def shifted_exp(xp: ArrayModule, logits: Any) -> tuple[Any, Any, Any]:
    """x - max(x), its exp, and the sum of the exp, along the last axis.

    Without the shift exp would overflow for large logits; the softmax is the same.
    """
    if not logits.size:
        return logits, logits, logits.sum(axis=-1, keepdims=True)
    shifted = logits - _largest(xp, logits)
    exp = xp.exp(shifted)
    return shifted, exp, exp.sum(axis=-1, keepdims=True)


@with_card_kernel(lambda xp, logits: logits.max(axis=-1, keepdims=True))
def _largest(xp: ArrayModule, logits: Any) -> Any:
    """The largest element of each row; for short rows, all at once, column by column.

    NumPy takes 50 ns for a row, however short it is.
    """
    rows, columns = len(logits), logits.shape[-1]
    if logits.ndim != 2 or columns > _SHORT_ROW or rows < 2 * _SHORT_ROW:
        return logits.max(axis=-1, keepdims=True)
    return xp.ascontiguousarray(logits.T).max(axis=0)[:, None]


def _softmax(xp: ArrayModule, logits: Any) -> Any:
    if not logits.size:
        return logits.copy()
    _, exp, total = shifted_exp(xp, logits)
    return xp.divide(exp, total, out=exp)


def _log_softmax(xp: ArrayModule, logits: Any) -> Any:
    if not logits.size:
        return logits.copy()
    shifted, _, total = shifted_exp(xp, logits)
    return xp.subtract(shifted, xp.log(total), out=shifted)


def _by_rows(logits: Any, function: Callable[[Any], Any]) -> Any:
    if logits.ndim == 1:
        return function(logits)
    return by_rows(function, logits, _BLOCK)


def _check_rank(logits: Any) -> None:
    if logits.ndim == 0:
        raise invalid_argument("logits must have >= 1 dimension, got []")


class _Softmax(Op, abstract=True):
    def infer_shape(self, logits: Shape) -> Shape:
        return shapes.with_rank_at_least(logits, 1)


class Softmax(_Softmax):
    """exp(x) / sum(exp(x)) along the last axis.  Source: nn_ops.cc, Softmax."""

    signature = "logits: T -> softmax: T"
    T = FLOATS

    def compute(self, xp: ArrayModule, logits: Array) -> Any:
        _check_rank(logits)
        if vector_exp.applies(logits.size, logits.dtype):
            return vector_exp.softmax(logits)
        return _by_rows(logits, lambda rows: _softmax(xp, rows))

    def compute_on_card(self, xp: ArrayModule, logits: Any) -> Any:
        _check_rank(logits)
        return _softmax(xp, logits)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        softmax = op.outputs[0]
        total = reduce_sum(grad * softmax, -1, keepdims=True)
        return [(grad - total) * softmax]


class LogSoftmax(_Softmax):
    """x - log(sum(exp(x))) along the last axis.  Source: nn_ops.cc, LogSoftmax."""

    signature = "logits: T -> logsoftmax: T"
    T = FLOATS

    def compute(self, xp: ArrayModule, logits: Array) -> Any:
        _check_rank(logits)
        return _by_rows(logits, lambda rows: _log_softmax(xp, rows))

    def compute_on_card(self, xp: ArrayModule, logits: Any) -> Any:
        _check_rank(logits)
        return _log_softmax(xp, logits)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        softmax = exp(op.outputs[0])
        return [grad - reduce_sum(grad, -1, keepdims=True) * softmax]


def _along_axis(op: Op, logits: Any, axis: Any, name: str | None) -> Tensor:
    """Apply `op`, defined on the last axis, along any axis (swapped to the end)."""
    logits = convert(logits)
    rank = logits.shape.ndims
    if axis == -1 or (rank is not None and axis == rank - 1):
        return op(logits, name=name)
    if isinstance(axis, Tensor) or rank is None:
        raise NotImplementedError(
            "softmax along an axis known only at run time is not implemented: pass "
            "`axis` as an int, and `logits` of known rank."
        )
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            None,
            None,
            f"Dimension ({axis}) must be in the range [{-rank}, {rank}) where {rank} "
            "is the number of dimensions in the input.",
        )
    own_rank = shape_ops.rank(logits)  # two nodes, as in TF
    if axis < 0:
        axis = axis + own_rank  # a tensor, and so are the values derived from it
    input_rank = shape_ops.rank(logits)
    at = axis % rank
    swapped = _swap_with_last(logits, at, subtract(input_rank, 1))
    result = _swap_with_last(op(swapped), at, subtract(input_rank, 1), name)
    result.set_shape(logits.shape)
    return result


def _swap_with_last(
    tensor: Any, axis: Any, last: Any, name: str | None = None
) -> Tensor:
    order = concat([range_of(axis), [last], range_of(axis + 1, last), [axis]], 0)
    return transpose(tensor, order, name=name or "transpose")


@export("nn.softmax", "math.softmax")
def softmax(
    logits: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """Probabilities: `exp(x) / sum(exp(x))` along an axis.

    Args:
      logits: float Tensor of rank 1 or more.
      axis: the axis that sums to 1; the last one if None.
      name: the op's name.
      dim: deprecated name of `axis`.

    Returns:
      A Tensor like `logits`.

    Raises:
      InvalidArgumentError: the axis is out of range, or `logits` is a scalar.

    Example:
      >>> tf.nn.softmax([0.0, 0.0])  # [0.5, 0.5]

    Source: Softmax in core/ops/nn_ops.cc.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    return _along_axis(Softmax(), logits, -1 if axis is None else axis, name)


@export("nn.log_softmax", "math.log_softmax")
def log_softmax(
    logits: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """`x - log(sum(exp(x)))` along an axis; arguments as for `tf.nn.softmax`.

    Source: LogSoftmax in core/ops/nn_ops.cc.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    return _along_axis(LogSoftmax(), logits, -1 if axis is None else axis, name)
