"""A session's list of devices and its log of placements."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from tfteach.engine.devices.devices import Device, local_devices
from tfteach.engine.plan.colocation import Group
from tfteach.framework.export import export


class DeviceAttributes(NamedTuple):
    """One device, as returned by `Session.list_devices`."""

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


def attributes_of_proto(device: Any) -> DeviceAttributes:
    """The attributes of another process's device, from a DeviceAttributes proto."""
    return DeviceAttributes(
        device.name,
        device.device_type,
        device.memory_limit,
        device.incarnation,
        device.physical_device_desc,
    )


@export("client.device_lib.list_local_devices")
def list_local_devices(session_config: Any = None) -> list[Any]:
    """The devices of this process, as DeviceAttributes protos.

    Args:
      session_config: a ConfigProto, or None.

    Example:
      >>> from tensorflow.python.client import device_lib
      >>> [d.name for d in device_lib.list_local_devices()]
      ['/device:CPU:0']

    Source: python/client/device_lib.py.
    """
    from tfteach.framework import protos

    if session_config is not None and not hasattr(session_config, "device_count"):
        raise AttributeError(
            f"'{type(session_config).__name__}' object has no attribute "
            "'SerializeToString': session_config must be a tf.ConfigProto"
        )
    found = []
    for device in local_devices(session_config):
        attributes = protos.DeviceAttributes(
            name=f"/device:{device.device_type}:{device.index}",
            device_type=device.device_type,
            memory_limit=device.memory_limit_bytes,
            incarnation=device.incarnation,
            physical_device_desc=device.physical_device_desc,
        )
        attributes.locality.SetInParent()
        found.append(attributes)
    return found


def _cards() -> list[Device]:
    """The real GPUs."""
    return [d for d in local_devices() if d.device_type == "GPU" and not d.is_simulated]


@export("test.is_gpu_available")
def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: Any = None
) -> bool:
    """Whether there is a GPU; simulated ones do not count.

    Args:
      cuda_only: ignored, since every GPU here is a CUDA one.
      min_cuda_compute_capability: the lowest (major, minor) that the GPU may have.

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
    """Whether CuPy is installed, so that a GPU could be used."""
    return importlib.util.find_spec("cupy") is not None


@export("test.gpu_device_name")
def gpu_device_name() -> str:
    """The name of the first GPU ("/device:GPU:0"), or "".  Simulated ones do not count.

    Source: python/framework/test_util.py.
    """
    cards = _cards()
    return f"/device:GPU:{cards[0].index}" if cards else ""


# ---- the log of placements


class DeviceLog:
    """Logs devices and placements as TF does.

    TF prints every line on stdout, and on stderr once more with time and place.  Here
    the second copy is omitted where a reader would see both: in a notebook, at a
    terminal, or in a file that receives both streams.
    """

    def __init__(self, is_on: bool) -> None:
        self._is_on = is_on

    def session_made(self, devices: Iterable[Device]) -> None:
        """Log the hardware of each of a new session's devices."""
        if not self._is_on:
            return
        described = [d for d in devices if d.physical_device_desc]
        lines = "".join(f"{d.name} -> {d.physical_device_desc}\n" for d in described)
        if lines:
            _print(f"Device mapping:\n{lines}")
        else:
            _print("Device mapping: no known devices.\n")
        if _stderr_is_apart():
            native_log("I", f"direct_session.cc:359] Device mapping:\n{lines}")

    def placed(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Log a line for each op: (name, type, device)."""
        if not self._is_on or not rows:
            return
        lines = [f"{name}: ({kind}): {device}" for name, kind, device in rows]
        _print("\n".join(lines) + "\n")
        if _stderr_is_apart():
            for line in lines:
                native_log("I", f"placer.cc:54] {line}")

    def moved(self, group: Group, candidates: Sequence[Device]) -> None:
        """Warn that soft placement moves a variable from its requested device."""
        shown = group.members[:20]
        members = [f"  {m.name} ({m.type}) {m.device}".rstrip() for m in shown]
        if len(group.members) > len(shown):
            members.append(f"  ... and {len(group.members) - len(shown)} more")
        names = "\n  ".join(device.name for device in candidates)
        native_log(
            "W",
            "colocation_graph.cc:983] Failed to place the graph without changing the "
            "devices of some resources. Some of the operations (that had to be "
            "colocated with resource generating operations) are not supported on the "
            f"resources' devices. Current candidate devices are [\n  {names}].\nSee "
            "below for details of this colocation group:\nColocation members and "
            "user-requested devices:\n" + "\n".join(members),
        )


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _stderr_is_apart() -> bool:
    """Whether stderr and stdout lead to different places, and neither was replaced."""
    out, err = sys.stdout, sys.stderr
    if out is not sys.__stdout__ or err is not sys.__stderr__:
        return False
    if out is None or err is None:
        return False
    try:
        one, other = os.fstat(out.fileno()), os.fstat(err.fileno())
    except (OSError, ValueError):
        return False
    return (one.st_dev, one.st_ino) != (other.st_dev, other.st_ino)


def native_log(level: str, text: str) -> None:
    """Write a line on stderr as TF's C++ code does, if TF_CPP_MIN_LOG_LEVEL allows it.

    Args:
      level: "I" or "W".
      text: begins with the file and line in core/common_runtime.
    """
    least = os.environ.get("TF_CPP_MIN_LOG_LEVEL", "").strip()
    if "IW".index(level) < (int(least) if least.isdigit() else 0):
        return
    now = datetime.now().isoformat(" ", "microseconds")
    sys.stderr.write(f"{now}: {level} tensorflow/core/common_runtime/{text}\n")
    sys.stderr.flush()
