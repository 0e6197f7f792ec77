"""Weights of losses and metrics: checks of their shapes, and broadcasting.

Weights are a scalar, or have the rank of the values with each size 1 or the values'.
Source: python/ops/weights_broadcast_ops.py, python/ops/confusion_matrix.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.branch import cond
from tfteach.control.case import Assert
from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import rank, shape, size
from tfteach.ops.math.compare import equal
from tfteach.ops.math.multiply import multiply
from tfteach.ops.sparse.set_operations import DenseToDenseSetOperation

_PREFIX = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """Check that `weights` match `values`: statically if the shapes are known.

    Args:
      weights: a numeric Tensor.
      values: the Tensor to be weighted.

    Returns:
      An Operation: an Assert, or a NoOp if the static shapes match.

    Raises:
      ValueError: the static shapes do not match.
    """
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        weights, weights_shape, weights_rank = _measured("weights", weights)
        values, values_shape, values_rank = _measured("values", values)
        if python_constant_value(weights_rank) is not None:
            fits = _check_known(weights, values)
            if fits is not None:
                return no_op(name=fits)
        is_scalar = equal(0, weights_rank, name="is_scalar")
        data = (
            _PREFIX,
            "weights.shape=",
            weights.name,
            weights_shape,
            "values.shape=",
            values.name,
            values_shape,
            "is_scalar=",
            is_scalar,
        )
        is_valid = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _fits(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        return Assert(is_valid, data, name=scope)


def _measured(name: str, value: Any) -> tuple[Tensor, Tensor, Tensor]:
    """A Tensor with its shape and rank, computed in a separate name scope."""
    with name_scope(None, name, [value]) as scope:
        tensor = convert(value, name=scope)
        return tensor, shape(tensor, name="shape"), rank(tensor, name="rank")


def _check_known(weights: Tensor, values: Tensor) -> str | None:
    """The name of the NoOp if static shapes decide the check; None otherwise."""
    if weights.shape.ndims == 0 and values.shape.ndims is not None:
        return "static_scalar_check_success"
    if values.shape.ndims is None:
        return None
    if weights.shape.ndims != values.shape.ndims:
        raise ValueError(
            f"{_PREFIX} values.rank={values.shape.ndims}. "
            f"weights.rank={weights.shape.ndims}. values.shape={values.shape}. "
            f"weights.shape={weights.shape}. Give a scalar, or one size for each of "
            "the values': 1 or the same."
        )
    both = weights.shape, values.shape
    if not all(s.is_fully_defined() for s in both):
        return None
    small, whole = (s.as_list() for s in both)
    for axis, (m, n) in enumerate(zip(small, whole, strict=True)):
        if m not in (1, n):
            raise ValueError(
                f"{_PREFIX} Mismatch at dim {axis}. values.shape={_numbers(whole)} "
                f"weights.shape={_numbers(small)}."
            )
    return "static_dims_check_success"


def _numbers(sizes: list[int | None]) -> str:
    return "[" + " ".join(map(str, sizes)) + "]"  # NumPy's format


def _fits(
    weights_rank: Tensor, weights_shape: Tensor, values_rank: Tensor, whole: Tensor
) -> Any:
    values = [weights_rank, weights_shape, values_rank, whole]
    with name_scope(None, "has_valid_nonscalar_shape", values) as scope:
        same_rank = equal(values_rank, weights_rank, name="is_same_rank")
        return cond(
            same_rank,
            lambda: _sizes_fit(weights_shape, whole),
            lambda: same_rank,
            name=scope,
        )


def _sizes_fit(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    """Whether each size is among {the values', 1}: a set difference per axis."""
    with name_scope(None, "has_invalid_dims", [weights_shape, values_shape]) as scope:
        whole = expand_dims(values_shape, -1)
        valid = concat([whole, ones_like(whole)], axis=1)
        found = expand_dims(weights_shape, -1)
        _, invalid, _ = DenseToDenseSetOperation("a-b")(found, valid)
        return equal(0, size(invalid, name="num_invalid_dims"), name=scope)


def broadcast_weights(weights: TensorLike, values: TensorLike) -> Tensor:
    """`weights` broadcast to `values`; see `assert_broadcastable` for valid shapes.

    Args:
      weights: a numeric Tensor.
      values: the Tensor that determines shape and type.

    Returns:
      A Tensor.

    Raises:
      ValueError: the static shapes do not match.
    """
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert(values, name="values")
        weights = convert(weights, dtype=values.dtype.base_dtype, name="weights")
        shapes = weights.shape, values.shape
        if all(s.is_fully_defined() for s in shapes) and shapes[0] == shapes[1]:
            return weights
        with control_dependencies([assert_broadcastable(weights, values)]):
            return multiply(weights, ones_like(values), name=scope)


def remove_squeezable_dimensions(
    labels: Any,
    predictions: Any,
    expected_rank_diff: int = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Both, without a surplus last dimension of size 1 in one of them.

    Args:
      labels: a Tensor.
      predictions: a Tensor.
      expected_rank_diff: the correct difference of ranks, `predictions` minus `labels`.
      name: the name scope of the new operations.

    Returns:
      (labels, predictions) as Tensors.

    Source: python/ops/confusion_matrix.py.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert(predictions), convert(labels)
        ranks = predictions.shape.ndims, labels.shape.ndims
        if ranks[0] is not None and ranks[1] is not None:
            excess = ranks[0] - ranks[1] - expected_rank_diff
            if excess == 1:
                predictions = squeeze(predictions, [-1])
            elif excess == -1:
                labels = squeeze(labels, [-1])
            return labels, predictions
        difference = rank(predictions) - rank(labels)
        if may_end_in_one(predictions):
            predictions = squeeze_if(expected_rank_diff + 1, difference, predictions)
        if may_end_in_one(labels):
            labels = squeeze_if(expected_rank_diff - 1, difference, labels)
        return labels, predictions


def may_end_in_one(tensor: Tensor) -> bool:
    """Whether the last dimension may be 1."""
    dims = tensor.shape.dims
    return dims is None or bool(dims[-1].is_compatible_with(1))


def squeeze_if(wanted: int, difference: Tensor, tensor: Tensor) -> Any:
    """`tensor` without its last dimension if `difference` is `wanted` in the run."""
    return cond(
        equal(wanted, difference), lambda: squeeze(tensor, [-1]), lambda: tensor
    )
