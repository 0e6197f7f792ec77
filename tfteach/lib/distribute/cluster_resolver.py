"""`tf.distribute.cluster_resolver`: how a process learns its cluster and its task.

Source: python/distribute/cluster_resolver/{cluster_resolver,
tfconfig_cluster_resolver}.py.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import Proto
from tfteach.lib.training.cluster_spec import ClusterSpec, JobTasks


@export(
    "distribute.cluster_resolver.ClusterResolver",
    "contrib.cluster_resolver.ClusterResolver",
)
class ClusterResolver(ABC):
    """The base class of cluster resolvers.

    A subclass defines `cluster_spec()` and `master()`, and has the attributes
    `task_type`, `task_id` and `rpc_layer`: the job and the index of this process's
    task, and the protocol of the cluster.

    Example:
      >>> class Fixed(tf.distribute.cluster_resolver.ClusterResolver):
      ...     task_type, task_id, rpc_layer = "worker", 0, "grpc"
      ...     def cluster_spec(self):
      ...         return tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
      ...     def master(self, task_type=None, task_id=None, rpc_layer=None):
      ...         return "grpc://a:1"
      >>> Fixed().cluster_spec().num_tasks("worker")
      2

    Source: python/distribute/cluster_resolver/cluster_resolver.py.
    """

    task_type: str | None
    task_id: int | None
    rpc_layer: str | None

    @abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The cluster as it is now."""
        raise NotImplementedError

    @abstractmethod
    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of sessions.

        Args:
          task_type, task_id: the task to connect to; by default the resolver's choice.
          rpc_layer: the protocol; by default the resolver's.
        """
        raise NotImplementedError

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Proto | None = None,
    ) -> Mapping[str, int]:
        """The number of devices of each type, as listed by a session on the master.

        In an eager program CPUs do not count, as in TensorFlow.

        Args:
          task_type, task_id: count this task's devices only.
          config_proto: of the session.
        """
        from tfteach.engine.session.session import Session
        from tfteach.framework.graph import Graph, get_default_graph

        is_eager = get_default_graph().is_eager
        with Graph().as_default():
            target = self.master(task_type, task_id)
            with Session(target, config=config_proto) as session:
                devices = session.list_devices()
        if is_eager:
            devices = [device for device in devices if device.device_type != "CPU"]
        if task_type is not None and task_id is not None:
            wanted = f"/job:{task_type}", f"/task:{task_id}"
            devices = [d for d in devices if all(part in d.name for part in wanted)]
        return Counter(device.device_type for device in devices)

    @property
    def environment(self) -> str | None:
        """Where TensorFlow runs: "" anywhere but inside of Google."""
        return ""


@export(
    "distribute.cluster_resolver.SimpleClusterResolver",
    "contrib.cluster_resolver.SimpleClusterResolver",
)
class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program knows.

    Args:
      cluster_spec: a ClusterSpec.
      master: the target of sessions, unless `master()` names a task.
      task_type, task_id: this process's task.
      environment: what `environment` returns.
      num_accelerators: what `num_accelerators()` returns; `{}` if None.
      rpc_layer: the protocol of the cluster, such as "grpc".

    Raises:
      TypeError: `cluster_spec` is not a ClusterSpec, or `master` not a string.

    Example:
      >>> cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
      >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster)
      >>> resolver.master("worker", 1, rpc_layer="grpc")
      'grpc://b:1'

    Source: python/distribute/cluster_resolver/cluster_resolver.py.
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: Mapping[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec = cluster_spec
        self._master = master
        self.task_type = task_type
        self.task_id = task_id
        self._environment = environment
        self._num_accelerators = num_accelerators
        self.rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The ClusterSpec that was given."""
        return self._cluster_spec

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of sessions: that of a task if both arguments name one."""
        found = self._master
        if task_type is not None and task_id is not None:
            found = self._cluster_spec.task_address(task_type, task_id)
        return _target(found, rpc_layer or self.rpc_layer)

    @property
    def environment(self) -> str | None:
        """As given."""
        return self._environment

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Proto | None = None,
    ) -> Mapping[str, int]:
        """As given, for any task; no session is created."""
        return self._num_accelerators or {}


@export(
    "distribute.cluster_resolver.UnionResolver",
    "contrib.cluster_resolver.UnionClusterResolver",
)
class UnionClusterResolver(ClusterResolver):
    """Merges the clusters of several resolvers; all else is the first one's.

    Args:
      *args: the resolvers.
      **kwargs: `task_type`, `task_id` and `rpc_layer`, instead of the first one's.

    Raises:
      TypeError: an argument is not a ClusterResolver.
      ValueError: there is none, or a keyword is unknown.

    Example:
      >>> made = tf.distribute.cluster_resolver.SimpleClusterResolver
      >>> workers = made(tf.train.ClusterSpec({"worker": ["a:1"]}))
      >>> servers = made(tf.train.ClusterSpec({"ps": ["b:1"], "worker": ["c:1"]}))
      >>> both = tf.distribute.cluster_resolver.UnionResolver(workers, servers)
      >>> both.cluster_spec().as_dict()
      {'ps': ['b:1'], 'worker': ['a:1', 'c:1']}

    Source: python/distribute/cluster_resolver/cluster_resolver.py.
    """

    def __init__(self, *args: ClusterResolver, **kwargs: Any) -> None:
        self._rpc_layer = kwargs.pop("rpc_layer", None)
        self._task_type = kwargs.pop("task_type", None)
        self._task_id = kwargs.pop("task_id", None)
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(each, ClusterResolver) for each in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of all resolvers.

        Lists of a job's addresses are concatenated, unless a resolver gives task
        indices: then all are merged by index.

        Raises:
          KeyError: two resolvers have a task with the same index.
        """
        jobs: dict[str, list[dict[int, str] | list[str]]] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                jobs.setdefault(job, []).append(tasks)
        return ClusterSpec({job: _union(parts) for job, parts in jobs.items()})

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """That of the first resolver, or that of a task if both arguments name one."""
        if task_type is None or task_id is None:
            return self._resolvers[0].master(rpc_layer=rpc_layer)
        found = self.cluster_spec().task_address(task_type, task_id)
        return _target(found, rpc_layer or self._rpc_layer)

    @property
    def task_type(self) -> str | None:
        """The job of this process's task."""
        return self._task_type or self._resolvers[0].task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The index of this process's task."""
        return self._task_id or self._resolvers[0].task_id

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        """The protocol of the cluster."""
        return self._rpc_layer or self._resolvers[0].rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> str | None:
        """That of the first resolver."""
        return self._resolvers[0].environment

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Proto | None = None,
    ) -> Mapping[str, int]:
        """As the first resolver answers."""
        first = self._resolvers[0]
        return first.num_accelerators(task_type, task_id, config_proto)


@export(
    "distribute.cluster_resolver.TFConfigClusterResolver",
    "contrib.cluster_resolver.TFConfigClusterResolver",
)
class TFConfigClusterResolver(ClusterResolver):
    """The cluster of the environment variable TF_CONFIG.

    It is JSON: `{"cluster": {"worker": ["host:port", ...]}, "task": {"type": "worker",
    "index": 0}, "rpc_layer": "grpc"}`, and is read at each call.

    Args:
      task_type, task_id, rpc_layer: override TF_CONFIG.
      environment: what `environment` returns.

    Example:
      >>> import json, os
      >>> cluster = {"worker": ["a:1", "b:1"]}
      >>> task = {"type": "worker", "index": 1}
      >>> os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": task})
      >>> tf.distribute.cluster_resolver.TFConfigClusterResolver().master()
      'b:1'
      >>> del os.environ["TF_CONFIG"]

    Source: python/distribute/cluster_resolver/tfconfig_cluster_resolver.py.
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._environment = environment

    @property
    def task_type(self) -> str | None:
        """The job of this process's task, or None."""
        found = self._task_type
        if found is None:
            found = _tf_config().get("task", {}).get("type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The index of this process's task, or None.

        As in TensorFlow, TF_CONFIG's index is used unless `task_type` was given.

        Raises:
          TypeError: `task_type` was given without `task_id`.
        """
        if self._task_type is not None:
            return int(self._task_id)  # type: ignore[arg-type]
        found = _tf_config().get("task", {}).get("index")
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        """The protocol of the cluster, or None."""
        if self._rpc_layer is not None:
            return self._rpc_layer
        found: str | None = _tf_config().get("rpc_layer")
        return found

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> str | None:
        """As given."""
        return self._environment

    def cluster_spec(self) -> ClusterSpec:
        """The cluster; one without jobs if TF_CONFIG names none."""
        return ClusterSpec(_tf_config().get("cluster", {}))

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of sessions.

        Args:
          task_type, task_id: a task; by default this process's.
          rpc_layer: ignored, as in TensorFlow; the attribute counts.

        Returns:
          TF_CONFIG's "session_master" if it has one; "" if the cluster has one task or
          none; else the task's address.

        Raises:
          ValueError: there is no such task.
        """
        given = _tf_config().get("session_master")
        if given is not None:
            return str(given)
        cluster = self.cluster_spec()
        if sum(map(cluster.num_tasks, cluster.jobs)) <= 1:
            return ""
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        address = cluster.task_address(job, index)  # type: ignore[arg-type]
        return _target(address, self.rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Proto | None = None,
    ) -> Mapping[str, int]:
        """The number of this process's devices of each type; see `ClusterResolver`."""
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        return super().num_accelerators(job, index, config_proto)


def _target(master: str, rpc_layer: str | None) -> str:
    return f"{rpc_layer}://{master}" if rpc_layer else master


def _tf_config() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(os.environ.get("TF_CONFIG", "{}"))
    return found


def _union(parts: list[dict[int, str] | list[str]]) -> JobTasks:
    """The tasks of a job, of which several resolvers know some."""
    if all(isinstance(part, list) for part in parts):
        return [address for part in parts for address in part]  # type: ignore[misc]
    found: dict[int, str] = {}
    for part in parts:
        tasks = dict(enumerate(part)) if isinstance(part, list) else part
        twice = tasks.keys() & found.keys()
        if twice:
            raise KeyError(
                f"Duplicate keys detected when merging two ClusterSpecs: {twice!r}"
            )
        found |= tasks
    return found
