"""Several heads of one model.

Source: tensorflow_estimator/contrib/estimator/python/estimator/multi_head.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.export_outputs import ExportOutput, PredictOutput
from tfteach.lib.estimator.heads.head import (
    PREDICT,
    Head,
    LossSpec,
    Predictions,
    TrainOpFn,
    train_op_of,
)
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.metrics.means import mean
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice as slice_
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.multiply import multiply


class MultiHead(Head):
    """Several heads; see `multi_head`."""

    def __init__(
        self, heads: Sequence[Any], head_weights: Sequence[float] | None
    ) -> None:
        self._heads, self._head_weights = tuple(heads), tuple(head_weights or ())

    @property
    def name(self) -> str:
        """The names of all heads."""
        return "_".join(str(head.name) for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """The number of the logits of all heads."""
        return sum(head.logits_dimension for head in self._heads)

    def create_loss(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """The losses of a batch by head, and their sum; see `Head.create_loss`."""
        logits = self.split(logits)
        totals: list[Tensor] = []
        losses: Any = {}
        weights: Any = {}
        all_labels: Any = {}
        for i, head in enumerate(self._heads):
            name = head.name
            spec = head.create_loss(features, mode, logits[name], labels[name])
            totals.append(spec.training_loss)
            losses[name], weights[name] = spec.unreduced_loss, spec.weights
            if self._head_weights:
                losses[name] = multiply(spec.unreduced_loss, self._head_weights[i])
                weights[name] = multiply(spec.weights, self._head_weights[i])
            all_labels[name] = spec.processed_labels
        return LossSpec(self.weighted_sum(totals), losses, weights, all_labels)

    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: TrainOpFn | None = None,
    ) -> EstimatorSpec:
        """What a model function returns; see `Head.create_estimator_spec`.

        Args:
          logits: those of all heads, side by side, or a dictionary of them by head.
          labels: a dictionary of labels by head.
        """
        if mode not in (ModeKeys.PREDICT, ModeKeys.EVAL, ModeKeys.TRAIN):
            raise ValueError(f"mode={mode} unrecognized")
        if not isinstance(logits, Mapping):
            logits = self.split(logits)
        specs = [
            head.create_estimator_spec(
                features,
                mode,
                logits[head.name],
                labels[head.name] if labels else None,
                train_op_fn=lambda _: no_op(),
            )
            for head in self._heads
        ]
        if mode == ModeKeys.PREDICT:
            return self.predicting(specs)
        if mode == ModeKeys.EVAL:
            return self.evaluating(specs)
        loss = self.weighted_sum([spec.loss for spec in specs])
        train_op = train_op_of(loss, optimizer, train_op_fn)
        scalar("loss", loss)
        return EstimatorSpec(mode, self.merged_predictions(specs), loss, train_op)

    def split(self, logits: Any) -> dict[str | None, Tensor]:
        """The logits of each head."""
        sizes = [head.logits_dimension for head in self._heads]
        with name_scope(None, "split_logits", [logits]):
            logits = convert(logits)
            leading = shape_of(logits)[:-1]
            static = logits.shape
            last = None if static.ndims is None else dimension_value(static[-1])
            if last not in (None, sum(sizes)):
                raise ValueError(
                    f"Could not split logits of shape {static.as_list()} among the "
                    f"heads with individual logits dimensions: {sizes}. The last "
                    f"dimension of the logits tensor should equal {last} but is "
                    f"{sum(sizes)}."
                )
            starts, all_of = zeros_like(leading), -1 * ones_like(leading)
            found, begin = {}, 0
            for head, size in zip(self._heads, sizes, strict=True):
                where, extent = (
                    concat([starts, [begin]], 0),
                    concat([all_of, [size]], 0),
                )
                found[head.name] = slice_(logits, where, extent)
                begin += size
            return found

    def weighted_sum(self, losses: Sequence[Tensor]) -> Tensor:
        """The weighted sum of the heads' losses."""
        with name_scope("merge_losses", values=(*losses, self._head_weights or None)):
            if self._head_weights:
                pairs = zip(losses, self._head_weights, strict=True)
                losses = [multiply(loss, weight) for loss, weight in pairs]
            return add_n(losses)

    def merged_predictions(self, specs: Sequence[EstimatorSpec]) -> Predictions:
        """The predictions by (head, name)."""
        found: Any = {}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, value in spec.predictions.items():
                found[head.name, key] = value
        return found  # type: ignore[no-any-return]

    def predicting(self, specs: Sequence[EstimatorSpec]) -> EstimatorSpec:
        """The spec of predictions of those of the heads."""
        default = DEFAULT_SERVING_SIGNATURE_DEF_KEY
        outputs: dict[str, ExportOutput] = {default: specs[0].export_outputs[default]}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, value in spec.export_outputs.items():
                name = head.name if key == default else f"{head.name}/{key}"
                outputs[str(name)] = value
        predictions = self.merged_predictions(specs)
        named = {f"{key[0]}/{key[1]}": value for key, value in predictions.items()}
        outputs[PREDICT] = PredictOutput(named)
        return EstimatorSpec(ModeKeys.PREDICT, predictions, export_outputs=outputs)

    def evaluating(self, specs: Sequence[EstimatorSpec]) -> EstimatorSpec:
        """The spec of an evaluation of those of the heads."""
        metrics: dict[str, Any] = {}
        with name_scope("merge_eval"):
            for head, spec in zip(self._heads, specs, strict=True):
                key = f"loss/{head.name}"
                metrics[key] = mean(spec.loss, name=key)
                metrics.update(spec.eval_metric_ops)
            loss = self.weighted_sum([spec.loss for spec in specs])
        return EstimatorSpec(
            ModeKeys.EVAL, self.merged_predictions(specs), loss, eval_metric_ops=metrics
        )


@export("contrib.estimator.multi_head")
def multi_head(
    heads: Sequence[Head], head_weights: Sequence[float] | None = None
) -> MultiHead:
    """A head of several heads, for models with several objectives.

    Labels are a dictionary by the heads' names, predictions have keys (name, key), and
    metrics and summaries the heads' names as suffixes.

    Args:
      heads: heads with names.
      head_weights: the factor of each head's loss in the loss; None for 1.

    Returns:
      A head with the logits of all heads side by side.

    Raises:
      ValueError: there is no head, a head has no name, or the numbers differ.

    Example:
      >>> heads = [
      ...     tf.contrib.estimator.regression_head(name="price"),
      ...     tf.contrib.estimator.multi_class_head(3, name="kind"),
      ... ]
      >>> estimator = tf.estimator.DNNEstimator(
      ...     tf.contrib.estimator.multi_head(heads), [16], columns
      ... )

    Source: tensorflow_estimator/contrib/estimator/python/estimator/multi_head.py.
    """
    check_heads(heads, head_weights)
    return MultiHead(heads, head_weights)


def check_heads(heads: Sequence[Any], head_weights: Sequence[float] | None) -> None:
    """Raise ValueError unless there are heads, with names and as many weights."""
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(
            "heads and head_weights must have the same size. Given len(heads): "
            f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
        )
    for head in heads:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")
