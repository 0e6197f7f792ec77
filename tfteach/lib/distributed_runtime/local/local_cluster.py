"""`LocalCluster`: the tasks of a cluster as processes of this machine."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from tfteach.framework.type_aliases import Proto
from tfteach.lib.distributed_runtime.channel_options import grpc_module
from tfteach.lib.distributed_runtime.local.local_task import LocalTask, Program
from tfteach.lib.training.cluster_spec import ClusterSpec

ENGINES = ("tfteach", "tensorflow")
VARIABLE = "TFTEACH_TENSORFLOW"
START_TIMEOUT_S = 180.0
_ATTEMPTS = 3  # another process may take a free port before a task does
_TAIL = 12  # lines of a task that failed


class LocalCluster:
    """A cluster on this machine, with a process for each task.

    They listen at free ports, and end with `close()`, with the `with` block, and at the
    latest with this process, even if that is killed.  It takes the extra `cluster`.

    Args:
      jobs: the number of tasks of each job, such as `{"ps": 1, "worker": 2}`.
      engine: "tfteach", or "tensorflow" for servers of real TensorFlow 1.15 or 2, which
        listen at all addresses of the machine.
      python: the interpreter that has this engine; by default this one, and for
        TensorFlow that of the environment variable TFTEACH_TENSORFLOW.
      config: the ConfigProto of the tasks, or None.

    Attributes:
      engine: as given.
      tasks: a `LocalTask` for each task, with `name`, `state` ("alive", "slow" or
        "dead"), `target`, `address`, `pid` and `output`, its last lines.
      cluster_spec: the `tf.train.ClusterSpec`.

    Raises:
      ValueError: a number of tasks is below 1, or the engine is unknown.
      FileNotFoundError: there is no such interpreter, or none named for TensorFlow.
      RuntimeError: a task did not start; the message has what it printed.

    Example:
      >>> with tfteach.distributed.LocalCluster({"ps": 1, "worker": 1}) as cluster:
      ...     with tf.device("/job:ps/task:0"):
      ...         w = tf.Variable(3.0)
      ...     with tf.Session(cluster.target("worker", 0)) as sess:
      ...         sess.run(w.initializer)
      ...         sess.run(w)
      3.0
    """

    def __init__(
        self,
        jobs: Mapping[str, int],
        engine: str = "tfteach",
        python: str | os.PathLike[str] | None = None,
        config: Proto | None = None,
    ) -> None:
        for job, count in jobs.items():
            if count < 1:
                raise ValueError(f"job {job!r} needs at least one task, got {count}")
        if not jobs:
            raise ValueError("a cluster needs at least one job")
        grpc_module()
        self.engine = engine
        interpreter = _interpreter(engine, python)
        encoded = b"" if config is None else config.SerializeToString()
        self.tasks: list[LocalTask] = []
        self._end = weakref.finalize(self, _end, self.tasks)  # at exit, too
        for attempt in range(_ATTEMPTS):
            addresses = free_addresses(jobs)
            self.cluster_spec = ClusterSpec(addresses)
            program = Program(
                interpreter,
                engine,
                json.dumps(addresses),
                encoded.hex(),
                _environment(engine),
            )
            self.tasks[:] = [
                LocalTask(program, job, index, address)
                for job, of_job in addresses.items()
                for index, address in enumerate(of_job)
            ]
            try:
                self._start_all()
                break
            except BaseException as error:
                ports_taken = isinstance(error, RuntimeError) and not all(
                    map(_is_free, self.tasks)
                )
                _end(self.tasks)
                if not ports_taken or attempt == _ATTEMPTS - 1:
                    raise
        _running[self] = None

    def _start_all(self) -> None:
        for task in self.tasks:
            task.start()
        self._wait(self.tasks)

    def _wait(self, tasks: list[LocalTask]) -> None:
        end_s = time.monotonic() + START_TIMEOUT_S
        for task in tasks:
            if task.has_started(max(0.0, end_s - time.monotonic())):
                continue
            said = "\n".join(task.output[-_TAIL:]) or "(it printed nothing)"
            how = "did not start in time" if task.pid else "ended before it was ready"
            raise RuntimeError(f"{task.name} of the cluster {how}:\n{said}")

    def __repr__(self) -> str:
        names = ", ".join(task.name for task in self.tasks)
        ended = "; closed" if self.is_closed else ""
        return f"LocalCluster({names}; {self.engine}{ended})"

    @property
    def is_closed(self) -> bool:
        """True after `close()`."""
        return not self._end.alive

    def task(self, job: str, index: int = 0) -> LocalTask:
        """One of `tasks`.

        Raises:
          ValueError: there is none of that name.
        """
        for task in self.tasks:
            if (task.job, task.index) == (job, index):
                return task
        names = ", ".join(task.name for task in self.tasks)
        raise ValueError(f"the cluster has no task {job}:{index}; it has {names}")

    def target(self, job: str, index: int = 0) -> str:
        """The target of sessions of which a task is the master: "grpc://host:port"."""
        return self.task(job, index).target

    def kill(self, job: str, index: int = 0) -> None:
        """Kill a task's process, as if its machine failed; see `restart`."""
        self.task(job, index).kill()

    def stop(self, job: str, index: int = 0) -> None:
        """Suspend a task, as if its machine were unreachable; see `resume`.

        Raises:
          ValueError: there is no such task, or it is dead.
          NotImplementedError: the operating system cannot stop a process.
        """
        self.task(job, index).stop()

    def resume(self, job: str, index: int = 0) -> None:
        """Resume a suspended task.

        Raises:
          ValueError: there is no such task, or it is dead.
        """
        self.task(job, index).resume()

    def restart(self, job: str, index: int = 0) -> None:
        """Restart a task at its address: a new incarnation, without variables.

        Raises:
          RuntimeError: the cluster is closed, or the task did not start.
        """
        if self.is_closed:
            raise RuntimeError("The cluster is closed: make another one")
        task = self.task(job, index)
        task.kill()
        task.start()
        self._wait([task])

    def close(self) -> None:
        """End all tasks."""
        self._end()
        _running.pop(self, None)

    def __enter__(self) -> LocalCluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


# They answer also when no variable refers to them; the last one is the newest.
_running: dict[LocalCluster, None] = {}


def running_clusters() -> list[LocalCluster]:
    """This process's open clusters, in the order in which they were started."""
    return list(_running)


def _end(tasks: list[LocalTask]) -> None:
    for task in tasks:
        task.kill()


def free_addresses(jobs: Mapping[str, int]) -> dict[str, list[str]]:
    """Free addresses of this machine, by job."""
    count = sum(jobs.values())
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:  # all at once, so that none is given twice
            each.bind(("127.0.0.1", 0))
        ports = iter([each.getsockname()[1] for each in sockets])
    finally:
        for each in sockets:
            each.close()
    return {
        job: [f"localhost:{next(ports)}" for _ in range(of_job)]
        for job, of_job in jobs.items()
    }


def _is_free(task: LocalTask) -> bool:
    """True if the address of an ended task is free."""
    if task.pid is not None:
        return True
    with socket.socket() as tried:
        port = int(task.address.rpartition(":")[2])
        return tried.connect_ex(("127.0.0.1", port)) != 0


def _interpreter(engine: str, python: str | os.PathLike[str] | None) -> str:
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if python is None and engine == "tfteach":
        return sys.executable
    found = os.environ.get(VARIABLE, "") if python is None else os.fspath(python)
    if not found:
        raise FileNotFoundError(
            "engine='tensorflow' runs servers of a real TensorFlow: name the Python "
            "that has it, by the argument `python` or the environment variable "
            f"{VARIABLE}, such as /path/to/venv/bin/python"
        )
    if not os.access(found, os.X_OK):
        raise FileNotFoundError(f"no Python interpreter at {found}")
    return found


def _environment(engine: str) -> dict[str, str]:
    """The environment of tasks: with this tfteach, or without it."""
    found = dict(os.environ)
    if engine == "tfteach":
        own = str(Path(__file__).parents[4])  # the folder that has tfteach
        paths = [own, *found.get("PYTHONPATH", "").split(os.pathsep)]
        found["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    else:
        found.pop("PYTHONPATH", None)
        found.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
        found.setdefault("PYTHONWARNINGS", "ignore")
    return found
