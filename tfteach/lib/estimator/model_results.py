"""What an Estimator makes of a model's outputs: metrics, and single predictions.

Source: tensorflow_estimator/python/estimator/estimator.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tfteach.framework.graph_keys import GraphKeys
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.metrics.means import mean
from tfteach.lib.training.evaluation import (
    get_or_create_eval_step,
)
from tfteach.lib.training.global_step import (
    get_global_step,
)
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.scaffold import Scaffold
from tfteach.ops.core.control_flow_ops import group

LOSS_METRIC_KEY = "loss"


class Evaluation(NamedTuple):
    """An evaluation that has been built.

    Attributes:
      scaffold: the ops that initialize and restore.
      update: what to run in each step.
      values: the metrics by name.
      hooks: SessionRunHooks.
    """

    scaffold: Scaffold
    update: Any
    values: dict[str, Any]
    hooks: Sequence[SessionRunHook]


def metrics_of(spec: EstimatorSpec, strategy: Any = None) -> tuple[Any, dict[str, Any]]:
    """The op that updates all metrics, and their values, with loss and step.

    Args:
      spec: the model.
      strategy: the `tf.distribute.Strategy` whose replicas the spec is of, or None.
    """
    metrics = dict(spec.eval_metric_ops)
    for name in (LOSS_METRIC_KEY, GraphKeys.GLOBAL_STEP):
        if name in metrics:
            raise ValueError(
                f"Metric with name `{name}` is not allowed, because Estimator already "
                "defines a default metric with the same name."
            )
    if strategy is None:
        metrics[LOSS_METRIC_KEY] = mean(spec.loss)
    else:
        metrics[LOSS_METRIC_KEY] = strategy.experimental_run_v2(mean, (spec.loss,))
    named = sorted(metrics.items())
    updates = [update for _, (_, update) in named]
    update = group(*(updates if strategy is None else map(strategy.group, updates)))
    values = {name: value for name, (value, _) in named}
    values[GraphKeys.GLOBAL_STEP] = get_global_step()
    return update, values


def evaluating(scaffold: Scaffold) -> Scaffold:
    """The scaffold, whose own local initializer knows nothing of the metrics."""
    if scaffold.local_init_op is None:
        return scaffold
    get_or_create_eval_step()
    both = group(scaffold.local_init_op, Scaffold.default_local_init_op())
    return Scaffold(local_init_op=both, copy_from_scaffold=scaffold)


def selected(predictions: Any, keys: Any) -> Any:
    if not keys:
        return predictions
    if not isinstance(predictions, Mapping):
        raise ValueError(
            "predict_keys argument is not valid in case of non-dict predictions."
        )
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided "
            f"{keys}."
        )
    return found


def examples(values: Any) -> Iterator[Any]:
    if not isinstance(values, Mapping):
        yield from values
        return
    lengths = {key: value.shape[0] for key, value in values.items()}
    first = next(iter(lengths.values()), 0)
    for key, length in lengths.items():
        if length != first:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different "
                "batch length than others."
            )
    for i in range(first):
        yield {key: value[i] for key, value in values.items()}
