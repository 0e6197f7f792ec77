"""`tf.estimator.BinaryClassHead`, `MultiClassHead` and `MultiLabelHead`.

Source: tensorflow_estimator/python/estimator/head/{binary_class,multi_class,
multi_label}_head.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.lib.estimator.heads import multi_class_head, multi_label_head
from tfteach.lib.estimator.heads.binary_head import BinaryHead
from tfteach.lib.estimator.heads.class_labels import Vocabulary
from tfteach.lib.estimator.heads.estimator_heads import HeadOfOne, reduction_of
from tfteach.lib.estimator.heads.head import LossSpec
from tfteach.lib.estimator.heads.head_checks import LossFn, WeightColumn
from tfteach.lib.losses.reduction_v2 import ReductionV2


class WithoutMeanLoss:
    """What these heads differ in from those of `tf.contrib.estimator`.

    They do not summarize the mean loss of an example, and interpolate the area under
    the precision-recall curve as Keras does.
    """

    _pr_summation: ClassVar[str] = "careful_interpolation"

    def _mean_loss(self, loss: LossSpec) -> Tensor | None:
        return None


class _Binary(WithoutMeanLoss, BinaryHead):
    pass


class _MultiClass(WithoutMeanLoss, multi_class_head.MultiClassHead):
    pass


class _MultiLabel(WithoutMeanLoss, multi_label_head.MultiLabelHead):
    pass


@export("estimator.BinaryClassHead")
class BinaryClassHead(HeadOfOne):
    """The head of two classes: sigmoid cross entropy of one logit.

    Args:
      weight_column: a feature's key or a numeric column, of weights for the loss.
      thresholds: probabilities of class 1, in (0, 1), for each of which accuracy,
        precision and recall are evaluated.
      label_vocabulary: the two classes' names, if labels are strings.
      loss_reduction: "sum" or "sum_over_batch_size".
      loss_fn: a function of `labels`, `logits` and perhaps `features` that returns the
        losses [batch, 1]; None for sigmoid cross entropies.
      name: the name of its scope, and the suffix of its metrics.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> head = tf.estimator.BinaryClassHead()
      >>> spec = head.create_estimator_spec(
      ...     features, mode, logits, labels, train_op_fn=train_op_fn
      ... )

    Source: tensorflow_estimator/python/estimator/head/binary_class_head.py.
    """

    def __init__(
        self,
        weight_column: WeightColumn = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Vocabulary = None,
        loss_reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        if label_vocabulary is not None and not isinstance(
            label_vocabulary, list | tuple
        ):
            raise ValueError(
                "label_vocabulary should be a list or a tuple. Given type: "
                f"{type(label_vocabulary)}"
            )
        reduction = reduction_of(loss_reduction)
        head = _Binary(
            weight_column, thresholds, label_vocabulary, reduction, loss_fn, name
        )
        super().__init__(head, loss_reduction)


@export("estimator.MultiClassHead")
class MultiClassHead(HeadOfOne):
    """The head of three or more classes, of which one is true: softmax cross entropy.

    Args:
      n_classes: the number of classes, more than 2.
      weight_column, label_vocabulary, loss_reduction, loss_fn, name: see
        `tf.estimator.BinaryClassHead`.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/python/estimator/head/multi_class_head.py.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: WeightColumn = None,
        label_vocabulary: Vocabulary = None,
        loss_reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        reduction = reduction_of(loss_reduction)
        head = _MultiClass(
            n_classes, weight_column, label_vocabulary, reduction, loss_fn, name
        )
        if label_vocabulary and len(label_vocabulary) != n_classes:
            raise ValueError(
                '"label_vocabulary" does not have "n_classes" items. '
                f"len(label_vocabulary)={len(label_vocabulary)}, "
                f"n_classes={n_classes}, label_vocabulary={label_vocabulary}"
            )
        super().__init__(head, loss_reduction)


@export("estimator.MultiLabelHead")
class MultiLabelHead(HeadOfOne):
    """The head of classes of which any number may be true: sigmoid cross entropies.

    Args:
      n_classes: the number of classes, 2 or more.
      thresholds: probabilities, for each of which accuracy, precision and recall are
        evaluated.
      classes_for_class_based_metrics: ids or names of classes that also have metrics
        of their own.
      weight_column, label_vocabulary, loss_reduction, loss_fn, name: see
        `tf.estimator.BinaryClassHead`.

    Raises:
      ValueError: an argument is not valid.

    Source: tensorflow_estimator/python/estimator/head/multi_label_head.py.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: WeightColumn = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Vocabulary = None,
        loss_reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        classes_for_class_based_metrics: Sequence[int | str] | None = None,
        name: str | None = None,
    ) -> None:
        if n_classes is None or n_classes < 2:
            raise ValueError(
                "n_classes must be > 1 for multi-label classification. Given: "
                f"{n_classes}"
            )
        multi_label_head.check_arguments(n_classes, thresholds, label_vocabulary)
        classes = multi_label_head.class_ids_of(
            classes_for_class_based_metrics or (), n_classes, label_vocabulary
        )
        head = _MultiLabel(
            n_classes,
            weight_column,
            thresholds or (),
            label_vocabulary,
            reduction_of(loss_reduction),
            loss_fn,
            classes,
            name,
        )
        super().__init__(head, loss_reduction)
