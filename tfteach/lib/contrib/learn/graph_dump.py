"""A monitor that records the values of a whole graph.

Source: contrib/learn/python/learn/monitors.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.lib.contrib.learn.monitors import BaseMonitor


@export("contrib.learn.monitors.GraphDump")
class GraphDump(BaseMonitor):
    """Records the first output of each op, at each step.

    Args:
      ignore_ops: the types of ops that are left out; None or none for `IGNORE_OPS`.

    Example:
      >>> dump = tf.contrib.learn.monitors.GraphDump()
      >>> estimator.fit(x, y, steps=2, monitors=[dump])
      >>> dump.data[1]["loss:0"]

    Source: contrib/learn/python/learn/monitors.py.
    """

    IGNORE_OPS: Sequence[str] = (
        "Const", "Assign", "Identity", "Placeholder", "RandomUniform", "Cast",
        "RestoreSlice",
    )  # fmt: skip

    def __init__(self, ignore_ops: Sequence[str] | None = None) -> None:
        super().__init__()
        self._ignore_ops = ignore_ops or self.IGNORE_OPS
        self._tensors: list[Any] = []
        self._data: dict[int, Mapping[str, Any]] = {}

    @property
    def data(self) -> dict[int, Mapping[str, Any]]:
        """Step -> name -> value."""
        return self._data

    def begin(self, max_steps: int | None = None) -> None:
        """Choose the tensors of the default graph."""
        super().begin(max_steps)
        self._tensors = []
        for op in get_default_graph().get_operations():
            if op.type in self._ignore_ops:
                continue
            get_logger().info("op=%s name=%s.", op.type, op.name)
            self._tensors.extend(op.outputs[:1])

    def step_begin(self, step: int) -> list[Any]:
        """Ask for their values."""
        super().step_begin(step)
        return self._tensors

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """Record them."""
        super().step_end(step, output)
        self._data[step] = output
        return False

    def compare(
        self, other_dump: GraphDump, step: int, atol: float = 1e-06
    ) -> tuple[list[str], dict[str, Any]]:
        """The values of a step beside those of another monitor.

        Args:
          other_dump: that monitor.
          step: the step.
          atol: the difference of elements of arrays that counts as equal.

        Returns:
          The names with equal values, and a dict of the other names to the difference
          of two arrays, or to both values.

        Raises:
          ValueError: the other monitor lacks one of the names.
        """
        matched: list[str] = []
        differing: dict[str, Any] = {}
        others = other_dump.data.get(step, {})
        for key, value in self._data.get(step, {}).items():
            if key not in others:
                raise ValueError(f"{key} missing at step {step}.")
            other = others[key]
            if isinstance(value, np.ndarray):
                is_equal = np.allclose(value, other, atol=atol)
                difference = None if is_equal else value - other
            else:
                is_equal = value == other
                difference = (value, other)
            if is_equal:
                matched.append(key)
            else:
                differing[key] = difference
        return matched, differing
