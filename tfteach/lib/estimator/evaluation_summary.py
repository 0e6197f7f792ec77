"""Runs of evaluations, and the event files of their results.

Source: tensorflow_estimator/python/estimator/estimator.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfteach.framework.dtypes import string
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import Summary
from tfteach.framework.protos.tensor_proto import make_tensor_proto
from tfteach.lib.estimator.model_results import Evaluation
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.files.file_writer import FileWriterCache
from tfteach.lib.training.evaluation import run_evaluation


def _text(results: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} = {value!s}"
        for key, value in sorted(results.items())
        if not isinstance(value, bytes)
    )


def run_and_write(
    evaluation: Evaluation,
    path: str | None,
    folder: str,
    config: RunConfig,
) -> dict[str, Any]:
    """The results of an evaluation, which are also written to an event file.

    Args:
      evaluation: the evaluation, as built in the current graph.
      path: the checkpoint to restore; None to initialize variables.
      folder: the directory of the event file.
      config: the session's target and ConfigProto.
    """
    results: Any = run_evaluation(
        path or "",
        evaluation.update,
        evaluation.values,
        evaluation.hooks,
        scaffold=evaluation.scaffold,
        master=config.evaluation_master,
        config=config.session_config,
    )
    write_evaluation(folder, results, path)
    return results  # type: ignore[no-any-return]


def write_evaluation(folder: str, results: Mapping[str, Any], path: str | None) -> None:
    """Write the results at their global step, and the checkpoint's path."""
    step = results[GraphKeys.GLOBAL_STEP]
    write_results(folder, results, step)
    if path is None:
        return
    writer = FileWriterCache.get(folder)
    tag = "checkpoint_path"
    get_logger().info(f"Saving '{tag}' summary for global step {step}: {path}")
    data = make_tensor_proto(path, string)
    writer.add_summary(Summary(value=[Summary.Value(tag=tag, tensor=data)]), step)
    writer.flush()


def write_results(folder: str, results: Mapping[str, Any], step: int) -> None:
    """Write the results of an evaluation as summaries of a step.

    Args:
      folder: the directory of the event file.
      results: numbers, arrays and serialized Summaries by name.
      step: the global step.
    """
    get_logger().info(f"Saving dict for global step {step}: {_text(results)}")
    writer = FileWriterCache.get(folder)
    summary = Summary()
    for key, value in results.items():
        if key != GraphKeys.GLOBAL_STEP and value is not None:
            _add(summary, key, value)
    writer.add_summary(summary, step)
    writer.flush()


def _add(summary: Any, key: str, value: Any) -> None:
    if isinstance(value, float | np.floating | int | np.integer):
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, bytes):
        for number, found in enumerate(Summary.FromString(value).value):
            found.tag = f"{key}/{number}"
            summary.value.add().CopyFrom(found)
    elif isinstance(value, np.ndarray):
        get_logger().info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider "
            "using a Tensorboard plugin for visualization."
        )
        summary.value.add(tag=key, tensor=make_tensor_proto(value))
    else:
        get_logger().warning(
            f"Skipping summary for {key}, must be a float, np.float32, np.int64, "
            "np.int32 or int or np.ndarray or a serialized string of Summary."
        )
