"""`tf.distribute.Strategy`, the base class of strategies.

Source: python/distribute/distribute_lib.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tfteach.framework import nest
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import (
    Proto,
    SessionLike,
    VariableLike,
)
from tfteach.lib.distribute.inputs import InputIterator, InputReplicationMode
from tfteach.lib.distribute.reduce_op import ReduceOp, as_reduce_op
from tfteach.lib.distribute.strategy_extended import StrategyExtended
from tfteach.lib.distribute.type_aliases import (
    Batches,
    Function,
    Result,
    Value,
)
from tfteach.lib.training.cluster_spec import ClusterSpec
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_sum

_Args = Sequence[Any]
_Kwargs = Mapping[str, Any] | None


@export(
    "distribute.Strategy",
    "contrib.distribute.Strategy",
    "contrib.distribute.DistributionStrategy",
)
class Strategy:
    """Distributes a model over devices.

    Args:
      extended: the implementation.

    Attributes:
      extended: likewise, a `tf.distribute.StrategyExtended`.

    Source: python/distribute/distribute_lib.py.
    """

    _scale_loss_for_estimator = False

    def __init__(self, extended: StrategyExtended) -> None:
        self._extended = extended

    @property
    def extended(self) -> StrategyExtended:
        """The interface that optimizers and variables use."""
        extended: StrategyExtended = self._extended
        return extended

    def scope(self) -> AbstractContextManager[Strategy]:
        """A context in which the strategy creates all variables.

        Example:
          >>> strategy = tf.distribute.MirroredStrategy()
          >>> with strategy.scope():
          ...     v = tf.Variable(1.0)
        """
        return self._extended._scope(self)

    @contextmanager
    def _scale_loss_for_estimator_enabled(self) -> Iterator[None]:
        """A context in which optimizers scale the loss, as Estimators expect."""
        self._scale_loss_for_estimator = True
        try:
            yield
        finally:
            self._scale_loss_for_estimator = False

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas whose gradients are aggregated."""
        return len(self._extended.worker_devices)

    # ---- computing

    def experimental_run_v2(
        self, fn: Function, args: _Args = (), kwargs: _Kwargs = None
    ) -> Result:
        """Call a function in each replica.

        Args:
          fn: the function.
          args: its arguments; of distributed values each replica gets its own.
          kwargs: likewise, by name.

        Returns:
          The structure that `fn` returns, of distributed values.
        """
        return self.extended.call_for_each_replica(fn, args, kwargs)

    def experimental_run(
        self, fn: Function, input_iterator: InputIterator | None = None
    ) -> Result:
        """Call a function in each replica with the next inputs.

        Args:
          fn: the function.
          input_iterator: what `make_dataset_iterator` or `make_input_fn_iterator`
            returned; None to pass nothing.
        """
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
            return self.experimental_run_v2(fn, args)

    def reduce(
        self, reduce_op: ReduceOp | str, value: Value, axis: int | None = None
    ) -> Value:
        """Reduce a per-replica value to one Tensor.

        Args:
          reduce_op: a `tf.distribute.ReduceOp`.
          value: distributed values.
          axis: an axis to reduce within each replica, such as 0, that of the batch;
            None for none.

        Returns:
          The sum or the mean; with `axis`, the mean of all elements along it.

        Raises:
          ValueError: `axis` is out of range.
        """
        operation = as_reduce_op(reduce_op)
        self.extended._require_cross_replica()
        if axis is None:
            return self.extended._reduce(operation, value)
        if not isinstance(axis, int):
            raise TypeError(f"Expected `axis` to be an integer not: {axis!r}")

        def parts(v: VariableLike) -> tuple[Tensor, Tensor]:
            rank = v.shape.ndims
            if rank is not None and not -rank <= axis < rank:
                raise ValueError(
                    f"`axis` = {axis!r} out of range for `value` with rank {rank}"
                )
            return reduce_sum(v, axis=axis), shape(v)[axis]

        total, count = self.experimental_run_v2(parts, (value,))
        total = self.extended._reduce(ReduceOp.SUM, total)
        if operation is ReduceOp.SUM:
            return total
        count = self.extended._reduce(ReduceOp.SUM, count)
        return total / cast(count, total.dtype)

    def experimental_local_results(self, value: Value) -> tuple[Any, ...]:
        """The values of all replicas; for any other value, a tuple of just it."""
        return self.extended._local_results(value)

    def unwrap(self, value: Value) -> tuple[Any, ...]:
        """An old name of `experimental_local_results`."""
        return self.extended._local_results(value)

    def group(self, value: Value, name: str | None = None) -> Operation:
        """An Operation that runs after the values of all replicas are computed."""
        flat = nest.flatten(self.extended._local_results(value))
        if len(flat) != 1 or name is not None:
            return group(*flat, name=name)
        only: Operation = getattr(flat[0], "op", flat[0])
        return only

    # ---- inputs

    def make_dataset_iterator(self, dataset: Batches) -> InputIterator:
        """An iterator that splits each batch among the replicas.

        Args:
          dataset: of batches for all replicas together.
        """
        return self.extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(
        self,
        input_fn: Function,
        replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
    ) -> InputIterator:
        """An iterator that returns one batch per replica.

        Args:
          input_fn: gets a `tf.distribute.InputContext`, and returns a dataset of
            batches for one replica.
          replication_mode: `tf.distribute.InputReplicationMode.PER_WORKER`.

        Raises:
          ValueError: `replication_mode` is anything else.
        """
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(
                f"Input replication mode not supported: {replication_mode!r}"
            )
        return self.extended._make_input_fn_iterator(input_fn)

    def experimental_distribute_dataset(self, dataset: Batches) -> InputIterator:
        """`make_dataset_iterator`; the result can be used as a dataset, too.

        Args:
          dataset: of batches for all replicas together.
        """
        return self.extended._make_dataset_iterator(dataset)

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Function
    ) -> InputIterator:
        """`make_input_fn_iterator`.

        Args:
          dataset_fn: gets a `tf.distribute.InputContext`, and returns a dataset of
            batches for one replica.
        """
        return self.extended._make_input_fn_iterator(dataset_fn)

    def experimental_make_numpy_dataset(
        self, numpy_input: Value, session: SessionLike | None = None
    ) -> Batches:
        """A dataset of the rows of arrays.

        Args:
          numpy_input: an array, or a structure of arrays.
          session: unused: the arrays are constants of the graph.
        """
        return self.extended.experimental_make_numpy_dataset(numpy_input, session)

    # ---- clusters

    def configure(
        self,
        session_config: Proto | None = None,
        cluster_spec: ClusterSpec | None = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Configure for a cluster: not supported by strategies of one process.

        Raises:
          NotImplementedError: there is a `cluster_spec`.
        """
        if cluster_spec:
            raise NotImplementedError(
                f"{type(self).__name__} in a cluster: use "
                "tf.train.replica_device_setter, or tf.estimator.train_and_evaluate "
                "without a strategy"
            )

    def update_config_proto(self, config_proto: Proto) -> Proto:
        """An unmodified copy of a ConfigProto."""
        copy = type(config_proto)()
        copy.CopyFrom(config_proto)
        return copy

    def __deepcopy__(self, memo: Any) -> Strategy:
        return self  # its variables refer to it
