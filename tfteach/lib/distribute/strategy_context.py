"""The current strategy and replica: `tf.distribute.get_strategy` etc.

Source: python/distribute/distribution_strategy_context.py.
"""

from __future__ import annotations

from tfteach.framework.export import export
from tfteach.framework.replicas import current_mode, is_last_loss_a_sum, update_device
from tfteach.lib.distribute.default_strategy import default_strategy
from tfteach.lib.distribute.reduce_op import ReduceOp
from tfteach.lib.distribute.replica_context import ReplicaContext
from tfteach.lib.distribute.strategy import Strategy


@export(
    "distribute.get_strategy",
    "contrib.distribute.get_strategy",
    "contrib.distribute.get_distribution_strategy",
)
def get_strategy() -> Strategy:
    """The current strategy; outside every scope the default one, with one replica.

    Source: python/distribute/distribution_strategy_context.py.
    """
    mode = current_mode()
    strategy: Strategy = default_strategy() if mode is None else mode.strategy
    return strategy


@export(
    "distribute.has_strategy",
    "contrib.distribute.has_strategy",
    "contrib.distribute.has_distribution_strategy",
)
def has_strategy() -> bool:
    """True inside a strategy's `scope()`.

    Source: python/distribute/distribution_strategy_context.py.
    """
    return current_mode() is not None


@export(
    "distribute.in_cross_replica_context",
    "contrib.distribute.in_cross_replica_context",
)
def in_cross_replica_context() -> bool:
    """True inside a `scope()`, but outside every replica.

    Source: python/distribute/distribution_strategy_context.py.
    """
    mode = current_mode()
    return mode is not None and mode.replica_context is None


@export("contrib.distribute.get_cross_replica_context")
def get_cross_replica_context() -> Strategy | None:
    """The current strategy inside a `scope()`, but outside every replica; else None.

    Source: python/distribute/distribution_strategy_context.py.
    """
    return get_strategy() if in_cross_replica_context() else None


@export("distribute.get_replica_context", "contrib.distribute.get_replica_context")
def get_replica_context() -> ReplicaContext | None:
    """The replica's context; None in cross-replica context and during updates.

    Outside all scopes it is that of the default strategy's only replica.

    Source: python/distribute/distribution_strategy_context.py.
    """
    mode = current_mode()
    if mode is None:
        return None if update_device() else ReplicaContext(default_strategy(), 0)
    context: ReplicaContext | None = mode.replica_context
    return context


@export("distribute.get_loss_reduction", "contrib.distribute.get_loss_reduction")
def get_loss_reduction() -> ReduceOp:
    """Set how an Estimator's strategy reduces the last loss of `tf.losses`.

    Source: python/distribute/distribute_lib.py.
    """
    if not get_strategy()._scale_loss_for_estimator:
        return ReduceOp.SUM
    return ReduceOp.SUM if is_last_loss_a_sum() else ReduceOp.MEAN
