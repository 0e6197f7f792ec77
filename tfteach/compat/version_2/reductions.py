"""Reductions, norms and the softmax, as TensorFlow 2 calls them.

Source: python/ops/math_ops.py, nn_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.confusion import confusion_matrix
from tfteach.control.norm import norm
from tfteach.framework.dtypes import int32, int64
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.array.bincount_histogram import bincount
from tfteach.ops.array.in_top_k import in_top_k
from tfteach.ops.math.multiply import scalar_mul
from tfteach.ops.math.reduce_functions import (
    argmax,
    argmin,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from tfteach.ops.math.statistics import count_nonzero, reduce_logsumexp
from tfteach.ops.nn.activations import crelu
from tfteach.ops.nn.l2_loss import l2_normalize
from tfteach.ops.nn.softmax import log_softmax, softmax


@export(v2="argmax math.argmax")
def argmax_v2(
    input: TensorLike,
    axis: TensorLike | None = None,
    output_type: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """`tf.argmax` without `dimension`."""
    return argmax(input, axis, output_type=output_type, name=name)


@export(v2="argmin math.argmin")
def argmin_v2(
    input: TensorLike,
    axis: TensorLike | None = None,
    output_type: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """`tf.argmin` without `dimension`."""
    return argmin(input, axis, output_type=output_type, name=name)


@export(v2="math.reduce_all reduce_all")
def reduce_all_v2(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.math.reduce_all` without `reduction_indices`, `keep_dims`."""
    return reduce_all(input_tensor, axis, keepdims, name)


@export(v2="math.reduce_any reduce_any")
def reduce_any_v2(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.math.reduce_any` without `reduction_indices`, `keep_dims`."""
    return reduce_any(input_tensor, axis, keepdims, name)


@export(v2="math.reduce_logsumexp reduce_logsumexp")
def reduce_logsumexp_v2(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.math.reduce_logsumexp` without `reduction_indices`, `keep_dims`."""
    return reduce_logsumexp(input_tensor, axis, keepdims, name)


@export(v2="math.reduce_max reduce_max")
def reduce_max_v2(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.math.reduce_max` without `reduction_indices`, `keep_dims`."""
    return reduce_max(input_tensor, axis, keepdims, name)


@export(v2="math.reduce_mean reduce_mean")
def reduce_mean_v2(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.math.reduce_mean` without `reduction_indices`, `keep_dims`."""
    return reduce_mean(input_tensor, axis, keepdims, name)


@export(v2="math.reduce_min reduce_min")
def reduce_min_v2(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.math.reduce_min` without `reduction_indices`, `keep_dims`."""
    return reduce_min(input_tensor, axis, keepdims, name)


@export(v2="math.reduce_prod reduce_prod")
def reduce_prod_v2(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.math.reduce_prod` without `reduction_indices`, `keep_dims`."""
    return reduce_prod(input_tensor, axis, keepdims, name)


@export(v2="math.reduce_sum reduce_sum")
def reduce_sum_v2(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`tf.math.reduce_sum` without `reduction_indices`, `keep_dims`."""
    return reduce_sum(input_tensor, axis, keepdims, name)


@export(v2="math.count_nonzero")
def count_nonzero_v2(
    input: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """`tf.math.count_nonzero` without the older names of its arguments."""
    return count_nonzero(
        input=input, axis=axis, keepdims=keepdims, dtype=dtype, name=name
    )


@export(v2="linalg.norm norm")
def norm_v2(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.linalg.norm` without `keep_dims`."""
    return norm(tensor, ord, axis, keepdims, name)


@export(v2="math.bincount")
def bincount_v2(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """`tf.math.bincount`, its arguments in TensorFlow 2's order."""
    with name_scope("bincount" if name is None else name, "bincount"):
        return bincount(arr, weights, minlength, maxlength, dtype)


@export(v2="math.confusion_matrix")
def confusion_matrix_v2(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    weights: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """`tf.math.confusion_matrix`, its arguments in TensorFlow 2's order."""
    return confusion_matrix(
        labels, predictions, num_classes, weights=weights, dtype=dtype, name=name
    )


@export(v2="linalg.l2_normalize math.l2_normalize nn.l2_normalize")
def l2_normalize_v2(
    x: TensorLike,
    axis: TensorLike | None = None,
    epsilon: float = 1e-12,
    name: str | None = None,
) -> Tensor:
    """`tf.linalg.l2_normalize` without `dim`."""
    return l2_normalize(x, axis, epsilon, name)


@export(v2="math.log_softmax nn.log_softmax")
def log_softmax_v2(
    logits: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.math.log_softmax` without `dim`."""
    return log_softmax(logits, axis, name)


@export(v2="math.softmax nn.softmax")
def softmax_v2(
    logits: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.math.softmax` without `dim`."""
    return softmax(logits, axis, name)


@export(v2="math.in_top_k nn.in_top_k")
def in_top_k_v2(
    targets: TensorLike,
    predictions: TensorLike,
    k: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`tf.math.in_top_k`, its arguments in TensorFlow 2's order."""
    return in_top_k(targets=targets, predictions=predictions, k=k, name=name)


@export(v2="math.scalar_mul scalar_mul")
def scalar_mul_v2(
    scalar: TensorLike,
    x: Tensor | IndexedSlices,
    name: str | None = None,
) -> Any:
    """`tf.scalar_mul`, its arguments in TensorFlow 2's order."""
    with name_scope(name, "scalar_mul", [x]) as scope:
        return scalar_mul(scalar, x, scope)


@export(v2="nn.crelu")
def crelu_v2(
    features: TensorLike,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.crelu`, its arguments in TensorFlow 2's order."""
    return crelu(features, axis=axis, name=name)
