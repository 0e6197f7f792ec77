"""`EagerGraph`: what ops are added to in an eager program: nothing, they run at once.

It has a graph's scopes (names, devices, seeds) and its library of functions, and never
holds a node.
Source: python/eager/context.py, python/framework/ops.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from tfteach.engine.devices.array_module import to_device
from tfteach.engine.devices.devices import Device
from tfteach.engine.eager.execute import execute
from tfteach.engine.eager.runtime import EagerRuntime
from tfteach.framework import defaults
from tfteach.framework.eager_tensor import HOST, EagerTensor
from tfteach.framework.graph import Graph
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation


class EagerGraph(Graph):
    """The scopes that are open while ops run eagerly, and how they run.

    Args:
      config: a ConfigProto, or None.

    Attributes:
      runtime: the devices and the state.
      host: the first device, a CPU.
      is_plain: whether ops run on the host, unobserved: there is no other device, and
        no device is requested.
    """

    is_eager = True

    def __init__(self, config: Any = None) -> None:
        super().__init__()
        self.runtime = EagerRuntime(config)
        self.host = self.runtime.devices[0]
        self.is_plain = True

    def execute(self, op: Op, values: tuple[Any, ...], name: str | None) -> Any:
        """Run an op at once.

        Args:
          op: the op.
          values: one per input of its signature; converted to tensors.
          name: for messages; or None.

        Returns:
          The output, a list of them, or None if the op has none.

        Raises:
          OpError: the kernel failed.
        """
        return execute(self, op, values, name)

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
        return nullcontext() if device is None else self.device(device)

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
            saved, self.is_plain = self.is_plain, False
            try:
                yield
            finally:
                self.is_plain = saved

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

    # ---- nothing is built

    def append(self, op: Operation, announce: bool = True) -> None:
        raise RuntimeError(f"Cannot add {op.name} to a graph: it runs eagerly.")


def eager_graph() -> EagerGraph | None:
    """The one of this process, once eager execution was enabled."""
    return _eager_graph


_eager_graph: EagerGraph | None = None


def enable(config: Any = None) -> EagerGraph:
    """Run ops eagerly outside all graphs from now on."""
    global _eager_graph
    if _eager_graph is None:
        _eager_graph = EagerGraph(config)
    defaults.set_outermost(_eager_graph)
    return _eager_graph


@contextmanager
def eager_mode() -> Iterator[None]:
    """A block whose ops run eagerly."""
    global _eager_graph
    if _eager_graph is None:
        _eager_graph = EagerGraph()
    with defaults.default_graph(_eager_graph):
        yield


@contextmanager
def graph_mode() -> Iterator[None]:
    """A block whose ops are added to the default graph."""
    with defaults.default_graph(defaults.public_default_graph()):
        yield
