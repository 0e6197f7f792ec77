"""`ClusterView`: tasks as machines, what each holds, and the messages of a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import traitlets

from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.session.base_session import BaseSession
from tfteach.explain.clusters.cluster_step import ClusterStep, Message, trace_step
from tfteach.explain.clusters.clusters import (
    ClusterFacts,
    TaskFacts,
    explain_cluster,
    label_of_task,
)
from tfteach.framework.graph import Graph
from tfteach.jupyter.cell_events import at_cell_end
from tfteach.jupyter.pictures.cluster_svg import cluster_svg
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import PlainView, session_for, token_of
from tfteach.lib.distributed_runtime.local.local_cluster import (
    LocalCluster,
    running_clusters,
)

MOST_OPS = 5000
Sessions = Mapping[str, BaseSession] | Iterable[BaseSession]


class ClusterView(PlainView):
    """The tasks of a cluster as machines, and the messages of a step on their way.

    Each machine has its state, the variables that it holds, and its share of the graph;
    dead and slow ones are marked. With a step, the tensors that the tasks send to each
    other travel as it is played; beside them is a list, in which the arrow keys go from
    message to message. Click a machine for all that it holds and what it printed. The
    view is updated after each cell.

    Args:
      cluster: a `LocalCluster`; by default the newest that runs, else the servers of
        the sessions.
      sessions: sessions on its servers, by name; by default all that are open.
      step: a `ClusterStep`, from `trace_step`, or None.
      height: of the list of messages, in pixels; 0 fits it.
      graph: the graph whose ops and variables the tasks hold; by default that of the
        newest session, else the default graph.

    Attributes:
      facts: the `ClusterFacts` that are shown.
      selected: the name of the op whose tensor is selected; "" without one.

    Raises:
      ValueError: no cluster runs, and there is no session on servers.

    Example:
      >>> server = tf.train.Server.create_local_server()
      >>> w = tf.get_variable("w", [784, 10])
      >>> with tf.Session(server.target) as sess:
      ...     view = ClusterView(sessions={"sess": sess})
      >>> view.facts.task("local:0").variables[0].what
      'float32 [784,10]'
    """

    _esm = STATIC / "cluster.js"
    _css = STATIC / "cluster.css"

    _graph = traitlets.Unicode("").tag(sync=True)
    _summary = traitlets.Unicode("").tag(sync=True)
    _engine = traitlets.Unicode("").tag(sync=True)
    _tasks: Any = traitlets.List().tag(sync=True)
    _messages: Any = traitlets.List().tag(sync=True)
    _ran: Any = traitlets.Dict().tag(sync=True)
    _step = traitlets.Unicode("").tag(sync=True)
    _span = traitlets.Float(0.0).tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(0, min=0).tag(sync=True)

    facts: ClusterFacts

    def __init__(
        self,
        cluster: LocalCluster | None = None,
        sessions: Sessions | None = None,
        step: ClusterStep | None = None,
        height: int = 0,
        graph: Graph | None = None,
    ) -> None:
        if cluster is None:
            cluster = next(iter(reversed(running_clusters())), None)
        self._asked = cluster, sessions, graph, step
        self.facts = explain_cluster(*self._asked)
        super().__init__(height=height, **_traits(self.facts))
        at_cell_end(self.refresh)

    @classmethod
    def of(
        cls,
        session: Any,
        fetches: Any,
        feed_dict: Any = None,
        cluster: LocalCluster | None = None,
    ) -> ClusterView:
        """Run a step of a session on servers twice, and show its messages.

        Args:
          session: an open session on servers; None for the default session.
          fetches: as for `session.run`. The runs have their usual effects: a training
            op trains.
          feed_dict: as for `session.run`.
          cluster: as for `ClusterView`.

        Returns:
          A `ClusterView`.

        Raises:
          ValueError: there is no session, or it has no target.
        """
        session = session_for(session, "ClusterView.of", "a step belongs to one")
        step = trace_step(session, fetches, feed_dict)
        return cls(cluster, step=step, graph=session.graph)

    def __repr__(self) -> str:
        return f"ClusterView({self.facts.summary})"

    def refresh(self) -> None:
        """Show the tasks as they are now; of a closed cluster, as they were."""
        cluster, *_ = self._asked
        if cluster is not None and cluster.is_closed:
            return
        try:
            self.facts = explain_cluster(*self._asked)
        except ValueError:  # the sessions were closed
            return
        with self.hold_sync():
            for name, value in _traits(self.facts).items():
                setattr(self, name, value)

    def to_text(self) -> str:
        """The tasks, and the messages of the step, as text."""
        return str(self.facts)

    def static_bundle(self) -> dict[str, str]:
        return bundle_with(self.to_text(), cluster_svg(self.facts), beside=True)


def _traits(facts: ClusterFacts) -> dict[str, Any]:
    """The facts, as values of traits."""
    step = facts.step
    return {
        "_graph": token_of(facts.graph),
        "_summary": facts.summary,
        "_engine": facts.engine,
        "_tasks": [_task(task) for task in facts.tasks],
        "_messages": [] if step is None else [_message(m) for m in step.messages],
        "_ran": {} if step is None else _ran(step),
        "_step": "" if step is None else step.summary,
        "_span": 0.0 if step is None else round(step.span_us, 2),
        "problem": facts.problem,
    }


def _ran(step: ClusterStep) -> dict[str, list[list[Any]]]:
    """The ops of each task over time, without the transfers."""
    found: dict[str, list[list[Any]]] = {}
    for op in step.times.ops[:MOST_OPS]:
        if op.op_type not in (Send.op_type, Recv.op_type):
            row = [round(op.start_us, 2), round(op.end_us, 2), op.name]
            found.setdefault(label_of_task(op.device), []).append(row)
    return found


def _task(task: TaskFacts) -> dict[str, Any]:
    return {
        "name": task.name,
        "address": task.address,
        "state": task.state,
        "starts": task.starts,
        "devices": list(task.devices),
        "ops": task.ops,
        "types": [list(each) for each in task.op_types],
        "variables": [
            {"name": v.name, "what": v.what, "size": v.size} for v in task.variables
        ],
        "holds": task.holds,
        "sessions": list(task.sessions),
        "output": list(task.output),
    }


def _message(message: Message) -> dict[str, Any]:
    return {
        "tensor": message.tensor,
        "source": message.source,
        "target": message.target,
        "size": message.size,
        "sent": round(message.sent_us, 2),
        "received": round(message.received_us, 2),
        "when": message.when,
        "why": message.why,
    }
