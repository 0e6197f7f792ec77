"""`tf.distribute.CrossDeviceOps`: reductions and broadcasts between devices.

Source: python/distribute/cross_device_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distribute.distributed_values import DistributedValues, Mirrored
from tfteach.lib.distribute.reduce_op import ReduceOp, as_reduce_op
from tfteach.lib.distribute.type_aliases import Destinations, Value
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.add_n import add_n


def devices_of(destinations: Any) -> tuple[str, ...]:
    """The devices of a variable, of distributed values, or a named device."""
    if isinstance(destinations, str):
        return (destinations,)
    values = getattr(destinations, "copies", destinations)
    if isinstance(values, DistributedValues):
        return values.devices
    return (destinations.device,)


def _sum(values: Sequence[Any]) -> Any:
    if not any(isinstance(value, IndexedSlices) for value in values):
        return add_n(values)
    return IndexedSlices(
        concat([v.values for v in values], 0),
        concat([v.indices for v in values], 0),
        values[0].dense_shape,
    )


def _divided(value: Any, count: int) -> Any:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / count, value.indices, value.dense_shape)
    return value / count


def _copied(value: Any) -> Any:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(
            identity(value.values), identity(value.indices), value.dense_shape
        )
    return identity(value)


@export("distribute.CrossDeviceOps", "contrib.distribute.CrossDeviceOps")
class CrossDeviceOps:
    """Reduces per-replica values on one device, and broadcasts the result.

    Real cards pass partial sums around instead; the result is the same.  The subclasses
    stand for TensorFlow's algorithms, and do the same here.

    Source: python/distribute/cross_device_ops.py.
    """

    def reduce(
        self,
        reduce_op: ReduceOp | str,
        per_replica_value: Value,
        destinations: Destinations,
    ) -> Mirrored:
        """The sum or mean over the replicas, on every device of `destinations`.

        Args:
          reduce_op: a `tf.distribute.ReduceOp`.
          per_replica_value: distributed values.
          destinations: a device, or what stands on the devices that are meant.
        """
        operation = as_reduce_op(reduce_op)
        devices = devices_of(destinations)
        values = per_replica_value.values
        with get_default_graph().device(devices[0]):
            total = _sum(values)
            if operation is ReduceOp.MEAN:
                total = _divided(total, len(values))
        return self.broadcast(total, destinations)

    def batch_reduce(
        self, reduce_op: ReduceOp | str, value_destination_pairs: Iterable[Any]
    ) -> list[Any]:
        """`reduce` of several (value, destinations) pairs."""
        return [
            self.reduce(reduce_op, v, where) for v, where in value_destination_pairs
        ]

    def broadcast(
        self, tensor: TensorLike | IndexedSlices, destinations: Destinations
    ) -> Mirrored:
        """Copies of a Tensor on all devices of `destinations`."""
        devices = devices_of(destinations)
        copies = []
        for device in devices:
            with get_default_graph().device(device):
                copies.append(_copied(tensor))
        return Mirrored(devices, copies)


@export("distribute.ReductionToOneDevice")
class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on the first device, then broadcasts.

    Args:
      reduce_to_device: must be None: the first device of the destination.
      accumulation_fn: must be None: `tf.add_n`.

    Raises:
      NotImplementedError: another device or function is given.

    Source: python/distribute/cross_device_ops.py.
    """

    def __init__(
        self,
        reduce_to_device: str | None = None,
        accumulation_fn: Callable[..., Tensor] | None = None,
    ) -> None:
        if reduce_to_device is not None or accumulation_fn is not None:
            raise NotImplementedError(
                "ReductionToOneDevice(reduce_to_device=..., accumulation_fn=...): "
                "values are reduced by tf.add_n on the variable's first device"
            )


@export("distribute.NcclAllReduce")
class NcclAllReduce(CrossDeviceOps):
    """Reduces as `ReductionToOneDevice` does: NCCL is not used.

    Args:
      num_packs: how many packs TensorFlow makes of small values; without effect.

    Source: python/distribute/cross_device_ops.py.
    """

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(
                f"NCCL all-reduce requires num_packs >= 0, but {num_packs}"
            )


@export("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(NcclAllReduce):
    """Reduces as `ReductionToOneDevice` does.

    Args:
      num_packs: how many packs TensorFlow makes of small values; without effect.

    Source: python/distribute/cross_device_ops.py.
    """
