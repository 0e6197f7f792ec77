"""Plans for clusters: where each op is placed, and what the tasks send to each other.

A plan needs only the devices' names: those that a graph's ops request, if nobody
started the cluster, or those of the servers that a session uses.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from tfteach.engine.devices.device_name import DeviceName
from tfteach.engine.devices.devices import Device
from tfteach.engine.plan.partition import Transfers
from tfteach.engine.plan.place import Placement, Placer
from tfteach.engine.plan.step import Step
from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.config_proto import Options
from tfteach.framework.graph import Graph

LOCAL_JOB = "localhost"
PARAMETER_JOB = "ps"
_CPU = "/device:CPU:0"
CLIENT_JOBS = ("chief", "master", "worker")  # to which a session connects, by custom


class Task(NamedTuple):
    """One process of a cluster."""

    job: str
    replica: int
    task: int

    @property
    def name(self) -> str:
        """TensorFlow's name, such as "/job:worker/replica:0/task:1"."""
        return f"/job:{self.job}/replica:{self.replica}/task:{self.task}"


class PlannedDevice(Device):
    """A device of a task that does not run."""

    def __init__(self, task: Task, device_type: str, index: int) -> None:
        super().__init__(device_type, index)
        self.name = f"{task.name}/device:{device_type}:{index}"


class _ClusterPlacer(Placer):
    """Places as the task does to which the session is connected."""

    def __init__(self, devices: list[Device], client: Device, allow_soft: bool) -> None:
        super().__init__(devices, allow_soft)
        self.client = client

    def twin(self) -> Placer:
        return _ClusterPlacer(self.devices, self.client, self.allow_soft)

    def place(self, step: Step) -> list[Placement]:
        rows = super().place(step)
        for feed in step.feeds.values():
            feed.device = self.client
        return rows


class _Planner(NamedTuple):
    placer: Placer
    options: Options


class PlannedCluster:
    """Stands for the session of a cluster where a run is planned, not made.

    Attributes:
      graph: the graph.
      tasks: those that the graph's devices name.
      devices: a CPU of each task, and the other devices that the graph names. As in
        TensorFlow, an op that requests no device is placed on the first, by name.
      client: the CPU of the task to which the session would be connected: it receives
        the feeds and returns the fetches.
    """

    _closed = False

    def __init__(self, graph: Graph) -> None:
        tasks, devices = _devices_of(graph)
        self._plan(graph, tasks, devices, min(tasks, key=_client_first), Options())

    def _plan(
        self,
        graph: Graph,
        tasks: list[Task],
        devices: list[Device],
        connected: Task,
        options: Options,
    ) -> None:
        self.graph = graph
        self.tasks, self.devices = tasks, devices
        (self.client,) = (
            device for device in devices if device.name == f"{connected.name}{_CPU}"
        )
        placer = _ClusterPlacer(devices, self.client, options.allow_soft_placement)
        self.planner = _Planner(placer, options)
        self.transfers = Transfers()

    @property
    def text(self) -> str:
        """What the plan assumes, in two sentences."""
        return f"A plan for {self._counts}: no such cluster runs here. {self._way}"

    @property
    def _counts(self) -> str:
        jobs = Counter(task.job for task in self.tasks)
        counts = [f"{n} {job} task{'' if n == 1 else 's'}" for job, n in jobs.items()]
        return " and ".join(counts)

    @property
    def _way(self) -> str:
        return f"Feeds and fetches pass through {label_of(self.client.name)}."


class RunningCluster(PlannedCluster):
    """Plans as the servers do that a session uses.

    Args:
      session: an open session with a target.
    """

    def __init__(self, session: BaseSession) -> None:
        names = [
            found
            for found in session.list_devices()
            if not found.device_type.startswith("XLA_")
        ]
        connected = task_of_device(names[0].name)
        names.sort(key=lambda found: found.name)
        devices: list[Device] = []
        for found in names:
            index = int(found.name.rpartition(":")[2])
            task = task_of_device(found.name)
            devices.append(PlannedDevice(task, found.device_type, index))
        hosts = {
            task_of_device(d.name): d
            for d in reversed(devices)
            if d.device_type == "CPU"
        }
        for device in devices:
            device.host = hosts.get(task_of_device(device.name))
        tasks = sorted({task_of_device(device.name) for device in devices})
        self._plan(session.graph, tasks, devices, connected, session._options)
        self._target = session._target

    @property
    def text(self) -> str:
        """The cluster whose devices the plan uses, in two sentences."""
        return f"{self._counts} of the servers at {self._target}. {self._way}"


def planner_of(session: Any) -> Any:
    """What plans the runs of a session, without running them.

    The session itself; for a session on servers, and for a graph, a cluster.

    Raises:
      UnavailableError: the session's server has gone.
    """
    if isinstance(session, Graph):
        return PlannedCluster(session)
    is_remote = isinstance(session, BaseSession) and session._remote is not None
    return RunningCluster(session) if is_remote and not session._closed else session


def task_of_device(name: str) -> Task:
    """The task of a device's full name."""
    found = DeviceName.parse(name) or DeviceName()
    return Task(found.job or LOCAL_JOB, found.replica or 0, found.task or 0)


def names_tasks(graph: Graph) -> bool:
    """True if an op of the graph requests a job other than the local process."""
    return any(
        (name := DeviceName.parse(request)) is not None
        and name.job not in (None, LOCAL_JOB)
        for request in {op.device for op in graph.get_operations()}
    )


def label_of(device: str) -> str:
    """The short form of a full device name: "GPU:0".

    In a task of a cluster "worker:1", its CPU, or "worker:1 GPU:0".
    """
    own = device.rpartition("device:")[2]
    name = DeviceName.parse(device)
    if name is None or name.job in (None, LOCAL_JOB):
        return own
    replica = f".{name.replica}" if name.replica else ""
    task = f"{name.job}{replica}:{name.task}"
    return task if own == "CPU:0" else f"{task} {own}"


def _devices_of(graph: Graph) -> tuple[list[Task], list[Device]]:
    """The tasks that the graph names, and their devices, both by name."""
    devices: dict[Task, set[tuple[str, int]]] = {}
    loose: set[tuple[str, int]] = set()
    for request in {op.device for op in graph.get_operations()}:
        name = DeviceName.parse(request) or DeviceName()
        wanted = loose
        if name.job is not None:
            task = Task(name.job, name.replica or 0, name.task or 0)
            wanted = devices.setdefault(task, {("CPU", 0)})
        if name.device_type is not None:
            wanted.add((name.device_type, name.device_index or 0))
    if not devices:
        devices[Task(LOCAL_JOB, 0, 0)] = {("CPU", 0)}
    tasks = sorted(devices)
    devices[tasks[0]] |= loose  # what names no task is placed on the first
    made: list[Device] = []
    for task in tasks:
        own = [PlannedDevice(task, *device) for device in sorted(devices[task])]
        for each in own:
            each.host = own[0]
        made += own
    return tasks, made


def _client_first(task: Task) -> tuple[int, Task]:
    if task.job in CLIENT_JOBS:
        return CLIENT_JOBS.index(task.job), task
    return len(CLIENT_JOBS) + (task.job == PARAMETER_JOB), task
