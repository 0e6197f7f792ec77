"""`tf.distribute.StrategyExtended`: a strategy's interface for library code.

Source: python/distribute/distribute_lib.py.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.replicas import current_mode, entered, whole_variable
from tfteach.framework.type_aliases import (
    SessionLike,
    TensorLike,
    VariableLike,
)
from tfteach.lib.distribute.inputs import InputIterator
from tfteach.lib.distribute.reduce_op import ReduceOp, as_reduce_op
from tfteach.lib.distribute.type_aliases import (
    Batches,
    Destinations,
    Function,
    Result,
    Value,
)
from tfteach.variables.creation import variable_creator_scope
from tfteach.variables.scope import get_variable_scope, variable_scope

if TYPE_CHECKING:
    from tfteach.lib.distribute.strategy import Strategy

_Args = Sequence[Any]
_Kwargs = Mapping[str, Any] | None


@export("distribute.StrategyExtended", "contrib.distribute.StrategyExtended")
class StrategyExtended:
    """The interface that optimizers and variables use; subclasses implement it.

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
        """Raise RuntimeError outside this strategy's cross-replica context."""
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
        """True if the strategy created the variable."""
        return getattr(v, "_distribute_strategy", None) is self._container()

    @contextmanager
    def colocate_vars_with(
        self, colocate_with_variable: VariableLike
    ) -> Iterator[None]:
        """A context that colocates new variables with an existing one.

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
        """The sum or mean over the replicas, on the devices of `destinations`."""
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
        """The value of a variable in cross-replica context."""
        with self._container_strategy().scope():
            return convert(v)

    def _local_results(self, value: Value) -> tuple[Any, ...]:
        raise NotImplementedError

    def value_container(self, value: Value) -> Value:
        """The mirrored variable that contains this copy; otherwise the value itself."""
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
        """The devices for an optimizer's own variables."""
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
        """Not implemented: run the step in a Python loop instead.

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
        """True if `make_dataset_iterator` splits batches among the replicas."""
        return True

    @property
    def experimental_require_static_shapes(self) -> bool:
        """True if all shapes must be static."""
        return False

    @property
    def experimental_between_graph(self) -> bool:
        """True if each process builds its own graph."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """True if this process initializes the variables."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """True if this process writes checkpoints."""
        return True

    @property
    def should_save_summary(self) -> bool:
        """True if this process writes summaries."""
        return True


def _unpartitioned(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A custom getter that drops the partitioner: strategies do not partition."""
    kwargs.pop("partitioner", None)
    return getter(*args, **kwargs)
