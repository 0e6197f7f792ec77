"""The default strategy, in effect outside every scope: one replica, plain variables.

Source: python/distribute/distribute_lib.py.
"""

from __future__ import annotations

import functools
from typing import Any

from tfteach.framework.graph import get_default_graph
from tfteach.framework.replicas import entered
from tfteach.lib.distribute.inputs import InputFunctionIterator, InputIterator
from tfteach.lib.distribute.reduce_op import ReduceOp
from tfteach.lib.distribute.replica_context import ReplicaContext
from tfteach.lib.distribute.strategy import Strategy
from tfteach.lib.distribute.strategy_extended import StrategyExtended
from tfteach.lib.distribute.type_aliases import Function


class _DefaultDistributionStrategy(Strategy):
    """The default strategy, in effect outside every scope."""

    def __init__(self) -> None:
        super().__init__(_DefaultDistributionExtended(self))

    def scope(self) -> Any:
        """A context manager without effect.

        Raises:
          RuntimeError: another strategy is open.
        """
        self.extended._require_cross_replica()
        return entered_nothing()


class entered_nothing:
    """A context manager without effect."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class _DefaultDistributionExtended(StrategyExtended):
    def _call_for_each_replica(self, fn: Any, args: Any, kwargs: Any) -> Any:
        with entered(self._container_strategy(), ReplicaContext(
            self._container_strategy(), 0
        )):  # fmt: skip
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        return value

    def _reduce(self, reduce_op: ReduceOp, value: Any) -> Any:
        return value

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        return tensor

    def _update(self, var: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        with get_default_graph().colocate_with(var):
            result = fn(var, *args, **kwargs)
        return result if group else [result]

    def _update_non_slot(
        self, colocate_with: Any, fn: Any, args: Any, kwargs: Any, group: bool
    ) -> Any:
        result = fn(*args, **kwargs)
        return result if group else [result]

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        return (value,)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return ("",)

    def _make_dataset_iterator(self, dataset: Any) -> InputIterator:
        return InputIterator(dataset, self.worker_devices)

    def _make_input_fn_iterator(self, input_fn: Function) -> InputIterator:
        return InputFunctionIterator(input_fn, self.worker_devices)


@functools.cache
def default_strategy() -> Strategy:
    """The singleton."""
    return _DefaultDistributionStrategy()
