"""Queue runners whose threads feed what they enqueue.

Source: tensorflow_estimator/python/estimator/inputs/queues/feeding_queue_runner.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tfteach.framework.errors import OpError
from tfteach.framework.operation import Operation
from tfteach.framework.type_aliases import FeedDict
from tfteach.lib.queues.queue_runner import QueueRunner
from tfteach.ops.queues.queue_base import QueueBase


class FeedingQueueRunner(QueueRunner):
    """A QueueRunner whose threads feed each run.

    Args:
      queue: the queue.
      enqueue_ops: one op for each thread.
      close_op, cancel_op: see `tf.train.QueueRunner`.
      feed_fns: for each op a function without arguments that returns a feed dict; it
        raises OutOfRangeError at the input's end.
      queue_closed_exception_types: see `tf.train.QueueRunner`.

    Raises:
      ValueError: the numbers of ops and functions differ.

    Source: tensorflow_estimator/python/estimator/inputs/queues/feeding_queue_runner.py.
    """

    def __init__(
        self,
        queue: QueueBase,
        enqueue_ops: Sequence[Operation],
        close_op: Operation | None = None,
        cancel_op: Operation | None = None,
        feed_fns: Sequence[Callable[[], FeedDict]] | None = None,
        queue_closed_exception_types: tuple[type[OpError], ...] | None = None,
    ) -> None:
        super().__init__(
            queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types
        )
        functions = list(
            [dict] * len(self.enqueue_ops) if feed_fns is None else feed_fns
        )
        if len(functions) != len(self.enqueue_ops):
            raise ValueError(
                "If feed_fns is not None, it must have the same length as enqueue_ops."
            )
        self._feed_fns = dict(zip(self.enqueue_ops, functions, strict=True))

    def _enqueue_call(self, sess: Any, enqueue_op: Operation) -> Callable[[], Any]:
        feed_fn = self._feed_fns[enqueue_op]
        return lambda: sess.run(enqueue_op, feed_dict=feed_fn())

    def to_proto(self, export_scope: str | None = None) -> NoReturn:
        """Not possible: the fed arrays are no part of a graph."""
        raise NotImplementedError(
            "FeedingQueueRunner does not support serialization to proto."
        )
