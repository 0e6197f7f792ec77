"""Which steps of a session run as CUDA graphs, and why others do not.

A step becomes a graph after some runs with feeds of the same shapes, unless the card
would have to wait for the host in the middle (engine/execute/cuda_graph.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tfteach.engine.execute.cuda_graph import GraphedStep
from tfteach.engine.execute.parallel_program import ParallelProgram

__all__ = ["CudaGraphs", "GraphedRow", "explain_cuda_graphs"]

NOT_HOT = "it has not run often enough with the same shapes"
ON_SEVERAL = "it runs on several cards"
NO_CARD = "The session has no card: no step is a CUDA graph."


class GraphedRow(NamedTuple):
    """A step with feeds of given shapes.

    Attributes:
      fetches: the names of the fetches.
      fed_shapes: the shapes of the feeds; None for a step that has not run often.
      is_graph: True if it runs as a CUDA graph.
      reason: why it does not; "" if it does.
    """

    fetches: tuple[str, ...]
    fed_shapes: tuple[tuple[int, ...], ...] | None
    is_graph: bool
    reason: str


class CudaGraphs(NamedTuple):
    """The steps of a session; `print` it.

    Attributes:
      rows: a row for each step and set of shapes with which it often runs.
      has_card: True if the session has a card: without one, no step is a graph.
    """

    rows: tuple[GraphedRow, ...]
    has_card: bool

    def __str__(self) -> str:
        if not self.has_card:
            return NO_CARD
        lines = []
        for row in self.rows:
            fed = "" if not row.fed_shapes else f", fed {list(row.fed_shapes)}"
            what = "a CUDA graph" if row.is_graph else f"no graph: {row.reason}"
            lines.append(f"{', '.join(row.fetches)}{fed}: {what}")
        return "\n".join(lines)


def explain_cuda_graphs(session: Any) -> CudaGraphs:
    """Explain which steps of a session run as CUDA graphs, and why others do not.

    Args:
      session: a `tf.Session`.

    Returns:
      A `CudaGraphs`; `print` it.

    Example:
      >>> with tf.Session() as sess:
      ...     print(explain_cuda_graphs(sess))
      The session has no card: no step is a CUDA graph.
    """
    has_card = any(device.is_asynchronous for device in session.devices)
    rows: list[GraphedRow] = []
    if has_card:
        for (elements, _, _), (program, _) in session._programs.items():
            names = tuple(element.name for element in elements)
            if isinstance(program, ParallelProgram):
                rows.append(GraphedRow(names, None, False, ON_SEVERAL))
            else:
                rows += _rows(names, getattr(program, "hot", {}))
    return CudaGraphs(tuple(rows), has_card)


def _rows(names: tuple[str, ...], hot: Mapping[Any, Any]) -> Iterator[GraphedRow]:
    if not hot:
        yield GraphedRow(names, None, False, NOT_HOT)
    for shapes, step in hot.items():
        graphed = getattr(step, "generated", step)
        if not isinstance(graphed, GraphedStep):
            changes = [c for c in step.log if c.pass_name == "capture"]
            reason = changes[-1].reason.removeprefix("not as a CUDA graph: ")
        else:
            reason = graphed.reason or ("" if graphed.graph else NOT_HOT)
        yield GraphedRow(names, shapes, not reason, reason.split("\n")[0])
