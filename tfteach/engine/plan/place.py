"""Placement: the device of each operation in a graph, with reasons.

The requested device (`tf.device`) takes precedence, then the device of the ops that an
op is colocated with (`_class`, references and handles of variables), then the first GPU
if the op has a GPU kernel.  With one device, requests are only checked.

As in TF, the whole graph is placed before a session's first run, and again when it has
grown: first the ops with inputs and those placed before, then source ops, which are
placed with their consumers.  Logs and errors follow that order.  With
`place_pruned_graph` only the ops that a run needs are placed.
Source: core/common_runtime/placer.cc, colocation_graph.cc, graph_execution_state.cc.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from tfteach.engine.devices.device_name import DeviceName
from tfteach.engine.devices.devices import Device
from tfteach.engine.plan.colocation import Group, colocate, defined, makes_resource
from tfteach.engine.plan.gpu_kernels import computes_on_host
from tfteach.engine.plan.inline_functions import call_of
from tfteach.engine.plan.placement_order import placing_order
from tfteach.engine.plan.step import Edge, Step
from tfteach.framework.errors import InvalidArgumentError, OpError
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor

ONLY_DEVICE = "default: the only device"
KEPT = "kept: its variable lives there since an earlier run"


class Placement(NamedTuple):
    """One op's device: the requested one, the chosen one, and the reason."""

    name: str
    op_type: str
    requested: str
    assigned: str
    reason: str


class PlacementLog(Protocol):
    """Receiver of a placer's reports."""

    def placed(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Ops that have been placed: (name, type, device), in TF's order."""

    def moved(self, group: Group, candidates: Sequence[Device]) -> None:
        """Soft placement moves a variable to a device that it did not request."""


class NoLog:
    """Reports nothing."""

    def placed(self, rows: Sequence[tuple[str, str, str]]) -> None:
        pass

    def moved(self, group: Group, candidates: Sequence[Device]) -> None:
        pass


def place(step: Step, devices: list[Device], allow_soft: bool) -> list[Placement]:
    """Give every node of `step` a device.

    Args:
      step: the step, whose nodes' `device` is set.
      devices: the available devices; the first is CPU:0.
      allow_soft: whether an op may run on another device than it requests.

    Returns:
      A `Placement` per node, in the order of the nodes.

    Raises:
      InvalidArgumentError: an op requests a device that does not exist, that has no
        kernel for it, or that contradicts those it is colocated with.
    """
    return Placer(devices, allow_soft).place(step)


class Placer:
    """Places the graph of one session, so that a variable never moves.

    Args:
      devices: the available devices; the first is CPU:0.
      allow_soft: whether an op may run on another device than it requests.
      only_pruned: whether each step is placed separately (`place_pruned_graph`).
      log: receives the reports, or None.
      logs_all: whether `log` receives every op, in TF's order.
    """

    def __init__(
        self,
        devices: list[Device],
        allow_soft: bool,
        only_pruned: bool = False,
        log: PlacementLog | None = None,
        logs_all: bool = False,
    ) -> None:
        self.devices = devices
        self.allow_soft = allow_soft
        self.only_pruned = only_pruned
        self._log: PlacementLog = NoLog() if log is None else log
        self._logs_all = logs_all
        self._state = (0, -1)  # numbers of operations and mutations processed so far
        self._chosen: dict[Operation, tuple[Device, str]] = {}
        self._kept: dict[Operation, Device] = {}  # devices of stateful ops
        self._reasons: dict[str, str] = {}  # with one device: request -> reason
        self._inlined: dict[Operation, None] = {}  # of functions' bodies
        self._logged: set[Any] = set()  # steps logged before, with `only_pruned`

    def twin(self) -> Placer:
        """A copy of the placer, for planning a run without running it."""
        other = Placer(self.devices, self.allow_soft, self.only_pruned)
        other._kept, other._chosen = dict(self._kept), self._chosen
        return other

    # ---- the graph

    def extend(self, graph: Graph) -> None:
        """Place the ops added to the graph since it was last placed.

        Raises:
          InvalidArgumentError: see `place`; the next call tries again.
        """
        state = len(graph.operations), graph.mutations
        if state == self._state:
            return
        start, mutations = self._state
        if mutations != graph.mutations and graph.mutations:
            placing_order(graph.operations)  # no cycle
        if self.only_pruned:
            self._state = state
            return
        if mutations != graph.mutations or not start:
            start, self._reasons = 0, {}
        operations = [*graph.operations, *self._inlined]
        if mutations != graph.mutations:
            self._inlined.clear()  # calls are expanded again
            operations = graph.operations
        self._place_graph(operations, operations[start:] if start else operations)
        self._state = state

    def _extend_inlined(self, step: Step) -> None:
        """Place the ops of functions' bodies that no earlier step had."""
        new = [
            node.op
            for node in step.nodes
            if call_of(node.op) is not None and node.op not in self._inlined
        ]
        if not new:
            return
        self._inlined.update(dict.fromkeys(new))
        graph = new[0].graph
        self._place_graph([*graph.operations, *self._inlined], new)

    def place(self, step: Step) -> list[Placement]:
        """Give every node of a step of the session's graph a device."""
        nodes = step.nodes
        host = self.devices[0]
        for feed in step.feeds.values():
            feed.device = host
        if self.only_pruned:
            self._place_step(step)
        elif nodes:
            self.extend(nodes[0].op.graph)
            self._extend_inlined(step)
        placements = []
        for node in nodes:
            device, reason = self._place_of(node.op)
            node.device = device
            if device.device_type == "GPU" and computes_on_host(node.op):
                node.device = device.host or host
                if not node.op.spec.only_metadata and node.op.outputs:
                    reason += "; computed in host memory"
            placements.append(
                Placement(node.name, node.op.type, node.op.device, device.name, reason)
            )
        return placements

    def _place_of(self, op: Operation) -> tuple[Device, str]:
        if len(self.devices) > 1:
            return self._chosen[op]
        reason = self._reasons.get(op.device)
        return self._chosen[op] if reason is None else (self.devices[0], reason)

    def _place_step(self, step: Step) -> None:
        """Place the ops of one step only, as `place_pruned_graph` requires."""
        operations = sorted((node.op for node in step.nodes), key=lambda o: o.node_id)
        host = self.devices[0].name
        fetched = [
            e.node.op.outputs[e.index] for e in step.fetches if not e.node.is_feed
        ]
        fetched += [
            t for t, feed in step.feeds.items() if Edge(feed, 0) in step.fetches
        ]
        ends = [
            (f"_retval_{t.op.name}_{t.value_index}_{i}", "_Retval", host)
            for i, t in enumerate(_by_name(fetched))
        ]
        feeds = [
            (f"_arg_{t.op.name}_{t.value_index}_{i}", "_Arg", host)
            for i, t in enumerate(_by_name(step.feeds))
        ]
        self._reasons = {}
        key = (*ends, *feeds, *(node.name for node in step.targets))
        log = self._log
        if key in self._logged:  # in TF, fetches in another order run the same
            self._log = NoLog()
        try:
            self._place_graph(
                operations, operations, _Ends(ends, feeds, {t.op for t in fetched})
            )
        finally:
            self._log = log
        self._logged.add(key)

    def _place_graph(
        self,
        operations: Sequence[Operation],
        new: Iterable[Operation],
        ends: _Ends | None = None,
    ) -> None:
        """Place all operations, of which some are new; `ends` belong to a step."""
        is_simple = len(self.devices) == 1 and self._check_only(new)
        if not is_simple or self._logs_all:
            self._place_all(operations, ends)

    # ---- one device

    def _check_only(self, new: Iterable[Operation]) -> bool:
        """Record a reason for each new request; False if full placement is needed."""
        host, reasons = self.devices[0], self._reasons
        is_simple = True
        for op in new:
            request = op.device
            reason = reasons.get(request)
            if reason is None:
                reason = self._only_reason(request, host)
                if reason is None:  # an error, unless a variable overrules it
                    is_simple = False
                    continue
                reasons[request] = reason
            if (
                reason.startswith("soft")
                and makes_resource(op)
                and op not in self._kept
            ):
                is_simple = False  # to be reported
        return is_simple

    def _only_reason(self, request: str, host: Device) -> str | None:
        if not request:
            return ONLY_DEVICE
        name = DeviceName.parse(request)
        if name is None:
            return None
        if _admits(name, host.name):
            return "explicit"
        if self.allow_soft and _admits(_softened(name), host.name):
            return _softly(request, self.devices)
        return None

    # ---- several devices

    def _place_all(
        self, operations: Iterable[Operation], ends: _Ends | None = None
    ) -> None:
        """Choose a device for each of the operations; `ends` belong to a step."""
        ordered = placing_order(operations)
        groups = colocate(ordered, self.allow_soft, self._kept)
        chosen: dict[Operation, tuple[Device, str]] = {}
        rows: list[tuple[str, str, str]] = []
        sources = [op for op in ordered if _is_source(op) and op not in self._kept]
        later = set(sources)
        fetched = ends.fetched if ends is not None else set()
        try:
            for op in ordered:
                if op not in later:
                    chosen[op] = self._choose(groups[op], op, chosen)
                    rows.append((op.name, op.type, chosen[op][0].name))
            rows += ends.fetches if ends is not None else ()
            for op in sources:
                consumers = self._consumers(op, groups, op in fetched)
                chosen[op] = self._choose(groups[op], op, chosen, consumers)
                rows.append((op.name, op.type, chosen[op][0].name))
            rows += ends.feeds if ends is not None else ()
        finally:
            self._log.placed(rows)
        self._chosen = chosen
        for op in ordered:
            if _has_state(op):
                self._kept[op] = chosen[op][0]

    def _choose(
        self,
        group: Group,
        op: Operation,
        chosen: dict[Operation, tuple[Device, str]],
        consumers: Sequence[Operation | None] = (),
    ) -> tuple[Device, str]:
        """Choose the device of one op; a group's first member decides for all.

        Args:
          chosen: the devices of the ops that were placed before.
          consumers: for an op without inputs, the ops that use it; None for a fetch.
        """
        if group.device is not None:
            if op in self._kept:
                before = self._chosen.get(op)
                stays = group.missing_kernel and group.device.device_type == "GPU"
                return group.device, KEPT if before is None or stays else before[1]
            if op is not group.anchor:
                return group.device, _beside(group, op, group.device)
            if group.is_placed:
                return group.device, KEPT
            return group.device, self._candidates(group, op)[1]
        candidates, reason = self._candidates(group, op)
        group.device = candidates[0]
        near: Device | None = None
        if consumers:
            places = {
                self.devices[0] if c is None else chosen.get(c, (None,))[0]
                for c in consumers
            }
            near = places.pop() if len(places) == 1 else None
            what = f"consumer {consumers[0].name}" if consumers[0] else "fetch"
        elif op.spec.beside_input and op.inputs and op.inputs[0].op in chosen:
            near = chosen[op.inputs[0].op][0]
            what = f"input {op.inputs[0].op.name}"
        if near in candidates and len(candidates) > 1:
            group.device, reason = near, f"beside its {what}"
        if op is not group.anchor:
            reason = _beside(group, op, group.device)
        return group.device, reason

    def _consumers(
        self, op: Operation, groups: dict[Operation, Group], is_fetched: bool
    ) -> list[Operation | None]:
        """The ops being placed that have the op as an input or control input."""
        found = [*op.outputs[0].consumers(), *op.graph.control_outputs_of(op)]
        used: list[Operation | None] = [c for c in found if c in groups]
        return [*used, None] if is_fetched else used

    def _candidates(self, group: Group, op: Operation) -> tuple[list[Device], str]:
        """The devices that a group may run on, best first, and the reason."""
        request = group.request
        types = ("CPU",) if group.missing_kernel else ("GPU", "CPU")
        matching = self._matching(request)
        found = _by_type(matching, types)
        if found:
            return found, self._plain_reason(group, found)
        for moves_variables in (False, True) if self.allow_soft else ():
            soft = group.soft_request(moves_variables)
            found = _by_type(self._matching(soft), types)
            if found and moves_variables and group.device is None:
                self._log.moved(group, found)
            if found and not matching:
                return found, _softly(request.to_string(), self.devices)
            if found:
                return found, f"soft placement: {group.missing_kernel}"
        if DeviceName.parse(op.device) != request:
            raise self._incompatible(group, op)
        if not matching:
            raise self._absent(op)
        raise self._no_kernel(group, op)

    def _plain_reason(self, group: Group, found: list[Device]) -> str:
        if group.request.device_type is not None:
            return "explicit"
        if request := group.request.to_string():
            return f"explicit: {request}"
        if group.missing_kernel and any(d.device_type == "GPU" for d in self.devices):
            return group.missing_kernel
        is_gpu = found[0].device_type == "GPU"
        return "default: GPU first" if is_gpu else "default: the first CPU"

    def _matching(self, request: DeviceName) -> list[Device]:
        return [d for d in self.devices if _admits(request, d.name)]

    # ---- errors

    def _device_names(self) -> str:
        return ", ".join(sorted(device.name for device in self.devices))

    def _no_kernel(self, group: Group, op: Operation) -> OpError:
        """TF's error for a device that exists but cannot run the group."""
        message = (
            f"Cannot assign a device for operation {op.name}: Could not satisfy "
            f"explicit device specification '{op.device}' because no supported kernel "
            f"for {group.request.device_type} devices is available. There is "
            f"{group.missing_kernel}. Place it on the CPU, or let ConfigProto("
            "allow_soft_placement=True) do so."
        )
        return InvalidArgumentError(None, None, message).at(op)

    def _incompatible(self, group: Group, op: Operation) -> OpError:
        """TF's error for an op whose group requests a device that it cannot have."""
        members = "".join(
            f"\n  {m.name} ({m.type}) {m.device}".rstrip() for m in group.members[:20]
        )
        more = len(group.members) - 20
        message = (
            f"Cannot assign a device for operation {op.name}: Could not satisfy "
            f"explicit device specification '{op.device}' because the {defined(op)} "
            "was colocated with a group of nodes that required incompatible device "
            f"'{group.request.to_string()}'. All available devices "
            f"[{self._device_names()}]. {group.missing_kernel}\nColocation members "
            f"and user-requested devices:{members}"
            + (f"\n  ... and {more} more" if more > 0 else "")
        )
        return InvalidArgumentError(None, None, message).at(op)

    def _absent(self, op: Operation) -> OpError:
        """TF's error for a device that does not exist."""
        message = (
            f"Cannot assign a device for operation {op.name}: {defined(op)} was "
            f"explicitly assigned to {op.device} but available devices are [ "
            f"{self._device_names()} ]. Make sure the device specification refers to "
            "a valid device."
        )
        wanted = DeviceName.parse(op.device) or DeviceName()
        wants_gpu = wanted.device_type == "GPU"
        if wants_gpu and all(device.device_type != "GPU" for device in self.devices):
            message += (
                " The requested device appears to be a GPU, but CUDA is not enabled."
            )
        message += "\nName one of these devices"
        if not self._matching(_softened(wanted)):
            message += (
                ": a local session has one job, replica and task, and soft placement "
                "never chooses others."
            )
        else:
            message += ", or let ConfigProto(allow_soft_placement=True) choose another."
        if wants_gpu:
            message += " tfteach.simulate_gpus(n) gives simulated GPUs to learn with."
        return InvalidArgumentError(None, None, message).at(op)


class _Ends(NamedTuple):
    """Stand-ins for the fetches and feeds of a step that is placed separately."""

    fetches: list[tuple[str, str, str]]
    feeds: list[tuple[str, str, str]]
    fetched: set[Operation]


def _by_name(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Each tensor once, in the order in which TF numbers fetches and feeds."""
    return sorted(set(tensors), key=lambda tensor: tensor.name)


def _is_source(op: Operation) -> bool:
    return not op.inputs and len(op.outputs) == 1 and not op.outputs[0].dtype.is_ref


def _has_state(op: Operation) -> bool:
    """Whether the op is stateful in TF: it owns state, or is not a pure function."""
    return op.spec.is_stateful and not type(op.spec)._ref_inputs


def _by_type(devices: Iterable[Device], types: tuple[str, ...]) -> list[Device]:
    devices = list(devices)
    return [d for kind in types for d in devices if d.device_type == kind]


@functools.lru_cache(maxsize=4096)
def _admits(request: DeviceName, full: str) -> bool:
    name = DeviceName.parse(full)
    return name is not None and request.admits(name)


def _softened(request: DeviceName) -> DeviceName:
    """The request without what soft placement may ignore: the type and the index."""
    return request._replace(device_type=None, device_index=None)


def _softly(request: str, devices: list[Device]) -> str:
    return f"soft placement: {request} is not among the {len(devices)} devices"


def _beside(group: Group, member: Operation, device: Device) -> str:
    reason = f"colocated with {group.anchor.name}"
    asked = DeviceName.parse(member.device)
    if asked is not None and not _admits(asked, device.name):
        reason += f"; its own request {member.device} does not count"
    return reason
