"""`tf.compat.v2.summary.trace_on`: the graphs of traced functions in event files.

TensorBoard shows them in its tab of graphs.
Source: python/ops/summary_ops_v2.py (API, messages).
"""

from __future__ import annotations

from collections.abc import Callable

from tfteach.compat.version_2.summary import summary_scope, write
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import RunMetadata, SummaryMetadata
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.functions.observed_calls import Call, observe_calls


class _Trace:
    """The functions that an eager program traces from `trace_on` to `trace_off`.

    Attributes:
      running: the trace that is on, or None.
    """

    running: _Trace | None = None

    def __init__(self, keeps_graphs: bool) -> None:
        self.metadata = RunMetadata()
        self._stop: Callable[[], None] | None = None
        if keeps_graphs:
            self._stop = observe_calls(self._called)

    def _called(self, call: Call) -> None:
        if call.is_new and get_default_graph().is_eager:
            graph = call.concrete.graph.as_graph_def()
            self.metadata.function_graphs.add().pre_optimization_graph.CopyFrom(graph)

    def stop(self) -> None:
        if self._stop is not None:
            self._stop()


def _is_possible(elsewhere: str, in_graph: str) -> bool:
    """Whether a program may trace here; logs why not."""
    graph = get_default_graph()
    if graph.building_function:
        get_logger().warning(elsewhere)
        return False
    if not graph.is_eager:
        get_logger().warning(in_graph)
        return False
    return True


@export(v2="summary.trace_on")
def trace_on(graph: bool = True, profiler: bool = False) -> None:
    """Keep the graphs of functions that are traced from now on, for `trace_export`.

    Args:
      graph: whether graphs are kept; as they are before any optimization.
      profiler: must be False.

    Raises:
      NotImplementedError: `profiler` is True.

    Example:
      >>> tf.compat.v2.summary.trace_on()
      >>> function(tf.constant(1.0))
      >>> with writer.as_default():
      ...     tf.compat.v2.summary.trace_export("function", step=0)
    """
    if profiler:
        raise NotImplementedError(
            "tf.summary.trace_on: profiler=True; tfteach has no such profiler. "
            "%%timeline shows what a run spends its time on."
        )
    if not _is_possible(
        "Cannot enable trace inside a tf.function.", "Must enable trace in eager mode."
    ):
        return
    if _Trace.running is not None:
        get_logger().warning("Trace already enabled")
        return
    _Trace.running = _Trace(graph)


@export(v2="summary.trace_export")
def trace_export(
    name: str, step: TensorLike | None = None, profiler_outdir: str | None = None
) -> None:
    """Write the graphs kept since `trace_on` as a summary, and stop keeping them.

    Args:
      name: the summary's name.
      step: an int64 scalar; by default that of `tf.summary.experimental.set_step`.
      profiler_outdir: no effect without a profiler.

    Raises:
      ValueError: `trace_on` wasn't called; there is a writer, but no step.
    """
    if not _is_possible(
        "Cannot export trace inside a tf.function.",
        "Can only export trace while executing eagerly.",
    ):
        return
    if _Trace.running is None:
        raise ValueError("Must enable trace before export.")
    # Where writing fails, the program has lost its graphs, as in TensorFlow.
    kept, _Trace.running.metadata = _Trace.running.metadata, RunMetadata()
    plugin = SummaryMetadata.PluginData(
        plugin_name="graph_run_metadata_graph", content=b"1"
    )
    with summary_scope(name, "graph_run_metadata_graph_summary", [step]) as (tag, _):
        metadata = SummaryMetadata(plugin_data=plugin)
        write(tag, kept.SerializeToString(), step, metadata)
    trace_off()


@export(v2="summary.trace_off")
def trace_off() -> None:
    """Stop keeping graphs."""
    if _Trace.running is not None:
        _Trace.running.stop()
        _Trace.running = None
