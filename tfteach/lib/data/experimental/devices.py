"""Elements on devices.

Source: python/data/experimental/ops/prefetching_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable

from tfteach.framework.device import DeviceSpec
from tfteach.framework.export import export
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data.dataset import Dataset

Transformation = Callable[[Dataset], Dataset]


@export("data.experimental.prefetch_to_device", "contrib.data.prefetch_to_device")
def prefetch_to_device(
    device: str, buffer_size: TensorLike | None = None
) -> Transformation:
    """A transformation: the same elements, prepared by a thread.

    They are in host memory until a step on another device reads them, which copies
    what it reads: in TensorFlow the thread copies them, by further ops.

    Args:
      device: a device's name.
      buffer_size: see `Dataset.prefetch`.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: `device` is no name of a device.
    """
    copy = copy_to_device(device)
    return lambda dataset: copy(dataset).prefetch(buffer_size)


@export("data.experimental.copy_to_device", "contrib.data.copy_to_device")
def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """A transformation: the same elements; see `prefetch_to_device`.

    Args:
      target_device, source_device: names of devices.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: one is no name of a device.
    """
    for device in (target_device, source_device):
        DeviceSpec.from_string(device)
    return lambda dataset: dataset.with_options(dataset.options())
