"""Why a run executes an op, or skips it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tfteach.engine.plan.prune import prune
from tfteach.framework.graph import Graph, Operation, Tensor

__all__ = ["Reason", "RunNeeds", "Why", "explain_run"]

Fetch = Operation | Tensor | str


class Reason(NamedTuple):
    """What a run does with one op.

    Attributes:
      op: the operation.
      needed: True if the run executes it.
      text: the reason.
      via: the needed op that requires it; None for fetched and for skipped ops.
    """

    op: Operation
    needed: bool
    text: str
    via: Operation | None


class Why(NamedTuple):
    """Why a run executes one op, or skips it.

    Attributes:
      op: the operation.
      runs: True if the run executes it.
      path: the shortest path of consumers: from the op to a fetch if it runs, to the
        fed op that cuts it off if a feed replaces it, else the op alone.
      fed: the fed tensor that cuts the op off, or None.
      text: the reason in one sentence.
      folded: a sentence if the session's optimizer leaves the op out, else "".
    """

    op: Operation
    runs: bool
    path: tuple[Operation, ...]
    fed: Tensor | None
    text: str
    folded: str = ""

    def __str__(self) -> str:
        lines = [self.text]
        if self.folded:
            name = repr(self.op.name)
            text = self.text.replace(f"{name} runs", f"{name} is needed", 1)
            lines = [f"{text}. {self.folded}"]
        if len(self.path) > 1:
            lines += [f"  {'   ' * i}{op.name}" for i, op in enumerate(self.path)]
        return "\n".join(lines)


class RunNeeds(NamedTuple):
    """Which ops of a graph a run executes; `print` it for a table.

    Attributes:
      reasons: a `Reason` for every op of the graph, in graph order.
      fetches: the fetched operations and tensors.
      feeds: the fed tensors.
    """

    reasons: list[Reason]
    fetches: tuple[Operation | Tensor, ...]
    feeds: tuple[Tensor, ...]

    @property
    def needed(self) -> list[Operation]:
        """The operations that the run executes, in graph order."""
        return [reason.op for reason in self.reasons if reason.needed]

    @property
    def pruned(self) -> list[Operation]:
        """The operations that the run skips, in graph order."""
        return [reason.op for reason in self.reasons if not reason.needed]

    def why(self, op: Operation | str) -> Why:
        """Explain why the run executes an op, or skips it.

        Args:
          op: an operation of the graph, or its name.

        Returns:
          A `Why`; `print` it for the reason and the path.

        Raises:
          KeyError: the graph has no op of that name.

        Example:
          >>> x = tf.placeholder(tf.float32, name="x")
          >>> loss = tf.square(x, name="loss")
          >>> print(explain_run(loss.graph, loss, [x]).why("x"))
          'x' does not run: it is fed
        """
        graph = self.fetches[0].graph
        found = graph.as_graph_element(op, allow_tensor=False)
        assert isinstance(found, Operation)
        if found in self.needed:
            return _way_to_fetch(self, found)
        return _what_is_in_the_way(self, found)

    def __str__(self) -> str:
        lines = [f"{len(self.needed)} of {len(self.reasons)} ops run"]
        width = max((len(r.op.name) for r in self.reasons), default=0)
        for reason in self.reasons:
            mark = "runs " if reason.needed else "  -  "
            lines.append(f"{mark} {reason.op.name:<{width}}  {reason.text}")
        return "\n".join(lines)


def explain_run(
    graph: Graph, fetches: Fetch | Iterable[Fetch], feeds: Iterable[Tensor | str] = ()
) -> RunNeeds:
    """Explain for every op of a graph whether a run executes it.

    Nothing is executed.

    Args:
      graph: a `tf.Graph`.
      fetches: a tensor, an operation, a name, or an iterable of these.
      feeds: the tensors, or their names, that the run would be fed.

    Returns:
      A `RunNeeds`; `print` it for a table.

    Raises:
      KeyError: a name is not in the graph.

    Example:
      >>> a = tf.constant(1.0, name="a")
      >>> b = tf.square(a, name="b")
      >>> print(explain_run(a.graph, a))
      1 of 2 ops run
      runs  a  fetched
        -   b  nothing reads it, and it is not fetched
    """
    wanted, fed = elements_of(graph, fetches, feeds)
    found = prune(wanted, fed, expands=False)
    asks = _who_asks(wanted, fed, found.needed)
    consumers = _readers(graph)
    reasons = []
    for op in graph.get_operations():
        if op in found.needed:
            via = asks[op]
            text = "fetched" if via is None else f"{via.name} needs it"
            reasons.append(Reason(op, True, text, via))
        else:
            text = _why_not(op, found.cut, consumers, found.needed)
            reasons.append(Reason(op, False, text, None))
    return RunNeeds(reasons, wanted, fed)


def elements_of(
    graph: Graph, fetches: Fetch | Iterable[Fetch], feeds: Iterable[Tensor | str]
) -> tuple[tuple[Operation | Tensor, ...], tuple[Tensor, ...]]:
    """Resolve fetches and feeds to elements of the graph.

    Returns:
      (fetches, feeds): operations and tensors, and tensors.

    Raises:
      KeyError: a name is not in the graph.
    """
    if isinstance(fetches, Operation | Tensor | str):
        fetches = [fetches]
    wanted = tuple(graph.as_graph_element(f) for f in fetches)
    return wanted, tuple(_tensor(graph, f) for f in feeds)


def _tensor(graph: Graph, feed: Tensor | str) -> Tensor:
    if isinstance(feed, str) and ":" not in feed:
        feed += ":0"
    found = graph.as_graph_element(feed, allow_operation=False)
    assert isinstance(found, Tensor)
    return found


def _who_asks(
    wanted: tuple[Operation | Tensor, ...],
    fed: tuple[Tensor, ...],
    needed: dict[Operation, None],
) -> dict[Operation, Operation | None]:
    """Map each needed op to the consumer through which it was reached first.

    Fetched ops map to None.
    """
    asks: dict[Operation, Operation | None] = {}
    for fetch in wanted:
        op = fetch if isinstance(fetch, Operation) else fetch.op
        if op in needed and fetch not in fed:
            asks[op] = None
    queue = list(asks)
    for op in queue:
        sources = [t.op for t in op.inputs if t not in fed]
        for source in (*sources, *op.control_inputs):
            if source in needed and source not in asks:
                asks[source] = op
                queue.append(source)
    return asks


def _readers(graph: Graph) -> dict[Operation, list[Operation]]:
    readers: dict[Operation, list[Operation]] = {}
    for op in graph.get_operations():
        for tensor in op.inputs:
            readers.setdefault(tensor.op, []).append(op)
        for control in op.control_inputs:
            readers.setdefault(control, []).append(op)
    return readers


def _why_not(
    op: Operation,
    cut: dict[Tensor, None],
    readers: dict[Operation, list[Operation]],
    needed: dict[Operation, None],
) -> str:
    for tensor in op.outputs:
        if tensor in cut:
            return f"{tensor.name} is fed instead"
    reading = readers.get(op, [])
    if not reading:
        return "nothing reads it, and it is not fetched"
    if any(tensor in cut for reader in reading for tensor in reader.outputs):
        return "only a fed tensor would have needed it"
    return f"no fetch depends on it (read by {reading[0].name})"


def _way_to_fetch(needs: RunNeeds, op: Operation) -> Why:
    asks = {reason.op: reason.via for reason in needs.reasons}
    path = [op]
    while (reader := asks[path[-1]]) is not None:
        path.append(reader)
    if len(path) == 1:
        return Why(op, True, (op,), None, f"{op.name!r} runs: it is fetched")
    text = f"{op.name!r} runs: the fetch {path[-1].name!r} depends on it"
    return Why(op, True, tuple(path), None, text)


def _what_is_in_the_way(needs: RunNeeds, op: Operation) -> Why:
    fetched = {f if isinstance(f, Operation) else f.op for f in needs.fetches}
    path = _shortest(op, fetched)
    if path is None:
        used = "nothing reads it" if not _readers_of(op) else "no fetch depends on it"
        return Why(op, False, (op,), None, f"{op.name!r} does not run: {used}")
    for i, passed in enumerate(path):
        for tensor in passed.outputs:
            if tensor in needs.feeds:
                name = tensor.name
                way = "it is fed" if not i else f"{name!r} is fed instead, on its way"
                text = f"{op.name!r} does not run: {way}"
                return Why(op, False, path[: i + 1], tensor, text)
    text = f"{op.name!r} does not run: only what is fed would have needed it"
    return Why(op, False, path, None, text)


def _shortest(op: Operation, ends: set[Operation]) -> tuple[Operation, ...] | None:
    """The shortest path of consumers from `op` to one of `ends`, ignoring feeds."""
    came: dict[Operation, Operation | None] = {op: None}
    queue = [op]
    for passed in queue:
        if passed in ends:
            path: list[Operation] = []
            step: Operation | None = passed
            while step is not None:
                path.append(step)
                step = came[step]
            return tuple(reversed(path))
        for reader in _readers_of(passed):
            if reader not in came:
                came[reader] = passed
                queue.append(reader)
    return None


def _readers_of(op: Operation) -> list[Operation]:
    readers = [reader for tensor in op.outputs for reader in tensor.consumers()]
    return [*readers, *op.control_outputs]
