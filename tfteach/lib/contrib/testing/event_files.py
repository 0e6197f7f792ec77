"""What a test reads from event files.

Source: contrib/testing/python/framework/util_test.py (API).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.files.events import summary_iterator


@export("contrib.testing.assert_summary")
def assert_summary(
    expected_tags: Iterable[str],
    expected_simple_values: Mapping[str, float],
    summary_proto: Proto,
) -> None:
    """Compare a Summary's tags, and some of its values to two decimals.

    Raises:
      AssertionError: a value differs.
      ValueError: there are other tags.
    """
    found = set()
    for value in summary_proto.value:
        found.add(value.tag)
        if value.tag in expected_simple_values:
            expected = expected_simple_values[value.tag]
            np.testing.assert_almost_equal(
                value.simple_value, expected, decimal=2, err_msg=value.tag
            )
    if found != set(expected_tags):
        raise ValueError(f"Expected tags {set(expected_tags)}, got {found}.")


@export("contrib.testing.to_summary_proto")
def to_summary_proto(summary_str: bytes) -> Proto:
    """The Summary that a summary op returned as bytes."""
    summary: Proto = pool.message("Summary").FromString(summary_str)
    return summary


@export("contrib.testing.latest_event_file")
def latest_event_file(base_dir: PathLike) -> str | None:
    """The newest event file of a directory; None if it has none."""
    paths = glob.glob(os.path.join(glob.escape(os.fspath(base_dir)), "events.*"))
    return max(paths, key=os.path.getctime, default=None)


@export("contrib.testing.latest_events")
def latest_events(base_dir: PathLike) -> Iterable[Proto]:
    """The Events of the newest event file, read as they are asked for; maybe none."""
    path = latest_event_file(base_dir)
    return [] if path is None else summary_iterator(path)


@export("contrib.testing.latest_summaries")
def latest_summaries(base_dir: PathLike) -> list[Proto]:
    """The Events of the newest event file that hold summaries."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


@export("contrib.testing.simple_values_from_events")
def simple_values_from_events(
    events: Iterable[Proto], tags: Collection[str]
) -> dict[str, float]:
    """The scalar of each tag in the summaries of these Events, of the highest step.

    Raises:
      ValueError: the summary of a tag is no scalar.
    """
    found: dict[str, tuple[int, float]] = {}
    for event in events:
        for value in event.summary.value:
            tag = value.tag
            if tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {tag} is not a simple_value.")
            if tag not in found or event.step > found[tag][0]:
                found[tag] = event.step, value.simple_value
    return {tag: value for tag, (_, value) in found.items()}
