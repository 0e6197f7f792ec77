"""The event files of an older Estimator's evaluations.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import Summary
from tfteach.framework.protos.tensor_proto import make_tensor_proto
from tfteach.lib.files.file_writer import FileWriterCache

_NUMBERS = (float, np.floating, int, np.integer)


def write_evaluation(folder: str, results: Mapping[str, Any]) -> None:
    """Write the results at their global step.

    A serialized Summary of one value, such as a histogram, gets the result's name.
    """
    step = results[GraphKeys.GLOBAL_STEP]
    shown = ", ".join(_text(key, results[key]) for key in sorted(results))
    get_logger().info("Saving dict for global step %d: %s", step, shown)
    summary = Summary()
    for key, value in results.items():
        if value is not None and key != GraphKeys.GLOBAL_STEP:
            _add(summary, key, value)
    writer = FileWriterCache.get(folder)
    writer.add_summary(summary, step)
    writer.flush()


def _text(key: str, value: Any) -> str:
    if isinstance(value, _NUMBERS):
        return f"{key} = {value!s}"
    return f"Type of {key} = {type(value)}"


def _add(summary: Any, key: str, value: Any) -> None:
    if isinstance(value, _NUMBERS):
        summary.value.add(tag=key, simple_value=float(value))
        return
    if isinstance(value, np.ndarray):
        get_logger().info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider "
            "using a Tensorboard plugin for visualization (see https://github.com/"
            "tensorflow/tensorboard-plugin-example/blob/master/README.md for more "
            "information)."
        )
        summary.value.add(tag=key, tensor=make_tensor_proto(value))
        return
    given = Summary.FromString(value) if isinstance(value, bytes) else Summary()
    if len(given.value) != 1:
        get_logger().warning(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 "
            "or int or np.ndarray or a serialized string of Summary.",
            key,
        )
        return
    summary.value.add().CopyFrom(given.value[0])
    summary.value[-1].tag = key
