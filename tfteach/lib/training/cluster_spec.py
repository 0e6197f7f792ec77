"""`tf.train.ClusterSpec`: the processes of a cluster, by job.

Source: python/training/server_lib.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.protos import ClusterDef
from tfteach.framework.type_aliases import Proto

# The addresses of a job's tasks: a list, or by index.
JobTasks = Sequence[str] | Mapping[int, str]
# The addresses of a job's tasks by index.
_Tasks = dict[int, str]


@export("train.ClusterSpec")
class ClusterSpec:
    """The network addresses of a cluster's tasks, by job and index.

    Args:
      cluster: a dict of job names to lists of addresses, or to dicts of indices to
        addresses; a ClusterDef; or another ClusterSpec.

    Raises:
      TypeError: `cluster`, a name, a list of tasks or an address has another type.
      ValueError: the index of a task does not fit into 32 bits.

    Example:
      >>> spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"], "ps": ["c:1"]})
      >>> spec.num_tasks("worker"), spec.task_address("ps", 0)
      (2, 'c:1')

    Source: python/training/server_lib.py.
    """

    def __init__(self, cluster: Mapping[str, JobTasks] | Proto | ClusterSpec) -> None:
        self._jobs: dict[str, _Tasks]
        if isinstance(cluster, ClusterSpec):
            self._jobs = {name: dict(tasks) for name, tasks in cluster._jobs.items()}
        elif isinstance(cluster, Mapping):
            self._jobs = {name: _tasks(name, given) for name, given in cluster.items()}
        elif isinstance(cluster, ClusterDef):
            self._jobs = {job.name: dict(job.tasks) for job in cluster.job}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists "
                "of network addresses, or a `ClusterDef` protocol buffer"
            )
        for name, tasks in self._jobs.items():
            _check_text(name, "Job name")
            for address in tasks.values():
                _check_text(address, "Task address")
        self.as_cluster_def()  # ValueError: an index is out of range

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """The number of a job's tasks; ValueError if there is no such job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's tasks; ValueError if there is no such job."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task; ValueError if there is no such job or task."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks; None for missing indices."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks) + 1)] if tasks else []

    def as_dict(self) -> dict[str, Any]:
        """Job names to lists of addresses, or to dicts where indices are missing."""
        found: dict[str, Any] = {}
        for name, tasks in self._jobs.items():
            is_dense = bool(tasks) and sorted(tasks) == list(range(len(tasks)))
            found[name] = self.job_tasks(name) if is_dense else dict(tasks)
        return found

    def as_cluster_def(self) -> Proto:
        """A ClusterDef, its jobs in the order of their names."""
        found = ClusterDef()
        for name in sorted(self._jobs):
            job = found.job.add(name=name)
            for index, address in sorted(self._jobs[name].items()):
                job.tasks[int(index)] = address
        return found

    def _job(self, name: str) -> _Tasks:
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._jobs[name]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return self._jobs == (other._jobs if isinstance(other, ClusterSpec) else other)

    __hash__ = None  # type: ignore[assignment]  # as in TensorFlow

    def __str__(self) -> str:
        jobs = ", ".join(f"{k!r}: {v!r}" for k, v in sorted(self.as_dict().items()))
        return f"ClusterSpec({{{jobs}}})"


def _tasks(job: str, given: JobTasks) -> _Tasks:
    if isinstance(given, list | tuple):
        return dict(enumerate(given))
    if isinstance(given, Mapping):
        for index in given:
            if not isinstance(index, int):
                raise TypeError(
                    f"{index!r} has type {type(index).__name__}, but expected one of: "
                    "int"
                )
        return dict(given)
    raise TypeError(
        f"The tasks for job {job!r} must be a list or a dictionary from integers to "
        "strings."
    )


def _check_text(value: Any, kind: str) -> None:
    if not isinstance(value, str | bytes):
        raise TypeError(f"{kind} {value!r} must be bytes or unicode")
