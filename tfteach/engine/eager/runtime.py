"""`EagerRuntime`: the devices and the state of eager execution, like a session's."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from tfteach.engine.devices.devices import Device
from tfteach.engine.devices.malloc_tuning import keep_freed_memory
from tfteach.engine.execute.kernel_context import Context, Resources
from tfteach.engine.session.config import default_config
from tfteach.engine.session.config_proto import Options
from tfteach.engine.session.device_list import attributes_of
from tfteach.engine.session.planner import StepPlanner
from tfteach.framework.device import DeviceSpecV2
from tfteach.framework.eager_tensor import ANONYMOUS
from tfteach.framework.errors import invalid_argument
from tfteach.framework.operation import Operation

_T = TypeVar("_T")


class EagerResources(Resources):
    """Resources by name, except for the anonymous ones, which their handles own."""

    def get(self, key: Hashable, factory: Callable[[], _T]) -> _T:
        if isinstance(key, tuple) and key[-1] == ANONYMOUS:
            return factory()
        return super().get(key, factory)


class EagerContext(Context):
    """What the kernel of a stateful op gets when it runs eagerly.

    Args:
      call: makes the operation; most kernels never ask for it.
      device: the device it runs on.
      runtime: stands where a session stands when a graph runs.
    """

    __slots__ = ("_call", "_op")

    def __init__(
        self, call: Callable[[], Operation], device: Device, runtime: EagerRuntime
    ) -> None:
        self._call, self.device, self.xp = call, device, device.xp
        self.session, self._resources = runtime, runtime.resources
        self.may_defer = False

    @property
    def op(self) -> Operation:
        """The operation that runs."""
        try:
            return self._op
        except AttributeError:
            self._op: Operation = self._call()
        return self._op

    @op.setter
    def op(self, op: Operation) -> None:
        self._op = op

    def once(self, factory: Callable[[], _T]) -> _T:
        """An object that all calls of equal ops share, such as a random stream."""
        op = self.op
        key = op.spec, tuple(t.dtype for t in op.inputs), self.device.name
        return self._resources.get(("op", key), factory)


class EagerRuntime:
    """The devices, resources and compiled functions of eager execution.

    Kernels find it where a session stands when a graph runs.

    Args:
      config: a ConfigProto, or None.

    Attributes:
      config: the ConfigProto.
      planner: compiles functions.
      resources: variables, tables and other state by name.
      devices: the first is the host.
    """

    def __init__(self, config: Any = None) -> None:
        keep_freed_memory()
        self.config = default_config() if config is None else config
        self.planner = StepPlanner(Options.of(self.config), self.config)
        self.resources = EagerResources()
        self._random = random.Random()
        self._by_name: dict[str, Device | None] = {}

    @property
    def devices(self) -> list[Device]:
        return self.planner.devices

    def list_devices(self) -> list[Any]:
        """The devices as `DeviceAttributes`."""
        return [attributes_of(device) for device in self.devices]

    def device(self, name: str) -> Device:
        """The device of that name, whose parts may be left out.

        Raises:
          InvalidArgumentError: there is no such device.
        """
        found = self.find(name)
        if found is None:
            known = ", ".join(device.name for device in self.devices)
            raise invalid_argument(
                f"{name} unknown device. The devices of this process are {known}."
            )
        return found

    def find(self, name: str) -> Device | None:
        """`device`, or None if there is none."""
        if name not in self._by_name:
            self._by_name[name] = self._matching(name)
        return self._by_name[name]

    def _matching(self, name: str) -> Device | None:
        wanted = DeviceSpecV2.from_string(name)
        for device in self.devices:
            spec = DeviceSpecV2.from_string(device.name)
            if spec.make_merged_spec(wanted) == spec:
                return device
        return None

    def context(self, call: Callable[[], Operation], device: Device) -> EagerContext:
        """What the kernel of a stateful op gets; `call` makes the operation."""
        return EagerContext(call, device, self)

    # ---- random seeds

    def seed_operations(self, seed: int | None) -> None:
        """Start the seeds of ops without one of their own again."""
        self._random = random.Random(seed)
        for key, _ in self.resources.items():
            if isinstance(key, tuple) and key[0] == "op":
                self.resources.remove(key)

    def operation_seed(self) -> int:
        """The next seed for an op without one of its own."""
        return self._random.randint(0, 2**31 - 1)
