"""The graph of one step: the data structure of the passes from pruning to compiling.

A `Step` belongs to one combination of fetches and feeds.  Its nodes refer to the user's
operations but can be folded, merged, moved and copied without changing them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfteach.framework.card_kernels import is_on_host
from tfteach.framework.dtypes import string
from tfteach.framework.errors import OpError
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Flow
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape, is_full

if TYPE_CHECKING:
    from tfteach.engine.devices.devices import Device


def needs_context(spec: Op) -> bool:
    """Whether the kernel gets a context, not the array module."""
    return spec.is_stateful or spec.calls_function or spec.needs_context


def kernel_of(spec: Op, first: Any) -> Callable[..., Any]:
    """The kernel bound to its context or array module; single outputs are bare."""
    xp = first.xp if needs_context(spec) else first
    compute = spec.compute if is_on_host(xp) else spec.compute_on_card
    function = functools.partial(compute, first)
    outputs = type(spec).outputs
    if not any(arg.is_sequence for arg in outputs):
        return function

    def kernel(*arrays: Any) -> Any:  # lists of outputs, which may be of one in all
        found = function(*arrays)
        return found[0] if len(found) == 1 else found

    return kernel


def checking_shapes(
    spec: Op, function: Callable[..., Any], known: Iterable[Shape]
) -> Callable[..., Any]:
    """The kernel, preceded by `Op.check_shapes` unless the shapes are known to pass it.

    Args:
      spec: the op.
      function: its kernel.
      known: the static shape of each input.
    """
    positions = spec._checked_inputs
    if positions == ():
        return function
    check = spec.check_shapes
    static = list(known)
    if positions is not None:
        static = [static[i] for i in positions]
    if spec.checks_only_ranks:
        is_known = None not in static
    else:
        is_known = all(map(is_full, static))
    if is_known:
        try:
            check(*static)
        except OpError:
            pass  # the run will raise it, if it gets here
        else:
            return function

    def kernel(*arrays: Any) -> Any:
        check(*[array.shape for array in arrays])
        return function(*arrays)

    def picking(*arrays: Any) -> Any:
        check(*[arrays[i].shape for i in positions or ()])
        return function(*arrays)

    return kernel if positions is None else picking


def keeping_strings(
    function: Callable[..., Any], outputs: Iterable[Tensor]
) -> Callable[..., Any]:
    """The kernel, returning arrays for single strings too.

    NumPy returns bare objects for the elements of object arrays.
    """
    if not any(tensor.dtype.base_dtype is string for tensor in outputs):
        return function

    def kernel(*arrays: Any) -> Any:
        found = function(*arrays)
        if isinstance(found, tuple | list):
            return tuple(map(_string_kept, found))
        return _string_kept(found)

    return kernel


def _string_kept(value: Any) -> Any:
    return np.array(value, object) if isinstance(value, bytes | str) else value


class Node:
    """One operation of a step.

    Attributes:
      op: the user's operation it represents (for a copy, the original's).
      spec: the operation to compute; a pass may change it.
      inputs: its input edges, `Edge(node, index)`.
      control: nodes that must run before it.
      device: its device, once placed.
      values: the outputs of a node that is the same in every run, else None.  In a step
        with control flow it may keep its inputs, which determine its branch.
    """

    __slots__ = ("control", "device", "inputs", "name", "op", "spec", "values")

    def __init__(
        self, op: Operation, spec: Op | None, inputs: list[Edge], name: str
    ) -> None:
        self.op = op
        self.spec: Op = spec  # type: ignore[assignment]  # None only for feeds
        self.inputs = inputs
        self.control: list[Node] = []
        self.name = name
        self.device: Device = None  # type: ignore[assignment]  # before placing
        self.values: tuple[Any, ...] | None = None

    @property
    def is_feed(self) -> bool:
        return self.spec is None

    @property
    def flow(self) -> Flow | None:
        """The node's role in branches and loops; None for feeds, too."""
        return None if self.spec is None else self.op.spec.flow

    @property
    def routes_values(self) -> bool:
        """Whether the op belongs to a branch or a loop and computes nothing."""
        return self.op.spec.flow not in (None, Flow.CONTROL_TRIGGER)

    @property
    def forwards_input(self) -> bool:
        """Whether its single output is its unchanged input, as for an Identity."""
        return self.op.spec.forwards_input

    def __repr__(self) -> str:
        return f"<Node {self.name}>"


class Edge(NamedTuple):
    """An output of a node."""

    node: Node
    index: int  # type: ignore[assignment]  # hides tuple.index

    @property
    def constant(self) -> Any:
        """The value of this edge in every run, or None if it differs between runs."""
        values = self.node.values
        return None if values is None else values[self.index]


class Change(NamedTuple):
    """One thing an optimization pass did, and why."""

    pass_name: str
    node: str
    reason: str


class Step:
    """The nodes of one step in an order in which they can run.

    Attributes:
      nodes: in topological order (for loops: apart from the back edges).
      feeds: fed tensor -> its node.
      fetched: the tensors whose values are returned.
      fetches: the edges that carry these values.
      targets: nodes that are run for their effect.
      is_optimized: whether passes were run.
      log: the changes made by the passes.
      shapes: shapes known beyond the static ones.
      forwards: nodes of a step with control flow that do nothing -> the number of the
        input that is also their output.
      histories: stateful nodes needed only by ops that use their values -> the nodes
        that have to run for these besides their inputs.
      shared: variables whose later writes are visible in values read before
      (engine/plan/shared_buffers.py).
      placements: the device of each op and the reason (engine/plan/place.py).
      may_fetch_dead: whether tensors of a branch that was not taken are empty, as the
        outputs of a function, instead of an error.
      always: in a step with control flow, nodes known to run whatever is fed.
      one_thread: why one thread runs the ops of all devices, where nothing else can.
      executed: its nodes as TF names them, once a traced run has requested them
        (engine/session/partition_graphs.py).
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.feeds: dict[Tensor, Node] = {}
        self.fetched: list[Tensor] = []
        self.fetches: list[Edge] = []
        self.targets: list[Node] = []
        self.is_optimized = False
        self.log: list[Change] = []
        self.placements: list[Any] = []
        self.executed: Any = None
        self.has_control_flow = False
        self.may_fetch_dead = False
        self.always: set[Node] = set()
        self.one_thread = ""
        self.shapes: dict[Edge, Shape] = {}
        self.forwards: dict[Node, int] = {}
        self.histories: dict[Node, list[Node]] = {}
        self.shared: set[Operation] = set()

    def copy(self) -> Step:
        """A step of the same nodes, which passes can change without affecting this."""
        other = Step()
        twins: dict[Node, Node] = {}
        for node in (*self.feeds.values(), *self.nodes):
            twin = twins[node] = Node(node.op, node.spec, [], node.name)
            twin.device, twin.values = node.device, node.values
        for node, twin in twins.items():
            twin.inputs = [Edge(twins[source], i) for source, i in node.inputs]
            twin.control = [twins[c] for c in node.control if c in twins]
        other.nodes = [twins[node] for node in self.nodes]
        other.feeds = {tensor: twins[node] for tensor, node in self.feeds.items()}
        other.fetched = self.fetched
        other.fetches = [Edge(twins[source], i) for source, i in self.fetches]
        other.targets = [twins[node] for node in self.targets if node in twins]
        other.has_control_flow = self.has_control_flow
        other.may_fetch_dead = self.may_fetch_dead
        other.shared = self.shared
        return other

    def replace_edges(self, changed: dict[Edge, Edge]) -> None:
        """Redirect every use of the keys, control dependencies included."""
        if not changed:
            return
        instead = {old.node: new.node for old, new in changed.items()}
        for node in self.nodes:
            if node.control:
                node.control = [instead.get(other, other) for other in node.control]
            if any(edge in changed for edge in node.inputs):
                node.inputs = [changed.get(edge, edge) for edge in node.inputs]
        self.fetches = [changed.get(edge, edge) for edge in self.fetches]


def control_of(node: Node, present: Container[Node]) -> list[Node]:
    """The control inputs; for one that a pass removed, what that one waited for."""
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    stack = node.control[::-1]
    while stack:
        other = stack.pop()
        if other in present:
            found[other] = None
        elif other not in seen and other.values is None:
            seen.add(other)
            stack += [*other.control, *(source for source, _ in other.inputs)]
    return list(found)


def argument_names(step: Step) -> dict[Node, str]:
    """TF's names of a step's feeds: `_arg_x_0_0` for `x:0`, the first by name."""
    feeds = sorted(step.feeds.items(), key=lambda item: item[0].name)
    return {
        node: f"_arg_{tensor.op.name}_{tensor.value_index}_{i}"
        for i, (tensor, node) in enumerate(feeds)
    }


def return_names(step: Step) -> dict[Tensor, str]:
    """TF's names of the fetches: `_retval_y_0_0` for `y:0`, the first by name.

    What is fed and fetched is handed back as it is, and is none of them.
    """
    fetched = {tensor for tensor in step.fetched if tensor not in step.feeds}
    return {
        tensor: f"_retval_{tensor.op.name}_{tensor.value_index}_{i}"
        for i, tensor in enumerate(sorted(fetched, key=lambda tensor: tensor.name))
    }


def writes(node: Node) -> bool:
    """Whether the node changes a variable: it takes a reference, or a handle."""
    if node.routes_values or (node.spec and node.spec.keeps_reference):
        return False
    if node.is_feed or not node.spec.is_stateful:
        return any(arg.is_ref for arg in type(node.spec).inputs) if node.spec else False
    kinds = type(node.spec).inputs
    return any(a.is_ref for a in kinds) or (
        bool(kinds)
        and kinds[0].dtype is not None
        and kinds[0].dtype.name == "resource"
        and not type(node.spec).outputs
    )
