"""Why an op is on its task, what it waits for there, and what it sends to others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tfteach.engine.plan.place import Placement
from tfteach.engine.session.base_session import BaseSession
from tfteach.explain.clusters.clusters import label_of_task
from tfteach.explain.devices.partitions import Link, Partitions, partitions
from tfteach.explain.devices.placement import placement
from tfteach.explain.runs.cluster_plan import label_of, names_tasks, planner_of
from tfteach.explain.runs.pruning import Fetch
from tfteach.framework.graph import Graph, Operation, Tensor

__all__ = ["TaskReason", "explain_task"]


class TaskReason(NamedTuple):
    """Why an op is on its task; `print` it for all reasons.

    Attributes:
      op: the op's name.
      task: the short name of its task, such as "ps:0".
      why: why it is there.
      waits_for: a `Link` for each tensor of another task that it reads.
      sends: a `Link` for each of its tensors that another task reads.
      reasons: op -> its task and why it is there, of the other ends.
    """

    op: str
    task: str
    why: str
    waits_for: tuple[Link, ...]
    sends: tuple[Link, ...]
    reasons: dict[str, str]

    def __str__(self) -> str:
        lines = [f"{self.op!r} is on {self.task}: {self.why}"]
        for link in self.waits_for:
            source = _op_of(link.tensor)
            lines.append(
                f"  it waits for {_named(link)} from {label_of(link.source)}: "
                f"{self.reasons.get(source, source)}"
            )
        for link in self.sends:
            readers = [name for name in link.readers if name in self.reasons]
            lines.append(
                f"  {_named(link)} goes to {label_of(link.target)}: "
                f"{self.reasons.get(readers[0]) if readers else 'it is fetched there'}"
            )
        return "\n".join(lines)


def is_on_cluster(session: Any) -> bool:
    """Whether a session uses servers, or a graph names tasks of a cluster."""
    if isinstance(session, BaseSession):
        return session._remote is not None or names_tasks(session.graph)
    return isinstance(session, Graph) and names_tasks(session)


def explain_task(
    session: Any,
    op: Operation | str,
    fetches: Fetch | Iterable[Fetch],
    feeds: Iterable[Tensor | str] = (),
) -> TaskReason:
    """Explain why an op is on its task, what it waits for there, and what it sends.

    Nothing is executed.

    Args:
      session: a session on servers; or a graph whose devices name tasks, for a plan.
      op: an operation that the run needs, or its name.
      fetches: a tensor, an operation, a name, or an iterable of these.
      feeds: the tensors, or their names, that the run would be fed.

    Returns:
      A `TaskReason`; `print` it.

    Raises:
      KeyError: a name is not in the graph, or the run does not need the op.
      InvalidArgumentError: an op cannot be placed where it must be.

    Example:
      >>> with tf.device("/job:ps/task:0"):
      ...     w = tf.get_variable("w", [784, 10])
      >>> with tf.device("/job:worker/task:0"):
      ...     loss = tf.reduce_mean(w, name="loss")
      >>> print(explain_task(loss.graph, "loss", loss))
      'loss' is on worker:0: asked for /job:worker/task:0
        it waits for w/read:0 (30.62 KiB) from ps:0: w/read is on ps:0, colocated with w
    """
    planner = planner_of(session)
    rows = {row.name: row for row in placement(planner, fetches, feeds).rows}
    name = op if isinstance(op, str) else op.name
    if name not in rows:
        raise KeyError(f"{name!r} is on no task: the run does not need it")
    # Unfolded: servers cut the graph before they fold anything.
    cut = partitions(planner, fetches, feeds, unfolded=True)
    links = [link._replace(readers=_readers(cut, link)) for link in cut.links]
    waits_for = tuple(link for link in links if name in link.readers)
    sends = tuple(link for link in links if _op_of(link.tensor) == name)
    reasons = {
        other.name: f"{other.name} is on {label_of_task(other.assigned)}, {_why(other)}"
        for other in rows.values()
    }
    row = rows[name]
    task = label_of_task(row.assigned)
    return TaskReason(name, task, _why(row), waits_for, sends, reasons)


def _readers(cut: Partitions, link: Link) -> tuple[str, ...]:
    """The readers of a tensor; of an order those behind the node that carries it."""
    if not link.is_order:
        return link.readers
    carried = {f"^{name}" for name in (link.recv, *link.readers)}
    nodes = cut.of(link.target).nodes
    return tuple(node.name for node in nodes if carried & set(node.inputs))


def _why(row: Placement) -> str:
    if row.reason.startswith("explicit"):
        return f"asked for {row.requested}"
    return row.reason


def _op_of(tensor: str) -> str:
    return tensor.removeprefix("^").partition(":")[0]


def _named(link: Link) -> str:
    if link.is_order:
        return f"the end of {link.tensor[1:]}"
    return f"{link.tensor} ({link.size})"
