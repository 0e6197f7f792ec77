"""`tf.estimator.RunConfig`: how an Estimator runs.

Source: tensorflow_estimator/python/estimator/run_config.py.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.estimator.cluster_settings import cluster_settings, session_config_of
from tfteach.lib.estimator.input_fn import argument_names
from tfteach.lib.training.cluster_spec import ClusterSpec

_USE_DEFAULT: Any = object()
_BOTH = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
_REPLACEABLE = [
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
]


def _tf_config() -> dict[str, Any]:
    """The environment variable TF_CONFIG, decoded."""
    found: dict[str, Any] = json.loads(os.environ.get("TF_CONFIG") or "{}")
    if found:
        get_logger().info("TF_CONFIG environment variable: %s", found)
    service = found.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            'If "service" is set in TF_CONFIG, it must be a dict. Given '
            f"{type(service)}"
        )
    return found


def _chosen_model_dir(given: PathLike | None, in_environment: str | None) -> str | None:
    if in_environment == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    given = None if given is None else os.fspath(given)
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    if given and in_environment and given != in_environment:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same "
            f"value as the model_dir in TF_CONFIG. model_dir: {given}\n"
            f'TF_CONFIG["model_dir"]: {in_environment}.\n'
        )
    if in_environment and not given:
        get_logger().info("Using model_dir in TF_CONFIG: %s", in_environment)
    return given or in_environment


@export("estimator.RunConfig")
class RunConfig:
    """How an Estimator runs: directory, seed, intervals, and the session's options.

    The environment variable TF_CONFIG, JSON, may give "model_dir", "service", and for
    `tf.estimator.train_and_evaluate` in several processes the "cluster" and this
    process's "task" in it.

    Args:
      model_dir: the directory of checkpoints and event files.
      tf_random_seed: the graph's seed.
      save_summary_steps: the steps from one summary to the next; None for none.
      save_checkpoints_steps: the steps from one checkpoint to the next.
      save_checkpoints_secs: the seconds instead; 600 if neither is given.  None for
        both to save none.
      session_config: the session's ConfigProto.
      keep_checkpoint_max: how many checkpoints to keep; 0 or None for all.
      keep_checkpoint_every_n_hours: the interval of those that are never deleted.
      log_step_count_steps: the steps from one log line to the next; None for none.
      device_fn: a device function for the whole graph; by default, in a cluster that
        has parameter servers, that of `tf.train.replica_device_setter`.
      session_creation_timeout_secs: how long to wait for the session, in seconds.
      protocol: "grpc" or "grpc+verbs", of the servers of a cluster.
      experimental_max_worker_delay_secs: how long the workers of a cluster wait at
        most before they start.
      train_distribute: a `tf.distribute.Strategy` that trains, such as
        `tf.distribute.MirroredStrategy`.
      eval_distribute: a `tf.distribute.Strategy` that evaluates; its input function
        returns a dataset of batches for one replica.
      experimental_distribute: not implemented.

    Raises:
      ValueError: an argument is out of range; both intervals are given.
      NotImplementedError: `experimental_distribute` is given.

    Example:
      >>> config = tf.estimator.RunConfig("logs", 42, save_checkpoints_steps=100)

    Source: tensorflow_estimator/python/estimator/run_config.py.
    """

    def __init__(
        self,
        model_dir: PathLike | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _USE_DEFAULT,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        session_config: Proto | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: object = None,
        device_fn: Callable[[Operation], str] | None = None,
        protocol: str | None = None,
        eval_distribute: object = None,
        experimental_distribute: object = None,
        experimental_max_worker_delay_secs: float | None = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        steps, secs = save_checkpoints_steps, save_checkpoints_secs
        if steps is _USE_DEFAULT and secs is _USE_DEFAULT:
            steps, secs = None, 600
        elif secs is _USE_DEFAULT:
            secs = None
        elif steps is _USE_DEFAULT:
            steps = None
        elif steps is not None and secs is not None:
            raise ValueError(_BOTH)
        environment = _tf_config()
        self._model_dir = _chosen_model_dir(model_dir, environment.get("model_dir"))
        self._tf_random_seed = tf_random_seed
        self._save_summary_steps = save_summary_steps
        self._save_checkpoints_steps = steps
        self._save_checkpoints_secs = secs
        self._session_config = session_config
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._log_step_count_steps = log_step_count_steps
        self._train_distribute = train_distribute
        self._device_fn = device_fn
        self._protocol = protocol
        self._eval_distribute = eval_distribute
        self._experimental_distribute = experimental_distribute
        self._experimental_max_worker_delay_secs = experimental_max_worker_delay_secs
        self._session_creation_timeout_secs = session_creation_timeout_secs
        self._service = environment.get("service")
        settings = cluster_settings(environment)
        if session_config is None:
            self._session_config = session_config_of(settings)
        self._check()
        self._cluster_spec = settings.cluster_spec
        self._task_type, self._task_id = settings.task_type, settings.task_id
        self._global_id_in_cluster = settings.global_id_in_cluster
        self._master = settings.master
        self._evaluation_master = settings.evaluation_master
        self._is_chief = settings.is_chief
        self._num_ps_replicas = settings.num_ps_replicas
        self._num_worker_replicas = settings.num_worker_replicas

    def _check(self) -> None:
        """Refuse values out of range, and what is not implemented."""
        if self._experimental_distribute is not None:
            raise NotImplementedError(
                "RunConfig(experimental_distribute=...): use train_distribute and "
                "eval_distribute"
            )
        for name, least in (
            ("save_summary_steps", 0),
            ("save_checkpoints_steps", 0),
            ("save_checkpoints_secs", 0),
            ("keep_checkpoint_max", 0),
        ):
            value = getattr(self, f"_{name}")
            if value is not None and value < least:
                raise ValueError(f"{name} should be >= 0")
        if self._session_config is not None and (
            getattr(type(self._session_config), "DESCRIPTOR", None) is None
        ):
            raise ValueError("session_config must be instance of ConfigProto")
        hours = self._keep_checkpoint_every_n_hours
        if hours is not None and hours <= 0:
            raise ValueError("keep_checkpoint_every_n_hours should be > 0")
        log_steps = self._log_step_count_steps
        if log_steps is not None and log_steps <= 0:
            raise ValueError("log_step_count_steps should be > 0")
        seed = self._tf_random_seed
        if seed is not None and not hasattr(seed, "__index__"):
            raise ValueError("tf_random_seed must be integer.")
        if self._device_fn is not None and not (
            callable(self._device_fn) and argument_names(self._device_fn) == ("op",)
        ):
            raise ValueError(
                'device_fn must be callable with exactly one argument "op".'
            )
        if self._protocol not in (None, "grpc", "grpc+verbs"):
            raise ValueError("protocol should be grpc or grpc+verbs")
        delay = self._experimental_max_worker_delay_secs
        if delay is not None and not hasattr(delay, "__index__"):
            raise ValueError(
                "experimental_max_worker_delay_secs must be an integer if set."
            )
        timeout = self._session_creation_timeout_secs
        if timeout is not None and timeout <= 0:
            raise ValueError("session_creation_timeout_secs should be > 0")

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values.

        Args:
          **kwargs: arguments of the constructor.

        Raises:
          ValueError: there is no such argument, or both intervals are given.
        """
        new = copy.deepcopy(self)
        for name in kwargs:
            if name not in _REPLACEABLE:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are "
                    f"{_REPLACEABLE}."
                )
        steps = kwargs.get("save_checkpoints_steps")
        secs = kwargs.get("save_checkpoints_secs")
        if steps is not None and secs is not None:
            raise ValueError(_BOTH)
        # The other interval of the old object does not count.
        if steps is not None:
            new._save_checkpoints_secs = None
        if secs is not None:
            new._save_checkpoints_steps = None
        for name, value in kwargs.items():
            setattr(new, f"_{name}", value)
        if new._model_dir == "":
            raise ValueError("model_dir should be non-empty.")
        new._check()
        return new

    @property
    def cluster_spec(self) -> ClusterSpec:
        """The cluster in TF_CONFIG; empty without one, and for an evaluator."""
        return self._cluster_spec

    @property
    def device_fn(self) -> Callable[[Operation], str] | None:
        """The device function, or None."""
        return self._device_fn

    @property
    def evaluation_master(self) -> str:
        """The target of sessions that evaluate; "" is this process."""
        return self._evaluation_master

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the files."""
        return self._is_chief

    @property
    def master(self) -> str:
        """The target of sessions that train; "" is this process."""
        return self._master

    @property
    def num_ps_replicas(self) -> int:
        """The number of parameter servers."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """The number of workers, with the chief."""
        return self._num_worker_replicas

    @property
    def task_id(self) -> int:
        """The number of this process among its kind."""
        return self._task_id

    @property
    def global_id_in_cluster(self) -> int | None:
        """The number of this process; None outside of the cluster."""
        return self._global_id_in_cluster

    @property
    def task_type(self) -> str:
        """The kind of this process."""
        return self._task_type

    @property
    def tf_random_seed(self) -> int | None:
        """The graph's seed."""
        return self._tf_random_seed

    @property
    def save_summary_steps(self) -> int | None:
        """The steps between summaries."""
        return self._save_summary_steps

    @property
    def save_checkpoints_secs(self) -> float | None:
        """The seconds between checkpoints, or None."""
        return self._save_checkpoints_secs

    @property
    def save_checkpoints_steps(self) -> int | None:
        """The steps between checkpoints, or None."""
        return self._save_checkpoints_steps

    @property
    def session_config(self) -> Proto | None:
        """The session's ConfigProto, or None."""
        return self._session_config

    @property
    def keep_checkpoint_max(self) -> int | None:
        """How many checkpoints to keep."""
        return self._keep_checkpoint_max

    @property
    def keep_checkpoint_every_n_hours(self) -> float:
        """The interval of checkpoints that are never deleted."""
        return self._keep_checkpoint_every_n_hours

    @property
    def log_step_count_steps(self) -> int | None:
        """The steps between log lines."""
        return self._log_step_count_steps

    @property
    def model_dir(self) -> str | None:
        """The directory of checkpoints and event files."""
        return self._model_dir

    @property
    def service(self) -> dict[str, Any] | None:
        """The "service" in TF_CONFIG."""
        return self._service

    @property
    def session_creation_timeout_secs(self) -> float:
        """How long to wait for the session."""
        return self._session_creation_timeout_secs

    @property
    def train_distribute(self) -> object:
        """The `tf.distribute.Strategy` that trains, or None."""
        return self._train_distribute

    @property
    def eval_distribute(self) -> object:
        """The `tf.distribute.Strategy` that evaluates, or None."""
        return self._eval_distribute

    @property
    def protocol(self) -> str | None:
        """None."""
        return self._protocol

    @property
    def experimental_max_worker_delay_secs(self) -> float | None:
        """None."""
        return self._experimental_max_worker_delay_secs
