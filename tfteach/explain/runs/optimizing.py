"""What the optimizer does to a run: the ops before and after each pass, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tfteach.engine.devices.array_module import to_host
from tfteach.engine.execute.compile import compile_step
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.flow.guards import UnstructuredError
from tfteach.engine.flow.structured_control_flow import recover
from tfteach.engine.fusion.epilogues import FollowedKernel
from tfteach.engine.fusion.fuse_chains import fuse_chains
from tfteach.engine.fusion.fuse_large import FusedKernel
from tfteach.engine.fusion.fuse_small import ChainKernel
from tfteach.engine.optimize.fold_constants import fold_constants
from tfteach.engine.optimize.merge_duplicates import merge_duplicates
from tfteach.engine.optimize.remove_dead import remove_dead
from tfteach.engine.optimize.remove_identities import remove_identities
from tfteach.engine.optimize.specialize import specialize
from tfteach.engine.plan.build_step import build_step
from tfteach.engine.plan.prune import prune
from tfteach.engine.plan.step import Change, Edge, Node, Step
from tfteach.explain.building.graph_lives import times
from tfteach.explain.graphs.graph_rows import value_text
from tfteach.explain.runs.cluster_plan import planner_of
from tfteach.explain.runs.pruning import Fetch, elements_of

__all__ = ["OptimizerLog", "Pass", "StepNode", "explain_optimizing"]

MOST_CHANGES = 12
Joined = FusedKernel | ChainKernel | FollowedKernel

ABOUT = {
    "all": "the step before and after all passes",
    "inline_functions": "calls of functions become the functions' ops",
    "remove_identities": "users of an Identity take its input",
    "fold_constants": "what is the same in every run is computed once",
    "merge_duplicates": "one node for all that compute the same",
    "remove_dead": "nodes that nothing needs are dropped",
    "specialize": "with the shapes of the feeds known, more is constant",
    "unfolded": "every op runs: no pass changes the graph",
    "fusion": "chains of element-wise ops go over memory once, as one kernel",
}


class StepNode(NamedTuple):
    """A node of a run's graph before or after a pass.

    Attributes:
      name: the op's name.
      op_type: the op's type.
      inputs: the names of its inputs, "name:1" for a second output.
      control: the names of its control inputs.
      is_constant: True if its value is known before the run.
      value: the value of a folded node, abbreviated; "" for all others.
      is_fetched: True if it is fetched, or run for its effect.
    """

    name: str
    op_type: str
    inputs: tuple[str, ...]
    control: tuple[str, ...]
    is_constant: bool
    value: str = ""
    is_fetched: bool = False


class Pass(NamedTuple):
    """The effect of one pass; `print` it.

    Attributes:
      name: the name of the pass.
      before: a `StepNode` for each node before the pass, in order; for "fusion", each
        kernel.
      after: those after the pass.
      changes: a named tuple (pass_name, node, reason) for each change.
    """

    name: str
    before: tuple[StepNode, ...]
    after: tuple[StepNode, ...]
    changes: tuple[Change, ...]

    @property
    def about(self) -> str:
        """What the pass does in general."""
        return ABOUT[self.name]

    @property
    def asked(self) -> int:
        """The number of ops to compute before the pass."""
        return _computed(self.before)

    @property
    def left(self) -> int:
        """The number of ops to compute after the pass."""
        return _computed(self.after)

    @property
    def removed(self) -> tuple[str, ...]:
        """The names of the nodes that the pass removed."""
        kept = {node.name for node in self.after}
        return tuple(node.name for node in self.before if node.name not in kept)

    @property
    def summary(self) -> str:
        """One line of counts."""
        if not self.changes:
            return f"{self.name}: nothing to do ({self.about})"
        computed = f"{self.asked} -> {self.left} to compute"
        count = len(self.changes)
        words = "change" if count == 1 else "changes"
        return f"{self.name}: {count} {words}, {computed} ({self.about})"

    def __str__(self) -> str:
        lines = [self.summary]
        rows = [(change.node, change.reason) for change in self.changes]
        width = min(max((len(name) for name, _ in rows), default=0), 48)
        lines += [f"  {name:<{width}}  {why}" for name, why in rows[:MOST_CHANGES]]
        if len(rows) > MOST_CHANGES:
            counts = Counter(why for _, why in rows[MOST_CHANGES:])
            most, times = counts.most_common(1)[0]
            lines.append(
                f"  and {len(rows) - MOST_CHANGES} more, {times} because {most}"
            )
        return "\n".join(lines)


class OptimizerLog(NamedTuple):
    """The effect of all passes; `print` it.

    `log["fold_constants"]` is the `Pass` of that name.

    Attributes:
      passes: a `Pass` for each pass that ran, in order.
    """

    passes: tuple[Pass, ...]

    def of(self, name: str) -> list[Change]:
        """The changes to one node.

        Args:
          name: the op's name.

        Returns:
          A list of named tuples (pass_name, node, reason).
        """
        return [c for each in self.passes for c in each.changes if c.node == name]

    def __getitem__(self, key: Any) -> Any:
        """A pass by its name or number.

        Raises:
          KeyError: no pass of that name ran.
        """
        if not isinstance(key, str):
            return self.passes[key]
        for each in self.passes:
            if each.name == key:
                return each
        raise KeyError(f"{key!r} did not run; these did: {', '.join(self.names)}")

    @property
    def whole(self) -> Pass:
        """All passes as a single one.

        Raises:
          ValueError: no pass ran.
        """
        if not self.passes:
            raise ValueError(self.summary)
        changes = [change for each in self.passes for change in each.changes]
        first, last = self.passes[0], self.passes[-1]
        return Pass("all", first.before, last.after, tuple(changes))

    @property
    def names(self) -> list[str]:
        """The names of the passes that ran."""
        return [each.name for each in self.passes]

    @property
    def summary(self) -> str:
        """One line of counts."""
        if not self.passes:
            return "The session's options switch every pass off."
        first, last = self.passes[0], self.passes[-1]
        asked, left = times(first.asked, "op"), times(last.left, "kernel")
        return f"{asked} asked for, {left} called"

    def __str__(self) -> str:
        return "\n".join([self.summary, *(str(each) for each in self.passes)])


def explain_optimizing(
    session: Any,
    fetches: Fetch | Iterable[Fetch],
    feeds: Iterable[Any] = (),
    feed_shapes: Sequence[tuple[int, ...]] | None = None,
    unfolded: bool = False,
) -> OptimizerLog:
    """Run the optimizer's passes over a run's graph one by one.

    Nothing is executed.

    Args:
      session: the session whose options determine which passes run.
      fetches: a tensor, an operation, a name, or an iterable of these.
      feeds: the tensors, or their names, that the run would be fed.
      feed_shapes: a tuple of sizes for each feed. Runs that are repeated are optimized
        again for the shapes of their feeds; by default this is shown if all static
        shapes are fully known.
      unfolded: True for a run that computes every op: a single pass, "unfolded", that
        changes nothing.

    Returns:
      An `OptimizerLog`; `print` it.

    Raises:
      KeyError: a name is not in the graph.
      ValueError: the number of shapes differs from that of feeds.

    Example:
      >>> x = tf.placeholder(tf.float32, [2, 3], name="x")
      >>> rows = tf.cast(tf.shape(x)[0], tf.float32, name="rows")
      >>> with tf.Session() as sess:
      ...     log = explain_optimizing(sess, tf.reduce_sum(x) / rows, [x])
      >>> print(log.summary)
      4 ops asked for, 2 kernels called
      >>> log.of("rows")[-1].reason
      'all its inputs are constant'
    """
    wanted, fed = elements_of(session.graph, fetches, feeds)
    if feed_shapes is not None and len(feed_shapes) != len(fed):
        raise ValueError(f"{len(fed)} feeds, but {len(feed_shapes)} shapes")
    session = planner_of(session)
    step = build_step(prune(wanted, fed), wanted, fed)
    session.planner.placer.twin().place(step)
    if unfolded:
        nodes = _nodes(step)
        return OptimizerLog((Pass("unfolded", nodes, nodes, ()),))
    passes: list[Pass] = []
    if step.log:  # calls of functions
        closed = prune(wanted, fed, expands=False)
        whole = _nodes(build_step(closed, wanted, fed, expands=False))
        passes.append(Pass("inline_functions", whole, _nodes(step), tuple(step.log)))
    for name, run in _passes(session.planner.options, step):
        before, known = _nodes(step), len(step.log)
        run(step)
        passes.append(Pass(name, before, _nodes(step), tuple(step.log[known:])))
    options = session.planner.options
    if not options.optimizes or len(session.devices) > 1:
        return OptimizerLog(tuple(passes))
    shapes = feed_shapes
    if shapes is None:
        static = [tensor.static_shape for tensor in fed]
        if all(shape is not None and None not in shape for shape in static):
            shapes = static  # type: ignore[assignment]
    if shapes is not None:
        special = specialize(step, [tuple(shape) for shape in shapes])
        if step.has_control_flow and not _leave_what_runs(special):
            return OptimizerLog(tuple(passes))
        passes.append(
            Pass("specialize", _nodes(step), _nodes(special), tuple(special.log))
        )
        step = special
    elif step.has_control_flow:
        before, known = _nodes(step), len(step.log)
        if _leave_what_runs(step):
            done = tuple(step.log[known:])
            passes.append(Pass("remove_dead", before, _nodes(step), done))
    if not step.has_control_flow:
        passes.append(_fusion(step))
    return OptimizerLog(tuple(passes))


def _leave_what_runs(step: Step) -> bool:
    """Drop the nodes that only determine in which branch others run.

    Returns:
      False if the step's control flow has no structure: then it runs unchanged.
    """
    try:
        alive = recover(step).alive
    except UnstructuredError:
        return False

    def source(edge: Edge) -> Edge:
        while edge.node in step.forwards:
            edge = edge.node.inputs[step.forwards[edge.node]]
        return edge

    left = [n for n in step.nodes if n in alive and n not in step.forwards]
    waited = {node for node in left if node.values is None}
    told = {change.node for change in step.log}
    for node in step.nodes:
        node.inputs = [source(edge) for edge in node.inputs if node.values is None]
        node.control = [other for other in node.control if other in waited]
        if node not in alive and node.name not in told:
            reason = "nothing needs its value"
            step.log.append(Change("remove_dead", node.name, reason))
    step.fetches = [source(edge) for edge in step.fetches]
    step.nodes = left
    return True


def _passes(options: Any, step: Step) -> list[tuple[str, Callable[[Step], None]]]:
    """The passes that `optimize` runs, in its order."""
    if not options.optimizes:
        return []
    is_plain = not step.has_control_flow
    all_passes: list[tuple[str, Callable[[Step], None], bool]] = [
        ("remove_identities", remove_identities, is_plain),
        ("fold_constants", fold_constants, options.fold_constants),
        ("merge_duplicates", merge_duplicates, options.merge_duplicates),
        ("remove_dead", remove_dead, is_plain),
    ]
    return [(name, run) for name, run, is_on in all_passes if is_on]


def _fusion(step: Step) -> Pass:
    """The effect of fusion on the step's instructions."""
    # Separate resources: compiling must not touch the session's variables.
    compiled = compile_step(step, Resources(), None, fuse_chains)
    by_name = {node.name: node for node in _nodes(step)}
    plain = [i.node.name for i in compiled.instructions]
    after: list[StepNode] = []
    changes: list[Change] = []
    for instruction in compiled.fused:
        node = by_name[instruction.node.name]
        kernel = instruction.function
        if isinstance(kernel, Joined) and len(kernel.parts) > 1:
            parts = [part.node.name for part in kernel.parts]
            kinds = [part.node.op.type for part in kernel.parts]
            taken = [name for part in parts for name in by_name[part].inputs]
            outside = [name for name in taken if name not in parts]
            node = node._replace(
                op_type=f"fused {' + '.join(kinds)}",
                inputs=tuple(dict.fromkeys(outside)),
            )
            reason = _why_joined(kernel, parts)
            changes.append(Change("fusion", instruction.node.name, reason))
        after.append(node)
    before = tuple(by_name[name] for name in plain)
    return Pass("fusion", before, tuple(after), tuple(changes))


def _why_joined(kernel: Joined, parts: Sequence[str]) -> str:
    """Why ops are one kernel, which has the name of the last."""
    first, *others = parts[:-1]
    if isinstance(kernel, FollowedKernel):
        more = f", with {', '.join(others)}" if others else ""
        return f"runs on each part of {first} while that is in the cache{more}"
    how = "one pass over memory" if isinstance(kernel, FusedKernel) else "one loop"
    return f"{how} with {', '.join([first, *others])}"


def _nodes(step: Step) -> tuple[StepNode, ...]:
    fetched = {*(source for source, _ in step.fetches), *step.targets}
    return tuple(
        StepNode(
            node.name,
            node.op.type,
            tuple(s.name + (f":{i}" if i else "") for s, i in node.inputs),
            tuple(other.name for other in node.control),
            node.values is not None or node.op.spec.holds_value,
            _value(node),
            node in fetched,
        )
        for node in step.nodes
    )


def _value(node: Node) -> str:
    if not node.values or node.op.spec.holds_value:
        return ""
    return value_text(to_host(node.values[0]))


def _computed(nodes: Sequence[StepNode]) -> int:
    return sum(not node.is_constant for node in nodes)
