"""What heads accept: logits, labels, weights, loss functions, arguments.

Source: tensorflow_estimator/python/estimator/canned/head.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfteach.control.case import Assert
from tfteach.control.checks.ranks import assert_rank_at_least
from tfteach.control.checks.values import (
    assert_equal,
    assert_greater,
    assert_less_equal,
    assert_non_negative,
)
from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.lib.estimator.input_fn import argument_names
from tfteach.lib.feature_column.numeric_columns import NumericColumn, numeric_column
from tfteach.lib.feature_column.transformation_cache import FeatureTransformationCache
from tfteach.lib.losses.weighted import Reduction
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.identity_reshape import expand_dims, identity
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.core.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tfteach.ops.math.cast import to_float
from tfteach.ops.math.compare import equal
from tfteach.ops.math.reduce_functions import reduce_all, reduce_any

Weights = Tensor | float
LossFn = Callable[..., Tensor]
# The key of a feature of weights, or a column of them.
WeightColumn = str | NumericColumn | None

_LABEL_SHAPE = (
    "labels shape must be [D0, D1, ... DN, {}]. Suggested Fix: check your n_classes "
    "argument to the estimator and/or the shape of your label."
)


def check_reduction(loss_reduction: Any) -> None:
    if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}")


def check_n_classes(n_classes: int | None) -> None:
    """More than two classes; for two there is the binary head.

    Like TensorFlow's, the check adds an Assert to the default graph.
    """
    if n_classes is None:
        raise ValueError("n_classes cannot be None")
    message = "n_classes must be greater than 2"
    with control_dependencies([assert_greater(convert(n_classes), 2, message=message)]):
        no_op()


def checked_thresholds(thresholds: Sequence[float] | None) -> tuple[float, ...]:
    found = tuple(thresholds) if thresholds else ()
    for threshold in found:
        if threshold <= 0.0 or threshold >= 1.0:
            raise ValueError(f"thresholds not in (0, 1): {(found,)}.")
    return found


def check_label_is_given(labels: Any) -> None:
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting "
            "steps: Check that your data contain your label feature. Check that your "
            "input_fn properly parses and returns labels."
        )


# ---- logits


def checked_logits(given: Any, expected: int) -> Tensor:
    """Logits [..., expected]; checked in runs where the static shape is unknown."""
    with name_scope(None, "logits", (given,)) as scope:
        logits: Tensor = to_float(given)
        sizes = shape_of(logits)
        check = assert_rank_at_least(
            logits,
            2,
            data=[sizes],
            message="logits shape must be [D0, D1, ... DN, logits_dimension]",
        )
        with control_dependencies([check]):
            static = logits.shape
            if static.ndims is not None:
                if dimension_value(static[-1]) not in (None, expected):
                    raise ValueError(
                        "logits shape must be [D0, D1, ... DN, logits_dimension], got "
                        f"{static}."
                    )
                return logits
            check = assert_equal(
                expected,
                sizes[-1],
                data=["logits shape must be [D0, D1, ... DN, logits_dimension]", sizes],
            )
            with control_dependencies([check]):
                return identity(logits, name=scope)


def _lacks_last_dimension(tensor: Tensor, logits: Tensor) -> bool:
    rank, logits_rank = tensor.shape.ndims, logits.shape.ndims
    return rank is not None and logits_rank == rank + 1


# ---- labels


def dense_labels(labels: Any, logits: Tensor, expected: int) -> Tensor:
    """Labels [..., expected] of the logits' rank, which must match their sizes.

    Raises:
      ValueError: there are none, or they are sparse or of another static shape.
    """
    check_label_is_given(labels)
    with name_scope(None, "labels", (labels, logits)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError(
                "SparseTensor labels are not supported. labels must be a Tensor of "
                f"shape [D0, D1, ..., DN, {expected}], e.g. [batch_size, {expected}]. "
                "Suggested Fix (1): Check the label feature in your data. Each example "
                f"must contain {expected} value(s). If not, your choice of label was "
                "probably incorrect. Suggested Fix (2): In your input_fn, use "
                "tf.sparse_tensor_to_dense() to turn labels into a Tensor."
            )
        if expected == 1 and _lacks_last_dimension(labels, logits):
            labels = expand_dims(labels, -1)
        return _of_shape(labels, logits, expected, scope)


def _of_shape(labels: Tensor, logits: Tensor, expected: int, scope: str) -> Tensor:
    sizes, logit_sizes = shape_of(labels), shape_of(logits)
    message = _LABEL_SHAPE.format(expected)
    check = assert_rank_at_least(labels, 2, message=message)
    with control_dependencies([check]):
        static = labels.shape
        last = None if static.ndims is None else dimension_value(static[-1])
        if last not in (None, expected):
            raise ValueError(
                f"Mismatched label shape. Expected labels dimension={expected}.  "
                f"Received {last}. Suggested Fix:If your classifier "
                "expects one-hot encoding label,check your n_classes argument to the "
                "estimator and/or the shape of your label. Otherwise, check the shape "
                "of your label."
            )
        wanted = concat([logit_sizes[:-1], [expected]], 0)
        data = ["expected_labels_shape: ", wanted, "labels_shape: ", sizes]
        is_same = assert_equal(wanted, sizes, message=message, data=data)
        with control_dependencies([is_same]):
            return identity(labels, name=scope)


def in_range(labels: Tensor, classes: int, message: str | None = None) -> Tensor:
    """Labels, checked in runs: each is at least 0 and below `classes`."""
    with name_scope(None, "assert_range", (labels,)):
        checks = (
            assert_less_equal(
                labels,
                constant(classes - 1, dtype=labels.dtype),
                message=message or "Labels must <= n_classes - 1",
            ),
            assert_non_negative(labels, message=message or "Labels must >= 0"),
        )
        with control_dependencies(checks):
            return identity(labels)


# ---- weights


def weights_of(
    features: Mapping[str, Any],
    column: WeightColumn,
    logits: Tensor,
    per_logit: bool = False,
) -> Weights:
    """The examples' weights [..., 1], or [..., logits_dimension] if `per_logit`.

    Args:
      features: the features of a batch.
      column: a feature's key, a numeric column, or None for weights of 1.
      logits: the logits, whose sizes the weights must match.
      per_logit: whether each logit may have its own weight.

    Raises:
      ValueError: there is no such feature.
      TypeError: the column is of another kind.
    """
    with name_scope(None, "weights", (*tuple(features.values()), logits)) as scope:
        if column is None:
            return 1.0
        if isinstance(column, str):
            column = numeric_column(key=column, shape=(1,))
        if not isinstance(column, NumericColumn):
            raise TypeError(
                "Weight column must be either a string or _NumericColumn. Given type: "
                f"{type(column)}."
            )
        cache = FeatureTransformationCache(features)
        weights = column.get_dense_tensor(cache, None)
        return _fitted(weights, logits, per_logit, scope)


def _fitted(weights: Tensor, logits: Tensor, per_logit: bool, scope: str) -> Tensor:
    sizes = shape_of(weights, name="weights_shape")
    logit_sizes = shape_of(logits, name="logits_shape")
    kinds = "[D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if per_logit:
        kinds = "[D0, D1, ... DN], [D0, D1, ... DN, 1] or "
        kinds += "[D0, D1, ... DN, logits_dimension]"
    message = f"weights shape must be {kinds}"
    data = ["logits_shape: ", logit_sizes, "weights_shape: ", sizes]
    outer = logit_sizes[:-1]
    if _lacks_last_dimension(weights, logits):
        check = assert_equal(outer, sizes, message=message, data=data)
        with control_dependencies([check]):
            return expand_dims(weights, -1, name=scope)
    one_each = concat([outer, [1]], 0)
    if per_logit:
        is_same = reduce_all(equal(logit_sizes, sizes))
        is_one_each = reduce_all(equal(one_each, sizes))
        check = Assert(reduce_any([is_same, is_one_each]), [message, *data])
    else:
        check = assert_equal(one_each, sizes, message=message, data=data)
    with control_dependencies([check]):
        return identity(weights, name=scope)


# ---- loss functions


def check_loss_fn(loss_fn: Any) -> None:
    """A loss function has the arguments `labels`, `logits`, perhaps `features`."""
    found = tuple(argument_names(loss_fn))
    for name in ("labels", "logits"):
        if name not in found:
            raise ValueError(
                f"loss_fn must contain argument: {name}. Given arguments: {found}"
            )
    unknown = list(set(found) - {"labels", "logits", "features", "loss_reduction"})
    if unknown:
        raise ValueError(f"loss_fn has unexpected args: {unknown}")


def call_loss_fn(
    loss_fn: LossFn, labels: Any, logits: Tensor, features: Any, expected: int = 1
) -> Tensor:
    """The losses [..., expected] that a loss function returns."""
    arguments = {"features": features} if "features" in argument_names(loss_fn) else {}
    with name_scope("call_loss_fn", values=(labels, logits)):
        losses = loss_fn(labels=labels, logits=logits, **arguments)
        sizes = shape_of(logits, name="logits_shape")
        wanted = concat([sizes[:-1], [expected]], 0, name="expected_loss_shape")
        found = shape_of(losses, name="loss_shape")
        text = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {expected}]. "
        check = Assert(
            reduce_all(equal(found, wanted)),
            [text, "logits_shape: ", sizes, "loss_shape: ", found],
            name="check_loss_shape",
        )
        with control_dependencies([check]):
            return identity(losses)
