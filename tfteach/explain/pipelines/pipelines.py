"""The input pipelines of a graph."""

from __future__ import annotations

from typing import Any

from tfteach.explain.pipelines.dataset_stages import dataset_pipelines
from tfteach.explain.pipelines.pipeline_stages import Pipeline
from tfteach.explain.pipelines.queue_stages import queue_pipelines
from tfteach.framework.defaults import get_default_graph

__all__ = ["explain_pipelines"]


def explain_pipelines(graph: Any = None) -> list[Pipeline]:
    """The input pipelines of a graph: of its iterators, and of its queues.

    Args:
      graph: a `tf.Graph` or a session; by default the default graph.

    Returns:
      A list of `Pipeline`, in the order of their last ops. An iterator with several
      initializers has one for each dataset.

    Example:
      >>> names = tf.train.string_input_producer(["a.csv", "b.csv"])
      >>> key, line = tf.TextLineReader().read(names)
      >>> lines = tf.train.batch([line], batch_size=8)
      >>> print(explain_pipelines()[0])
      batch/fifo_queue (queues)
        1 thread: input_producer_EnqueueMany  [...]
        queue input_producer: 32 elements at most  [...]
        1 thread: TextLineReader  [...]
        queue batch/fifo_queue: 32 elements at most  [...]
        step: takes 8 at a time  [...]
    """
    graph = get_default_graph() if graph is None else graph
    graph = getattr(graph, "graph", graph)
    return [*dataset_pipelines(graph), *queue_pipelines(graph)]
