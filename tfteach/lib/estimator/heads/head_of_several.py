"""`tf.estimator.MultiHead`: models with several objectives.

Source: tensorflow_estimator/python/estimator/head/multi_head.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.heads import multi_head
from tfteach.lib.estimator.heads.estimator_heads import (
    Head,
    Labels,
    Logits,
    UpdatingOptimizer,
    checked_train_op_fn,
)
from tfteach.lib.estimator.heads.head import (
    Predictions,
    TrainOpFn,
    regularization_metrics,
    train_op_of,
)
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.add_n import add_n


@export("estimator.MultiHead")
class MultiHead(Head):
    """A head of several heads, for models with several objectives.

    Labels are a dictionary by the heads' names, predictions have keys (name, key), and
    metrics the heads' names as suffixes.

    Args:
      heads: heads with names.
      head_weights: the factor of each head's loss in the loss; None for 1.

    Raises:
      ValueError: there is no head, a head has no name, or the numbers differ.

    Example:
      >>> head = tf.estimator.MultiHead([
      ...     tf.estimator.RegressionHead(name="price"),
      ...     tf.estimator.MultiClassHead(3, name="kind"),
      ... ])

    Source: tensorflow_estimator/python/estimator/head/multi_head.py.
    """

    def __init__(
        self, heads: Sequence[Head], head_weights: Sequence[float] | None = None
    ) -> None:
        multi_head.check_heads(heads, head_weights)
        self._heads = tuple(heads)
        self._joined = multi_head.MultiHead(heads, head_weights)

    @property
    def name(self) -> str:
        """The names of all heads."""
        return self._joined.name

    @property
    def logits_dimension(self) -> int:
        """The number of the logits of all heads."""
        return self._joined.logits_dimension

    @property
    def loss_reduction(self) -> str:
        """How the losses of each head reduce to a scalar.

        Raises:
          ValueError: the heads reduce them in different ways.
        """
        found = [head.loss_reduction for head in self._heads]
        if len(set(found)) > 1:
            raise ValueError(
                "The loss_reduction must be the same for different heads. Given: "
                f"{found}"
            )
        return found[0]

    def _by_head(self, logits: Logits) -> Mapping[str | None, Any]:
        if isinstance(logits, Mapping):
            return _by_name(logits)
        return self._joined.split(logits)

    def loss(
        self,
        labels: Labels,
        logits: Logits,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """The weighted sum of the heads' losses; see `Head.loss`.

        Args:
          labels: a dictionary of labels by head.
          logits: those of all heads, side by side, or a dictionary of them by head.
        """
        by_head, own_labels = self._by_head(logits), _labels_by_head(labels)
        losses = [
            head.loss(own_labels[head.name], by_head[head.name], features, mode)
            for head in self._heads
        ]
        return _with(self._joined.weighted_sum(losses), regularization_losses)

    def predictions(self, logits: Logits) -> Predictions:
        """The predictions by (head, name)."""
        by_head = self._by_head(logits)
        found: Any = {}
        for head in self._heads:
            for key, value in head.predictions(by_head[head.name]).items():
                found[head.name, key] = value
        return found  # type: ignore[no-any-return]

    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: Logits,
        labels: Labels = None,
        optimizer: UpdatingOptimizer | None = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: TrainOpFn | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """What a model function returns; see `Head.create_estimator_spec`.

        Args:
          logits: those of all heads, side by side, or a dictionary of them by head.
          labels: a dictionary of labels by head.
        """
        with name_scope(self.name, "multi_head"):
            by_head, own_labels = self._by_head(logits), _labels_by_head(labels)
            specs = [
                head.create_estimator_spec(
                    features,
                    mode,
                    by_head[head.name],
                    own_labels.get(head.name),
                    train_op_fn=lambda _: no_op(),
                )
                for head in self._heads
            ]
            if mode == ModeKeys.PREDICT:
                return self._joined.predicting(specs)
            regularization = (
                add_n(regularization_losses) if regularization_losses else None
            )
            if mode == ModeKeys.EVAL:
                spec = self._joined.evaluating(specs)
                metrics = dict(spec.eval_metric_ops)
                for key, metric in regularization_metrics(regularization).items():
                    metrics[f"{key}/{self.name}"] = metric
                loss = _with(spec.loss, regularization_losses)
                return spec._replace(loss=loss, eval_metric_ops=metrics)
            _ = self.loss_reduction  # heads that differ are refused here
            loss = self._joined.weighted_sum([spec.loss for spec in specs])
            loss = _with(loss, regularization_losses)
            make_train_op = checked_train_op_fn(
                optimizer, trainable_variables, train_op_fn, update_ops
            )
            train_op = train_op_of(loss, None, make_train_op)
        with name_scope(""):
            scalar("loss", loss)
            if regularization is not None:
                scalar("regularization_loss", regularization)
        predictions = self._joined.merged_predictions(specs)
        return EstimatorSpec(mode, predictions, loss, train_op)


def _labels_by_head(labels: Labels) -> Mapping[str | None, Any]:
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels must be a dictionary by head, given: {labels!r}")
    return _by_name(labels)


def _by_name(given: Mapping[Any, Any]) -> Mapping[str | None, Any]:
    return dict(given)


def _with(loss: Tensor, regularization_losses: Sequence[Tensor] | None) -> Tensor:
    if not regularization_losses:
        return loss
    return add_n([loss, add_n(regularization_losses)])
