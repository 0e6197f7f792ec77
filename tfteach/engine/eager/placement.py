"""Where eager ops run, and what is copied there.

An op runs where the program says, else on the first GPU that has a kernel for it, else
on the host; it follows the handles of resources that it uses.  An input on another
device is copied, as the device policy says.
Source: core/common_runtime/eager/execute.cc (rules and messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.engine.devices.array_module import to_device
from tfteach.engine.devices.devices import Device
from tfteach.engine.eager.runtime import EagerRuntime
from tfteach.engine.plan.gpu_kernels import computes_on_host, missing_kernel
from tfteach.engine.session.config import eager_settings
from tfteach.framework.dtypes import int32
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import invalid_argument
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation

# What happens to an input that is on another device than the op.
EXPLICIT = 0
WARN = 1
SILENT = 2
SILENT_FOR_INT32 = 3


class Placement:
    """Chooses the devices of eager ops.

    Args:
      runtime: has the devices.
    """

    def __init__(self, runtime: EagerRuntime) -> None:
        self._runtime = runtime
        self._host = runtime.devices[0]
        self._cards = [d for d in runtime.devices if d.device_type == "GPU"]

    def device_of(self, node: Operation, requested: str) -> Device:
        """Where an op runs.

        Args:
          node: the op with its inputs, and outputs that have types.
          requested: the device that the program requests, or "".
        """
        # A device that does not exist is no error of ops, but of values put there.
        chosen = self._runtime.find(requested) if requested else None
        for tensor in node.inputs:
            if not tensor.dtype.is_numpy_compatible:
                chosen = self._runtime.find(tensor.device) or chosen
        if chosen is None:
            chosen = self._cards[0] if self._cards else self._host
        if chosen.device_type == "GPU" and (
            missing_kernel(node) or computes_on_host(node)
        ):
            return self._host
        return chosen

    def arrays(self, node: Operation, device: Device) -> list[Any]:
        """The values of the inputs, in the memory that the kernel reads.

        Raises:
          InvalidArgumentError: the policy refuses a copy.
        """
        inputs: Sequence[Any] = node.inputs
        if node.spec.only_metadata:
            return [tensor.value for tensor in inputs]
        on_host = _host_inputs(node) if device.device_type == "GPU" else ()
        arrays = []
        for i, tensor in enumerate(inputs):
            target = self._host if i in on_host else device
            is_there = tensor.device == target.name
            if tensor.dtype.is_numpy_compatible and not is_there:
                _check_copy(node, i, tensor, target, device)
                arrays.append(self.copied(tensor, target))
            else:
                arrays.append(tensor.value)
        return arrays

    def copied(self, tensor: EagerTensor, device: Device) -> Any:
        """The value of a tensor, copied to the memory of a device."""
        source = self._runtime.device(tensor.device)
        value = tensor.value
        if source.is_asynchronous and device.is_asynchronous:
            return device.put(value, source)
        if source is not self._host:
            value = self._host.put(value, source)
        return to_device(device.put(value), device.xp)


def _host_inputs(node: Operation) -> set[int]:
    """The positions of inputs that a GPU's kernel reads in host memory."""
    found: set[int] = set()
    position = 0
    args = type(node.spec).inputs
    for arg, group in zip(args, node.grouped_inputs(), strict=True):
        count = len(group) if isinstance(group, list) else 1
        if arg.name in node.spec.host_inputs:
            found.update(range(position, position + count))
        position += count
    return found


def _check_copy(
    node: Operation, i: int, tensor: EagerTensor, target: Device, device: Device
) -> None:
    """Refuse to copy an input, or warn, as the policy says."""
    policy = eager_settings.device_policy
    if policy == SILENT or (policy == SILENT_FOR_INT32 and tensor.dtype is int32):
        return
    where = (
        f"was expected to be on {target.name} but is actually on {tensor.device} "
        f"(operation running on {device.name})"
    )
    if policy == WARN:
        get_logger().warning(
            f"before computing {node.type} input #{i} {where}. This triggers a copy "
            "which can be a performance bottleneck."
        )
        return
    raise invalid_argument(
        f"Tensors on conflicting devices: cannot compute {node.type} as input #{i} "
        f"{where} Tensors can be copied explicitly using: `with tf.device"
        "(device_name): x = tf.identity(x)` or transparently copied by using tf."
        "config.experimental.set_device_policy('silent'). Copying tensors between "
        "devices may slow down your model"
    )
