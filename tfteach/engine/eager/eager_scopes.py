"""`EagerScopes`: what is open while ops run eagerly: names, devices, seeds, observers.

Source: python/eager/context.py, python/framework/ops.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from tfteach.engine.devices.devices import Device
from tfteach.engine.eager.placement import Placement
from tfteach.engine.eager.runtime import EagerRuntime
from tfteach.framework.defaults import public_default_graph
from tfteach.framework.device import DeviceSpecV2
from tfteach.framework.dtypes import DType, int32, string
from tfteach.framework.eager_tensor import HOST, EagerTensor
from tfteach.framework.graph import Graph
from tfteach.framework.observers import Observer, OpRan
from tfteach.framework.operation import Operation
from tfteach.framework.recording import record_function


class EagerScopes(Graph):
    """The scopes that are open while ops run eagerly, and how they run.

    Args:
      config: a ConfigProto, or None.

    Attributes:
      runtime: the devices and the state.
      host: the first device, a CPU.
      is_fast: whether the host is the only device, and nobody observes ops.
    """

    is_eager = True

    def __init__(self, config: Any = None) -> None:
        self._device_blocks = 0
        self.is_fast = False
        super().__init__()
        self.runtime = EagerRuntime(config)
        self.host = self.runtime.devices[0]
        self.placement = Placement(self.runtime)
        self._choose_path()

    @property
    def observers(self) -> tuple[Observer, ...]:
        """What is called for each op that has run."""
        return self._observers

    @observers.setter
    def observers(self, observers: tuple[Observer, ...]) -> None:
        self._observers = observers
        if "placement" in vars(self):  # not while it is being made
            self._choose_path()

    def _first_observers(self) -> tuple[Observer, ...]:
        return ()

    def _choose_path(self) -> None:
        is_plain = not self._device_blocks and not self._observers
        self.is_fast = is_plain and len(self.runtime.devices) == 1

    def announce_run(
        self,
        op: Operation,
        elapsed_s: float,
        name: str | None,
        error: Exception | None = None,
    ) -> None:
        """Notify the observers of an op that has run, under a name or its type's."""
        event = OpRan(op, elapsed_s, self._scoped(name or op.type), error, name)
        for observer in self._observers:
            observer(event)

    def _scoped(self, name: str) -> str:
        """The full name of an op, as in a graph."""
        if name.endswith("/"):
            return name[:-1]
        scope = self.scopes.name
        return f"{scope}/{name}" if scope else name

    # ---- scopes

    def unique(self, name: str) -> str:
        """The name as it is: there are no nodes whose names would have to differ."""
        return name

    def control_dependencies(self, control_inputs: Any) -> AbstractContextManager[None]:
        """No effect: ops run in the order of the program."""
        for value in control_inputs or ():
            if callable(value):
                value()
        return nullcontext()

    def colocate_with(
        self, op: Any, ignore_existing: bool = False
    ) -> AbstractContextManager[None]:
        """The device of a tensor."""
        device = getattr(op, "device", None)
        if device is None or (device == HOST and not self._device_blocks):
            return nullcontext()  # ops run there anyway
        return self.device(device)

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """A context manager: the ops of the block run on this device."""
        if callable(device_name_or_function):
            raise RuntimeError(
                "tf.device does not support functions when eager execution is enabled."
            )
        if isinstance(device_name_or_function, int | float):
            raise ValueError(
                "Expecting a string device name. Got "
                f"{type(device_name_or_function)}({device_name_or_function})"
            )
        with super().device(device_name_or_function):
            self._device_blocks += 1
            self._choose_path()
            try:
                yield
            finally:
                self._device_blocks -= 1
                self._choose_path()

    # ---- collections

    @property
    def _collections(self) -> dict[Any, list[Any]]:
        """Those of the graph that `tf.get_default_graph()` returns."""
        return public_default_graph()._collections

    @_collections.setter
    def _collections(self, _: dict[Any, list[Any]]) -> None:
        """Nothing: an eager graph has none of its own."""

    # ---- devices

    def device_of(self, node: Operation) -> Device:
        """Where an op runs, with these inputs and outputs."""
        return self.placement.device_of(node, self.scopes.state.fixed_device or "")

    def hold(self, value: Any, dtype: DType) -> EagerTensor:
        """A tensor with a value, on the device that the program requests.

        Raises:
          RuntimeError: there is no such device.
        """
        requested = self.scopes.state.fixed_device if self._device_blocks else ""
        found = EagerTensor(value, dtype)
        if not requested or dtype is int32:  # in the host's memory, as for kernels
            return found
        wanted = DeviceSpecV2.from_string(requested)
        full = DeviceSpecV2.from_string(HOST).make_merged_spec(wanted)
        return self.moved(found, full.to_string())

    def moved(self, tensor: EagerTensor, device: str) -> EagerTensor:
        """A copy of a tensor on a device.

        Raises:
          RuntimeError: there is no such device.
        """
        found = self.runtime.find(device)
        if found is None:
            raise RuntimeError(f"{device.removeprefix('/device:')} unknown device.")
        if tensor.device == found.name or tensor.dtype is string:
            return tensor
        where = "" if found is self.host else found.name
        copy = EagerTensor(self.placement.copied(tensor, found), tensor.dtype, where)
        record_function([copy], [tensor], lambda grad: [grad])
        return copy

    # ---- random seeds

    @property
    def seed(self) -> int | None:
        """The global random seed."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed
        self.runtime.seed_operations(seed)

    def next_op_seed(self) -> int:
        """The seed of an op that has none of its own."""
        return self.runtime.operation_seed()
