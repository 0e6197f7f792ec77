"""A model function called in each replica of a strategy, as one EstimatorSpec.

Source: tensorflow_estimator/python/estimator/estimator.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.replicas import is_last_loss_a_sum
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.model_results import metrics_of
from tfteach.lib.training.scaffold import Scaffold

_OF_EACH = ("init_feed_dict", "ready_op", "ready_for_local_init_op", "summary_op")


def replicated_spec(
    strategy: Any, iterator: Any, model: Callable[[Any, Any], EstimatorSpec]
) -> EstimatorSpec:
    """The training of all replicas, each with its own inputs.

    Args:
      strategy: the open `tf.distribute.Strategy`.
      iterator: of the inputs.
      model: the model function, of features and labels.

    Returns:
      Its loss is the mean of the replicas', or the sum if `tf.losses` made it a sum.
      Hooks are those of the first replica.
    """
    found = _called(strategy, iterator, model)
    specs = _all_of(strategy, found)
    loss = strategy.reduce("SUM" if is_last_loss_a_sum() else "MEAN", found.loss)
    return EstimatorSpec(
        mode=specs[0].mode,
        loss=loss,
        train_op=strategy.group(found.train_op),
        training_hooks=specs[0].training_hooks,
        training_chief_hooks=specs[0].training_chief_hooks,
        scaffold=_combined(strategy, [spec.scaffold for spec in specs]),
    )


def replicated_evaluation(
    strategy: Any, iterator: Any, model: Callable[[Any, Any], EstimatorSpec]
) -> tuple[Any, dict[str, Any], EstimatorSpec]:
    """The evaluation of all replicas, each with its own inputs.

    Args:
      strategy: the open `tf.distribute.Strategy`.
      iterator: of the inputs.
      model: the model function, of features and labels.

    Returns:
      The op that updates the metrics of all replicas, their values by name, and the
      first replica's EstimatorSpec with the Scaffold of all.
    """
    found = _called(strategy, iterator, model)
    update, values = metrics_of(found, strategy)
    specs = _all_of(strategy, found)
    scaffold = _combined(strategy, [spec.scaffold for spec in specs])
    return update, values, specs[0]._replace(scaffold=scaffold)


def _called(
    strategy: Any, iterator: Any, model: Callable[[Any, Any], EstimatorSpec]
) -> EstimatorSpec:
    """The model of each replica, as one spec of distributed values."""
    element = iterator.get_next()
    if not isinstance(element, list | tuple):
        element = element, None
    features, labels = element
    found: EstimatorSpec = strategy.extended.call_for_each_replica(
        model, args=(features, labels)
    )
    return found


def _all_of(strategy: Any, found: EstimatorSpec) -> list[EstimatorSpec]:
    """The replicas' specs."""
    from tfteach.lib.distribute.distributed_values import select_replica

    count = strategy.num_replicas_in_sync
    return [select_replica(index, found) for index in range(count)]


def _combined(strategy: Any, scaffolds: list[Scaffold]) -> Scaffold:
    """One Scaffold whose ops initialize all replicas."""

    def every(name: str) -> Any:
        ops = [getattr(scaffold, name) for scaffold in scaffolds]
        found = [op for op in ops if op is not None]
        return strategy.group(found) if found else None

    for name in _OF_EACH:
        if any(getattr(scaffold, name) is not None for scaffold in scaffolds):
            raise NotImplementedError(
                f"tf.train.Scaffold({name}=...) in a model function of several "
                "replicas: leave it out"
            )
    return Scaffold(
        init_op=every("init_op"),
        local_init_op=every("local_init_op"),
        init_fn=scaffolds[0]._user_init_fn,
        saver=scaffolds[0].saver,
    )
