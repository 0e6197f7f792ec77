"""Which ops of a run are computed once, when it is compiled, or left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tfteach.engine.optimize import optimize
from tfteach.engine.plan.build_step import build_step
from tfteach.engine.plan.prune import prune
from tfteach.engine.plan.step import Node, Step, writes
from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.feeds import flatten_feeds
from tfteach.engine.session.fetches import Fetches
from tfteach.engine.session.session import open_sessions
from tfteach.engine.session.unfolded import unfolded
from tfteach.explain.runs.cluster_plan import planner_of
from tfteach.explain.runs.pruning import Fetch, elements_of
from tfteach.framework.defaults import get_default_session
from tfteach.framework.errors import OpError
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.framework.type_aliases import FeedDict

__all__ = ["Folded", "explain_folding", "unfolded"]

ONCE = "computed once, when the run {is_was} compiled"
HOW = "Unfolded, every op runs: --unfolded in a magic, unfolded=True in Python."
MOST_NAMES = 3


class Folded(NamedTuple):
    """The ops of a run that the session's optimizer leaves out; `print` it.

    Attributes:
      needed: the names of the ops that the run needs, in graph order.
      constants: op name -> reason, for ops computed once, when the run is compiled.
      merged: op name -> reason, for ops that compute the same as another.
      dropped: op name -> reason, for ops that hand on their input, and ops whose value
        nothing needs.
      effects: what the run does besides computing its fetches, such as "changes w".
      has_run: True if it describes a run, False for the plan of one.
    """

    needed: tuple[str, ...]
    constants: dict[str, str]
    merged: dict[str, str]
    dropped: dict[str, str]
    effects: tuple[str, ...] = ()
    has_run: bool = False

    @property
    def is_whole(self) -> bool:
        """True if nothing is left to run."""
        return bool(self.needed) and len(self.constants) == len(self.needed)

    @property
    def is_notable(self) -> bool:
        """True if the unfolded run has ops that the session's own run has not.

        A constant that a remaining op consumes is not worth mentioning.
        """
        changed = bool(self.merged or self.dropped)
        return changed or self.is_whole or any(self.constants.values())

    @property
    def verb(self) -> str:
        """ "run", or "needed" where not all ops that the run needs are run."""
        return "needed" if self.is_notable else "run"

    @property
    def left_out(self) -> dict[str, str]:
        """Op name -> reason, for every op that the run leaves out."""
        return {**self.dropped, **self.merged, **self.constants}

    def why(self, op: Operation | str) -> str:
        """What becomes of one op of the run.

        Args:
          op: an operation, or its name.

        Returns:
          A sentence; "" if the op runs.
        """
        name = op if isinstance(op, str) else op.name
        verb = "was" if self.has_run else "is"
        if name in self.constants:
            reason = self.constants[name] or "it is a constant"
            return f"It {verb} {self._once}: {reason}."
        if name in self.merged:
            return f"It {verb} left out: it {self.merged[name]}."
        if name in self.dropped:
            reason = self.dropped[name]
            it = "it " if reason.startswith("hands") else ""
            return f"It {verb} left out: {it}{reason}."
        return ""

    @property
    def summary(self) -> str:
        """One sentence of counts; "" if there is nothing to say."""
        if not self.is_notable:
            return ""
        be = ("was", "were") if self.has_run else ("is", "are")
        count = len(self.needed)
        if self.is_whole:
            all_ops = (
                f"All {count} ops {be[1]}" if count > 1 else f"The only op {be[0]}"
            )
            return f"{all_ops} {self._once}: constants only."
        parts = []
        if once := len(self.constants) if any(self.constants.values()) else 0:
            parts.append(f"{once} {be[once > 1]} {self._once}")
        if merged := len(self.merged):
            parts.append(f"{merged} {be[merged > 1]} merged with an equal one")
        if dropped := len(self.dropped):
            parts.append(f"{dropped} {be[dropped > 1]} dropped or bypassed")
        return f"Of {count} ops {', '.join(parts)}."

    def sentence(self, unfolded: bool = False) -> str:
        """What a view says above the run.

        Args:
          unfolded: True if the view shows the run unfolded.

        Returns:
          The summary, with how to see the run unfolded; "" if there is nothing to say.
        """
        if not self.is_notable:
            return ""
        if not unfolded:
            return f"{self.summary} {HOW}"
        count = len(self.left_out)
        them = "both" if count == len(self.needed) == 2 else f"{count}"
        of_all = "all of them" if self.is_whole else f"{them} of {len(self.needed)}"
        return f"Unfolded: every op runs. The session itself leaves out {of_all}."

    @property
    def _once(self) -> str:
        return ONCE.format(is_was="was" if self.has_run else "is")

    @property
    def again(self) -> str:
        """What a second run does besides computing the fetches; "" for nothing."""
        return "; ".join(self.effects)

    def __str__(self) -> str:
        if not self.is_notable:
            return f"Nothing is folded: {len(self.needed)} ops, all of which run."
        rows = self.left_out
        width = max(map(len, rows))
        lines = [
            f"  {name:<{width}}  {rows[name] or 'constant'}"
            for name in self.needed
            if name in rows
        ]
        return "\n".join([self.summary, *lines, HOW])


NOTHING = Folded((), {}, {}, {})


def explain_folding(
    session: Any, fetches: Fetch | Iterable[Fetch], feeds: Iterable[Tensor | str] = ()
) -> Folded:
    """Explain which ops of a run the session computes once, merges or leaves out.

    Nothing is executed, and no Python function of the program is called.

    Args:
      session: the session whose options determine what is folded.
      fetches: a tensor, an operation, a name, or an iterable of these.
      feeds: the tensors, or their names, that the run would be fed.

    Returns:
      A `Folded`; `print` it. Nothing is folded in a run that cannot be placed.

    Raises:
      KeyError: a name is not in the graph.

    Example:
      >>> y = tf.add(2.0, 5.0, name="y")
      >>> with tf.Session() as sess:
      ...     print(explain_folding(sess, y).summary)
      All 3 ops are computed once, when the run is compiled: constants only.
    """
    wanted, fed = elements_of(session.graph, fetches, feeds)
    step = build_step(prune(wanted, fed), wanted, fed)
    needed = list(step.nodes)
    session = planner_of(session)
    options = session.planner.options
    if session._closed or not options.optimizes:
        return folded_in(step, needed)
    try:
        session.planner.placer.twin().place(step)
    except OpError:
        return folded_in(step, needed)
    optimize(step, options.fold_constants, options.merge_duplicates, False)
    return folded_in(step, needed)


def folded_run(
    session: Any,
    fetches: Any,
    feed_dict: FeedDict | None = None,
    unfolded: bool = False,
) -> Folded:
    """What the session leaves out of a run that was made, by the run's own plan.

    Args:
      session: an open session.
      fetches: as for `session.run`.
      feed_dict: as for `session.run`.
      unfolded: True if that run was an unfolded one; then the session's own is planned.
    """
    graph = session.graph
    fed = tuple(flatten_feeds(graph, feed_dict)) if feed_dict else ()
    return folded_elements(session, Fetches(graph, fetches).elements, fed, unfolded)


def why_one_thread(
    session: Any, fetches: Any, feed_dict: FeedDict | None = None
) -> str:
    """Why one thread has to run the ops of several devices; "" if it need not.

    Args:
      session: an open session.
      fetches, feed_dict: as for `session.run`.
    """
    if isinstance(session, BaseSession) and session._remote is not None:
        return ""  # the servers do not say
    graph = session.graph
    fed = tuple(flatten_feeds(graph, feed_dict)) if feed_dict else ()
    step: Step = session.planned_step(Fetches(graph, fetches).elements, fed)
    return step.one_thread


def folded_elements(
    session: Any,
    elements: Iterable[Operation | Tensor],
    fed: tuple[Tensor, ...],
    unfolded: bool = False,
) -> Folded:
    """`folded_run` of fetches and feeds that are elements of the graph."""
    wanted = tuple(elements)
    if isinstance(session, BaseSession) and session._remote is not None:
        return NOTHING  # the servers do not say
    if unfolded:
        return explain_folding(session, wanted, fed)._replace(has_run=True)
    needed = build_step(prune(wanted, fed), wanted, fed).nodes
    found = folded_in(session.planned_step(wanted, fed), needed)
    return found._replace(has_run=True)


def folded_in(step: Step, needed: list[Node]) -> Folded:
    """What the log of an optimized step says.

    Args:
      step: the step, after the passes.
      needed: its nodes before them.
    """
    constants: dict[str, str] = {}
    merged: dict[str, str] = {}
    dropped: dict[str, str] = {}
    for change in step.log:
        name, reason = change.node, change.reason
        if name in constants or name in merged or name in dropped:
            continue  # its first change says why
        if change.pass_name == "merge_duplicates":
            merged[name] = reason
        elif change.pass_name == "fold_constants" and "constant" in reason:
            constants[name] = reason
        else:
            dropped[name] = reason
    if step.is_optimized:
        for node in needed:
            if node.op.spec.holds_value:
                constants[node.name] = ""
                merged.pop(node.name, None)
                dropped.pop(node.name, None)
    return Folded(
        tuple(node.name for node in needed),
        constants,
        merged,
        dropped,
        tuple(_effects(needed)),
    )


def session_of_graph(graph: Graph) -> Any:
    """The session that a run of the graph would use: the default, or the latest open.

    Returns:
      The session, or None.
    """
    default = get_default_session()
    if default is not None and default.graph is graph:
        return default
    found = open_sessions(graph)
    return found[-1] if found else None


def _effects(nodes: list[Node]) -> list[str]:
    """What a run of these nodes does that a second run does again."""
    changed: dict[str, None] = {}
    draws = calls = False
    for node in nodes:
        if node.is_feed:
            continue
        if writes(node):
            changed[_written(node)] = None
        spec = node.op.spec
        draws |= spec.is_stateful and hasattr(spec, "seed")
        calls |= spec.calls_python
    found = []
    if changed:
        names = list(changed)
        more = len(names) - MOST_NAMES
        text = ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        found.append(f"changes {text}")
    if draws:
        found.append("draws random numbers")
    if calls:
        found.append("calls Python functions")
    return found


def _written(node: Node) -> str:
    """The variable that a node writes."""
    while not node.is_feed and not node.op.spec.returns_handle and node.inputs:
        node = node.inputs[0].node
    return node.name
