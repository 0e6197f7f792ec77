"""What a session tells of its devices: their list, and the log of placements."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NamedTuple

from tfteach.runtime.devices import Device
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
