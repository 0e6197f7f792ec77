"""Values of a graph's tensors in a session that ends with them.

Source: contrib/learn/python/learn/graph_actions.py.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tfteach.engine.session.session import Session
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import FeedDict, PathLike, SessionLike
from tfteach.lib.contrib.framework.helpers import get_graph_from_inputs
from tfteach.lib.files.file_writer import FileWriter, FileWriterCache
from tfteach.lib.files.saver import Saver
from tfteach.lib.lookup.table_initializers import tables_initializer
from tfteach.lib.queues import coordinator
from tfteach.lib.queues.queue_runner import start_queue_runners
from tfteach.lib.training.resources import initialize_resources, shared_resources
from tfteach.variables.collections import (
    global_variables_initializer,
    local_variables_initializer,
)

STOP_GRACE_SECS = 120


def sharded_saver(graph: Graph, keep_checkpoint_max: int = 5) -> Saver | None:
    """A Saver of a graph's global variables; None, with a line, without any."""
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    if not variables:
        get_logger().info("No variables found in graph, not creating Saver() object.")
        return None
    return Saver(variables, sharded=True, max_to_keep=keep_checkpoint_max)


def restore(
    session: SessionLike, graph: Graph, path: str, saver: Saver | None = None
) -> None:
    """Restore a checkpoint, by a new Saver if none is given."""
    get_logger().info("Loading model from checkpoint: %s.", path)
    saver = saver or sharded_saver(graph)
    if saver is not None:
        saver.restore(session, path)


@export("contrib.learn.graph_actions.get_summary_writer")
def get_summary_writer(logdir: PathLike) -> FileWriter:
    """The FileWriter of a directory, the same one for each call.

    Args:
      logdir: the directory.

    Source: contrib/learn/python/learn/graph_actions.py.
    """
    return FileWriterCache.get(os.fspath(logdir))


@export("contrib.learn.graph_actions.clear_summary_writers")
def clear_summary_writers() -> None:
    """Close the FileWriters of `get_summary_writer`, and forget them.

    Source: contrib/learn/python/learn/graph_actions.py.
    """
    FileWriterCache.clear()


def check_directory(output_dir: PathLike | None) -> str:
    """The directory's path.

    Raises:
      ValueError: there is none.
    """
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    return os.fspath(output_dir)


@export("contrib.learn.graph_actions.run_feeds_iter")
def run_feeds_iter(
    output_dict: Mapping[str, Any],
    feed_dicts: Iterable[FeedDict | None],
    restore_checkpoint_path: PathLike | None = None,
) -> Iterator[dict[str, Any]]:
    """Run tensors once for each dict of feeds, in a session of its own.

    The session initializes the variables, or restores them, and the tables, and runs
    the queues.  It is open until the iterator ends or is closed.

    Args:
      output_dict: a dict of names to tensors, which are of one graph.
      feed_dicts: for each run a dict of feeds, or None.
      restore_checkpoint_path: the checkpoint; None to initialize the variables.

    Yields:
      A dict of the names to the values of one run.

    Raises:
      ValueError: there are no tensors or no feeds, or no such checkpoint.

    Example:
      >>> for found in run_feeds_iter({"y": y}, [{x: 1.0}, {x: 2.0}]):
      ...     print(found["y"])

    Source: contrib/learn/python/learn/graph_actions.py.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    graph = get_graph_from_inputs(list(output_dict.values()))
    with graph.as_default(), Session("") as session:
        session.run(initialize_resources(shared_resources()))
        if restore_checkpoint_path:
            restore(session, graph, str(restore_checkpoint_path))
        else:
            session.run(global_variables_initializer())
        session.run(local_variables_initializer())
        session.run(tables_initializer())
        coord = coordinator.Coordinator()
        threads: list[Any] = []
        try:
            threads = start_queue_runners(session, coord)
            for feed_dict in feed_dicts:
                yield session.run(output_dict, feed_dict)
        finally:
            coord.request_stop()
            if threads:
                coord.join(threads, stop_grace_period_secs=STOP_GRACE_SECS)


@export("contrib.learn.run_feeds", "contrib.learn.graph_actions.run_feeds")
def run_feeds(
    output_dict: Mapping[str, Any],
    feed_dicts: Iterable[FeedDict | None],
    restore_checkpoint_path: PathLike | None = None,
) -> list[dict[str, Any]]:
    """`run_feeds_iter` as a list.

    Args:
      output_dict, feed_dicts, restore_checkpoint_path: as in `run_feeds_iter`.

    Returns:
      For each dict of feeds a dict of the names to values.

    Raises:
      ValueError: as in `run_feeds_iter`.

    Source: contrib/learn/python/learn/graph_actions.py.
    """
    return list(run_feeds_iter(output_dict, feed_dicts, restore_checkpoint_path))


@export("contrib.learn.run_n", "contrib.learn.graph_actions.run_n")
def run_n(
    output_dict: Mapping[str, Any],
    feed_dict: FeedDict | None = None,
    restore_checkpoint_path: PathLike | None = None,
    n: int = 1,
) -> list[dict[str, Any]]:
    """Run tensors a number of times, in a session of its own.

    Args:
      output_dict: a dict of names to tensors.
      feed_dict: the feeds of each run.
      restore_checkpoint_path: the checkpoint; None to initialize the variables.
      n: the number of runs.

    Returns:
      For each run a dict of the names to values.

    Raises:
      ValueError: as in `run_feeds_iter`.

    Example:
      >>> tf.contrib.learn.run_n({"x": tf.random_normal([2])}, n=3)

    Source: contrib/learn/python/learn/graph_actions.py.
    """
    feeds = itertools.repeat(feed_dict, n)
    return run_feeds(output_dict, feeds, restore_checkpoint_path)


@export("contrib.learn.infer", "contrib.learn.graph_actions.infer")
def infer(
    restore_checkpoint_path: PathLike | None,
    output_dict: Mapping[str, Any],
    feed_dict: FeedDict | None = None,
) -> dict[str, Any]:
    """Run tensors once, in a session of its own.

    Args:
      restore_checkpoint_path: the checkpoint; None to initialize the variables.
      output_dict: a dict of names to tensors.
      feed_dict: the feeds.

    Returns:
      A dict of the names to values.

    Raises:
      ValueError: as in `run_feeds_iter`.

    Example:
      >>> tf.contrib.learn.infer(None, {"y": tf.constant(2.0) * 3.0})  # {"y": 6.0}

    Source: contrib/learn/python/learn/graph_actions.py.
    """
    return run_n(output_dict, feed_dict, restore_checkpoint_path)[0]
