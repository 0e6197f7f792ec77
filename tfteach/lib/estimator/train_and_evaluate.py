"""`tf.estimator.train_and_evaluate`: evaluates after each checkpoint of a training.

Source: tensorflow_estimator/python/estimator/training.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.lib.estimator.checkpoint_evaluator import (
    CheckpointEvaluator,
    EvaluationListener,
)
from tfteach.lib.estimator.cluster_settings import TaskType
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.train_specs import EvalSpec, TrainSpec


@export("estimator.train_and_evaluate")
def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None] | None:
    """Train a model, and evaluate its checkpoints; in a cluster the part of this task.

    Without a cluster in TF_CONFIG this process trains and evaluates each checkpoint.
    In a cluster the chief and the workers train, parameter servers hold the variables
    until they are killed, and the evaluator evaluates until the last step.

    Args:
      estimator: the Estimator, whose RunConfig says when checkpoints are written.
      train_spec: the training.
      eval_spec: the evaluations.

    Returns:
      The metrics of the last evaluation, and what the exporters returned; None for both
      if the training had ended before.  None in a cluster.

    Raises:
      TypeError: an argument is of a wrong type.
      ValueError: this process is a second evaluator.

    Example:
      >>> tf.estimator.train_and_evaluate(
      ...     estimator,
      ...     tf.estimator.TrainSpec(train_input_fn, max_steps=1000),
      ...     tf.estimator.EvalSpec(test_input_fn, throttle_secs=10),
      ... )

    Source: tensorflow_estimator/python/estimator/training.py.
    """
    for value, name, kind in (
        (eval_spec, "eval_spec", EvalSpec),
        (estimator, "estimator", Estimator),
        (train_spec, "train_spec", TrainSpec),
    ):
        if not isinstance(value, kind):
            raise TypeError(
                f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: "
                f"{type(value)}"
            )
    config = estimator.config
    get_logger().info("Not using Distribute Coordinator.")
    is_evaluator = config.task_type == TaskType.EVALUATOR
    if is_evaluator and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with "
            f"task id 0).  Given task id {config.task_id}"
        )
    if config.cluster_spec or is_evaluator:
        # Servers, and so gRPC, are for clusters only.
        from tfteach.lib.estimator.cluster_tasks import run_task

        run_task(estimator, train_spec, eval_spec)
        return None
    get_logger().info("Running training and evaluation locally (non-distributed).")
    get_logger().info(
        "Start train and evaluate loop. The evaluate will happen after every "
        "checkpoint. Checkpoint frequency is determined based on RunConfig arguments: "
        f"save_checkpoints_steps {config.save_checkpoints_steps} or "
        f"save_checkpoints_secs {config.save_checkpoints_secs}."
    )
    evaluator = CheckpointEvaluator(estimator, eval_spec, train_spec.max_steps)
    listener = EvaluationListener(evaluator, eval_spec.throttle_secs)
    estimator.train(
        train_spec.input_fn,
        hooks=train_spec.hooks,
        max_steps=train_spec.max_steps,
        saving_listeners=[listener],
    )
    return evaluator.metrics, evaluator.exported
