"""Where each node of a step runs, and why.

What is asked for (`tf.device`) comes first, then the device of those that an op is
colocated with (`_class`, references and handles of variables), then the first GPU if
it has a kernel.  With one device there is nothing to choose, only to check.
Source: core/common_runtime/placer.cc, colocation_graph.cc.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import NamedTuple

from tfteach.framework.device import DeviceSpec
from tfteach.framework.errors import InvalidArgumentError, OpError
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation
from tfteach.runtime.colocation import Group, colocate, defined
from tfteach.runtime.devices import Device
from tfteach.runtime.gpu_kernels import METADATA, computes_on_host
from tfteach.runtime.step import Step

ONLY_DEVICE = "default: the only device"
KEPT = "kept: its variable lives there since an earlier run"


class Placement(NamedTuple):
    """One op's device: what was asked for, what it got, and the reason."""

    name: str
    op_type: str
    requested: str
    assigned: str
    reason: str


def place(step: Step, devices: list[Device], allow_soft: bool) -> list[Placement]:
    """Give every node of `step` a device.

    Args:
      step: its nodes get their `device`.
      devices: what there is; the first is CPU:0.
      allow_soft: whether an op may run elsewhere than it asks.

    Returns:
      A `Placement` per node, in the order of the nodes.

    Raises:
      InvalidArgumentError: an op asks for a device that is not there, that has no
        kernel for it, or that contradicts those it is colocated with.
    """
    return Placer(devices, allow_soft).place(step)


class Placer:
    """Places the steps of one session, so that a variable never moves."""

    def __init__(self, devices: list[Device], allow_soft: bool) -> None:
        self.devices = devices
        self.allow_soft = allow_soft
        self._state = (0, -1)  # operations and mutations of the graph looked at
        self._chosen: dict[Operation, tuple[Device, str]] = {}
        self._kept: dict[Operation, Device] = {}  # where variables live

    def twin(self) -> Placer:
        """One that would place alike, to ask what a run would do before it is run."""
        other = Placer(self.devices, self.allow_soft)
        other._kept = dict(self._kept)
        return other

    def place(self, step: Step) -> list[Placement]:
        """See `place`; `step` is of the session's graph."""
        nodes = step.nodes
        host = self.devices[0]
        for feed in step.feeds.values():
            feed.device = host
        if not nodes:
            return []
        graph = nodes[0].op.graph
        if len(self.devices) == 1:
            reasons = self._check_only(graph)
            for node in nodes:
                node.device = host
            name = host.name
            return [
                Placement(n.name, n.op.type, n.op.device, name, reasons[n.op.device])
                for n in nodes
            ]
        self._choose(graph)
        placements = []
        for node in nodes:
            device, reason = self._chosen[node.op]
            node.device = device
            if device.device_type == "GPU" and computes_on_host(node.op):
                node.device = host
                if node.op.type not in METADATA and node.op.outputs:
                    reason += "; computed in host memory"
            if any(t.dtype.is_ref or _is_handle(t) for t in node.op.outputs):
                self._kept[node.op] = device
            placements.append(
                Placement(node.name, node.op.type, node.op.device, device.name, reason)
            )
        return placements

    # ---- one device

    def _check_only(self, graph: Graph) -> dict[str, str]:
        """Request -> reason, for all requests in the graph; all must be possible."""
        count, mutations = self._state
        operations = graph.operations
        if mutations != graph.mutations:
            count, self._reasons = 0, {"": ONLY_DEVICE}
        reasons = self._reasons
        for op in operations[count:] if count else operations:
            request = op.device
            if request not in reasons:
                if _admits(request, self.devices[0].name):
                    reasons[request] = "explicit"
                elif self.allow_soft and self._matching(softened(request)):
                    reasons[request] = _softly(request, self.devices)
                else:
                    raise absent(op, request, self.devices)
        self._state = len(operations), graph.mutations
        return reasons

    _reasons: dict[str, str]

    # ---- several devices

    def _choose(self, graph: Graph) -> None:
        """Choose a device for every op of the graph."""
        operations = graph.operations
        state = len(operations), graph.mutations
        if state == self._state:
            return
        groups = colocate(graph, operations, self.allow_soft)
        self._chosen = {}
        for group in {id(g): g for g in groups.values()}.values():
            for op in group.members:
                if op in self._kept:
                    group.kept = self._kept[op]
        generators = []
        for op in operations:
            group = groups[op]
            if op in self._chosen:
                continue
            if len(group.members) == 1 and _is_generator(op):
                generators.append(op)
                continue
            device, reason = self._device_for(group, op)
            for member in group.members:
                self._chosen[member] = (
                    device,
                    (
                        reason
                        if member is group.anchor
                        else _beside(group, member, device)
                    ),
                )
        for op in generators:
            self._chosen[op] = self._generator(groups[op], op)
        self._state = state

    def _device_for(self, group: Group, op: Operation) -> tuple[Device, str]:
        candidates, reason = self._candidates(group)
        if group.kept is not None:
            moved = group.kept is not candidates[0]
            return group.kept, KEPT if moved else reason
        if len(group.members) == 1 and op.type in METADATA and op.inputs:
            source = op.inputs[0].op
            found = self._chosen.get(source)
            if found is not None and found[0] in candidates:
                return found[0], f"beside its input {source.name}"
        return candidates[0], reason

    def _generator(self, group: Group, op: Operation) -> tuple[Device, str]:
        """A source of data goes where its consumers are, if they are in one place."""
        candidates, reason = self._candidates(group)
        consumers = op.outputs[0].consumers()
        places = {self._chosen[c][0] for c in consumers if c in self._chosen}
        if len(places) == 1 and len(candidates) > 1:
            (place,) = places
            if place in candidates:
                return place, f"beside its consumer {consumers[0].name}"
        return candidates[0], reason

    def _candidates(self, group: Group) -> tuple[list[Device], str]:
        """The devices that a group can have, the best first, and the reason."""
        request = group.request.to_string()
        types = ("CPU",) if group.missing_kernel else ("GPU", "CPU")
        matching = self._matching(request)
        found = _by_type(matching, types)
        if found:
            return found, self._plain_reason(group, request, found)
        op = group.asker or group.anchor
        if self.allow_soft:
            found = _by_type(self._matching(softened(request)), types)
            if found and not matching:
                return found, _softly(request, self.devices)
            if found:
                return found, f"soft placement: {group.missing_kernel}"
        if not matching:
            raise absent(op, request, self.devices)
        raise self._no_kernel(group, op, request)

    def _plain_reason(self, group: Group, request: str, found: list[Device]) -> str:
        if group.request.device_type is not None:
            return "explicit"
        if request:
            return f"explicit: {request}"
        if group.missing_kernel and any(d.device_type == "GPU" for d in self.devices):
            return group.missing_kernel
        is_gpu = found[0].device_type == "GPU"
        return "default: GPU first" if is_gpu else "default: the first CPU"

    def _no_kernel(self, group: Group, op: Operation, request: str) -> OpError:
        message = (
            f"Cannot assign a device for operation {op.name}: Could not satisfy "
            f"explicit device specification '{request}' because no supported kernel "
            f"for {group.request.device_type} devices is available. There is "
            f"{group.missing_kernel}. Place it on the CPU, or let ConfigProto("
            "allow_soft_placement=True) do so."
        )
        return InvalidArgumentError(None, None, message).at(op)

    def _matching(self, request: str) -> list[Device]:
        return [d for d in self.devices if _admits(request, d.name)]


def _by_type(devices: Iterable[Device], types: tuple[str, ...]) -> list[Device]:
    devices = list(devices)
    return [d for kind in types for d in devices if d.device_type == kind]


@functools.lru_cache(maxsize=4096)
def _admits(request: str, full: str) -> bool:
    return DeviceSpec.from_string(request).admits(DeviceSpec.from_string(full))


def softened(request: str) -> str:
    """The request without what soft placement may ignore: the type and the index."""
    spec = DeviceSpec.from_string(request)
    return spec._replace(device_type=None, device_index=None).to_string()


def _softly(request: str, devices: list[Device]) -> str:
    return f"soft placement: {request} is not among the {len(devices)} devices"


def _is_handle(tensor: object) -> bool:
    return tensor.dtype.name == "resource"  # type: ignore[attr-defined, no-any-return]


def _is_generator(op: Operation) -> bool:
    return not op.inputs and len(op.outputs) == 1 and not op.outputs[0].dtype.is_ref


def _beside(group: Group, member: Operation, device: Device) -> str:
    reason = f"colocated with {group.anchor.name}"
    if member.device and not _admits(member.device, device.name):
        reason += f"; its own request {member.device} does not count"
    return reason


def absent(op: Operation, request: str, devices: list[Device]) -> OpError:
    """TF's error for a device that is not there."""
    names = ", ".join(sorted(device.name for device in devices))
    message = (
        f"Cannot assign a device for operation {op.name}: {defined(op)} was explicitly "
        f"assigned to {request} but available devices are [ {names} ]. Make sure the "
        "device specification refers to a valid device."
    )
    wants_gpu = DeviceSpec.from_string(request).device_type == "GPU"
    if wants_gpu and all(device.device_type != "GPU" for device in devices):
        message += " The requested device appears to be a GPU, but CUDA is not enabled."
    message += (
        "\nName one of these devices, or let ConfigProto(allow_soft_placement=True) "
        "choose another."
    )
    if wants_gpu:
        message += " tfteach.simulate_gpus(n) gives simulated GPUs to learn with."
    return InvalidArgumentError(None, None, message).at(op)
