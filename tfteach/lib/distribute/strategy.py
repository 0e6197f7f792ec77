"""`tf.distribute.Strategy`, the base class, and `StrategyExtended`, its inner side.

Source: python/distribute/distribute_lib.py.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.replicas import current_mode, entered, whole_variable
from tfteach.framework.type_aliases import (
    Proto,
    SessionLike,
    TensorLike,
    VariableLike,
)
from tfteach.lib.distribute.inputs import InputIterator, InputReplicationMode
from tfteach.lib.distribute.reduce_op import ReduceOp, as_reduce_op
from tfteach.lib.distribute.type_aliases import (
    Batches,
    Destinations,
    Function,
    Result,
    Value,
)
from tfteach.lib.training.cluster_spec import ClusterSpec
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.variables.creation import variable_creator_scope
from tfteach.variables.scope import get_variable_scope, variable_scope

_Args = Sequence[Any]
_Kwargs = Mapping[str, Any] | None


@export("distribute.Strategy", "contrib.distribute.Strategy")
class Strategy:
    """How a model is distributed over devices.

    Args:
      extended: what implements it.

    Attributes:
      extended: likewise, a `tf.distribute.StrategyExtended`.

    Source: python/distribute/distribute_lib.py.
    """

    _scale_loss_for_estimator = False

    def __init__(self, extended: StrategyExtended) -> None:
        self._extended = extended

    @property
    def extended(self) -> StrategyExtended:
        """What optimizers and variables use of a strategy."""
        extended: StrategyExtended = self._extended
        return extended

    def scope(self) -> AbstractContextManager[Strategy]:
        """A block in which variables are made as the strategy wants them.

        Example:
          >>> strategy = tf.distribute.MirroredStrategy()
          >>> with strategy.scope():
          ...     v = tf.Variable(1.0)
        """
        return self._extended._scope(self)

    @contextmanager
    def _scale_loss_for_estimator_enabled(self) -> Iterator[None]:
        """A block in which optimizers scale the loss, as Estimators need it."""
        self._scale_loss_for_estimator = True
        try:
            yield
        finally:
            self._scale_loss_for_estimator = False

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas whose gradients are added."""
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
        """One Tensor of a value of each replica.

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
        """The values of all replicas; of any other value it alone."""
        return self.extended._local_results(value)

    def unwrap(self, value: Value) -> tuple[Any, ...]:
        """`experimental_local_results`."""
        return self.extended._local_results(value)

    def group(self, value: Value, name: str | None = None) -> Operation:
        """An Operation that waits for the values of all replicas."""
        flat = nest.flatten(self.extended._local_results(value))
        if len(flat) != 1 or name is not None:
            return group(*flat, name=name)
        only: Operation = getattr(flat[0], "op", flat[0])
        return only

    # ---- inputs

    def make_dataset_iterator(self, dataset: Batches) -> InputIterator:
        """An iterator that gives each replica its part of each batch.

        Args:
          dataset: of batches for all replicas together.
        """
        return self.extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(
        self, input_fn: Function, replication_mode: InputReplicationMode | None = None
    ) -> InputIterator:
        """An iterator that gives each replica a batch of its own.

        Args:
          input_fn: gets a `tf.distribute.InputContext`, and returns a dataset of
            batches for one replica.
          replication_mode: None, or `tf.distribute.InputReplicationMode.PER_WORKER`.
        """
        return self.extended._make_input_fn_iterator(input_fn)

    def experimental_distribute_dataset(self, dataset: Batches) -> InputIterator:
        """`make_dataset_iterator`, which is also a dataset's.

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
        """Prepare for a cluster, which strategies of one process refuse.

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
        """A copy of a ConfigProto, which needs no change."""
        copy = type(config_proto)()
        copy.CopyFrom(config_proto)
        return copy

    def __deepcopy__(self, memo: Any) -> Strategy:
        return self  # its variables refer to it


@export("distribute.StrategyExtended", "contrib.distribute.StrategyExtended")
class StrategyExtended:
    """What optimizers and variables use of a strategy; subclasses implement it.

    Args:
      container_strategy: the strategy.

    Source: python/distribute/distribute_lib.py.
    """

    def __init__(self, container_strategy: Strategy) -> None:
        self._container = weakref.ref(container_strategy)

    def _container_strategy(self) -> Strategy:
        strategy = self._container()
        assert strategy is not None
        return strategy

    # ---- the scope

    @contextmanager
    def _scope(self, strategy: Strategy) -> Iterator[Strategy]:
        mode = current_mode()
        if mode is not None:  # again inside itself
            self._require_cross_replica()
            yield strategy
            return
        if get_default_graph().is_eager:
            raise NotImplementedError(
                f"{type(strategy).__name__}.scope() in an eager program: build a "
                "graph, within tf.Graph().as_default()"
            )
        with (
            entered(strategy, None),
            variable_scope(get_variable_scope(), custom_getter=_unpartitioned),
            variable_creator_scope(self._create_variable),
        ):
            yield strategy

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        raise NotImplementedError

    def _require_cross_replica(self) -> None:
        """Raise RuntimeError unless the code is between this strategy's replicas."""
        mode, strategy = current_mode(), self._container_strategy()
        if mode is None:
            return
        if mode.strategy is not strategy:
            raise RuntimeError(
                "Mixing different tf.distribute.Strategy objects: "
                f"{mode.strategy} is not {strategy}"
            )
        if mode.replica_context is not None:
            raise RuntimeError(
                "Method requires being in cross-replica context, use "
                "get_replica_context().merge_call()"
            )

    def variable_created_in_scope(self, v: VariableLike) -> bool:
        """Whether the strategy made a variable."""
        return getattr(v, "_distribute_strategy", None) is self._container()

    @contextmanager
    def colocate_vars_with(
        self, colocate_with_variable: VariableLike
    ) -> Iterator[None]:
        """A block whose variables stand where another one does.

        Raises:
          ValueError: the strategy has not made that variable.
        """
        if not self.variable_created_in_scope(colocate_with_variable):
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this "
                f"tf.distribute.Strategy.scope(), not: {colocate_with_variable!r}"
            )
        yield  # all variables of a strategy stand on the same devices

    # ---- computing

    def call_for_each_replica(
        self, fn: Function, args: _Args = (), kwargs: _Kwargs = None
    ) -> Result:
        """Call a function in each replica; see `Strategy.experimental_run_v2`."""
        self._require_cross_replica()
        strategy = self._container_strategy()
        with strategy.scope():
            return self._call_for_each_replica(fn, tuple(args), dict(kwargs or {}))

    def _call_for_each_replica(self, fn: Any, args: Any, kwargs: Any) -> Any:
        raise NotImplementedError

    def reduce_to(
        self, reduce_op: ReduceOp | str, value: Value, destinations: Destinations
    ) -> Value:
        """The sum or mean of a value, on the devices of `destinations`."""
        self._require_cross_replica()
        return self._reduce_to(as_reduce_op(reduce_op), value, destinations)

    def _reduce_to(
        self, reduce_op: ReduceOp, value: Value, destinations: Destinations
    ) -> Any:
        raise NotImplementedError

    def batch_reduce_to(
        self, reduce_op: ReduceOp | str, value_destination_pairs: Iterable[Any]
    ) -> list[Any]:
        """`reduce_to` of several (value, destinations) pairs."""
        return [self.reduce_to(reduce_op, v, to) for v, to in value_destination_pairs]

    def _reduce(self, reduce_op: ReduceOp, value: Value) -> Any:
        raise NotImplementedError

    def broadcast_to(self, tensor: TensorLike, destinations: Destinations) -> Value:
        """Copies of a Tensor on the devices of `destinations`."""
        raise NotImplementedError

    def update(
        self,
        var: VariableLike,
        fn: Function,
        args: _Args = (),
        kwargs: _Kwargs = None,
        group: bool = True,
    ) -> Result:
        """Call a function with each copy of a variable, on its device.

        Args:
          var: the variable.
          fn: gets the copy, then `args` and `kwargs`, of mirrored values those of the
            device.
          args, kwargs: further arguments.
          group: whether the results become one, which waits for all of them; otherwise
            they are a list.
        """
        self._require_cross_replica()
        with self._container_strategy().scope():
            return self._update(var, fn, tuple(args), dict(kwargs or {}), group)

    def _update(
        self, var: VariableLike, fn: Any, args: Any, kwargs: Any, group: bool
    ) -> Any:
        raise NotImplementedError

    def update_non_slot(
        self,
        colocate_with: Sequence[str],
        fn: Function,
        args: _Args = (),
        kwargs: _Kwargs = None,
        group: bool = True,
    ) -> Result:
        """Call a function on each of the devices that `non_slot_devices` returned."""
        self._require_cross_replica()
        with self._container_strategy().scope():
            return self._update_non_slot(
                colocate_with, fn, tuple(args), dict(kwargs or {}), group
            )

    def _update_non_slot(
        self, colocate_with: Any, fn: Any, args: Any, kwargs: Any, group: bool
    ) -> Result:
        raise NotImplementedError

    def read_var(self, v: VariableLike) -> Tensor:
        """The value of a variable between replicas."""
        with self._container_strategy().scope():
            return convert(v)

    def _local_results(self, value: Value) -> tuple[Any, ...]:
        raise NotImplementedError

    def value_container(self, value: Value) -> Value:
        """The mirrored variable whose copy a variable is; else the value itself."""
        return whole_variable(value)

    # ---- devices and inputs

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The replicas' devices."""
        raise NotImplementedError

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The variables' devices."""
        return self.worker_devices

    def non_slot_devices(self, var_list: Sequence[VariableLike]) -> tuple[str, ...]:
        """The devices of an optimizer's own variables."""
        return self.worker_devices

    def _make_dataset_iterator(self, dataset: Batches) -> InputIterator:
        raise NotImplementedError

    def _make_input_fn_iterator(self, input_fn: Function) -> InputIterator:
        raise NotImplementedError

    def experimental_run_steps_on_iterator(
        self,
        fn: Function,
        iterator: InputIterator,
        iterations: TensorLike = 1,
        initial_loop_values: Value = None,
    ) -> Result:
        """Not implemented: run a step in a loop of your own.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError(
            "experimental_run_steps_on_iterator: several steps a run are for TPUs; "
            "call strategy.experimental_run(fn, iterator) and run it in a loop"
        )

    def experimental_make_numpy_dataset(
        self, numpy_input: Value, session: SessionLike | None = None
    ) -> Batches:
        """A dataset of the rows of arrays; see `Strategy`."""
        from tfteach.lib.data.dataset import Dataset

        return Dataset.from_tensor_slices(numpy_input)

    @property
    def _global_batch_size(self) -> bool:
        """Whether `make_dataset_iterator` divides batches among the replicas."""
        return True

    @property
    def experimental_require_static_shapes(self) -> bool:
        """Whether all shapes must be known."""
        return False

    @property
    def experimental_between_graph(self) -> bool:
        """Whether each process builds a graph of its own."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """Whether this process initializes the variables."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Whether this process writes checkpoints."""
        return True

    @property
    def should_save_summary(self) -> bool:
        """Whether this process writes summaries."""
        return True


def _unpartitioned(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A custom getter: the variables of a strategy are not partitioned."""
    kwargs.pop("partitioner", None)
    return getter(*args, **kwargs)
