"""The part of this process in a cluster, from the environment variable TF_CONFIG.

Source: tensorflow_estimator/python/estimator/run_config.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tfteach.framework.protos import ConfigProto
from tfteach.framework.type_aliases import Proto
from tfteach.lib.training.cluster_spec import ClusterSpec


class TaskType:
    """The jobs of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


class ClusterSettings(NamedTuple):
    """The part of this process; for the fields see the properties of RunConfig."""

    cluster_spec: ClusterSpec
    task_type: str = TaskType.WORKER
    task_id: int = 0
    master: str = ""
    evaluation_master: str = ""
    is_chief: bool = True
    num_ps_replicas: int = 0
    num_worker_replicas: int = 1
    global_id_in_cluster: int | None = 0


def cluster_settings(tf_config: Mapping[str, Any]) -> ClusterSettings:
    """The settings in TF_CONFIG, decoded.

    Raises:
      ValueError: the cluster lacks a chief, has several, or the task is not in it.
    """
    spec = ClusterSpec(tf_config.get("cluster") or {})
    task = tf_config.get("task") or {}
    master: str = tf_config.get("session_master") or ""
    evaluation_master: str = tf_config.get("eval_session_master") or ""
    if not spec:
        _check_local(task)
        return ClusterSettings(spec, master=master, evaluation_master=evaluation_master)
    chief = TaskType.MASTER if TaskType.MASTER in spec.jobs else TaskType.CHIEF
    if chief == TaskType.MASTER and TaskType.CHIEF in spec.jobs:
        raise ValueError(
            "If `master` node exists in `cluster`, job `chief` is not supported."
        )
    kind, index = _checked_task(spec, task, chief)
    if kind == TaskType.EVALUATOR:
        if chief == TaskType.MASTER:
            raise ValueError(
                "If `master` node exists in `cluster`, task_type `evaluator` is not "
                "supported."
            )
        outside = ClusterSettings(ClusterSpec({}), kind, index, is_chief=False)
        return outside._replace(
            evaluation_master=evaluation_master,
            num_worker_replicas=0,
            global_id_in_cluster=None,
        )
    if not master and len(spec.jobs) > 1:
        master = f"grpc://{spec.task_address(kind, index)}"
    return ClusterSettings(
        spec,
        kind,
        index,
        is_chief=kind == chief,
        num_ps_replicas=_count(spec, TaskType.PS),
        num_worker_replicas=_count(spec, TaskType.WORKER) + 1,
        global_id_in_cluster=_global_id(spec, kind, index, chief),
        master=master,
        evaluation_master=evaluation_master,
    )


def _check_local(task: Mapping[str, Any]) -> None:
    if task.get("type", TaskType.WORKER) != TaskType.WORKER:
        raise ValueError(
            'If "cluster" is not set in TF_CONFIG, task type must be WORKER.'
        )
    if int(task.get("index") or 0) != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')


def _checked_task(
    spec: ClusterSpec, task: Mapping[str, Any], chief: str
) -> tuple[str, int]:
    """The type and the index of this process's task."""
    if chief not in spec.jobs:
        raise ValueError(
            f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.'
        )
    if spec.num_tasks(chief) > 1:
        raise ValueError(
            f'The "cluster" in TF_CONFIG must have only one "{chief}" node.'
        )
    kind, given = task.get("type"), task.get("index")
    if not kind:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if given is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    index = int(given)
    if index < 0:
        raise ValueError("Task index must be non-negative number.")
    if kind == TaskType.EVALUATOR:
        return kind, index
    if kind not in spec.jobs:
        raise ValueError(f"{kind} is not a valid task_type in {_shown(spec)}")
    if index >= spec.num_tasks(kind):
        raise ValueError(
            f"{index} is not a valid task_id for task_type {kind} in {_shown(spec)}"
        )
    return kind, index


def _shown(spec: ClusterSpec) -> str:
    return (
        f"the cluster_spec:\n{spec}\n\nNote that these values may be coming from the "
        "TF_CONFIG environment variable."
    )


def _count(spec: ClusterSpec, job: str) -> int:
    return spec.num_tasks(job) if job in spec.jobs else 0


def _global_id(spec: ClusterSpec, kind: str, index: int, chief: str) -> int:
    """The number of this process, in the order chief, other jobs, parameter servers."""
    others = sorted(set(spec.jobs) - {chief, TaskType.PS})
    jobs = [chief, *others, TaskType.PS]
    return sum(_count(spec, job) for job in jobs[: jobs.index(kind)]) + index


def session_config_of(settings: ClusterSettings) -> Proto | None:
    """The ConfigProto of a task in a cluster; None for others.

    Workers connect to parameter servers only, not to each other.
    """
    kind = settings.task_type
    others = {
        TaskType.MASTER: ["/job:master"],
        TaskType.CHIEF: ["/job:chief"],
        TaskType.WORKER: [f"/job:worker/task:{settings.task_id}"],
        TaskType.PS: ["/job:worker", "/job:chief", "/job:master"],
    }
    if not settings.cluster_spec or kind not in others:
        return None
    config = default_session_config()
    config.device_filters.extend(["/job:ps", *others[kind]])
    return config


def default_session_config() -> Proto:
    """The ConfigProto of an Estimator whose RunConfig has none."""
    config = ConfigProto(allow_soft_placement=True)
    rewrites = config.graph_options.rewrite_options
    rewrites.meta_optimizer_iterations = type(rewrites).ONE
    return config
