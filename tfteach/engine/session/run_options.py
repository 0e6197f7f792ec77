"""Runs with RunOptions, and the RunMetadata that they fill in.

Source: core/protobuf/config.proto, core/common_runtime/direct_session.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.engine.execute.concurrent_program import ConcurrentProgram
from tfteach.engine.execute.inter_op_pool import chosen_pool
from tfteach.engine.execute.program import Program, StepObserver
from tfteach.engine.flow.dataflow import DataflowProgram
from tfteach.engine.flow.nested_source import NestedProgram
from tfteach.engine.session.oom_report import add_report
from tfteach.engine.session.partition_graphs import executed_graph
from tfteach.engine.session.step_stats import held_at_start, write_step_stats
from tfteach.engine.session.tracing import Tracer
from tfteach.framework.errors import InvalidArgumentError, ResourceExhaustedError
from tfteach.framework.waiting import Deadline

AnyProgram = Program | NestedProgram | DataflowProgram | ConcurrentProgram


def run_with_options(
    session: Any,
    program: AnyProgram,
    fed: Sequence[Any],
    settings: tuple[Any, Any],
    timeout_ms: int = 0,
    followers: Sequence[StepObserver] = (),
) -> Any:
    """Run a program under RunOptions, and fill RunMetadata.

    Args:
      session: whose run it is.
      program: what to run.
      fed: the values of its feeds.
      settings: a RunOptions proto or None, and a RunMetadata proto or None; what the
        latter holds is replaced by what the run records.
      timeout_ms: the time limit if the options have none; 0 for no limit.
      followers: further observers of the run.

    Raises:
      AttributeError: the arguments are no protos.
      InvalidArgumentError: the session has no such thread pool.
      NotImplementedError: `options` watch tensors for the debugger.
      DeadlineExceededError: the time limit was reached.
    """
    options, run_metadata = settings
    if options and not hasattr(options, "SerializeToString"):
        raise AttributeError(_not_a(options, "SerializeToString", "options", "Options"))
    if run_metadata and not hasattr(run_metadata, "ParseFromString"):
        kind = "ParseFromString", "run_metadata", "Metadata"
        raise AttributeError(_not_a(run_metadata, *kind))
    observers: list[StepObserver] = [*followers]
    tracer = None
    if options:
        _check(options, session)
        if options.timeout_in_ms > 0:
            timeout_ms = options.timeout_in_ms
        # As TF: every level but NO_TRACE, and whoever wants a report of allocations.
        if options.trace_level > 0 or options.report_tensor_allocations_upon_oom:
            graph = executed_graph(program.step)
            tracer = Tracer(fed)
            tracer.at_start = held_at_start(graph, fed, session)
            observers.append(tracer)
    deadline = Deadline(timeout_ms) if timeout_ms > 0 else None
    try:
        values = _on_pool(options, lambda: program.run(fed, observers, deadline))
    except ResourceExhaustedError as error:
        if tracer is not None:
            add_report(error, tracer)
        raise
    finally:
        if tracer is not None:
            tracer.close()
    if not run_metadata:
        return values
    run_metadata.Clear()
    if tracer is not None:
        graph = executed_graph(program.step)
        level = options.trace_level
        write_step_stats(run_metadata.step_stats, graph, tracer, level)
    if options and options.output_partition_graphs:
        graph = executed_graph(program.step)
        run_metadata.partition_graphs.extend(graph.graph_defs())
    return values


def _on_pool(options: Any, run: Callable[[], Any]) -> Any:
    """What `run` returns, on the threads that the options ask for."""
    if not options or not options.inter_op_thread_pool:
        return run()
    token = chosen_pool.set(options.inter_op_thread_pool)
    try:
        return run()
    finally:
        chosen_pool.reset(token)


def _not_a(value: Any, method: str, argument: str, kind: str) -> str:
    return (
        f"{type(value).__name__!r} object has no attribute {method!r}: {argument} must "
        f"be a tf.Run{kind} proto, got {value!r}"
    )


def _check(options: Any, session: Any) -> None:
    """Refuse what cannot be honoured.

    `experimental` and the other fields of `debug_options` change nothing in a run of
    this process, in TensorFlow neither.
    """
    # -1 is the caller's thread.
    pool, config = options.inter_op_thread_pool, session._config
    count = 1 if config is None else len(config.session_inter_op_thread_pool) or 1
    if not -1 <= pool < count:
        raise InvalidArgumentError(None, None, f"Invalid inter_op_thread_pool: {pool}")
    if options.debug_options.debug_tensor_watch_opts:
        raise NotImplementedError(
            "RunOptions.debug_options.debug_tensor_watch_opts: the debugger (tfdbg) is "
            "not implemented. Fetch the tensors, or step through the run with %step."
        )
