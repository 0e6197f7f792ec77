"""`tf.contrib.learn.RunConfig`: how an older Estimator runs.

Source: contrib/learn/python/learn/estimators/run_config.py.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.protos import ConfigProto, GPUOptions
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.contrib.framework.experimental import warn_experimental
from tfteach.lib.contrib.learn.keys import TaskType
from tfteach.lib.estimator.run_config import RunConfig as CoreRunConfig
from tfteach.lib.estimator.run_config import _chosen_model_dir
from tfteach.lib.training.cluster_spec import ClusterSpec

_DEFAULT_SECS = 600
_USE_DEFAULT = 0
# What two runs of one experiment may differ in.
_NOT_IN_UID = (
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
)


class Environment:
    """Where a program runs, for `RunConfig.environment`.

    Attributes:
      CLOUD: "cloud", where the chief is the master.
      GOOGLE: "google".
      LOCAL: "local".

    Source: contrib/learn/python/learn/estimators/run_config.py.
    """

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


def _environment() -> dict[str, Any]:
    """The environment variable TF_CONFIG."""
    found: dict[str, Any] = json.loads(os.environ.get("TF_CONFIG") or "{}")
    return found


def _count(cluster: ClusterSpec, job: str) -> int:
    return len(cluster.as_dict().get(job) or ())


def _master_of(cluster: ClusterSpec, task_type: str | None, task_id: int) -> str:
    """The session's target: this process' server; "" without several processes.

    Raises:
      ValueError: the cluster has no such task.
    """
    jobs = cluster.as_dict()
    if sum(map(len, jobs.values())) <= 1 or not task_type:
        return ""
    note = (
        f"in the cluster_spec:\n{cluster}\n\nNote that these values may be coming from "
        "the TF_CONFIG environment variable."
    )
    if task_type not in jobs:
        raise ValueError(f"{task_type} is not a valid task_type {note}")
    addresses = jobs[task_type]
    if not 0 <= task_id < len(addresses):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} {note}"
        )
    return f"grpc://{addresses[task_id]}"


@export("contrib.learn.RunConfig")
class RunConfig(CoreRunConfig):
    """How a `tf.contrib.learn` Estimator runs: intervals, seed, the session's options.

    Args:
      master: the session's target: "" or None.
      num_cores: the number of threads in `tf_config`; 0 for as many as there are.
      log_device_placement: whether `tf_config` logs the devices of ops.
      gpu_memory_fraction: the part of a card's memory in `tf_config`.
      tf_random_seed: the graph's seed.
      save_summary_steps: the steps from one summary to the next.
      save_checkpoints_secs: the seconds from one checkpoint to the next; 0 for 600,
        or for none with `save_checkpoints_steps`.
      save_checkpoints_steps: the steps instead.
      keep_checkpoint_max: how many checkpoints to keep; 0 or None for all.
      keep_checkpoint_every_n_hours: the interval of those that are never deleted.
      log_step_count_steps: the steps from one line with the speed to the next.
      protocol: not implemented.
      evaluation_master: the target of sessions that evaluate.
      model_dir: the directory of checkpoints and event files.
      session_config: the session's ConfigProto.
      session_creation_timeout_secs: how long to wait for the session, in seconds.

    Raises:
      ValueError: TF_CONFIG has another directory, or its cluster no such task.
      NotImplementedError: `protocol` is given.

    Example:
      >>> config = tf.contrib.learn.RunConfig(tf_random_seed=1, save_summary_steps=10)

    Source: contrib/learn/python/learn/estimators/run_config.py.
    """

    # TensorFlow's class has no such attributes.
    _experimental_distribute = None
    _service = None

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: PathLike | None = None,
        session_config: Proto | None = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        if protocol is not None:
            raise NotImplementedError("RunConfig(protocol=...) is for clusters")
        environment = _environment()
        task = environment.get("task") or {}
        kind: Any = task.get("type")
        self._task_type = kind
        self._task_id = self.get_task_id()
        self._cluster_spec = cluster = ClusterSpec(environment.get("cluster") or {})
        self._master = master or environment.get("master") or ""
        if master is None and not self._master:
            self._master = _master_of(cluster, kind, self._task_id)
        self._num_ps_replicas = _count(cluster, TaskType.PS)
        # A master also works.
        self._num_worker_replicas = _count(cluster, TaskType.WORKER) + _count(
            cluster, TaskType.MASTER
        )
        self._environment = environment.get("environment", Environment.LOCAL)
        chief = TaskType.WORKER
        if self._environment == Environment.CLOUD:
            chief = TaskType.MASTER
        self._is_chief = self._task_id == 0 and kind in (None, chief)
        self._evaluation_master = evaluation_master
        self._train_distribute = self._eval_distribute = None
        self._experimental_max_worker_delay_secs = None
        self._device_fn = None
        self._tf_config = ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )
        self._tf_random_seed = tf_random_seed
        self._save_summary_steps = save_summary_steps
        if save_checkpoints_secs == _USE_DEFAULT:
            save_checkpoints_secs = (
                _DEFAULT_SECS if save_checkpoints_steps is None else None
            )
        self._save_checkpoints_secs = save_checkpoints_secs
        self._log_step_count_steps = log_step_count_steps
        self._protocol = protocol
        self._session_config = session_config
        self._save_checkpoints_steps = save_checkpoints_steps
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._model_dir = _chosen_model_dir(model_dir, environment.get("model_dir"))
        self._session_creation_timeout_secs = session_creation_timeout_secs

    @property
    def environment(self) -> str:
        """Where the program runs: "local"."""
        found: str = self._environment
        return found

    @property
    def tf_config(self) -> Proto:
        """A ConfigProto of the threads and the memory of cards."""
        return self._tf_config

    @staticmethod
    def get_task_id() -> int:
        """The number of this process, from the environment variable TF_CONFIG: 0."""
        task = _environment().get("task") or {}
        return int(task.get("index") or 0)

    def uid(self, whitelist: Iterable[str] | None = None) -> str:
        """A text that is equal for equal configurations.

        Args:
          whitelist: names of attributes that may differ; the seed, the intervals and
            the session's options if None.
        """
        warn_experimental("RunConfig.uid", "learn.python.learn.estimators.run_config")
        free = _NOT_IN_UID if whitelist is None else tuple(whitelist)
        state = {k: v for k, v in vars(self).items() if not _is_free(k, free)}
        return ", ".join(f"{key}={_text(state[key])}" for key in sorted(state))


def _text(value: Any) -> str:
    """A text that is equal for equal values."""
    if isinstance(value, ClusterSpec):
        return repr(sorted(value.as_dict().items()))
    return repr(value)


def _is_free(attribute: str, free: tuple[str, ...]) -> bool:
    return attribute.removeprefix("_") in free
