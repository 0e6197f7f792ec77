"""Per-replica values: `PerReplica` if they differ, `Mirrored` if they are equal.

Source: python/distribute/values.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tfteach.framework.convert import convert, register_tensor_conversion_function
from tfteach.framework.dtypes import DType
from tfteach.framework.graph import get_default_graph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.replicas import (
    current_mode,
    update_device,
    updating,
    whole_variable,
)
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.identity_reshape import identity


def own_index(devices: Sequence[str]) -> int | None:
    """This thread's index into the values; None in cross-replica context."""
    device = update_device()
    if device is not None:
        return devices.index(device) if device in devices else None
    mode = current_mode()
    if mode is None:
        return 0
    if mode.replica_context is None:
        return None
    index: int = mode.replica_context.index
    return index if len(devices) > 1 else 0


class DistributedValues:
    """One value per replica.

    Args:
      devices: the names of the replicas' devices.
      values: the values, in the same order.
    """

    def __init__(self, devices: Sequence[str], values: Sequence[Any]) -> None:
        self._devices, self._values = tuple(devices), tuple(values)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of the values."""
        return self._devices

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of all replicas."""
        return self._values

    @property
    def primary(self) -> Any:
        """The value of the first replica."""
        return self._values[0]

    def get(self, device: str | None = None) -> Any:
        """The value of the current replica, or on the given device.

        Raises:
          ValueError: there is no value for it.
        """
        if device is not None:
            if device in self._devices:
                return self._values[self._devices.index(device)]
            raise ValueError(f"Device {device} not found in {self._devices}")
        index = own_index(self._devices)
        return self._between_replicas() if index is None else self._values[index]

    def _between_replicas(self) -> Any:
        raise ValueError(
            "A value of each replica was used between replicas: reduce it, by "
            f"strategy.reduce(...), or run code in each replica.  Got {self!r}"
        )

    @property
    def is_tensor_like(self) -> bool:
        """True if the values are Tensors."""
        return all(isinstance(v, Tensor | IndexedSlices) for v in self._values)

    def __repr__(self) -> str:
        rows = zip(self._devices, self._values, strict=True)
        text = ",\n".join(f"  {i} {d}: {v!r}" for i, (d, v) in enumerate(rows))
        return f"{type(self).__name__}:{{\n{text}\n}}"


class PerReplica(DistributedValues):
    """Values that may differ between replicas."""


class Mirrored(DistributedValues):
    """Values that are equal in all replicas."""

    def _between_replicas(self) -> Any:
        return self.primary

    def _as_graph_element(self) -> Any:
        return self.get()

    @property
    def op(self) -> Operation:
        """The Operation that computes the current replica's value."""
        op: Operation = self.get().op
        return op

    def __add__(self, other: Any) -> Any:
        return self.get() + other

    def __radd__(self, other: Any) -> Any:
        return other + self.get()

    def __sub__(self, other: Any) -> Any:
        return self.get() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self.get()

    def __mul__(self, other: Any) -> Any:
        return self.get() * other

    def __rmul__(self, other: Any) -> Any:
        return other * self.get()

    def __truediv__(self, other: Any) -> Any:
        return self.get() / other


def _to_tensor(
    value: Any,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    return convert(value.get(), dtype, name)


register_tensor_conversion_function(DistributedValues, _to_tensor)


def regroup(
    devices: Sequence[str], values: Sequence[Any], kind: Any = PerReplica
) -> Any:
    """Merge the replicas' results, which have the same structure, into one.

    What is the same object in all replicas, or a copy of the same variable, is that
    object; other leaves become `PerReplica`, or `kind`.
    """
    first = values[0]
    if all(value is first for value in values):
        return first
    if isinstance(first, tuple | list):
        assert len({len(value) for value in values}) == 1, (
            f"The replicas returned structures of different lengths: {values}"
        )
        rows = zip(*values, strict=True)
        items = [regroup(devices, row, kind) for row in rows]
        if hasattr(first, "_make"):
            return first._make(items)
        return type(first)(items)
    if isinstance(first, Mapping):
        return type(first)(  # type: ignore[call-arg]
            (key, regroup(devices, [v[key] for v in values], kind)) for key in first
        )
    variables = {id(whole_variable(value)) for value in values}
    if len(variables) == 1 and whole_variable(first) is not first:
        return whole_variable(first)
    return kind(devices, values)


def _selected(structure: Any, select: Callable[[Any], Any]) -> Any:
    """Replace each distributed value in a structure by one of its values."""
    values = structure
    if hasattr(structure, "copies"):  # a distributed variable
        values = structure.copies
    if isinstance(values, DistributedValues):
        return select(values)
    if isinstance(structure, tuple | list):
        items = [_selected(item, select) for item in structure]
        if hasattr(structure, "_make"):
            return structure._make(items)
        return type(structure)(items)
    if isinstance(structure, Mapping):
        return type(structure)(  # type: ignore[call-arg]
            (key, _selected(item, select)) for key, item in structure.items()
        )
    return structure


def select_replica(index: int, structure: Any) -> Any:
    """Select one replica's values from a structure of distributed values."""
    return _selected(structure, lambda v: v.values[index])


def select_device(device: str, structure: Any) -> Any:
    """Select the values on one device from a structure of mirrored values."""
    return _selected(structure, lambda v: v.get(device))


@contextmanager
def update_on(device: str, number: int) -> Iterator[None]:
    """A context in which the copies on one device are updated."""
    graph = get_default_graph()
    with graph.device(device), updating(device), graph.name_scope(f"update_{number}"):
        yield


def grouped_updates(devices: Sequence[str], results: Sequence[Any]) -> Any:
    """Group the results of an update: fetching one runs the update on every device."""
    if len(results) == 1:
        return results[0]
    if all(isinstance(result, Operation) for result in results):
        return group(*results)
    every = group(*results)
    graph = get_default_graph()
    values = []
    for device, result in zip(devices, results, strict=True):
        with graph.device(device), graph.control_dependencies([every]):
            values.append(identity(result))
    return Mirrored(devices, values)
