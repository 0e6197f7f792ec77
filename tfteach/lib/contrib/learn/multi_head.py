"""Several heads on one Tensor of logits; and a head of a loss alone.

Source: contrib/learn/python/learn/estimators/head.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.contrib.learn.head import (
    Head,
    TrainOpFn,
    check_mode,
    checked_logits,
    no_op_train_fn,
    with_suffix,
)
from tfteach.lib.contrib.learn.keys import MetricKey, ModeKeys
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.type_aliases import HeadLabels
from tfteach.ops.array.slicing import slice as slice_of
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.multiply import multiply
from tfteach.variables.scope import variable_scope

LossMerger = Callable[[list[Tensor]], Tensor]


class LossOnlyHead(Head):
    """See `loss_only_head`."""

    def __init__(
        self, loss_fn: Callable[[], Tensor], head_name: str | None = None
    ) -> None:
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        """0: it uses no logits."""
        return 0

    def create_model_fn_ops(
        self,
        features: Mapping[Any, Any],
        mode: str,
        labels: HeadLabels | None = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Tensor | None = None,
        logits_input: Tensor | None = None,
        scope: str | None = None,
    ) -> ModelFnOps:
        """See `Head`."""
        check_mode(mode)
        values = (*features.values(), labels, logits, logits_input)
        with variable_scope(scope, default_name=self.head_name, values=values):
            loss = train_op = None
            if mode != ModeKeys.INFER:
                loss = self._loss_fn()
                with name_scope(""):
                    key = with_suffix(MetricKey.LOSS, self.head_name)
                    scalar(key, identity(loss))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    with name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss)
            return ModelFnOps(
                mode=mode, predictions={}, loss=loss, train_op=train_op,
                eval_metric_ops={},
            )  # fmt: skip


class MultiHead(Head):
    """See `multi_head`."""

    def __init__(self, heads: Sequence[Any], loss_merger: LossMerger) -> None:
        self._heads = tuple(heads)
        if not all(head.head_name for head in self._heads):
            raise ValueError("Members of MultiHead must have names.")
        self._dimensions = [head.logits_dimension for head in self._heads]
        self._loss_merger = loss_merger

    @property
    def logits_dimension(self) -> int:
        """The sum of those of the heads."""
        return sum(self._dimensions)

    def create_model_fn_ops(
        self,
        features: Mapping[Any, Any],
        mode: str,
        labels: HeadLabels | None = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Tensor | None = None,
        logits_input: Tensor | None = None,
        scope: str | None = None,
    ) -> ModelFnOps:
        """See `Head`."""
        check_mode(mode)
        if logits is None:
            values = (*features.values(), labels, logits_input)
            with variable_scope(scope, default_name="multi_head", values=values):
                logits = checked_logits(logits_input, None, self.logits_dimension)
        found = []
        for head, part in zip(self._heads, self._parts(logits), strict=True):
            train_fn = no_op_train_fn if mode == ModeKeys.TRAIN else None
            found.append(
                head.create_model_fn_ops(features, mode, labels, train_fn, part)
            )
        return self._merged(mode, found, train_op_fn)

    def _parts(self, logits: Any) -> list[Any]:
        """The logits of each head: slices, or those under its name in a dict."""
        if isinstance(logits, Mapping):
            return [logits[head.head_name] for head in self._heads]
        first, parts = 0, []
        for size in self._dimensions:
            parts.append(slice_of(logits, [0, first], [-1, size]))
            first += size
        return parts

    def _merged(
        self, mode: str, ops: list[ModelFnOps], train_op_fn: TrainOpFn | None
    ) -> ModelFnOps:
        named = [(h.head_name, o) for h, o in zip(self._heads, ops, strict=True)]
        predictions = {
            (name, key): value
            for name, op in named
            for key, value in op.predictions.items()
        }
        if mode == ModeKeys.INFER:
            alternatives = {
                name: next(iter(op.output_alternatives.values())) for name, op in named
            }
            return ModelFnOps(
                mode, predictions=predictions, output_alternatives=alternatives
            )
        loss = self._loss_merger([op.loss for op in ops])
        metrics: dict[str, Any] = {}
        for op in ops:
            metrics.update(op.eval_metric_ops)
        if mode == ModeKeys.EVAL:
            return ModelFnOps(
                mode, predictions=predictions, loss=loss, eval_metric_ops=metrics
            )
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        train_op = group(train_op_fn(loss), *(op.train_op for op in ops))
        return ModelFnOps(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def weighted_sum(weights: Sequence[float] | None) -> LossMerger:
    """A function that adds losses, each multiplied by its weight."""

    def merged(losses: list[Tensor]) -> Tensor:
        if weights is None:
            return add_n(losses)
        pairs = zip(losses, weights, strict=True)
        return add_n([multiply(loss, weight) for loss, weight in pairs])

    return merged
