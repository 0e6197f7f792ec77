"""Groups of operations that must share a device, with each group's device request.

Two things bind: an input that receives a variable's reference or handle, and the
attribute `_class` (`tf.colocate_with`).  The requests of a group's members are merged,
in TF's order: first along references and handles, where the variable's request
overrides others, then by `_class`, where a contradiction is an error.
Source: core/common_runtime/colocation_graph.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tfteach.engine.devices.device_name import DeviceName
from tfteach.engine.plan.gpu_kernels import missing_kernel
from tfteach.framework.errors import InvalidArgumentError
from tfteach.framework.operation import Operation

if TYPE_CHECKING:
    from tfteach.engine.devices.devices import Device

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
      members: in graph order.
      anchor: the member that the others are bound to.
      request: the members' merged device request.
      resource_request: the request of the ops that create a variable; soft placement
        moves these only if nothing else is possible.
      missing_kernel: the reason why no GPU can run them all, or "".
      device: the group's device once one of its members has been placed, or None.
      is_placed: whether its device was chosen when the graph was last placed.
    """

    __slots__ = (
        "anchor",
        "device",
        "is_placed",
        "members",
        "missing_kernel",
        "rank",
        "request",
        "resource_request",
    )

    def __init__(self, op: Operation, request: DeviceName) -> None:
        self.members = [op]
        self.anchor = op
        self.request = request
        makes_variable = makes_resource(op)
        self.resource_request = request if makes_variable else DeviceName()
        self.missing_kernel = ""
        self.rank = 0  # as of trees that are joined by rank, for TF's words
        self.device: Device | None = None
        self.is_placed = False

    def keep(self, device: Device) -> None:
        """Record that the only member has been placed before."""
        self.device, self.is_placed = device, True
        self.request = DeviceName.parse(device.name) or DeviceName()
        self.resource_request = self.request

    def soft_request(self, moves_variables: bool) -> DeviceName:
        """The request without type and index, which soft placement ignores."""
        request = self.request
        fixed = DeviceName() if moves_variables else self.resource_request
        if fixed.device_type is None:
            request = request._replace(device_type=None)
        if fixed.device_index is None:
            request = request._replace(device_index=None)
        return request

    def _absorb(self, other: Group, soft: bool) -> None:
        """Take over the members of `other`; the requests have been merged."""
        self.resource_request = self.resource_request.over(other.resource_request)
        self.request = self.resource_request.over(
            _merged(self.request, other.request, soft)
        )
        self.members += other.members
        self.rank = max(self.rank, other.rank, 1 + min(self.rank, other.rank))
        if self.device is None:
            self.device, self.is_placed = other.device, other.is_placed


def makes_resource(op: Operation) -> bool:
    """Whether the op creates a reference or a handle, as of a variable or table."""
    if op.inputs or len(op.outputs) != 1:
        return False
    dtype = op.outputs[0].dtype
    return bool(dtype.is_ref or dtype.name == "resource")


def colocate(
    operations: Iterable[Operation], soft: bool, kept: dict[Operation, Device]
) -> dict[Operation, Group]:
    """The group of each operation.

    Args:
      operations: all of them, in the order in which TF visits them.
      soft: whether contradicting types and indices are dropped instead of refused.
      kept: the devices of operations that were placed earlier.

    Raises:
      InvalidArgumentError: a request is malformed, or requests contradict each other.
    """
    operations = list(operations)
    groups = {op: Group(op, _request_of(op, i)) for i, op in enumerate(operations)}
    for op, device in kept.items():
        if op in groups:
            groups[op].keep(device)
    bound: set[Operation] = set()

    def join(op: Operation, other: Operation) -> None:
        one, two = groups[other], groups[op]
        if one is two:
            return
        one._absorb(two, soft)
        for member in two.members:
            groups[member] = one

    for op in operations:
        for index in _handles_taken(op):
            source = op.inputs[index].op
            if source not in groups:  # fed
                continue
            over = groups[source].request
            if over.conflict(groups[op].request):
                groups[op].request = over  # the op is placed with its variable
            bound.add(op)
            join(op, source)
    _join_classes(operations, groups, soft, join)
    bound.update(op for op in operations if _group_names(op)[0] != op.name)
    _complete(operations, groups, bound)
    return groups


def _join_classes(
    operations: list[Operation],
    groups: dict[Operation, Group],
    soft: bool,
    join: Callable[[Operation, Operation], None],
) -> None:
    """Join the operations of each colocation group that `_class` names."""
    first: dict[str, Operation] = {}
    for op in operations:
        for name in _group_names(op):
            other = first.setdefault(name, op)
            one, two = groups[other], groups[op]
            if one is not two:
                hard = one.resource_request, two.resource_request
                part = hard[0].conflict(hard[1])
                if part is None:
                    hard = one.request, two.request
                    part = hard[0].conflict(hard[1])
                    part = (
                        None
                        if soft and part in ("device_type", "device_index")
                        else (part)
                    )
                if part is not None:
                    one_first = one.rank > two.rank
                    pair = hard if one_first else (hard[1], hard[0])
                    raise _contradiction(op, other, part, pair)
            if other is not op:
                join(op, other)


def _complete(
    operations: list[Operation],
    groups: dict[Operation, Group],
    bound: set[Operation],
) -> None:
    """A colocation group with all its members."""
    seen: dict[int, list[Operation]] = {}
    for op in operations:
        group = groups[op]
        members = seen.setdefault(id(group), [])
        members.append(op)
        if not group.missing_kernel:
            group.missing_kernel = missing_kernel(op)
            if group.missing_kernel and len(members) > 1:
                group.missing_kernel += f" ({op.name}, which shares the device)"
        if len(members) == 1 or (group.anchor in bound and op not in bound):
            group.anchor = op
        if len(members) == len(group.members):
            group.members = members


def _merged(one: DeviceName, other: DeviceName, soft: bool) -> DeviceName:
    """Merge two requests; a soft contradiction leaves that part unset."""
    part = one.conflict(other)
    both = one.over(other)
    if soft and part in ("device_type", "device_index"):
        both = both._replace(device_index=None)
        if part == "device_type":
            both = both._replace(device_type=None)
    return both


def _request_of(op: Operation, position: int) -> DeviceName:
    request = DeviceName.parse(op.device)
    if request is None:
        raise malformed(op, position + 2)  # TF's graph begins with two nodes of its own
    return request


def _group_names(op: Operation) -> list[str]:
    """An op's colocation groups: those that it names, and the one named after it."""
    if not op.extra_attrs or "_class" not in op.extra_attrs:
        return [op.name]
    return [g[len(b"loc:@") :].decode() for g in op.colocation_groups()] + [op.name]


def _handles_taken(op: Operation) -> list[int]:
    """The inputs at which the op receives a reference or a handle."""
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


def malformed(op: Operation, node_id: int) -> InvalidArgumentError:
    """TF's error for a request that is not a valid device name."""
    error = InvalidArgumentError(
        None,
        None,
        f"Malformed device specification '{op.device}' in node: {{name:'{op.name}' "
        f"id:{node_id} op device:{{}} def:{{{defined(op)} = {op.type}}}}}\nA "
        "device function's result is kept as it is written. Write it like "
        "'/job:worker/task:0/device:GPU:1', '/gpu:0' or '/cpu:0'; a job begins with a "
        "letter, numbers are not negative.",
    )
    return error.at(op)  # type: ignore[return-value]


def _contradiction(
    op: Operation, other: Operation, part: str, requests: tuple[DeviceName, DeviceName]
) -> InvalidArgumentError:
    error = InvalidArgumentError(
        None,
        None,
        f"Cannot colocate nodes {defined(op)} placed on device {op.device} and "
        f"{defined(other)} placed on device {other.device}: Cannot merge devices with "
        f"incompatible {_PARTS[part]}: '{requests[0].to_string()}' and "
        f"'{requests[1].to_string()}'\nThey share a device because of "
        "tf.colocate_with: ask for the same one"
        + (
            ", or let ConfigProto(allow_soft_placement=True) choose."
            if part in ("device_type", "device_index")
            else "."
        ),
    )
    return error.at(op)  # type: ignore[return-value]


def defined(op: Operation) -> str:
    """The op with the user's line that created it, as in TF's messages."""
    source = op.source
    where = f" (defined at {source.file}:{source.line}) " if source is not None else ""
    return f"node {op.name}{where}"
