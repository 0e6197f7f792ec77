"""Functions of `tf.compat.v2.math`: reductions, norms, the softmax; Poisson samples.

Source: python/ops/math_ops.py, nn_ops.py, random_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.compat.version_2.signatures import with_parameters
from tfteach.control.checks.confusion import confusion_matrix
from tfteach.control.norm import norm
from tfteach.framework.dtypes import int32
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
from tfteach.ops.random.random_gamma_poisson import random_poisson

REDUCTION = "input_tensor | axis keepdims name"

reduce_all_v2 = with_parameters(
    reduce_all, REDUCTION, keepdims=False, v2="math.reduce_all reduce_all"
)
reduce_any_v2 = with_parameters(
    reduce_any, REDUCTION, keepdims=False, v2="math.reduce_any reduce_any"
)
reduce_logsumexp_v2 = with_parameters(
    reduce_logsumexp,
    REDUCTION,
    keepdims=False,
    v2="math.reduce_logsumexp reduce_logsumexp",
)
reduce_max_v2 = with_parameters(
    reduce_max, REDUCTION, keepdims=False, v2="math.reduce_max reduce_max"
)
reduce_mean_v2 = with_parameters(
    reduce_mean, REDUCTION, keepdims=False, v2="math.reduce_mean reduce_mean"
)
reduce_min_v2 = with_parameters(
    reduce_min, REDUCTION, keepdims=False, v2="math.reduce_min reduce_min"
)
reduce_prod_v2 = with_parameters(
    reduce_prod, REDUCTION, keepdims=False, v2="math.reduce_prod reduce_prod"
)
reduce_sum_v2 = with_parameters(
    reduce_sum, REDUCTION, keepdims=False, v2="math.reduce_sum reduce_sum"
)
argmax_v2 = with_parameters(
    argmax, "input | axis output_type name", v2="argmax math.argmax"
)
argmin_v2 = with_parameters(
    argmin, "input | axis output_type name", v2="argmin math.argmin"
)
count_nonzero_v2 = with_parameters(
    count_nonzero, "input | axis keepdims dtype name", v2="math.count_nonzero"
)

norm_v2 = with_parameters(
    norm, "tensor | ord axis keepdims name", v2="linalg.norm norm"
)
l2_normalize_v2 = with_parameters(
    l2_normalize,
    "x | axis epsilon name",
    v2="linalg.l2_normalize math.l2_normalize nn.l2_normalize",
)
log_softmax_v2 = with_parameters(
    log_softmax, "logits | axis name", v2="math.log_softmax nn.log_softmax"
)
softmax_v2 = with_parameters(
    softmax, "logits | axis name", v2="math.softmax nn.softmax"
)
crelu_v2 = with_parameters(crelu, "features | axis name", v2="nn.crelu")
in_top_k_v2 = with_parameters(
    in_top_k, "targets predictions k | name", v2="math.in_top_k nn.in_top_k"
)
confusion_matrix_v2 = with_parameters(
    confusion_matrix,
    "labels predictions | num_classes weights dtype name",
    v2="math.confusion_matrix",
)
random_poisson_v2 = with_parameters(
    random_poisson, "shape lam | dtype seed name", v2="random.poisson"
)


@export(v2="math.bincount")
def bincount_v2(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """`tf.math.bincount` in a name scope."""
    with name_scope("bincount" if name is None else name, "bincount"):
        return bincount(arr, weights, minlength, maxlength, dtype)


@export(v2="math.scalar_mul scalar_mul")
def scalar_mul_v2(
    scalar: TensorLike,
    x: Tensor | IndexedSlices,
    name: str | None = None,
) -> Any:
    """`tf.scalar_mul` in a name scope."""
    with name_scope(name, "scalar_mul", [x]) as scope:
        return scalar_mul(scalar, x, scope)
