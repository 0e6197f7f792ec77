"""In which order a run can execute its ops: ready sets, races, control dependencies."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tfteach.engine.plan.build_step import build_step
from tfteach.engine.plan.prune import prune
from tfteach.engine.plan.step import Node, Step, writes
from tfteach.explain.runs.folding import NOTHING, Folded
from tfteach.explain.runs.pruning import Fetch, elements_of
from tfteach.framework.graph import Graph
from tfteach.framework.op_traits import Flow
from tfteach.framework.topological_order import topological_order

__all__ = ["Ordered", "Race", "Schedule", "Scheduled", "explain_schedule"]

MOST_IN_ORDER = 16  # ops of an order, in text
MOST_ORDERS = 20  # races for which two complete orders are computed


class Scheduled(NamedTuple):
    """An op of a run, with the ops it waits for.

    Attributes:
      name: the op's name.
      op_type: the op's type.
      inputs: the names of the ops whose outputs it consumes.
      control: the names of the ops it waits for without consuming an output.
    """

    name: str
    op_type: str
    inputs: tuple[str, ...]
    control: tuple[str, ...]


class Race(NamedTuple):
    """A read or write, and a write, of one variable in no defined order.

    Attributes:
      variable: the name of the variable's op.
      first: the name of the op that reads, or also writes.
      second: the name of the op that writes.
      reads: True if `first` reads.
      one_order: the names of the run's ops in a legal order with `first` before
        `second`; empty from the 21st race on.
      other_order: those in a legal order with `second` before `first`.
    """

    variable: str
    first: str
    second: str
    reads: bool
    one_order: tuple[str, ...]
    other_order: tuple[str, ...]

    def differing(self, most: int = MOST_IN_ORDER) -> tuple[int, int, list[list[str]]]:
        """Where the two orders differ.

        Args:
          most: abbreviate longer parts to the surroundings of the two ops, with "..."
            between.

        Returns:
          (start, end, parts): the number of equal ops at the beginning and at the end,
          and for each order the names in between.
        """
        one, other = self.one_order, self.other_order
        same = [a == b for a, b in zip(one, other, strict=True)]
        start = same.index(False) if False in same else len(same)
        end = same[::-1].index(False) if False in same else 0
        names = {self.first, self.second}
        parts = [list(order[start : len(order) - end]) for order in (one, other)]
        return (
            start,
            end,
            [_near(part, names) if len(part) > most else part for part in parts],
        )

    def __str__(self) -> str:
        between = {self.first, self.second}

        def told(order: tuple[str, ...]) -> str:
            names = _near(order, between) if len(order) > MOST_IN_ORDER else order
            return " -> ".join(f"[{n}]" if n in between else n for n in names)

        sees = ("sees the old value", "sees the new value") if self.reads else ("", "")
        verb = "reads" if self.reads else "writes"
        told_first = (
            f"{self.variable}: {self.first} {verb} it, {self.second} writes it, and "
            "nothing says which comes first"
        )
        if not self.one_order:
            return told_first
        return (
            f"{told_first}\n"
            f"  {told(self.one_order)}{_record(self.first, sees[0])}\n"
            f"  {told(self.other_order)}{_record(self.first, sees[1])}\n"
            f"  tf.control_dependencies([...]) around one of them decides."
        )


class Ordered(NamedTuple):
    """Two ops that would race without a control dependency.

    Attributes:
      variable: the name of the variable's op.
      first: the name of the op that runs first.
      second: the name of the op that runs second.
    """

    variable: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.variable}: {self.first} comes before {self.second}"


class Schedule(NamedTuple):
    """The possible orders of a run's ops; `print` it.

    Attributes:
      ready_sets: tuples of op names: first the ops that wait for nothing, then those
        that wait for the first set only, and so on. Ops of one set can run at the same
        time.
      order: the op names in the order that tfteach uses, with reads before writes where
        both are legal.
      races: a `Race` for each pair of ops in no defined order.
      ordered: an `Ordered` for each pair that only control dependencies order.
      ops: a `Scheduled` for each op, in the order of `order`.
      folded: a `Folded`: the ops that a session's optimizer leaves out of the run.
      unfolded: True if the run is to be planned without the optimizer.
    """

    ready_sets: tuple[tuple[str, ...], ...]
    order: tuple[str, ...]
    races: tuple[Race, ...]
    ordered: tuple[Ordered, ...]
    ops: tuple[Scheduled, ...]
    folded: Folded = NOTHING
    unfolded: bool = False

    @property
    def summary(self) -> str:
        """One line of counts."""
        most = max(map(len, self.ready_sets), default=0)
        return (
            f"{len(self.order)} ops in {len(self.ready_sets)} ready sets, "
            f"at most {most} at a time"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, most: int | None = None) -> str:
        """The ready sets, the races with two orders each, and the races prevented.

        Args:
          most: the number of each to list, and of ops in a set; by default all.

        Returns:
          A string of several lines.
        """
        lines = [self.summary]
        if said := self.folded.sentence(self.unfolded):
            lines.append(said)
        once = set() if self.unfolded else set(self.folded.left_out)
        marked = once if self.folded.is_notable and not self.folded.is_whole else set()
        for number, names in enumerate(self.ready_sets[:most], 1):
            more = [f"and {len(names) - most} more"] if most and names[most:] else []
            listed = [f"({name})" if name in marked else name for name in names[:most]]
            lines.append(f"  {number}. {', '.join([*listed, *more])}")
        if marked:
            lines.append("  (in parentheses: left out of the session's run)")
        if most and self.ready_sets[most:]:
            lines.append(f"  and {len(self.ready_sets) - most} more")
        if self.races:
            lines.append(f"Races: {len(self.races)}")
            shown = self.races[:most]
            lines += [f"  {line}" for race in shown for line in _lines(race)]
            if most and self.races[most:]:
                lines.append(f"  and {len(self.races) - most} more")
            lines.append(
                "  tfteach reads before it writes where both are legal; TensorFlow "
                "takes what is ready first, and may differ from run to run."
            )
        elif self.ordered:
            lines.append("No races.")
        if self.ordered:
            lines.append("Control dependencies remove these races:")
            lines += [f"  {pair}" for pair in self.ordered[:most]]
            if most and self.ordered[most:]:
                lines.append(f"  and {len(self.ordered) - most} more")
        return "\n".join(part for line in lines for part in _wrapped(line))


def explain_schedule(
    graph: Graph, fetches: Fetch | Iterable[Fetch], feeds: Iterable[Any] = ()
) -> Schedule:
    """Explain in which orders a run can execute its ops.

    Nothing is executed.

    Args:
      graph: a `tf.Graph`.
      fetches: a tensor, an operation, a name, or an iterable of these.
      feeds: the tensors, or their names, that the run would be fed.

    Returns:
      A `Schedule`; `print` it.

    Raises:
      KeyError: a name is not in the graph.

    Example:
      >>> w = tf.Variable(1.0, name="w")
      >>> found = explain_schedule(w.graph, [w.assign(5.0), w + 1.0])
      >>> print(found.summary)
      6 ops in 3 ready sets, at most 3 at a time
      >>> [(race.first, race.second) for race in found.races]
      [('w/read', 'Assign')]
    """
    wanted, fed = elements_of(graph, fetches, feeds)
    step = build_step(prune(wanted, fed), wanted, fed)
    _tell_reads_apart(step)
    before = _sources(step, with_control=True)
    step.nodes = _sorted(step, before)
    certain = _Certain(step, before)
    loose = _Certain(step, _sources(step, with_control=False))
    races: list[Race] = []
    ordered: list[Ordered] = []
    for variable, first, second in _pairs(step):
        if certain.relates(first, second):
            if not loose.relates(first, second):
                pair = (
                    (first, second) if certain.has(first, second) else (second, first)
                )
                ordered.append(Ordered(variable, pair[0].name, pair[1].name))
            continue
        orders: list[tuple[str, ...]] = [(), ()]
        if len(races) < MOST_ORDERS:
            orders = [
                _order(step, before, first, second, certain),
                _order(step, before, second, first, certain),
            ]
        reads = not writes(first)
        races.append(Race(variable, first.name, second.name, reads, *orders))
    return Schedule(
        _ready_sets(step, before),
        tuple(node.name for node in step.nodes),
        tuple(races),
        tuple(ordered),
        tuple(_scheduled(node, before[node]) for node in step.nodes),
    )


Before = dict[Node, set[Node]]


def _tell_reads_apart(step: Step) -> None:
    """Drop reads that are no longer consumed, and name second reads uniquely.

    An op that runs after a write has its own read of the variable
    (engine/plan/reads_after_writes.py), so the first read may be unused.
    """
    used = {edge.node for edge in step.fetches} | set(step.targets)
    for node in step.nodes:
        used.update(node.control, (source for source, _ in node.inputs))
    names = Counter(node.name for node in step.nodes)
    step.nodes = [n for n in step.nodes if names[n.name] == 1 or n in used]
    seen = set()
    for node in step.nodes:
        while node.name in seen:
            node.name += " again"
        seen.add(node.name)


def _scheduled(node: Node, before: set[Node]) -> Scheduled:
    sources = dict.fromkeys(source for source, _ in node.inputs if source in before)
    waits = [other for other in node.control if other in before]
    return Scheduled(
        node.name,
        node.op.type,
        tuple(source.name for source in sources),
        tuple(other.name for other in waits if other not in sources),
    )


def _sources(step: Step, with_control: bool) -> Before:
    """The nodes that each node waits for.

    At the entry of a loop the back edge does not count, since nodes are ordered, not
    their iterations. At its exit it does: the last iteration's value comes from there.
    """
    inside = set(step.nodes)
    found: Before = {}
    for node in step.nodes:
        sources = {source for source, _ in node.inputs}
        if with_control:
            sources |= set(node.control)
        if node.flow is Flow.MERGE:
            sources -= _ways_back(node)
        elif node.flow is Flow.EXIT:
            (switch, _) = node.inputs[0]
            for merge, _ in switch.inputs[:1]:
                sources |= _ways_back(merge)
        found[node] = sources & inside
    return found


def _ways_back(merge: Node) -> set[Node]:
    """The NextIteration inputs of a Merge; empty for other nodes."""
    taken = merge.inputs if merge.flow is Flow.MERGE else ()
    return {source for source, _ in taken if source.flow is Flow.NEXT_ITERATION}


def _sorted(step: Step, before: Before) -> list[Node]:
    """The nodes in a topological order that changes as little as possible."""
    return topological_order(step.nodes, before.__getitem__)


class _Certain:
    """Which ops run before which others in every order."""

    def __init__(self, step: Step, before: Before) -> None:
        self._nodes = step.nodes
        self._bits = {node: 1 << i for i, node in enumerate(step.nodes)}
        self._behind: dict[Node, int] = {}  # bit sets: sets of nodes would be large
        for node in step.nodes:
            mine = 0
            for source in before[node]:
                mine |= self._bits[source] | self._behind.get(source, 0)
            self._behind[node] = mine

    def has(self, early: Node, late: Node) -> bool:
        """True if `early` runs before `late` in every order."""
        return bool(self._behind[late] & self._bits[early])

    def relates(self, one: Node, other: Node) -> bool:
        return self.has(one, other) or self.has(other, one)

    def before(self, node: Node) -> set[Node]:
        """All that comes before it in every order."""
        mine = self._behind[node]
        return {n for n in self._nodes if mine & self._bits[n]}


def _ready_sets(step: Step, before: Before) -> tuple[tuple[str, ...], ...]:
    rank: dict[Node, int] = {}
    sets: list[list[str]] = []
    for node in step.nodes:
        number = rank[node] = 1 + max((rank[s] for s in before[node]), default=-1)
        if number == len(sets):
            sets.append([])
        sets[number].append(node.name)
    return tuple(map(tuple, sets))


def _pairs(step: Step) -> list[tuple[str, Node, Node]]:
    """Pairs of a write of a variable and another access to it."""
    accesses: dict[str, list[Node]] = {}
    handles: dict[Node, str] = {}
    for node in step.nodes:
        if node.op.spec.returns_handle:
            handles[node] = node.name
            continue
        for source, _ in node.inputs[:1]:
            if source in handles:
                accesses.setdefault(handles[source], []).append(node)
                if writes(node) and node.op.outputs:  # forwards the reference
                    handles[node] = handles[source]
    found = []
    for variable, nodes in accesses.items():
        for i, one in enumerate(nodes):
            for other in nodes[i + 1 :]:
                if writes(other):
                    found.append((variable, one, other))
                elif writes(one):
                    found.append((variable, other, one))
    return found


def _order(
    step: Step, before: Before, early: Node, late: Node, certain: _Certain
) -> tuple[str, ...]:
    """A legal order in which `early` comes before `late`."""
    hurry = certain.before(early) | {early}
    decided = {**before, late: before[late] | {early}}
    order = topological_order(
        step.nodes, decided.__getitem__, lambda node: node not in hurry
    )
    return tuple(node.name for node in order)


def _near(order: Sequence[str], names: set[str]) -> list[str]:
    """The ends of an order, and the neighbours of these names, with "..." between."""
    found: list[str] = []
    for i, name in enumerate(order):
        if {*order[max(0, i - 1) : i + 2]} & names or i in (0, len(order) - 1):
            found.append(name)
        elif found[-1] != "...":
            found.append("...")
    return found


def _wrapped(line: str) -> list[str]:
    """A line, wrapped for a terminal of 80 columns."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    options: Any = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.wrap(line, 79, subsequent_indent=indent, **options)


def _lines(race: Race) -> list[str]:
    return str(race).splitlines()


def _record(name: str, words: str) -> str:
    return f"   ({name} {words})" if words else ""
