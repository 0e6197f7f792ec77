"""Softmax cross entropy with labels as class indices.  Source: python/ops/nn_ops.py."""

from __future__ import annotations

from tfteach.control.checks.values import assert_equal
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float16, float32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core import shape_ops
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.math.cast import cast
from tfteach.ops.nn.cross_entropy import (
    SparseSoftmaxCrossEntropyWithLogits,
    check_named,
)


@export("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(
    _sentinel: object | None = None,
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The cross entropy of softmax probabilities, with labels as class indices.

    `-log(softmax(logits)[label])`

    Args:
      labels: int32 or int64 Tensor [...], each in [0, classes).
      logits: float Tensor [..., classes].
      name: the op's name.

    Returns:
      A Tensor of `logits`' type and `labels`' shape: the losses.

    Raises:
      ValueError: the shapes do not match, or arguments are not passed by name.
      InvalidArgumentError: (when run) a label is out of range.

    Example:
      >>> tf.nn.sparse_softmax_cross_entropy_with_logits(
      ...     labels=[0], logits=[[0.0, 0.0]])  # [0.693]

    Source: SparseSoftmaxCrossEntropyWithLogits in core/ops/nn_ops.cc.
    """
    check_named(_sentinel, labels, logits, "sparse_softmax_cross_entropy_with_logits")
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert(labels), convert(logits)
        is_short = logits.dtype == float16
        precise = cast(logits, float32) if is_short else logits
        is_matrix = logits._shape is not None and len(logits._shape) == 2
        if not (is_matrix and get_default_graph().is_eager):  # a node, used or not
            labels_shape = shape_ops.shape(labels)
        is_known = _check_static(labels, logits)
        op = SparseSoftmaxCrossEntropyWithLogits()
        if is_matrix:
            cost, _ = op(precise, labels, name=name)
            return cast(cost, float16) if is_short else cost
        checks = []
        if not is_known:
            own = shape_ops.shape(labels)
            checks = [assert_equal(own, shape_ops.shape(logits)[:-1])]
        with get_default_graph().control_dependencies(checks):
            classes = shape_ops.shape(logits)[shape_ops.rank(logits) - 1]
            precise = reshape(precise, [-1, classes])
            flat = reshape(labels, [-1])
            cost, _ = op(precise, flat, name=name)
            cost = reshape(cost, labels_shape)
            cost.set_shape(labels.shape)
            return cast(cost, float16) if is_short else cost


def _check_static(labels: Tensor, logits: Tensor) -> bool:
    """Whether all shapes are known; ValueError if they do not match."""
    shape, own = logits._shape, labels._shape
    if shape == ():
        raise ValueError(
            f"Logits cannot be scalars - received shape {TensorShape(shape)}."
        )
    if shape is None or own is None:
        return False
    if len(own) != len(shape) - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {len(own)}) should equal rank of "
            f"logits minus 1 (received {len(shape)})."
        )
    is_known = shapes.is_full(own) and shapes.is_full(shape[:-1])
    if is_known and own != shape[:-1]:
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {TensorShape(own)}) should "
            "equal the shape of logits except for the last dimension (received "
            f"{TensorShape(shape)})."
        )
    return is_known
