"""`tf.distribute.MirroredStrategy`: a replica and a copy of every variable per device.

Source: python/distribute/mirrored_strategy.py, one_device_strategy.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.engine.session.device_list import list_local_devices
from tfteach.framework.device import DeviceSpec
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.lib.distribute.cross_device_ops import CrossDeviceOps
from tfteach.lib.distribute.distributed_values import (
    DistributedValues,
    Mirrored,
    grouped_updates,
    select_device,
    update_on,
)
from tfteach.lib.distribute.distributed_variables import (
    MirroredVariable,
    SyncOnReadVariable,
)
from tfteach.lib.distribute.inputs import DatasetIterator, InputFunctionIterator
from tfteach.lib.distribute.reduce_op import ReduceOp
from tfteach.lib.distribute.replica_threads import call_in_replicas
from tfteach.lib.distribute.strategy import Strategy
from tfteach.lib.distribute.strategy_extended import StrategyExtended
from tfteach.ops.core.identity_reshape import identity
from tfteach.variables.base import VariableAggregation, VariableSynchronization


def _canonical_here(device: str) -> str:
    """The canonical name of a device of this process."""
    if DeviceSpec.from_string(device).job not in (None, "localhost"):
        raise NotImplementedError(
            f"MirroredStrategy(devices=[{device!r}]): replicas are devices of this "
            "process; for clusters there is tf.train.SyncReplicasOptimizer"
        )
    return canonical(device)


def canonical(device: str) -> str:
    """The canonical name of a device."""
    spec = DeviceSpec.from_string(device)
    spec.replica, spec.task = spec.replica or 0, spec.task or 0
    spec.device_type = spec.device_type or "CPU"
    spec.device_index = spec.device_index or 0
    return spec.to_string()


def local_devices(num_gpus: int | None = None) -> list[str]:
    """The GPUs of this process; the CPU if there are none.

    Raises:
      ValueError: there are fewer than `num_gpus`.
    """
    names = [d.name for d in list_local_devices() if d.device_type == "GPU"]
    if num_gpus is not None and num_gpus > len(names):
        raise ValueError(f"There are {len(names)} GPUs, fewer than num_gpus={num_gpus}")
    count = len(names) if num_gpus is None else num_gpus
    return [f"/device:GPU:{i}" for i in range(count)] or ["/device:CPU:0"]


@export("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """One replica per device; the copies of each variable stay equal.

    Each replica computes gradients of its part of a batch; their sum updates all
    copies.  In a graph; simulated GPUs (`tfteach.simulate_gpus`) are devices, too.

    Args:
      devices: the names of devices; None for all GPUs, or the CPU if there are none.
      cross_device_ops: a `tf.distribute.CrossDeviceOps` that adds the gradients.

    Raises:
      AssertionError: a device is named twice.
      NotImplementedError: a device belongs to another process.

    Example:
      >>> strategy = tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
      >>> with strategy.scope():
      ...     iterator = strategy.make_dataset_iterator(dataset)
      ...     losses = strategy.experimental_run(step, iterator)
      ...     loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses)

    Source: python/distribute/mirrored_strategy.py.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
    ) -> None:
        super().__init__(MirroredExtended(self, devices, cross_device_ops))


@export("contrib.distribute.MirroredStrategy")
class ContribMirroredStrategy(Strategy):
    """`tf.distribute.MirroredStrategy`, which also accepts a number of GPUs.

    Args:
      devices: the names of devices.
      num_gpus: the number of GPUs, in place of `devices`.
      num_gpus_per_worker: likewise.
      cross_device_ops: a `tf.distribute.CrossDeviceOps` that adds the gradients.
      auto_shard_dataset: whether the workers of a cluster get different inputs: without
        effect in one process.
      cross_tower_ops: an old name of `cross_device_ops`.

    Raises:
      ValueError: both the devices and their number are given, or two numbers.

    Source: contrib/distribute/python/mirrored_strategy.py.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: CrossDeviceOps | None = None,
    ) -> None:
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError(
                "You cannot specify both num_gpus and num_gpus_per_worker."
            )
        count = num_gpus if num_gpus_per_worker is None else num_gpus_per_worker
        if count is not None:
            if devices is not None:
                raise ValueError("Must only specify one of `devices` and `num_gpus`.")
            devices = local_devices(count)
        ops = cross_device_ops or cross_tower_ops
        super().__init__(MirroredExtended(self, devices, ops))


@export("distribute.OneDeviceStrategy", "contrib.distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """One replica, with all variables on its device.

    Args:
      device: the device's name.

    Source: python/distribute/one_device_strategy.py.
    """

    def __init__(self, device: str) -> None:
        super().__init__(MirroredExtended(self, [device], None))


class MirroredExtended(StrategyExtended):
    """The implementation of `MirroredStrategy`."""

    def __init__(
        self,
        container_strategy: Strategy,
        devices: Sequence[str] | None,
        cross_device_ops: CrossDeviceOps | None,
    ) -> None:
        super().__init__(container_strategy)
        given = local_devices() if devices is None else devices
        assert given, "Must specify at least one device."
        self._devices = tuple(_canonical_here(device) for device in given)
        assert len(set(self._devices)) == len(self._devices), (
            f"No duplicates allowed in `devices` argument: {self._devices}"
        )
        self._cross_device_ops = cross_device_ops or CrossDeviceOps()

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The replicas' devices."""
        return self._devices

    # ---- variables

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        graph = get_default_graph()
        synchronization = kwargs.get("synchronization")
        if synchronization is VariableSynchronization.NONE:
            raise ValueError(
                "`NONE` variable synchronization mode is not supported with `Mirrored` "
                "distribution strategy. Please change the `synchronization` for "
                f"variable: {kwargs['name']}"
            )
        is_on_read = synchronization is VariableSynchronization.ON_READ
        aggregation = kwargs.pop("aggregation", None) or VariableAggregation.NONE
        keys = kwargs.pop("collections", None)
        keys = [GraphKeys.GLOBAL_VARIABLES] if keys is None else list(keys)
        is_trainable = kwargs.pop("trainable", None)
        if is_trainable is None:
            is_trainable = not is_on_read
        if is_trainable:
            keys.append(GraphKeys.TRAINABLE_VARIABLES)
        kwargs |= {"use_resource": True, "collections": [], "trainable": False}
        kwargs["caching_device"] = None  # a copy is near already
        copies: list[Any] = []
        for index, device in enumerate(self._devices):
            with graph.device(device):
                if index:
                    first = copies[0]
                    kwargs["initial_value"] = _copied_initial_value(first, device)
                    kwargs["name"] = f"{first.op.name}/replica_{index}/"
                copies.append(next_creator(**kwargs))
        kind = SyncOnReadVariable if is_on_read else MirroredVariable
        made = kind(
            self._container_strategy(), self._devices, copies, aggregation, is_trainable
        )
        graph.add_to_collections(dict.fromkeys(keys), made)
        return made

    # ---- computing

    def _call_for_each_replica(self, fn: Any, args: Any, kwargs: Any) -> Any:
        strategy = self._container_strategy()
        return call_in_replicas(strategy, self._devices, fn, args, kwargs)

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        value = getattr(value, "copies", value)
        if isinstance(value, Mirrored) and reduce_op is ReduceOp.MEAN:
            return value
        if not isinstance(value, DistributedValues):
            return self._reduced_alike(reduce_op, value, destinations)
        return self._cross_device_ops.reduce(reduce_op, value, destinations)

    def _reduced_alike(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        """Reduce a value that is the same in all replicas."""
        if isinstance(value, int | float) and value == 0:
            return 0
        if reduce_op is ReduceOp.MEAN or len(self._devices) == 1:
            return self.broadcast_to(value, destinations)
        raise ValueError(
            f"A non-DistributedValues value {value} cannot be reduced with the given "
            f"reduce op {reduce_op}."
        )

    def _reduce(self, reduce_op: ReduceOp, value: Any) -> Any:
        return self._local_results(self._reduce_to(reduce_op, value, self._devices[0]))[
            0
        ]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """Copies of a Tensor on the devices of `destinations`."""
        if isinstance(tensor, int | float):
            return tensor  # it gets the type of what it meets
        return self._cross_device_ops.broadcast(tensor, destinations)

    def _update(self, var: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        copies = var.copies
        results = []
        for number, (device, copy) in enumerate(
            zip(copies.devices, copies.values, strict=True)
        ):
            with update_on(device, number):
                own_args, own_kwargs = select_device(device, (args, kwargs))
                results.append(fn(copy, *own_args, **own_kwargs))
        return grouped_updates(copies.devices, results) if group else results

    def _update_non_slot(
        self, colocate_with: Any, fn: Any, args: Any, kwargs: Any, group: bool
    ) -> Any:
        results = []
        for number, device in enumerate(colocate_with):
            with update_on(device, number):
                own_args, own_kwargs = select_device(device, (args, kwargs))
                results.append(fn(*own_args, **own_kwargs))
        return grouped_updates(colocate_with, results) if group else results

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        values = getattr(value, "copies", value)
        return values.values if isinstance(values, DistributedValues) else (value,)

    # ---- inputs

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return DatasetIterator(dataset, self._devices)

    def _make_input_fn_iterator(self, input_fn: Callable[..., Any]) -> Any:
        return InputFunctionIterator(input_fn, self._devices)


def _copied_initial_value(first: Any, device: str) -> Callable[[], Tensor]:
    """The first copy's initial value, copied to `device`."""

    def copied() -> Tensor:
        with get_default_graph().device(device):
            return identity(first.initial_value)

    return copied
