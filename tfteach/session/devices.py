"""What a session tells of its devices: their list, and the log of placements."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from tfteach.framework.export import export
from tfteach.runtime.devices import Device, local_devices
from tfteach.runtime.place import Placement


class DeviceAttributes(NamedTuple):
    """One device, as `Session.list_devices` tells of it."""

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int = 0
    physical_device_desc: str = ""

    def __repr__(self) -> str:
        simulated = ", simulated" if "simulated" in self.physical_device_desc else ""
        return (
            f"_DeviceAttributes({self.name}, {self.device_type}, "
            f"{self.memory_limit_bytes}, {self.incarnation}{simulated})"
        )


def attributes_of(device: Device) -> DeviceAttributes:
    """The attributes of a device."""
    return DeviceAttributes(
        device.name,
        device.device_type,
        device.memory_limit_bytes,
        device.incarnation,
        device.physical_device_desc,
    )


@export("client.device_lib.list_local_devices")
def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """The devices of this process, as `DeviceAttributes`.

    Args:
      session_config: a ConfigProto, or None.

    Example:
      >>> from tensorflow.python.client import device_lib
      >>> [d.device_type for d in device_lib.list_local_devices()]
      ['CPU']

    Source: python/client/device_lib.py.
    """
    return [attributes_of(device) for device in local_devices(session_config)]


def _cards() -> list[Device]:
    """The GPUs that are ones."""
    return [d for d in local_devices() if d.device_type == "GPU" and not d.is_simulated]


@export("test.is_gpu_available")
def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: Any = None
) -> bool:
    """Whether there is a GPU.  Simulated ones do not count: they are none.

    Args:
      cuda_only: no difference here: every GPU is a CUDA one.
      min_cuda_compute_capability: (major, minor) that the GPU must have at least.

    Source: python/framework/test_util.py.
    """
    least = min_cuda_compute_capability
    found = []
    for device in _cards():
        _, _, capability = device.physical_device_desc.rpartition(": ")
        found.append(tuple(int(part) for part in capability.split(".")))
    return any(least is None or capability >= tuple(least) for capability in found)


@export("test.is_built_with_cuda")
def is_built_with_cuda() -> bool:
    """Whether CuPy is installed, so that a card could be used."""
    return importlib.util.find_spec("cupy") is not None


@export("test.gpu_device_name")
def gpu_device_name() -> str:
    """The name of the first GPU ("/device:GPU:0"), or "".  Simulated ones do not count.

    Source: python/framework/test_util.py.
    """
    cards = _cards()
    return f"/device:GPU:{cards[0].index}" if cards else ""


def log_devices(devices: Iterable[Device]) -> None:
    """Begin a log of placements, as TF does: what stands behind each device."""
    described = [d for d in devices if d.physical_device_desc]
    lines = [f"{d.name} -> {d.physical_device_desc}\n" for d in described]
    head = "Device mapping:\n" if lines else "Device mapping: no known devices.\n"
    sys.stderr.write(head + "".join(lines))
    sys.stderr.flush()


def log_placements(placements: Iterable[Placement]) -> None:
    """A line per operation, in TF's form."""
    sys.stderr.write(
        "".join(f"{p.name}: ({p.op_type}): {p.assigned}\n" for p in placements)
    )
    sys.stderr.flush()
