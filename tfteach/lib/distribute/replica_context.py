"""`tf.distribute.ReplicaContext`: communication between replicas.

Source: python/distribute/distribute_lib.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from tfteach.autodiff.custom_gradient import custom_gradient
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.replicas import entered
from tfteach.lib.distribute.reduce_op import ReduceOp, as_reduce_op
from tfteach.lib.distribute.strategy import Strategy
from tfteach.lib.distribute.type_aliases import Function, Result, Value
from tfteach.ops.core.constant import constant


@export("distribute.ReplicaContext", "contrib.distribute.ReplicaContext")
class ReplicaContext:
    """The context in which a replica's function runs.

    Args:
      strategy: its strategy.
      replica_id_in_sync_group: its number, from 0.

    Source: python/distribute/distribute_lib.py.
    """

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: int) -> None:
        self._strategy, self.index = strategy, replica_id_in_sync_group
        self._number: Tensor | None = None
        self._entered: list[ExitStack] = []

    def __enter__(self) -> None:
        with ExitStack() as stack:
            stack.enter_context(entered(self._strategy, self))
            self._entered.append(stack.pop_all())

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)

    @property
    def strategy(self) -> Strategy:
        """The strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Tensor:
        """This replica's index, an int32 scalar Tensor."""
        if self._number is None:
            self._number = constant(self.index, dtype="int32")
        return self._number

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of this replica."""
        return (self._strategy.extended.worker_devices[self.index],)

    def merge_call(
        self,
        merge_fn: Function,
        args: Sequence[Value] = (),
        kwargs: Mapping[str, Value] | None = None,
    ) -> Result:
        """Call a function once, in cross-replica context, when all replicas get here.

        Args:
          merge_fn: gets the strategy, and of each argument those of all replicas.
          args: this replica's arguments.
          kwargs: likewise, by name.

        Returns:
          Of its result what belongs to this replica.
        """
        return self._merge_call(merge_fn, tuple(args), dict(kwargs or {}))

    def _merge_call(
        self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        with entered(self._strategy, None):
            return fn(self._strategy, *args, **kwargs)

    def all_reduce(self, reduce_op: ReduceOp | str, value: Value) -> Value:
        """The sum or mean over all replicas, returned to each of them.

        Args:
          reduce_op: a `tf.distribute.ReduceOp`.
          value: a Tensor, or a structure of Tensors.

        Example:
          >>> context = tf.distribute.get_replica_context()
          >>> context.all_reduce(tf.distribute.ReduceOp.SUM, 1.0)
        """
        operation = as_reduce_op(reduce_op)

        def reduce(strategy: Any, *flat: Any) -> Any:
            pairs = [(v, v) for v in flat]
            return strategy.extended.batch_reduce_to(operation, pairs)

        @custom_gradient
        def reduced(*flat: Any) -> Any:
            # Each result depends on all replicas' values, so the gradient of a sum is
            # the sum of their gradients.
            found = self.merge_call(reduce, args=flat)
            return found, lambda *grads: nest.flatten(
                self.all_reduce(operation, list(grads))
            )

        found = reduced(*(convert(leaf) for leaf in nest.flatten(value)))
        return nest.pack_sequence_as(value, nest.flatten(found))
