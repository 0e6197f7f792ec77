"""The tasks of a cluster that trains an Estimator, one a process, by TF_CONFIG.

The chief and the workers train, each with a graph of its own whose variables stand on
the parameter servers (between-graph replication, asynchronous); the evaluator, outside
of the cluster, evaluates the checkpoints that the chief writes.
Source: tensorflow_estimator/python/estimator/training.py.
"""

from __future__ import annotations

import time

from tfteach.framework.logger import get_logger
from tfteach.framework.protos import ConfigProto
from tfteach.lib.distributed_runtime.server import Server
from tfteach.lib.estimator.checkpoint_evaluator import (
    CheckpointEvaluator,
    EvaluationListener,
    evaluate_until_trained,
)
from tfteach.lib.estimator.cluster_settings import TaskType
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.estimator.train_specs import EvalSpec, TrainSpec

_DELAY_OF_A_WORKER_S = 5
_LONGEST_DELAY_S = 60
_TRAINING = (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER)


def run_task(estimator: Estimator, training: TrainSpec, evaluation: EvalSpec) -> None:
    """Do what this process's task is; a parameter server never returns.

    Raises:
      ValueError: there is no such task.
    """
    config = estimator.config
    kind = config.task_type
    evaluator = CheckpointEvaluator(estimator, evaluation, training.max_steps)
    if kind == TaskType.EVALUATOR:
        evaluate_until_trained(evaluator, evaluation)
    elif kind == TaskType.PS:
        server = start_server(config)
        assert server is not None  # a parameter server is never alone
        server.join()
    elif kind == TaskType.MASTER:
        listener = EvaluationListener(evaluator, evaluation.throttle_secs)
        _train(estimator, training, [listener])
    elif kind in _TRAINING:
        _train(estimator, training, [])
    else:
        raise ValueError(
            f"Task type {kind} is not supported. Supported task types are "
            "['chief', 'evaluator', 'master', 'ps', 'worker']"
        )


def start_server(config: RunConfig) -> Server | None:
    """The server of this task; None if the task is the whole cluster.

    Raises:
      RuntimeError: the configuration has no cluster, or no target for sessions.
    """
    spec = config.cluster_spec
    if not spec or not config.task_type or config.task_id is None:
        raise RuntimeError(
            "Could not start server; be sure to specify cluster_spec, task_type, and "
            "task in RunConfig or set the TF_CONFIG environment variable."
        )
    if not config.master:
        jobs = spec.jobs
        is_alone = len(jobs) == 1 and len(spec.job_tasks(jobs[0])) == 1
        if is_alone and config.task_type in _TRAINING:
            get_logger().info(
                "Skip starting Tensorflow server as there is only one node in the "
                "cluster."
            )
            return None
        raise RuntimeError(
            "Could not start server; be sure to specify master in RunConfig or set "
            "the TF_CONFIG environment variable."
        )
    get_logger().info("Start Tensorflow server.")
    session = config.session_config
    gpus = None if session is None else session.gpu_options
    return Server(
        spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=ConfigProto(gpu_options=gpus),
        protocol=config.protocol,
    )


def start_delay_s(config: RunConfig) -> int:
    """How long a worker waits before it trains: each longer than the one before.

    Asynchronous training converges faster when its workers join one after the other.
    TensorFlow's strategies do not wait.
    """
    if config.task_type != TaskType.WORKER or config.train_distribute is not None:
        return 0
    longest_s = config.experimental_max_worker_delay_secs
    longest_s = _LONGEST_DELAY_S if longest_s is None else longest_s
    return int(min(longest_s, (config.task_id + 1) * _DELAY_OF_A_WORKER_S))


def _train(
    estimator: Estimator, spec: TrainSpec, listeners: list[EvaluationListener]
) -> None:
    """Train in this process, which also serves its share of the cluster."""
    config = estimator.config
    start_server(config)  # before the delay: the others wait for it
    delay_s = start_delay_s(config)
    if delay_s > 0:
        get_logger().info("Waiting %d secs before starting training.", delay_s)
        time.sleep(delay_s)
    estimator.train(
        spec.input_fn,
        hooks=spec.hooks,
        max_steps=spec.max_steps,
        saving_listeners=listeners,
    )
