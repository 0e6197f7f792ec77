"""`tf.train.Server`: a process that other processes' sessions use.

Source: python/training/server_lib.py, core/distributed_runtime/rpc/grpc_server_lib.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

from tfteach.framework import errors, protos
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.threads import SharedMachine
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import MAIN_THREAD_WAKES_S
from tfteach.lib.distributed_runtime.certificates import PROTOCOL
from tfteach.lib.distributed_runtime.cluster import Cluster
from tfteach.lib.distributed_runtime.master_service import MasterService
from tfteach.lib.distributed_runtime.service import (
    Listener,
    LocalServer,
    Method,
    add_local,
    remove_local,
)
from tfteach.lib.distributed_runtime.task import Task
from tfteach.lib.distributed_runtime.worker_service import WorkerService
from tfteach.lib.training.cluster_spec import ClusterSpec, JobTasks

_started: set[Server] = set()  # servers run even if nothing refers to them
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def make_server_def(
    server_or_cluster_def: ClusterSpec | Mapping[str, JobTasks] | Proto,
    job_name: str | None,
    task_index: int | None,
    protocol: str | None,
    config: Proto | None,
) -> Proto:
    """The ServerDef of the arguments of `Server`."""
    if isinstance(server_or_cluster_def, protos.ServerDef):
        made = protos.ServerDef()
        made.CopyFrom(server_or_cluster_def)
        if job_name is not None:
            made.job_name = job_name
        if task_index is not None:
            made.task_index = task_index
        if protocol is not None:
            made.protocol = protocol
    else:
        try:
            cluster = ClusterSpec(server_or_cluster_def)
        except TypeError:
            raise TypeError(
                "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` "
                "or `tf.train.ClusterSpec`."
            ) from None
        if job_name is None:
            if len(cluster.jobs) != 1:
                raise ValueError("Must specify an explicit `job_name`.")
            job_name = cluster.jobs[0]
        if task_index is None:
            indices = cluster.task_indices(job_name)
            if len(indices) != 1:
                raise ValueError("Must specify an explicit `task_index`.")
            task_index = indices[0]
        made = protos.ServerDef(
            cluster=cluster.as_cluster_def(),
            job_name=job_name,
            task_index=task_index,
            protocol="grpc" if protocol is None else protocol,
        )
    if config is not None:
        made.default_session_config.MergeFrom(config)
    return made


@export("train.Server", "distribute.Server")
class Server:
    """A server in this process, for sessions of this and other processes.

    It listens at its task's address in the cluster; with the host `localhost` only this
    machine can reach it. It needs the extra `cluster` (grpcio).

    Args:
      server_or_cluster_def: a ServerDef, or the cluster: a ClusterSpec, or what one is
        made of.
      job_name: the job of which the server is a task; by default the only one.
      task_index: its index; by default that of the only task.
      protocol: "grpc"; "grpc+tls" for encrypted connections, with the certificates of
        `tfteach.distributed.use_certificates`, which TensorFlow does not have.
      config: a ConfigProto for the devices, and the default of the sessions.
      start: whether to start it at once.

    Raises:
      TypeError: an argument has another type.
      ValueError: the job or the task must be named.
      NotFoundError: the protocol is unknown.
      InvalidArgumentError: the cluster has no such task.
      UnknownError: the server cannot listen at its address.

    Example:
      >>> server = tf.train.Server.create_local_server()
      >>> with tf.Session(server.target) as sess:
      ...     sess.run(tf.constant(3.0) * 2.0)
      6.0

    Source: python/training/server_lib.py.
    """

    def __init__(
        self,
        server_or_cluster_def: ClusterSpec | Mapping[str, JobTasks] | Proto,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Proto | None = None,
        start: bool = True,
    ) -> None:
        self._server_def = make_server_def(
            server_or_cluster_def, job_name, task_index, protocol, config
        )
        own = self._server_def
        if own.protocol not in ("grpc", PROTOCOL):
            raise errors.NotFoundError(
                None,
                None,
                "No server factory registered for the given ServerDef: "
                f"{_one_line(own)}\nThe available server factories are: "
                "[ GRPC_SERVER ]",
            )
        host, _, port = _address_of(own).rpartition(":")
        own_config = own.default_session_config
        self._task = Task(own.job_name, own.task_index, own_config)
        methods: dict[str, Method] = {}
        cluster = Cluster(own.cluster, self._task.name, methods, own.protocol)
        self._master = MasterService(self._task, cluster, own_config)
        self._worker = WorkerService(self._task, cluster)
        methods |= self._master.methods() | self._worker.methods()
        is_secure = own.protocol == PROTOCOL
        self._listener = Listener(f"{_bound(host)}:{port}", methods, is_secure)
        self._address = f"{host}:{self._listener.port}"
        self._local = LocalServer(methods, self._master.run_step)
        self._machine = SharedMachine()
        self._is_started = False
        if start:
            self.start()

    @property
    def server_def(self) -> Proto:
        """The ServerDef of the arguments."""
        return self._server_def

    @property
    def target(self) -> bytes:
        """The target of sessions that use the server, such as b"grpc://localhost:2222"."""
        return f"{self._server_def.protocol}://{self._address}".encode()

    def start(self) -> None:
        """Start the server, if it is not running yet."""
        if self._is_started:
            return
        self._is_started = True
        _started.add(self)
        add_local(self._address, self._local)
        self._listener.start()
        if self._shares_cores():
            self._machine.enter()
        get_logger().info("Started server with target: %s", self.target.decode())
        host = self._address.rpartition(":")[0]
        if host not in _LOOPBACK and self._server_def.protocol == "grpc":
            get_logger().warning(
                "The server at %s answers everyone who can reach it.", self._address
            )

    def join(self) -> None:
        """Block until the server stops: forever, unless Ctrl-C interrupts it."""
        while self._listener.wait(MAIN_THREAD_WAKES_S):
            pass

    def _shares_cores(self) -> bool:
        """Whether another task of the cluster has the same host."""
        jobs = self._server_def.cluster.job
        hosts = [a.rpartition(":")[0] for job in jobs for a in job.tasks.values()]
        own = _bound(self._address.rpartition(":")[0])
        return [_bound(host) for host in hosts].count(own) > 1

    def _stop(self) -> None:
        """End the server and its sessions, for tests and clusters of this process."""
        _started.discard(self)
        remove_local(self._address)
        self._listener.stop()
        self._machine.leave()
        self._master.close()
        self._worker.close()

    @staticmethod
    def create_local_server(config: Proto | None = None, start: bool = True) -> Server:
        """A server of a cluster of one task, job "local", at a free port.

        Args:
          config: as for `Server`.
          start: as for `Server`.
        """
        cluster = {"local": ["localhost:0"]}
        return Server(cluster, protocol="grpc", config=config, start=start)


def _one_line(message: Proto) -> str:
    return " ".join(str(message).split())


def _address_of(server_def: Proto) -> str:
    """The address of the server's own task.

    Raises:
      InvalidArgumentError: the cluster has no such task, or its address has no port.
    """
    job, index = server_def.job_name, server_def.task_index
    found = [j.tasks for j in server_def.cluster.job if j.name == job]
    if not found or index not in found[0]:
        text = (
            f'Task {index} was not defined in job "{job}"'
            if found
            else f'Job "{job}" was not defined in cluster'
        )
        raise errors.InvalidArgumentError(None, None, text)
    address = str(found[0][index])
    if not address.rpartition(":")[2].isdigit():
        raise errors.InvalidArgumentError(
            None, None, f'Could not parse port for local server from "{address}".'
        )
    return address


def _bound(host: str) -> str:
    return "127.0.0.1" if host == "localhost" else host
