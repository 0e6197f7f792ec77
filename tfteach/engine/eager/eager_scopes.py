"""`EagerScopes`: what is open while ops run eagerly: names, devices, seeds, observers.

Source: python/eager/context.py, python/framework/ops.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from tfteach.engine.devices.array_module import to_device
from tfteach.engine.devices.devices import Device
from tfteach.engine.eager.runtime import EagerRuntime
from tfteach.framework.defaults import public_default_graph
from tfteach.framework.eager_tensor import HOST, EagerTensor
from tfteach.framework.graph import Graph
from tfteach.framework.observers import Observer, OpRan
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation


class EagerScopes(Graph):
    """The scopes that are open while ops run eagerly, and how they run.

    Args:
      config: a ConfigProto, or None.

    Attributes:
      runtime: the devices and the state.
      host: the first device, a CPU.
      is_fast: whether ops run on the host, and nobody observes them.
    """

    is_eager = True

    def __init__(self, config: Any = None) -> None:
        self._device_blocks = 0
        super().__init__()
        self.runtime = EagerRuntime(config)
        self.host = self.runtime.devices[0]

    @property
    def observers(self) -> tuple[Observer, ...]:
        """What is called for each op that has run."""
        return self._observers

    @observers.setter
    def observers(self, observers: tuple[Observer, ...]) -> None:
        self._observers = observers
        self._choose_path()

    def _first_observers(self) -> tuple[Observer, ...]:
        return ()

    def _choose_path(self) -> None:
        self.is_fast = not self._device_blocks and not self._observers

    def announce_run(
        self,
        op: Operation,
        elapsed_s: float,
        name: str | None,
        error: Exception | None = None,
    ) -> None:
        """Notify the observers of an op that has run, under a name or its type's."""
        event = OpRan(op, elapsed_s, self._scoped(name or op.type), error)
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
            raise ValueError(
                "tf.device does not support functions when eager execution is enabled."
            )
        with super().device(device_name_or_function):
            requested = self.scopes.state.fixed_device
            if requested:
                self.runtime.device(requested)
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

    def device_of(self, op: Op, inputs: Sequence[EagerTensor]) -> Device:
        """Where an op runs: where the program says, or where its handles are."""
        if not op.on_gpu:
            return self.host
        for tensor in inputs:
            if not tensor.dtype.is_numpy_compatible:
                return self.runtime.device(tensor.device)
        requested = self.scopes.state.fixed_device
        return self.runtime.device(requested) if requested else self.host

    def copied(self, tensor: EagerTensor, op: Op, device: Device) -> Any:
        """The value of an input in the memory of the device that an op runs on."""
        if not tensor.dtype.is_numpy_compatible or tensor.device == device.name:
            return tensor.value
        source = None if tensor.device == HOST else self.runtime.device(tensor.device)
        value = tensor.value if source is None else self.host.put(tensor.value, source)
        return to_device(device.put(value), device.xp)

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
