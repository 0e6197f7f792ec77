"""The events of event files.

Source: python/summary/summary_iterator.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.files.compression import PlainSource
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.files.records import read_records


@export("train.summary_iterator")
def summary_iterator(path: str) -> Iterator[Any]:
    """The Event protos of an event file.

    Args:
      path: the file.

    Yields:
      Event protos.

    Raises:
      DataLossError: the file is damaged.

    Example:
      >>> for event in tf.train.summary_iterator(path):
      ...     print(event.step, event.summary)

    Source: python/summary/summary_iterator.py.
    """
    from tfteach.framework.protos import Event

    name = resolve(path)
    with open_file(name, "rb") as file:
        for record in read_records(PlainSource(file), name):
            yield Event.FromString(record)
