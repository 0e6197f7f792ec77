"""Cross entropy losses of softmax probabilities.

Source: core/ops/nn_ops.cc, core/kernels/xent_op.h and sparse_xent_op.h,
python/ops/nn_ops.py, python/ops/nn_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import bfloat16, dtypes_of, float16, float32, int64
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array import slicing
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core import shape_ops
from tfteach.ops.core.fill import ZerosLike
from tfteach.ops.core.identity_reshape import (
    ExpandDims,
    expand_dims,
    prevent_gradient,
    reshape,
    squeeze,
    stop_gradient,
)
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.binary import subtract
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.nn.softmax import LogSoftmax, Softmax, shifted_exp

FLOATS = dtypes_of("half bfloat16 float32 float64")
_SHOWN_LABELS = 10


def _scale_rows(vector: Tensor, matrix: Tensor) -> Tensor:
    return ExpandDims()(vector, -1) * matrix


class SoftmaxCrossEntropyWithLogits(MultiOutputOp):
    """-sum(labels * log softmax(features)) per row, and its gradient.

    Source: core/ops/nn_ops.cc, SoftmaxCrossEntropyWithLogits.
    """

    signature = "features: T, labels: T -> loss: T, backprop: T"
    T = FLOATS

    needs_no_zeros: ClassVar[tuple[int, ...]] = (1,)

    def infer_shape(self, features: Shape, labels: Shape) -> list[Shape]:
        wide = [(None, None) if s is None else s for s in (features, labels)]
        found = shapes.with_rank(shapes.broadcast(*wide), 2)
        return [found[:1], found]

    def compute(
        self, xp: ArrayModule, features: Array, labels: Array
    ) -> tuple[Any, Any]:
        if features.shape != labels.shape:
            sizes = (
                f"logits_size={shapes.text(features.shape)} "
                f"labels_size={shapes.text(labels.shape)}"
            )
            try:
                wide = np.broadcast_shapes(features.shape, labels.shape)
            except ValueError:
                raise invalid_argument(
                    f"logits and labels must be broadcastable: {sizes}"
                ) from None
            # Not `broadcast_arrays`, which fails for arrays that may not be written.
            features = xp.broadcast_to(features, wide)
            labels = xp.broadcast_to(labels, wide)
        if features.ndim != 2:
            raise invalid_argument(
                "logits and labels must be either 2-dimensional, or broadcasted to be "
                "2-dimensional"
            )
        shifted, exp, total = shifted_exp(xp, features)
        loss = (labels * (xp.log(total) - shifted)).sum(axis=1)
        return loss, exp / total - labels

    def gradient(
        self, op: Operation, grad_loss: Tensor, grad_grad: Tensor
    ) -> list[Gradient]:
        grad = _scale_rows(grad_loss, op.outputs[1])
        logits = op.inputs[0]
        if grad_grad is not None and not _is_zero(grad_grad):
            probabilities = Softmax()(logits)
            product = matmul(expand_dims(grad_grad, 1), expand_dims(probabilities, 2))
            grad += (grad_grad - squeeze(product, axis=1)) * probabilities
        return [grad, _scale_rows(grad_loss, -LogSoftmax()(logits))]


def _is_zero(tensor: Tensor) -> bool:
    is_eager = isinstance(tensor, EagerTensor)
    if not is_eager and isinstance(tensor.op.spec, ZerosLike):
        return True
    value = constant_value(tensor)
    return value is not None and not np.any(value)


class SparseSoftmaxCrossEntropyWithLogits(MultiOutputOp):
    """-log softmax(features)[label] per row, and its gradient.

    Source: core/ops/nn_ops.cc, SparseSoftmaxCrossEntropyWithLogits.
    """

    signature = "features: T, labels: Tlabels -> loss: T, backprop: T"
    T = FLOATS
    Tlabels = dtypes_of("int32 int64")
    Tlabels_default = int64

    needs_no_zeros: ClassVar[tuple[int, ...]] = (1,)

    def infer_shape(self, features: Shape, labels: Shape) -> list[Shape]:
        features = shapes.with_rank(features, 2)
        labels = shapes.with_rank(labels, 1)
        rows = shapes.same_size(
            None if features is None else features[0],
            None if labels is None else labels[0],
        )
        return [(rows,), (rows, None if features is None else features[1])]

    def compute(
        self, xp: ArrayModule, features: Array, labels: Array
    ) -> tuple[Any, Any]:
        _check_rows(features, labels)
        if labels.size:
            _check_labels(labels, features.shape[1])
        return _sparse_cross_entropy(xp, features, labels)

    def compute_on_card(
        self, xp: ArrayModule, features: Any, labels: Any
    ) -> tuple[Any, Any]:
        # A GPU reports no invalid label: as in TF, its row is NaN.
        _check_rows(features, labels)
        inside = xp.clip(labels, 0, features.shape[1] - 1)
        loss, backprop = _sparse_cross_entropy(xp, features, inside)
        bad = (labels < 0) | (labels >= features.shape[1])
        loss[bad] = xp.nan
        backprop[bad] = xp.nan
        return loss, backprop

    def gradient(
        self, op: Operation, grad: Tensor, grad_grad: Tensor
    ) -> list[Gradient]:
        # The output is a gradient; differentiating it again would be wrong.
        backprop = prevent_gradient(
            op.outputs[1],
            message="Currently there is no way to take the second derivative of "
            "sparse_softmax_cross_entropy_with_logits due to the fused "
            "implementation's interaction with tf.gradients()",
        )
        return [_scale_rows(grad, backprop), None]


def _sparse_cross_entropy(
    xp: ArrayModule, features: Any, labels: Any
) -> tuple[Any, Any]:
    shifted, exp, total = shifted_exp(xp, features)
    rows, classes = features.shape
    at = xp.arange(0, rows * classes, classes) + labels  # half the time of two indices
    loss = xp.log(total[:, 0]) - shifted.ravel()[at]
    backprop = xp.ascontiguousarray(exp / total)
    backprop.reshape(-1)[at] -= 1
    return loss, backprop


def _check_rows(features: Any, labels: Any) -> None:
    if features.ndim != 2:
        raise invalid_argument(
            f"logits must be 2-D, but got shape {shapes.text(features.shape)}"
        )
    if not features.shape[1]:
        raise invalid_argument(
            "Must have at least one class, but got logits shape "
            f"{shapes.text(features.shape)}"
        )
    if labels.ndim != 1:
        raise invalid_argument(
            f"labels must be 1-D, but got shape {shapes.text(labels.shape)}"
        )
    if features.shape[0] != labels.shape[0]:
        raise invalid_argument(
            "logits and labels must have the same first dimension, got logits shape "
            f"{shapes.text(features.shape)} and labels shape "
            f"{shapes.text(labels.shape)}"
        )


def _check_labels(labels: Any, classes: int) -> None:
    if labels.view(f"u{labels.itemsize}").max() < classes:  # negative ones are large
        return
    bad = labels[(labels < 0) | (labels >= classes)][0]
    shown = " ".join(str(n) for n in labels[:_SHOWN_LABELS])
    more = "..." if labels.size > _SHOWN_LABELS else ""
    raise invalid_argument(
        f"Received a label value of {bad} which is outside the valid range of [0, "
        f"{classes}).  Label values: {shown}{more}"
    )


# ---- functions


def check_named(sentinel: Any, labels: Any, logits: Any, name: str) -> None:
    """Require keyword arguments, since labels and logits are easily mixed up."""
    if sentinel is not None:
        raise ValueError(
            f"Only call `{name}` with named arguments (labels=..., logits=..., ...)"
        )
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


@export("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike,
    logits: TensorLike,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """The cross entropy of softmax probabilities; gradients flow into both arguments.

    `-sum(labels * log(softmax(logits)))` along the axis

    Args:
      labels: float Tensor [..., classes], each row a probability distribution.
      logits: float Tensor of the same shape.
      axis: the classes' axis; the last one if None.
      name: the name scope of the ops.
      dim: deprecated name of `axis`.

    Returns:
      A Tensor of `logits`' type and shape without that axis: the losses.

    Raises:
      ValueError: the shapes cannot be broadcast against each other.

    Example:
      >>> tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[1.0, 0.0]],
      ...                                            logits=[[0.0, 0.0]])  # [0.693]

    Source: SoftmaxCrossEntropyWithLogits in core/ops/nn_ops.cc.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    with name_scope(
        name, "softmax_cross_entropy_with_logits", [logits, labels]
    ) as scope:
        logits = convert(logits, name="logits")
        labels = convert(labels, name="labels")
        is_short = logits.dtype in (float16, bfloat16)
        precise = cast(logits, float32) if is_short else logits
        labels = cast(labels, precise.dtype)
        input_rank = shape_ops.rank(precise)
        if axis != -1:
            precise = _move_to_end(precise, axis, input_rank)
            labels = _move_to_end(labels, axis, input_rank)
        input_shape = shape_ops.shape(precise)
        cost, _ = SoftmaxCrossEntropyWithLogits()(
            _as_matrix(precise), _as_matrix(labels), name=scope
        )
        output_shape = slicing.slice(input_shape, [0], [subtract(input_rank, 1)])
        cost = reshape(cost, output_shape)
        if logits._shape is not None:
            left = list(logits._shape)
            del left[axis]
            cost.set_shape(left)
        return cast(cost, logits.dtype) if is_short else cost


def _move_to_end(tensor: Tensor, axis: int, rank: Any) -> Tensor:
    order = concat([range_of(axis), range_of(axis + 1, rank), [axis]], 0)
    return transpose(tensor, order)


def _as_matrix(logits: Tensor) -> Tensor:
    """All axes except the last merged into one."""
    rank = shape_ops.rank(logits)
    last = slicing.slice(shape_ops.shape(logits), [subtract(rank, 1)], [1])
    output = reshape(logits, concat([[-1], last], 0))
    shape = logits._shape
    if shape is not None:
        rows = shapes.size_of(shape[:-1])
        if rows is not None:
            output.set_shape([rows, shape[-1]])
    return output


@export("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    _sentinel: object | None = None,
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    dim: int = -1,
    name: str | None = None,
    axis: TensorLike | None = None,
) -> Tensor:
    """The cross entropy of softmax probabilities; no gradient flows into the labels.

    Deprecated in TF: `tf.nn.softmax_cross_entropy_with_logits_v2` is the same, with
    gradients into `labels` too.  Arguments must be passed by name.

    Raises:
      ValueError: a positional argument, or `labels` or `logits` is missing.
    """
    # TF's rule for a deprecated argument that has a default: the new name takes
    # precedence only over None, so `dim=-1` is always present.
    if axis is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'")
    check_named(_sentinel, labels, logits, "softmax_cross_entropy_with_logits")
    with name_scope(
        name, "softmax_cross_entropy_with_logits_sg", [logits, labels]
    ) as scope:
        assert labels is not None
        assert logits is not None
        labels = stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(
        labels=labels, logits=logits, axis=dim, name=scope
    )
