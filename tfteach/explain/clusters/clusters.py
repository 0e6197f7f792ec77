"""The state of a cluster: its tasks, and the part of a graph that each holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.session import open_sessions
from tfteach.explain.clusters.cluster_step import ClusterStep
from tfteach.explain.devices.placement import placement, static_size_bytes
from tfteach.explain.profiling.task_stats import task_of
from tfteach.explain.runs.cluster_plan import (
    PARAMETER_JOB,
    PlannedCluster,
    label_of,
    names_tasks,
    planner_of,
)
from tfteach.explain.runs.sessions import default_name, is_variable
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.errors import OpError
from tfteach.framework.graph import Graph
from tfteach.framework.op import op_class
from tfteach.framework.shape import text as shape_text
from tfteach.lib.distributed_runtime.local.local_cluster import (
    LocalCluster,
    running_clusters,
)
from tfteach.lib.distributed_runtime.local.local_task import ALIVE

__all__ = ["ClusterFacts", "HeldVariable", "TaskFacts", "explain_cluster"]

UNKNOWN = "unknown"
MOST_VARIABLES = 6  # in a line of text
MOST_TYPES = 5


class HeldVariable(NamedTuple):
    """A variable of the graph, on the task that holds it.

    Attributes:
      name: of its op.
      what: its type and shape, such as "float32 [784, 10]".
      size_bytes: None if its shape is not known.
    """

    name: str
    what: str
    size_bytes: int | None

    @property
    def size(self) -> str:
        """The size, for people."""
        return "" if self.size_bytes is None else show_bytes(self.size_bytes)

    def __str__(self) -> str:
        return f"{self.name} {self.size}".rstrip()


class TaskFacts(NamedTuple):
    """One task of a cluster.

    Attributes:
      name: the short name, such as "ps:0".
      address: `host:port`; "" if it is not known.
      state: "alive", "slow", "dead", or "unknown" for a task that this process did not
        start.
      starts: how often it was started; 0 if that is not known.
      devices: the short names of its devices that the graph or a session names.
      ops: the number of the graph's ops that are placed there.
      op_types: the most frequent types of these ops, with their numbers.
      variables: a `HeldVariable` for each variable placed there.
      sessions: names of the open sessions of which it is the master.
      output: the last lines that it printed.
    """

    name: str
    address: str
    state: str
    starts: int
    devices: tuple[str, ...]
    ops: int
    op_types: tuple[tuple[str, int], ...]
    variables: tuple[HeldVariable, ...]
    sessions: tuple[str, ...]
    output: tuple[str, ...]

    @property
    def variable_bytes(self) -> int:
        """The size of its variables, as far as it is known."""
        return sum(variable.size_bytes or 0 for variable in self.variables)

    @property
    def holds(self) -> str:
        """The variables in words."""
        count = len(self.variables)
        if not count:
            return "no variables"
        size = show_bytes(self.variable_bytes)
        return f"{count} variable{'' if count == 1 else 's'}, {size}"

    def __str__(self) -> str:
        words = [f"{self.ops} op{'' if self.ops == 1 else 's'}", self.holds]
        if self.variables:
            shown = [str(variable) for variable in self.variables[:MOST_VARIABLES]]
            more = ["..."] if len(self.variables) > MOST_VARIABLES else []
            words[1] += f": {', '.join(shown + more)}"
        if self.sessions:
            words.append(f"master of {', '.join(self.sessions)}")
        if self.starts > 1:
            words.append(f"started {self.starts} times")
        return "; ".join(words)


class ClusterFacts(NamedTuple):
    """A cluster and what it holds of a graph; `print` it for a line a task.

    Attributes:
      engine: "tfteach" or "tensorflow"; "" if this process did not start it.
      tasks: a `TaskFacts` for each task, the parameter servers first.
      graph: the graph, or None.
      problem: why the graph cannot be placed; "" if it can.
      step: a `ClusterStep`, or None.
    """

    engine: str
    tasks: tuple[TaskFacts, ...]
    graph: Graph | None
    problem: str = ""
    step: ClusterStep | None = None

    @property
    def states(self) -> Counter[str]:
        """State -> number of tasks."""
        return Counter(task.state for task in self.tasks)

    @property
    def summary(self) -> str:
        """One line: the number of tasks of each job, and who is slow or dead."""
        jobs = Counter(task.name.rpartition(":")[0] for task in self.tasks)
        counts = [f"{n} {job} task{'' if n == 1 else 's'}" for job, n in jobs.items()]
        troubled = [
            f"{task.name} is {task.state}"
            for task in self.tasks
            if task.state in ("slow", "dead")
        ]
        return "; ".join([" and ".join(counts), *troubled])

    def task(self, name: str) -> TaskFacts:
        """One of `tasks`.

        Args:
          name: such as "ps:0".

        Raises:
          KeyError: there is none of that name.
        """
        for task in self.tasks:
            if task.name == name:
                return task
        raise KeyError(name)

    def __str__(self) -> str:
        engine = f" (engine {self.engine})" if self.engine else ""
        lines = [f"{self.summary}{engine}"]
        rows = [(t.name, t.state, t.address, str(t)) for t in self.tasks]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = [f"{c:<{w}}" for c, w in zip(row, widths, strict=True)]
            lines.append(f"  {'  '.join(cells)}".rstrip())
        if self.problem:
            lines.append(self.problem)
        if self.step is not None:
            lines.append(str(self.step))
        return "\n".join(lines)


def explain_cluster(
    cluster: LocalCluster | None = None,
    sessions: Mapping[str, BaseSession] | Iterable[BaseSession] | None = None,
    graph: Graph | None = None,
    step: ClusterStep | None = None,
) -> ClusterFacts:
    """Explain which tasks a cluster has, their states, and the ops that each holds.

    Nothing is executed; tasks that are alive are asked whether they answer.

    Args:
      cluster: a `LocalCluster`; by default the newest that runs. Without one, the
        servers of the sessions, of which only the names are known.
      sessions: sessions on its servers, by name; by default all that are open.
      graph: the graph; by default that of the newest session, else the default graph.
      step: a step to report as well, from `trace_step`.

    Returns:
      A `ClusterFacts`; `print` it.

    Raises:
      ValueError: no cluster of this process runs, and there is no session on servers.

    Example:
      >>> server = tf.train.Server.create_local_server()
      >>> w = tf.get_variable("w", [784, 10])
      >>> with tf.Session(server.target) as sess:
      ...     found = explain_cluster(None, {"sess": sess})
      >>> found.task("local:0").holds
      '1 variable, 30.62 KiB'
    """
    if cluster is None:
        cluster = next(iter(reversed(running_clusters())), None)
    known = _sessions_on(cluster, sessions)
    if cluster is None and not known:
        raise ValueError(
            "No cluster: start one, tfteach.distributed.LocalCluster({'ps': 1, "
            "'worker': 2}) or %cluster ps=1 worker=2, or open a session on a server"
        )
    states = {} if cluster is None else {t.target: t.state for t in cluster.tasks}
    if graph is None:
        newest = next(iter(reversed(known.values())), None)
        graph = get_default_graph() if newest is None else newest.graph
    planner = _planner(
        # A master that does not answer would be waited for.
        [s for s in known.values() if states.get(s._target, ALIVE) == ALIVE],
        graph,
    )
    rows, problem = _placed(planner, graph)
    names = _names(cluster, planner)
    masters = _masters(cluster, known)
    found = []
    for name in sorted(names, key=lambda name: (name[0] != PARAMETER_JOB, name)):
        job, index = name
        task = None if cluster is None else cluster.task(job, index)
        label = f"{job}:{index}"
        own = [row for row in rows if label_of_task(row.assigned) == label]
        types = Counter(row.op_type for row in own)
        found.append(
            TaskFacts(
                label,
                "" if task is None else task.address,
                UNKNOWN if task is None else states[task.target],
                0 if task is None else task.starts,
                _devices(planner, label),
                len(own),
                tuple(types.most_common(MOST_TYPES)),
                tuple(_held(graph, own)),
                tuple(masters.get(label, ())),
                () if task is None else tuple(task.output),
            )
        )
    engine = "" if cluster is None else cluster.engine
    return ClusterFacts(engine, tuple(found), graph, problem, step)


def label_of_task(device: str) -> str:
    """The short name of a device's task, such as "ps:0"."""
    return label_of(f"{task_of(device)}/device:CPU:0")


def _sessions_on(
    cluster: LocalCluster | None,
    sessions: Mapping[str, BaseSession] | Iterable[BaseSession] | None,
) -> dict[str, BaseSession]:
    """The open sessions on the cluster's servers, by name, the newest last."""
    if sessions is None:
        sessions = open_sessions()
    if not isinstance(sessions, Mapping):
        sessions = {default_name(session): session for session in sessions}
    targets = None if cluster is None else {task.target for task in cluster.tasks}
    found = {
        name: session
        for name, session in sessions.items()
        if not session._closed
        and session._remote is not None
        and (targets is None or session._target in targets)
    }
    return dict(sorted(found.items(), key=lambda pair: pair[1].number))


def _planner(sessions: list[BaseSession], graph: Graph | None) -> Any:
    """What plans a run of the graph on the cluster's tasks; None if nothing does."""
    for session in reversed(sessions):
        if session.graph is not graph:
            continue
        try:
            return planner_of(session)
        except OpError:  # it was reset, or its server has gone: the graph names tasks
            pass
    if graph is None or not names_tasks(graph):
        return None
    return PlannedCluster(graph)


def _placed(planner: Any, graph: Graph | None) -> tuple[tuple[Any, ...], str]:
    if planner is None or graph is None or not graph.version:
        return (), ""
    try:
        return placement(planner).rows, ""
    except OpError as error:
        return (), str(error.message).partition("\n")[0]


def _names(cluster: LocalCluster | None, planner: Any) -> list[tuple[str, int]]:
    if cluster is not None:
        return [(task.job, task.index) for task in cluster.tasks]
    return [] if planner is None else [(task.job, task.task) for task in planner.tasks]


def _masters(
    cluster: LocalCluster | None, sessions: Mapping[str, BaseSession]
) -> dict[str, list[str]]:
    """Task -> names of the sessions of which it is the master."""
    found: dict[str, list[str]] = {}
    labels = {} if cluster is None else {t.target: t.name for t in cluster.tasks}
    for name, session in sessions.items():
        label = labels.get(session._target)
        if label is None:
            try:
                label = label_of_task(session.list_devices()[0].name)
            except OpError:
                continue
        found.setdefault(label, []).append(name)
    return found


def _devices(planner: Any, label: str) -> tuple[str, ...]:
    devices = [] if planner is None else planner.devices
    return tuple(
        device.name.rpartition("device:")[2]
        for device in devices
        if label_of_task(device.name) == label
    )


def _held(graph: Graph | None, rows: Iterable[Any]) -> Iterable[HeldVariable]:
    for row in rows:
        if graph is None or not op_class(row.op_type).returns_handle:
            continue
        op = graph.get_operation_by_name(row.name)
        if not is_variable(op):
            continue
        spec: Any = op.spec
        dtype = spec.dtype.base_dtype
        what = f"{dtype.name} {shape_text(spec.shape)}"
        yield HeldVariable(row.name, what, static_size_bytes(spec.shape, dtype))
