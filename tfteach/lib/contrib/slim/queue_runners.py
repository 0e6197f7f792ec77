"""`tf.contrib.slim.queues`: the queue runners of a session as a `with` block.

Source: contrib/slim/python/slim/queues.py.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.queues.coordinator import Coordinator


@export("contrib.slim.queues.NestedQueueRunnerError")
class NestedQueueRunnerError(Exception):
    """A `QueueRunners` block is inside another one."""


_running = threading.Lock()


@export("contrib.slim.queues.QueueRunners")
@contextmanager
def QueueRunners(session: SessionLike) -> Iterator[None]:
    """Run the queue runners of the default graph, and end them after the block.

    Raises:
      NestedQueueRunnerError: there is such a block already.

    Example:
      >>> with tf.contrib.slim.queues.QueueRunners(session):
      ...     image, label = session.run([image, label])

    Source: contrib/slim/python/slim/queues.py.
    """
    if not _running.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coordinator = Coordinator()
        threads: list[threading.Thread] = []
        for runner in get_collection(GraphKeys.QUEUE_RUNNERS):
            threads += runner.create_threads(
                session, coord=coordinator, daemon=True, start=True
            )
        try:
            yield
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=120)
    finally:
        _running.release()
