"""The results of evaluations, read from their event files.

Source: tensorflow_estimator/python/estimator/early_stopping.py, exporter.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from tfteach.framework.files import file_system
from tfteach.lib.files.events import summary_iterator


def results_in(path: str) -> Iterator[tuple[int, dict[str, float]]]:
    """The step and the metrics of each evaluation in an event file."""
    for event in summary_iterator(path):
        if event.HasField("summary"):
            values = event.summary.value
            found = {
                value.tag: value.simple_value
                for value in values
                if value.HasField("simple_value")
            }
            if found:
                yield event.step, found


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """The metrics of all evaluations in a directory by step, in ascending order."""
    found: dict[int, dict[str, float]] = {}
    if file_system.exists(eval_dir):
        for name in sorted(file_system.listdir(eval_dir)):
            if "tfevents" in name:
                found.update(results_in(os.path.join(eval_dir, name)))
    return dict(sorted(found.items()))
