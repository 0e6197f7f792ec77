"""The devices that a session can use: CPUs, CuPy GPUs, simulated GPUs."""

from __future__ import annotations

from typing import Any

import numpy as np

LOCAL = "/job:localhost/replica:0/task:0"


class Device:
    """One device.

    Attributes:
      name: TF's full name, such as /job:localhost/replica:0/task:0/device:CPU:0.
      device_type: "CPU" or "GPU".
      xp: the array module that computes there.
      ledger: counts the memory taken, or None where it is not limited.
    """

    def __init__(self, device_type: str, index: int, xp: Any = np) -> None:
        self.device_type = device_type
        self.index = index
        self.name = f"{LOCAL}/device:{device_type}:{index}"
        self.xp = xp
        self.ledger: Any = None
        self.is_simulated = False
        self.memory_limit_bytes = 268435456  # what TF says of any CPU

    def __repr__(self) -> str:
        return f"<Device {self.name}>"


def local_devices(config: Any = None) -> list[Device]:
    """The devices that a session with this ConfigProto sees."""
    count = 1
    if config is not None and "CPU" in config.device_count:
        count = max(1, config.device_count["CPU"])
    return [Device("CPU", i) for i in range(count)]
