"""Where each op of a run is placed, why, and what is copied between devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from tfteach.engine.devices.devices import Device
from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.engine.optimize import optimize
from tfteach.engine.plan.build_step import build_step
from tfteach.engine.plan.partition import Recv, Transfers, partition
from tfteach.engine.plan.place import Placement
from tfteach.engine.plan.prune import prune
from tfteach.engine.plan.step import Node, Step
from tfteach.engine.session.unfolded import is_unfolded
from tfteach.explain.runs.cluster_plan import PlannedCluster, label_of, planner_of
from tfteach.explain.runs.folding import NOTHING, Folded, explain_folding, folded_in
from tfteach.explain.runs.pruning import Fetch, elements_of
from tfteach.explain.runs.sessions import is_variable
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.framework.op import op_class
from tfteach.framework.shape import Shape, size_of

__all__ = ["Copy", "DeviceUse", "Placements", "placement"]

# How a reason begins (engine/plan/place.py) -> its kind, as a legend shows it.
KINDS = {
    "explicit": "asked for",
    "colocated with": "colocated",
    "no GPU kernel": "no GPU kernel",
    "soft placement": "soft placement",
    "beside": "beside its data",
    "kept": "kept",
    "default": "default",
}
WIDEST = 84  # columns before the reason; longer lines shift theirs


class Copy(NamedTuple):
    """One value that a run copies from one device to another.

    Attributes:
      tensor: the tensor.
      source: full name of the device that it is copied from.
      target: full name of the device that it is copied to.
      size_bytes: its size in the last run that made the copy, else by its static shape;
        None if that is not fully known.
      readers: names of the ops that consume it on `target`; empty for a fetch.
      is_measured: True if `size_bytes` comes from a run.
      is_feed: True if the tensor is fed.
      is_fetch: True if the tensor is fetched.
    """

    tensor: Tensor
    source: str
    target: str
    size_bytes: int | None
    readers: tuple[str, ...]
    is_measured: bool
    is_feed: bool
    is_fetch: bool

    @property
    def why(self) -> str:
        """The purpose of the copy."""
        begin = "fed, " if self.is_feed else ""
        ends = ["the fetch"] if self.is_fetch else []
        ends += self.readers[:2]
        more = len(self.readers) - 2
        return f"{begin}for {', '.join(ends)}" + (
            f" and {more} more" if more > 0 else ""
        )


class DeviceUse(NamedTuple):
    """One device of a session, and what is placed on it.

    Attributes:
      name: TensorFlow's full name.
      is_simulated: True for a simulated GPU.
      description: the physical device; "" for a CPU.
      ops: the number of ops placed there.
      variable_bytes: the size of the variables placed there, as far as their static
        shapes are known.
      limit_bytes: the memory that the session may use; None if memory is not counted on
        this device, as for the next three.
      current_bytes: the memory in use now.
      peak_bytes: the most memory that was in use.
      reserved_bytes: the memory that the allocator holds.
      variables: the number of variables placed there.
    """

    name: str
    is_simulated: bool
    description: str
    ops: int
    variable_bytes: int
    limit_bytes: int | None
    current_bytes: int | None
    peak_bytes: int | None
    reserved_bytes: int | None
    variables: int = 0

    @property
    def label(self) -> str:
        """The short name, such as "GPU:0", or "ps:0" of a task's CPU."""
        return label_of(self.name)

    def __str__(self) -> str:
        words = f"{self.label}{' (simulated)' if self.is_simulated else ''}: "
        words += f"{self.ops} ops, "
        if self.variables:
            words += f"{self.variables} variable{'' if self.variables == 1 else 's'}, "
            words += show_bytes(self.variable_bytes)
        else:
            words += "no variables"
        if self.limit_bytes is None or self.current_bytes is None:
            return words
        return (
            f"{words}; {show_bytes(self.current_bytes)} of "
            f"{show_bytes(self.limit_bytes)} taken, peak "
            f"{show_bytes(self.peak_bytes or 0)}, reserved "
            f"{show_bytes(self.reserved_bytes or 0)}"
        )


class Placements(NamedTuple):
    """Where the ops of a run are placed; `print` it for TensorFlow's log with reasons.

    Attributes:
      rows: a named tuple (name, op_type, requested, assigned, reason) for each op.
      copies: a `Copy` for each value copied between devices.
      devices: a `DeviceUse` for each device of the session.
      fetches: the fetches of the run; empty for the whole graph.
      folded: a `Folded`: the ops that the session's optimizer leaves out of the run.
      unfolded: True if the copies are those of a run without the optimizer.
      plan: what a plan for a cluster assumes; "" for the run of a session.
    """

    rows: tuple[Placement, ...]
    copies: tuple[Copy, ...]
    devices: tuple[DeviceUse, ...]
    fetches: tuple[Operation | Tensor, ...]
    folded: Folded = NOTHING
    unfolded: bool = False
    plan: str = ""

    def of(self, op: Operation | str) -> Placement:
        """The placement of one op.

        Args:
          op: an operation, or its name.

        Returns:
          A named tuple (name, op_type, requested, assigned, reason).

        Raises:
          KeyError: the graph has no such op, or the run does not need it.
        """
        name = op if isinstance(op, str) else op.name
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name!r} is not placed: the run does not need it")

    @property
    def reasons(self) -> Counter[str]:
        """Kind of reason -> number of ops placed for it."""
        return Counter(kind_of(row.reason) for row in self.rows)

    @property
    def copied_bytes(self) -> int:
        """The bytes that one run copies, as far as sizes are known."""
        return sum(copy.size_bytes or 0 for copy in self.copies)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, most: int | None = None) -> str:
        """TensorFlow's placement log with reasons, then copies and memory.

        Args:
          most: the number of ops and of copies to list; by default all.

        Returns:
          A string of several lines.
        """
        lines = [self.plan, self.summary] if self.plan else [self.summary]
        if said := self.folded.sentence(self.unfolded):
            lines.append(said)
        lines += [f"{d.name} -> {d.description}" for d in self.devices if d.description]
        logged = [f"{r.name}: ({r.op_type}): {r.assigned}" for r in self.rows[:most]]
        width = min(max(map(len, logged), default=0), WIDEST)
        for line, row in zip(logged, self.rows, strict=False):
            asked = f"; asked for {row.requested}" if _says_more(row) else ""
            lines.append(f"{line:<{width}}  # {row.reason}{asked}")
        lines += _and_more(self.rows, most, "")
        if self.copies:
            lines.append("Copies:")
        for copy in self.copies[:most]:
            way = f"{label_of(copy.source)} -> {label_of(copy.target)}"
            size = copy_size(copy)
            lines.append(f"  {copy.tensor.name}  {way}  {size}  {copy.why}")
        lines += _and_more(self.copies, most, "  ")
        lines.append("Each would hold:" if self.plan else "Memory:")
        lines += [f"  {device}" for device in self.devices]
        return "\n".join(lines)

    @property
    def summary(self) -> str:
        """One line: the number of ops per device, and the copies."""
        parts = [
            f"{d.ops} on {d.label}{' (simulated)' if d.is_simulated else ''}"
            for d in self.devices
            if d.ops
        ]
        text = f"{len(self.rows)} ops: {', '.join(parts) or 'nothing placed'}"
        if len(self.devices) == 1:
            return text
        count = len(self.copies)
        if not count:
            return f"{text}; no copies"
        unknown = any(copy.size_bytes is None for copy in self.copies)
        least = "at least " if unknown else ""
        copies = f"{count} {'copy' if count == 1 else 'copies'}"
        return f"{text}; {copies}, {least}{show_bytes(self.copied_bytes)} a run"


def placement(
    session: Any,
    fetches: Fetch | Iterable[Fetch] | None = None,
    feeds: Iterable[Tensor | str] = (),
    unfolded: bool = False,
) -> Placements:
    """Explain where the ops of a run would be placed.

    Nothing is executed. For a `tf.Graph` instead of a session, the devices are those
    that its ops name: a plan for the jobs and tasks of a cluster, which need not run.

    Args:
      session: the session whose devices and options apply, or a graph.
      fetches: a tensor, an operation, a name, or an iterable of these; None for all ops
        of the graph as it is now.
      feeds: the tensors, or their names, that the run would be fed.
      unfolded: True to show the copies of a run that computes every op, constants
        included, without the optimizer.

    Returns:
      A `Placements`; `print` it.

    Raises:
      KeyError: a name is not in the graph.
      InvalidArgumentError: an op cannot be placed where it must be, or the session is
        closed.

    Example:
      >>> a = tf.constant(1.0, name="a")
      >>> with tf.Session() as sess:
      ...     found = placement(sess, tf.square(a, name="b"))
      >>> print(found.summary)
      2 ops: 2 on CPU:0
      >>> found.of("b").reason
      'default: the only device'
      >>> with tf.device("/job:ps/task:0"):
      ...     w = tf.get_variable("w", [784, 10])
      >>> with tf.device("/job:worker/task:0"):
      ...     loss = tf.reduce_mean(w, name="loss")
      >>> print(placement(tf.get_default_graph(), loss).devices[0])
      ps:0: 2 ops, 1 variable, 30.62 KiB
    """
    session = planner_of(session)
    planned = planned_run(session, fetches, feeds, unfolded)
    return Placements(
        planned.rows,
        tuple(copies_of(planned.step, session.transfers).values()),
        uses_of(session, planned.rows),
        planned.fetches,
        planned.folded,
        planned.unfolded,
        session.text if isinstance(session, PlannedCluster) else "",
    )


class PlannedRun(NamedTuple):
    """A run that is planned as a session does, up to its `_Send` and `_Recv` nodes."""

    step: Step
    rows: tuple[Placement, ...]
    fetches: tuple[Operation | Tensor, ...]
    folded: Folded
    unfolded: bool


def planned_run(
    session: Any,
    fetches: Fetch | Iterable[Fetch] | None,
    feeds: Iterable[Tensor | str],
    unfolded: bool,
) -> PlannedRun:
    """Prune, place, optimize and partition; the arguments are those of `placement`."""
    graph = session.graph
    if session._closed:
        raise invalid_argument("The session is closed, so nothing can be placed.")
    unfolded = unfolded or is_unfolded()
    whole = fetches is None
    wanted, fed = elements_of(graph, () if fetches is None else fetches, feeds)
    roots = tuple(graph.get_operations()) if whole else wanted
    step = build_step(prune(roots, fed), roots, fed)
    rows = tuple(session.planner.placer.twin().place(step))
    needed, folded = list(step.nodes), NOTHING
    options = session.planner.options
    if unfolded and not whole:
        folded = explain_folding(session, wanted, fed)
    elif options.optimizes and not whole:
        merge = options.merge_duplicates
        optimize(step, options.fold_constants, merge, calls_python=False)
        folded = folded_in(step, needed)
    if len(session.devices) > 1:
        is_plan = isinstance(session, PlannedCluster)
        host = session.client if is_plan else session.devices[0]
        partition(step, host, Transfers())
    return PlannedRun(step, rows, wanted, folded, unfolded)


def uses_of(session: Any, rows: tuple[Placement, ...]) -> tuple[DeviceUse, ...]:
    """The devices of the session, with `rows` placed on them."""
    return tuple(_use(device, rows, session.graph) for device in session.devices)


def kind_of(reason: str) -> str:
    """The kind of a reason: one of the values of `KINDS`."""
    for begin, kind in KINDS.items():
        if reason.startswith(begin):
            return kind
    return "default"


def copy_size(copy: Copy) -> str:
    """The size of a copy, for people."""
    if copy.size_bytes is None:
        return "unknown size"
    return show_bytes(copy.size_bytes)


def _and_more(rows: tuple[Any, ...], most: int | None, indent: str) -> list[str]:
    more = 0 if most is None else len(rows) - most
    return [f"{indent}... and {more} more"] if more > 0 else []


def _says_more(row: Placement) -> bool:
    """True if the request contains more than the assigned device's name shows."""
    return bool(row.requested) and not row.reason.startswith("explicit")


def copies_of(step: Step, transfers: Transfers) -> dict[Node, Copy]:
    """The `_Recv` nodes of a partitioned step, with what each of them receives."""
    readers: dict[Node, list[str]] = {}
    for node in step.nodes:
        for source, _ in node.inputs:
            if isinstance(source.spec, Recv):
                found = readers.setdefault(source, [])
                if node.op.name not in found:
                    found.append(node.op.name)
    fetched = {edge.node for edge in step.fetches}
    tensors = {node: tensor for tensor, node in step.feeds.items()}
    copies: dict[Node, Copy] = {}
    for node in step.nodes:
        spec = node.spec
        if not isinstance(spec, Recv):
            continue
        edge = node.inputs[0].node.inputs[0]
        fed = tensors.get(edge.node)
        tensor = edge.node.op.outputs[edge.index] if fed is None else fed
        measured = transfers.latest.get((spec.tensor_name, spec.target.name))
        size_bytes = measured
        if measured is None:
            shape = step.shapes.get(edge, tensor.static_shape)
            size_bytes = static_size_bytes(shape, tensor.dtype)
        copies[node] = Copy(
            tensor,
            spec.source.name,
            spec.target.name,
            size_bytes,
            tuple(readers.get(node, ())),
            measured is not None,
            edge.node.is_feed,
            node in fetched,
        )
    return copies


def static_size_bytes(shape: Shape, dtype: DType) -> int | None:
    """The size in bytes; None if the shape or the size of an element is unknown."""
    count, kind = size_of(shape), dtype.base_dtype.numpy_dtype
    return None if count is None or kind.hasobject else count * int(kind.itemsize)


def _use(device: Device, rows: tuple[Placement, ...], graph: Graph) -> DeviceUse:
    here = [row for row in rows if row.assigned == device.name]
    count = variables = 0
    for row in here:
        if not op_class(row.op_type).returns_handle:
            continue
        op = graph.get_operation_by_name(row.name)
        if is_variable(op):
            spec: Any = op.spec
            count += 1
            variables += static_size_bytes(spec.shape, spec.dtype) or 0
    ledger = device.ledger
    return DeviceUse(
        device.name,
        device.is_simulated,
        device.physical_device_desc,
        len(here),
        variables,
        None if ledger is None else ledger.limit_bytes,
        None if ledger is None else ledger.current_bytes,
        None if ledger is None else ledger.peak_bytes,
        None if ledger is None else ledger.reserved_bytes,
        count,
    )
