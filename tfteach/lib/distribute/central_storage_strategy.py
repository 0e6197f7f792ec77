"""`tf.distribute.experimental.CentralStorageStrategy`: replicas share variables.

Source: python/distribute/{central_storage_strategy,parameter_server_strategy,
values}.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.lib.distribute.distributed_variables import MirroredVariable
from tfteach.lib.distribute.mirrored_strategy import (
    MirroredExtended,
    canonical,
    local_devices,
)
from tfteach.lib.distribute.strategy import Strategy
from tfteach.variables.base import VariableAggregation


@export("distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategy(Strategy):
    """One replica per device, and variables on one device that all replicas share.

    Each replica computes gradients of its part of a batch; their sum updates the
    variables where they are stored. Copying a variable to each replica takes time, but
    only one device needs memory for variables and optimizer slots.

    Args:
      compute_devices: the replicas' devices; None for all GPUs, or the CPU if there are
        none.
      parameter_device: the variables' device; None for the only compute device, or the
        CPU if there are several.

    Raises:
      AssertionError: there is no compute device.
      ValueError: one is named twice.
      NotImplementedError: one belongs to another process.

    Example:
      >>> gpus = ["/gpu:0", "/gpu:1"]
      >>> strategy = tf.distribute.experimental.CentralStorageStrategy(gpus)
      >>> strategy.num_replicas_in_sync, strategy.extended.parameter_devices
      (2, ('/device:CPU:0',))

    Source: python/distribute/central_storage_strategy.py.
    """

    def __init__(
        self,
        compute_devices: Sequence[str] | None = None,
        parameter_device: str | None = None,
    ) -> None:
        devices = local_devices() if compute_devices is None else list(compute_devices)
        names = tuple(canonical(device) for device in devices)
        if len(set(names)) < len(names):
            raise ValueError(
                f"Duplicate devices in {devices}, after canonicalization: {names}"
            )
        if parameter_device is None:
            parameter_device = devices[0] if len(devices) == 1 else "/device:CPU:0"
        super().__init__(CentralStorageExtended(self, devices, parameter_device))


class CentralStorageExtended(MirroredExtended):
    """The implementation of `CentralStorageStrategy`."""

    def __init__(
        self,
        container_strategy: Strategy,
        devices: Sequence[str],
        parameter_device: str,
    ) -> None:
        super().__init__(container_strategy, devices, None)
        self._parameter_device = parameter_device

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The variables' device."""
        return (self._parameter_device,)

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        graph = get_default_graph()
        aggregation = kwargs.pop("aggregation", None) or VariableAggregation.NONE
        keys = kwargs.pop("collections", None)
        keys = [GraphKeys.GLOBAL_VARIABLES] if keys is None else list(keys)
        is_trainable = kwargs.pop("trainable", None)
        if is_trainable is None or is_trainable:
            is_trainable = True
            keys.append(GraphKeys.TRAINABLE_VARIABLES)
        kwargs |= {"use_resource": True, "collections": [], "trainable": False}
        with (
            graph.colocate_with(None, ignore_existing=True),
            graph.device(self._parameter_device),
        ):
            variable = next_creator(**kwargs)
        made = AggregatingVariable(
            self._container_strategy(),
            [canonical(self._parameter_device)],
            [variable],
            aggregation,
            is_trainable,
        )
        graph.add_to_collections(dict.fromkeys(keys), made)
        return made


class AggregatingVariable(MirroredVariable):
    """A variable shared by all replicas, whose assignments are aggregated."""
