"""The nodes of a step prepared for dataflow execution, and the frames they run in."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.kernel_context import Context, Resources
from tfteach.engine.plan.references import accepts_reference, carries_reference
from tfteach.engine.plan.shared_buffers import sharing_buffers
from tfteach.engine.plan.step import (
    Node,
    Step,
    checking_shapes,
    control_of,
    keeping_strings,
    kernel_of,
    needs_context,
)
from tfteach.framework.op_traits import Flow

MERGE, ENTER, NEXT_ITERATION = Flow.MERGE, Flow.ENTER, Flow.NEXT_ITERATION


class _Dead:
    """The value of an edge in a branch that was not taken."""

    def __repr__(self) -> str:
        return "<dead>"


DEAD = _Dead()


class Frame:
    """One run of a loop; the outermost frame is the step itself.

    Attributes:
      parent, parent_iteration: the frame and iteration that entered the loop.
      name: the loop's name.
      waiting: iteration -> node -> the inputs that have arrived.
      invariants: the loop invariants, which arrive in every iteration.
      is_dead: whether the loop is in a branch that was not taken.
    """

    __slots__ = (
        "children",
        "invariants",
        "is_dead",
        "last",
        "name",
        "parent",
        "parent_iteration",
        "waiting",
    )

    def __init__(
        self, parent: Frame | None, parent_iteration: int, name: str = ""
    ) -> None:
        self.parent = parent
        self.name = name
        self.parent_iteration = parent_iteration
        self.waiting: dict[int, dict[FlowNode, Arrived]] = {0: {}}
        self.invariants: list[tuple[FlowNode, Any]] = []
        self.children: dict[tuple[int, str], Frame] = {}
        self.last = 0
        self.is_dead = False


# Where the dataflow kernel that this thread calls runs: its frame and iteration.
place_of_call: ContextVar[tuple[Frame, int] | None] = ContextVar("place", default=None)


class Arrived:
    """The inputs of one execution of a node, as they arrive."""

    __slots__ = ("coming", "has_fired", "is_dead", "is_live", "missing", "values")

    def __init__(self, flow_node: FlowNode) -> None:
        self.missing = flow_node.missing
        self.coming = flow_node.inputs  # data inputs that a Merge may still get
        self.is_live = self.has_fired = False  # of a Merge
        self.values: list[Any] = [None] * flow_node.inputs
        self.is_dead = False


class FlowNode:
    """A node with its outgoing edges, prepared for execution."""

    __slots__ = (
        "control_users", "exchanges", "flow", "frame_name", "inputs", "instruction",
        "is_invariant", "is_loop_head", "missing", "node", "reads", "users",
    )  # fmt: skip

    def __init__(self, node: Node, instruction: Instruction | None) -> None:
        self.node = node
        self.instruction = instruction
        self.flow = None if node.flow is Flow.LOOP_COND else node.flow
        self.is_loop_head = self.flow is MERGE and _is_loop_head(node)
        self.exchanges = node.spec is not None and node.spec.exchanges_dead
        self.inputs = len(node.inputs)
        # The number of inputs to wait for; control inputs are counted with the edges.
        self.missing = 1 if self.flow is MERGE else len(node.inputs)
        self.frame_name: str = getattr(node.spec, "frame_name", "")
        self.is_invariant: bool = getattr(node.spec, "is_constant", False)
        self.reads = tuple(
            i
            for i, edge in enumerate(node.inputs)
            if carries_reference(edge) and not accepts_reference(node, i)
        )
        count = 1 if node.is_feed else len(node.op.outputs)
        self.users: list[list[tuple[FlowNode, int]]] = [[] for _ in range(count)]
        self.control_users: list[FlowNode] = []


def _is_loop_head(node: Node) -> bool:
    """Whether a Merge begins a loop, merging an Enter and a NextIteration."""
    if len(node.inputs) != 2:
        return False
    sources = {source.op.spec.flow: source for source, _ in node.inputs}
    if sources.keys() != {ENTER, NEXT_ITERATION}:
        return False
    return not getattr(sources[ENTER].spec, "is_constant", False)


def _constant(node: Node) -> Callable[..., Any]:
    """The kernel of a node whose values are known."""
    assert node.values is not None
    values = [node.device.put(value) for value in node.values]
    result = values[0] if len(values) == 1 else values
    return lambda *_: result


def flow_nodes_of(
    step: Step, resources: Resources, session: Any
) -> dict[Node, FlowNode]:
    """The FlowNode of each node and feed of a step, with its edges.

    Args:
      step: a planned step.
      resources: the session's variables and other state.
      session: the session, for kernels that ask for it.
    """
    flow_nodes: dict[Node, FlowNode] = {}
    for node in (*step.feeds.values(), *step.nodes):
        instruction = None
        if not node.is_feed:
            first: Any = node.device.xp
            if needs_context(node.spec):
                first = Context(node.op, node.device, resources, session)
            kernel = kernel_of(node.spec, first)
            static = (t.static_shape for t in node.op.inputs)
            kernel = checking_shapes(node.spec, kernel, static)
            kernel = keeping_strings(kernel, node.op.outputs)
            kernel = sharing_buffers(step, node, kernel)
            function = node.device.bind(kernel)
            if node.values is not None:
                function = _constant(node)
            slots = tuple(range(len(node.op.outputs)))
            instruction = Instruction(function, (), slots, (), node)
        flow_nodes[node] = FlowNode(node, instruction)
    for node, flow_node in flow_nodes.items():
        for i, (source, index) in enumerate(node.inputs):
            users = flow_nodes[source].users
            users[0 if source.is_feed else index].append((flow_node, i))
        for other in control_of(node, flow_nodes):
            flow_nodes[other].control_users.append(flow_node)
            flow_node.missing += 1
    return flow_nodes
