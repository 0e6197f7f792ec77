"""Variables with a copy per device: mirrored copies, or ones reduced on read.

In a replica a distributed variable is the replica's copy, and during an update that of
the device which is updated.  Between replicas it is the first copy, and assigning to it
assigns to all.

Source: python/distribute/values.py.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.replicas import current_mode, update_device
from tfteach.lib.distribute.distributed_values import (
    DistributedValues,
    Mirrored,
    PerReplica,
    own_index,
)
from tfteach.lib.distribute.reduce_op import ReduceOp
from tfteach.lib.files.saveable_variables import ResourceVariableSaveable
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import logical_and
from tfteach.variables.base import VariableAggregation
from tfteach.variables.resource import BaseResourceVariable

_NO_AGGREGATION = (
    "You must specify an aggregation method to update a {kind} in Replica Context. You "
    "can do so by passing an explicit value for argument `aggregation` to "
    "tf.Variable(..).e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)`. "
    "Or update it between replicas, in a function that "
    "tf.distribute.get_replica_context().merge_call(...) calls."
)


def _of_copy(name: str) -> Any:
    return property(lambda self: getattr(self._copy, name))


class DistributedVariable(BaseResourceVariable):
    """A variable with a copy on each device.

    Args:
      strategy: the `tf.distribute.Strategy` that makes it.
      devices: the devices.
      copies: the copies, in the same order.
      aggregation: how assignments of several replicas become one.
    """

    _kind: type[DistributedValues] = Mirrored

    def __init__(
        self,
        strategy: Any,
        devices: Sequence[str],
        copies: Sequence[Any],
        aggregation: VariableAggregation,
        trainable: bool,
    ) -> None:
        self._distribute_strategy = strategy
        self.copies = self._kind(devices, copies)
        self._aggregation = aggregation
        self._trainable = trainable
        for copy in copies:
            copy._distributed_container = weakref.ref(self)

    _handle = _of_copy("_handle")
    _graph_element = _of_copy("_graph_element")
    _cached_value = _of_copy("_cached_value")
    _initializer_op = property(
        lambda self: group(*(v.initializer for v in self.copies.values))
    )
    _initial_value = _of_copy("_initial_value")
    _dtype = _of_copy("_dtype")
    _shape = _of_copy("_shape")
    _constraint = _of_copy("_constraint")
    _synchronization = _of_copy("_synchronization")

    @property
    def _copy(self) -> Any:
        index = own_index(self.copies.devices)
        return self.copies.values[0 if index is None else index]

    def _as_graph_element(self) -> Tensor | None:
        element: Tensor = self._graph_element
        return element

    @property
    def _is_between_replicas(self) -> bool:
        return own_index(self.copies.devices) is None

    @property
    def name(self) -> str:
        """The name of the first copy."""
        name: str = self.copies.primary.name
        return name

    @property
    def values(self) -> tuple[Any, ...]:
        """The copies."""
        return self.copies.values

    @property
    def devices(self) -> tuple[str, ...]:
        """Their devices."""
        return self.copies.devices

    @property
    def primary(self) -> Any:
        """The first copy."""
        return self.copies.primary

    def get(self, device: str | None = None) -> Any:
        """The copy of the current replica, or on the given device."""
        return self._copy if device is None else self.copies.get(device)

    @property
    def distribute_strategy(self) -> Any:
        """The strategy that made it."""
        return self._distribute_strategy

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A bool scalar Tensor: True if all copies are initialized."""
        *some, last = (v.is_initialized() for v in self.copies.values)
        for one in some:
            last = logical_and(one, last, name=name)
        is_each: Tensor = last
        return is_each

    # ---- assignments

    def assign(
        self,
        value: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Assign to all copies; see `tf.Variable`."""
        return self._assigned("assign", value, name, read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add to all copies; see `tf.Variable`."""
        return self._assigned("assign_add", delta, name, read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract from all copies; see `tf.Variable`."""
        return self._assigned("assign_sub", delta, name, read_value)

    def _assigned(self, method: str, value: Any, name: str | None, read: bool) -> Any:
        raise NotImplementedError

    def _saveable(self, name: str) -> Any:
        """The saveable through which checkpoints save and restore it."""
        raise NotImplementedError


class MirroredVariable(DistributedVariable):
    """A variable whose copies are equal."""

    def _assigned(self, method: str, value: Any, name: str | None, read: bool) -> Any:
        def assign(copy: Any, value: Any) -> Any:
            own_name = name if copy is self.primary else None  # a name is one op's
            return getattr(copy, method)(value, name=own_name, read_value=read)

        mode = current_mode()
        strategy = self._distribute_strategy
        if update_device() is not None or strategy.num_replicas_in_sync == 1:
            return assign(self._copy, value)
        if mode is None or mode.replica_context is None:
            with strategy.scope():
                return strategy.extended.update(self, assign, args=(value,))
        if self._aggregation is VariableAggregation.NONE:
            raise ValueError(_NO_AGGREGATION.format(kind=type(self).__name__))

        def merge(strategy: Any, value: Any) -> Any:
            extended = strategy.extended
            if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
                first = strategy.experimental_local_results(value)[0]
                value = extended.broadcast_to(first, self)
            else:
                operation = ReduceOp.from_variable_aggregation(self._aggregation)
                value = extended.reduce_to(operation, value, self)
            return extended.update(self, assign, args=(value,))

        return mode.replica_context.merge_call(merge, args=(value,))

    def _saveable(self, name: str) -> Any:
        return _MirroredSaveable(self, name)


class SyncOnReadVariable(DistributedVariable):
    """A variable that each replica updates independently, such as a metric's.

    Between replicas its value is the sum, the mean, or the first copy's.
    """

    _kind: type[DistributedValues] = PerReplica

    def _read(self) -> Tensor:
        if not self._is_between_replicas:
            return super()._read()
        if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            first: Tensor = self.primary.value()
            return first
        operation = ReduceOp.from_variable_aggregation(self._aggregation)
        read = PerReplica(self.devices, [v.value() for v in self.values])
        total: Tensor = self._distribute_strategy.reduce(operation, read)
        return total

    def _assigned(self, method: str, value: Any, name: str | None, read: bool) -> Any:
        if not self._is_between_replicas:
            assign = getattr(self._copy, method)
            return assign(value, name=name, read_value=read)
        if method != "assign":
            raise ValueError("SyncOnReadVariable does not support `assign_add` and "
                             "`assign_sub` in cross-replica context.")  # fmt: skip
        return group(*self._parts_assigned(value))

    def _parts_assigned(self, value: Any) -> list[Operation]:
        """Assign each copy its share of a sum, or the value itself."""
        if self._aggregation is VariableAggregation.SUM:
            value = cast(value / len(self.values), self.dtype)
        parts = []
        for device, copy in zip(self.devices, self.values, strict=True):
            with get_default_graph().device(device):
                parts.append(copy.assign(value, read_value=False))
        return parts

    def _saveable(self, name: str) -> Any:
        return _SyncOnReadSaveable(self, name)


class _MirroredSaveable(ResourceVariableSaveable):
    """Saves the first copy, and restores all."""

    def __init__(self, variable: MirroredVariable, name: str) -> None:
        self._variable = variable
        super().__init__(variable.primary, "", name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        del restored_shapes
        done = []
        for device, copy in _copies(self._variable.copies):
            with get_default_graph().device(device):
                done.append(copy.assign(restored_tensors[0], read_value=False))
        return group(*done)


class _SyncOnReadSaveable(ResourceVariableSaveable):
    """Saves the sum or mean; restoring a sum assigns each copy its share."""

    def __init__(self, variable: SyncOnReadVariable, name: str) -> None:
        self._variable = variable
        super().__init__(variable.primary, "", name)
        self.specs[0]._tensor = lambda: variable._distribute_strategy.extended.read_var(
            variable
        )

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        del restored_shapes
        return group(*self._variable._parts_assigned(restored_tensors[0]))


def _copies(values: DistributedValues) -> Any:
    return zip(values.devices, values.values, strict=True)
