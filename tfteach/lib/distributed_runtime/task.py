"""One task of a cluster: its devices, and the resources that outlive sessions."""

from __future__ import annotations

import copy
import random
from collections.abc import Hashable

from tfteach.engine.devices.devices import Device, local_devices
from tfteach.engine.execute.kernel_context import OpStates, Resources
from tfteach.framework import protos
from tfteach.framework.type_aliases import Proto
from tfteach.lib.distributed_runtime.rendezvous import RendezvousTable


class TaskResources(Resources):
    """The variables, queues and tables of a task, by container and name.

    Args:
      job: the task's, which is the name of the default container, too.
    """

    def __init__(self, job: str) -> None:
        super().__init__()
        self._job = job

    def clear(self, containers: list[str] | None = None) -> None:
        """Drop the resources of some containers; of the default one if none."""
        names = containers or [self._job]
        super().clear(["" if name == self._job else name for name in names])


class SessionResources(OpStates):
    """A session's view of a task's resources; the private state of ops is its own."""

    def remove(self, key: Hashable) -> None:
        if isinstance(key, tuple) and key[0] == "op":
            super().remove(key)
        else:
            self._shared.remove(key)


class Task:
    """A task: where it is in its cluster, its devices and its resources.

    Args:
      job: the name of its job.
      index: its index in the job.
      config: the ConfigProto of its devices, or None.

    Attributes:
      name: such as "/job:worker/replica:0/task:1".
      devices: its own, the CPU first.
      resources: of all sessions that are not isolated.
      steps: the tensors in transit to the task and from it.
    """

    def __init__(self, job: str, index: int, config: Proto | None) -> None:
        self._job = job
        self.name = f"/job:{job}/replica:0/task:{index}"
        self.devices = local_devices(config)
        numbers = random.SystemRandom()
        for device in self.devices:
            device.name = f"{self.name}/device:{device.device_type}:{device.index}"
            device.incarnation = numbers.getrandbits(62)
            device.host = None if device is self.devices[0] else self.devices[0]
        self.resources = TaskResources(job)
        self.steps = RendezvousTable()

    def isolated(self) -> Task:
        """The task as seen by a session that shares no variables with others."""
        made = copy.copy(self)
        made.resources = TaskResources(self._job)
        return made

    def renamed(self, job: str, index: int) -> Task:
        """The task as seen by a session that defines its own cluster.

        Args:
          job, index: its name in that cluster.
        """
        made = copy.copy(self)
        made._job = job
        made.name = f"/job:{job}/replica:0/task:{index}"
        made.devices = [copy.copy(device) for device in self.devices]
        host = made.devices[0]
        for device in made.devices:
            device.name = f"{made.name}/device:{device.device_type}:{device.index}"
            device.host = None if device is host else host
        return made

    def attributes(self) -> list[Proto]:
        """The devices, as DeviceAttributes protos."""
        return [attributes_proto(device) for device in self.devices]


def attributes_proto(device: Device) -> Proto:
    """A device as a DeviceAttributes proto."""
    found = protos.DeviceAttributes(
        name=device.name,
        device_type=device.device_type,
        memory_limit=device.memory_limit_bytes,
        incarnation=device.incarnation,
        physical_device_desc=device.physical_device_desc,
    )
    found.locality.SetInParent()
    return found
