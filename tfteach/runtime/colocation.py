"""Groups of operations that must share a device, with what each group asks for.

Two things bind: the attribute `_class` (`tf.colocate_with`), and an input that takes a
variable's reference or handle.  What a group's members ask for is merged.
Source: core/common_runtime/colocation_graph.cc.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfteach.framework.device import DeviceSpec
from tfteach.framework.errors import InvalidArgumentError
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation
from tfteach.runtime.gpu_kernels import missing_kernel

if TYPE_CHECKING:
    from tfteach.runtime.devices import Device

_PARTS = {
    "job": "jobs",
    "replica": "replicas",
    "task": "tasks",
    "device_type": "types",
    "device_index": "ids",
}


class Group:
    """Operations that share a device.

    Attributes:
      members: in the order of the graph.
      anchor: the member that the others are bound to.
      request: what they ask for together.
      asker: the first member that asks for something, or None.
      missing_kernel: why no GPU can run them all, or "".
      kept: the device where the group's variable lives already, or None.
    """

    __slots__ = ("anchor", "asker", "kept", "members", "missing_kernel", "request")

    anchor: Operation

    def __init__(self) -> None:
        self.members: list[Operation] = []
        self.request = DeviceSpec()
        self.asker: Operation | None = None
        self.missing_kernel = ""
        self.kept: Device | None = None

    def add(self, op: Operation, is_bound_by_reference: bool, soft: bool) -> None:
        """Take one more member in, with what it asks for.

        Raises:
          InvalidArgumentError: it contradicts what the others ask for.
        """
        self.members.append(op)
        if not self.missing_kernel:
            self.missing_kernel = missing_kernel(op)
            if self.missing_kernel and len(self.members) > 1:
                self.missing_kernel += f" ({op.name}, which shares the device)"
        if not op.device:
            return
        own = DeviceSpec.from_string(op.device)
        part = _conflict(self.request, own)
        if part is None:
            self.request = own.merged_over(self.request)
            self.asker = self.asker or op
        elif is_bound_by_reference:
            pass  # the op goes where the variable is, whatever it asks for
        elif soft and part in ("device_type", "device_index"):
            gone = {"device_index": None}
            if part == "device_type":
                gone["device_type"] = None
            self.request = self.request._replace(**gone)
        else:
            raise _contradiction(self, op, part)


def colocate(
    graph: Graph, operations: Iterable[Operation], soft: bool
) -> dict[Operation, Group]:
    """The group of each operation."""
    operations = list(operations)
    parents: dict[Operation, Operation] = {}

    def root(op: Operation) -> Operation:
        while True:
            above = parents.get(op, op)
            if above is op:
                return op
            op = above

    def bind(op: Operation, other: Operation) -> None:
        a, b = root(op), root(other)
        if a is not b:  # the older one stays the root
            old, new = (a, b) if a.node_id < b.node_id else (b, a)
            parents[new] = old

    by_reference: set[Operation] = set()
    bound: set[Operation] = set()
    for op in operations:
        for name in _bound_names(op):
            other = graph._by_name.get(name)
            if other is not None and other is not op:
                bind(op, other)
                bound.add(op)
        for index in _handles_taken(op):
            by_reference.add(op)
            bound.add(op)
            bind(op, op.inputs[index].op)
    groups: dict[Operation, Group] = {}
    for op in operations:
        group = groups.setdefault(root(op), Group())
        group.add(op, op in by_reference, soft)
        groups[op] = group
        if len(group.members) == 1 or (group.anchor in bound and op not in bound):
            group.anchor = op
    return groups


def _bound_names(op: Operation) -> list[str]:
    if not op.extra_attrs or "_class" not in op.extra_attrs:
        return []
    return [g[len(b"loc:@") :].decode() for g in op.colocation_groups()]


def _handles_taken(op: Operation) -> list[int]:
    """The inputs where the op takes a reference or a handle."""
    found = []
    has_refs = any(t.dtype.is_ref or t.dtype.name == "resource" for t in op.inputs)
    if has_refs:
        index = 0
        args = type(op.spec).inputs
        for arg, group in zip(args, op.grouped_inputs(), strict=True):
            for tensor in group if isinstance(group, list) else [group]:
                if (arg.is_ref and tensor.dtype.is_ref) or (
                    tensor.dtype.name == "resource"
                ):
                    found.append(index)
                index += 1
    return found


def _conflict(one: DeviceSpec, other: DeviceSpec) -> str | None:
    """The first part in which two requests contradict each other."""
    for part in _PARTS:
        a, b = getattr(one, part), getattr(other, part)
        if a is not None and b is not None and a != b:
            return part
    return None


def _contradiction(group: Group, op: Operation, part: str) -> InvalidArgumentError:
    first = group.asker or group.anchor
    error = InvalidArgumentError(
        None,
        None,
        f"Cannot colocate nodes {defined(op)} placed on device {op.device} and "
        f"{defined(first)} placed on device {first.device}: Cannot merge devices with "
        f"incompatible {_PARTS[part]}: '{first.device}' and '{op.device}'\nThey share "
        "a device because of tf.colocate_with: ask for the same one, or let "
        "ConfigProto(allow_soft_placement=True) choose.",
    )
    return error.at(op)  # type: ignore[return-value]


def defined(op: Operation) -> str:
    """The op with the user's line that made it, as TF writes it in messages."""
    source = op.source
    where = f" (defined at {source.file}:{source.line}) " if source is not None else ""
    return f"node {op.name}{where}"
