"""`tf.confusion_matrix`.  Source: python/ops/confusion_matrix.py."""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.values import assert_less, assert_non_negative
from tfteach.control.checks.weights import remove_squeezable_dimensions
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, int32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import ones_like, zeros
from tfteach.ops.core.shape_ops import cast
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.reduce_functions import reduce_max
from tfteach.ops.sparse.sparse_add import sparse_add


@export("math.confusion_matrix", "confusion_matrix")
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """Counts of predictions by label and predicted class.

    matrix[i, j] = Σ weights where label is i and prediction is j

    Args:
      labels, predictions: int Tensors [n] of non-negative class indices.
      num_classes: the number of classes; the largest index + 1 if None.
      dtype: the result's type.
      name: the name of the scope.
      weights: Tensor [n], the weight of each pair instead of 1.

    Returns:
      A Tensor [num_classes, num_classes].

    Raises:
      InvalidArgumentError: (in a run) a class is negative or not below `num_classes`.

    Example:
      >>> tf.Session().run(tf.confusion_matrix([0, 1, 1], [0, 1, 0]))
      array([[1, 0],
             [1, 1]], dtype=int32)

    Source: python/ops/confusion_matrix.py.
    """
    values = (predictions, labels, num_classes, weights)
    with name_scope(name, "confusion_matrix", values):
        labels, predictions = remove_squeezable_dimensions(
            convert(labels, name="labels"), convert(predictions, name="predictions")
        )
        predictions, labels = cast(predictions, int64), cast(labels, int64)
        message = "contains negative values"
        labels = _checked(assert_non_negative, labels, f"`labels` {message}")
        predictions = _checked(
            assert_non_negative, predictions, f"`predictions` {message}"
        )
        if num_classes is None:
            largest = maximum(reduce_max(predictions), reduce_max(labels))
            num_classes = largest + 1
        else:
            limit = cast(num_classes, int64)
            labels = _checked(assert_less, labels, "`labels` out of bound", limit)
            predictions = _checked(
                assert_less, predictions, "`predictions` out of bound", limit
            )
        if weights is not None:
            weights = convert(weights, name="weights")
            predictions.shape.assert_is_compatible_with(weights.shape)
            weights = cast(weights, as_dtype(dtype))
        sizes = stack([num_classes, num_classes])
        pairs = stack([labels, predictions], axis=1)
        counted = ones_like(predictions, dtype) if weights is None else weights
        found = SparseTensor(pairs, counted, cast(sizes, int64))
        result: Tensor = sparse_add(zeros(cast(sizes, int32), dtype), found)
        return result


def _checked(check: Any, classes: Tensor, message: str, *bounds: Any) -> Tensor:
    return with_dependencies([check(classes, *bounds, message=message)], classes)
