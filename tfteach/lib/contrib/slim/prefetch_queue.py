"""`tf.contrib.slim.prefetch_queue`: a queue of whole batches in front of a step.

Source: contrib/slim/python/slim/data/prefetch_queue.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.queues.batch_queues import (
    plain_queue,
    run_in_threads,
    summarize_fullness,
)
from tfteach.ops.queues.queue_base import QueueBase


@export("contrib.slim.prefetch_queue.prefetch_queue")
def prefetch_queue(
    tensors: list[TensorLike] | dict[str, TensorLike],
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue that threads fill with tensors, so that a step finds them computed.

    Args:
      tensors: the tensors of one element, a list or a dict, such as a batch.
      capacity: the most elements that it holds.
      num_threads: how many threads fill it.
      dynamic_pad: whether shapes may be partially unknown.
      shared_name: under which name sessions share it.
      name: the name scope.

    Returns:
      The FIFOQueue, or PaddingFIFOQueue; `dequeue` returns what `tensors` are.  Its
      queue runner, and a summary of its share that is full, are in the graph's
      collections.

    Example:
      >>> batch = tf.train.batch({"x": x, "y": y}, 32)
      >>> queue = tf.contrib.slim.prefetch_queue.prefetch_queue(batch, capacity=2)
      >>> batch = queue.dequeue()

    Source: contrib/slim/python/slim/data/prefetch_queue.py.
    """
    names = None
    if isinstance(tensors, dict):
        names = list(tensors)
        tensors = list(tensors.values())
    with name_scope(name, "prefetch_queue", tensors):
        parts = [convert(tensor) for tensor in tensors]
        queue = plain_queue(dynamic_pad)(
            capacity=capacity,
            dtypes=[part.dtype.base_dtype for part in parts],
            shapes=[part.get_shape() for part in parts],
            names=names,
            shared_name=shared_name,
        )
        element: Any = parts
        if names is not None:
            element = dict(zip(names, parts, strict=True))
        run_in_threads(queue, [queue.enqueue(element)] * num_threads)
        summarize_fullness(queue, capacity)
        return queue
