"""`tf.contrib.slim.learning.train`: trains in a Supervisor's session.

Source: contrib/slim/python/slim/learning.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.engine.session.timeline import Timeline
from tfteach.framework.errors import AbortedError, OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.pending_file import write_file
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import RunMetadata, RunOptions
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import (
    FeedDict,
    FetchedValues,
    PathLike,
    Proto,
    SessionLike,
)
from tfteach.lib.files.file_writer import FileWriter
from tfteach.lib.files.saver import Saver
from tfteach.lib.lookup.table_initializers import tables_initializer
from tfteach.lib.training.global_step import get_or_create_global_step
from tfteach.lib.training.hooks.progress_bar import progress_of
from tfteach.lib.training.supervisor import Supervisor
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.debug.summary_functions import merge_all
from tfteach.ops.math.compare import equal, greater_equal
from tfteach.ops.math.modulo import floormod
from tfteach.variables.base import Variable
from tfteach.variables.collections import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

_USE_DEFAULT = 0
_MaybeOp = Operation | Tensor | int | None
TrainStepFn = Callable[..., tuple[Any, Any]]


@export("contrib.slim.learning.train_step")
def train_step(
    sess: SessionLike,
    train_op: Tensor,
    global_step: Variable | Tensor,
    train_step_kwargs: Mapping[str, Any],
) -> tuple[FetchedValues, bool]:
    """Run one step, and log the loss if it is time.

    Args:
      sess: the session.
      train_op: the training step, whose value is the loss.
      global_step: the step's variable.
      train_step_kwargs: the bool Tensors "should_log", "should_stop" and
        "should_trace", as far as there are any; with the last also "logdir", the
        directory of traces for chrome://tracing, and maybe "summary_writer", which
        records them for TensorBoard.

    Returns:
      (the loss, whether to stop).

    Raises:
      ValueError: there is a "should_trace" without a "logdir".

    Source: contrib/slim/python/slim/learning.py.
    """
    start_s = time.time()
    options, metadata = _trace_options(sess, train_step_kwargs)
    run: Any = sess.run  # a program's wrapper need not accept options
    traced = {} if metadata is None else {"options": options, "run_metadata": metadata}
    loss, step = run([train_op, global_step], **traced)
    elapsed_s = time.time() - start_s
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    should_log = train_step_kwargs.get("should_log")
    if should_log is not None and sess.run(should_log):
        get_logger().info(
            "global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed_s
        )
    should_stop = train_step_kwargs.get("should_stop")
    stops = False if should_stop is None else sess.run(should_stop)
    return loss, stops


def _trace_options(session: SessionLike, kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """RunOptions and RunMetadata for a step that is to be traced; (None, None) else."""
    if "should_trace" not in kwargs:
        return None, None
    if "logdir" not in kwargs:
        raise ValueError(
            "logdir must be present in train_step_kwargs when should_trace is present"
        )
    if not session.run(kwargs["should_trace"]):
        return None, None
    return RunOptions(trace_level=RunOptions.FULL_TRACE), RunMetadata()


def _write_trace(metadata: Any, step: int, kwargs: Mapping[str, Any]) -> None:
    path = os.path.join(os.fspath(kwargs["logdir"]), f"tf_trace-{step}.json")
    get_logger().info("Writing trace to %s", path)
    trace = Timeline(metadata.step_stats).generate_chrome_trace_format()
    write_file(resolve(path), trace.encode())
    if "summary_writer" in kwargs:
        kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


@export("contrib.slim.learning.train")
def train(
    train_op: Tensor,
    logdir: PathLike | None,
    train_step_fn: TrainStepFn = train_step,
    train_step_kwargs: Mapping[str, Any] | int | None = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Variable | Tensor | None = None,
    number_of_steps: int | None = None,
    init_op: _MaybeOp = _USE_DEFAULT,
    init_feed_dict: FeedDict | None = None,
    local_init_op: _MaybeOp = _USE_DEFAULT,
    init_fn: Callable[[SessionLike], Any] | None = None,
    ready_op: _MaybeOp = _USE_DEFAULT,
    summary_op: _MaybeOp = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: FileWriter | int | None = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Saver | None = None,
    save_interval_secs: float = 600,
    sync_optimizer: object = None,
    session_config: Proto | None = None,
    session_wrapper: Callable[[SessionLike], SessionLike] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> FetchedValues:
    """Run a training step until a number of steps, or the end of the input.

    Args:
      train_op: the step, as `create_train_op` makes it: its value is the loss.
      logdir: the directory of checkpoints and event files; None for no files.
      train_step_fn: a function of session, step, global step and
        `train_step_kwargs` that returns (loss, whether to stop).
      train_step_kwargs: its argument; by default what `train_step` needs.
      log_every_n_steps: the steps from one line of the log to the next; 0 for none.
      graph: the graph; None for the default one.
      master: the session's target.
      is_chief: whether this process initializes and saves.
      global_step: the step's variable; None for the graph's.
      number_of_steps: the global step at which to end; None for no limit.
      init_op, init_feed_dict, local_init_op, init_fn, ready_op, summary_op,
        save_summaries_secs, summary_writer, saver: as in `tf.train.Supervisor`.
      save_interval_secs: the seconds from one checkpoint to the next.
      session_config: the session's ConfigProto.
      session_wrapper: a function that wraps the session.
      ignore_live_threads: whether threads may outlive the loop.
      trace_every_n_steps: the steps from one trace of a step to the next, each written
        to `logdir` as "tf_trace-STEP.json"; None for no traces.
      startup_delay_steps, sync_optimizer: not implemented.

    Returns:
      The loss of the last step.

    Raises:
      ValueError: arguments contradict each other, or `number_of_steps` is not positive.
      NotImplementedError: an argument that is not implemented is given.

    Example:
      >>> step = tf.contrib.slim.learning.create_train_op(loss, optimizer)
      >>> tf.contrib.slim.learning.train(step, "logs", number_of_steps=1000)

    Source: contrib/slim/python/slim/learning.py.
    """
    refused = {
        "startup_delay_steps": startup_delay_steps or None,
        "sync_optimizer": sync_optimizer,
    }
    _check(train_op, logdir, summary_op, saver, number_of_steps, refused)
    if logdir is None and trace_every_n_steps is not None:
        raise ValueError("Cannot provide trace_every_n_steps because logdir=None")
    graph = graph or get_default_graph()
    with graph.as_default():
        step: Any = global_step
        if step is None:
            step = get_or_create_global_step()
        saver = saver or Saver()
        with name_scope("init_ops"):
            if init_op is _USE_DEFAULT:
                init_op = global_variables_initializer()
            if ready_op is _USE_DEFAULT:
                ready_op = report_uninitialized_variables()
            if local_init_op is _USE_DEFAULT:
                local_init_op = group(
                    local_variables_initializer(), tables_initializer()
                )
        if summary_op is _USE_DEFAULT:
            summary_op = merge_all()
        if summary_writer is _USE_DEFAULT:
            summary_writer = None if logdir is None else Supervisor.USE_DEFAULT
        kwargs: Any = train_step_kwargs
        if kwargs is _USE_DEFAULT:
            kwargs = _step_arguments(
                step, number_of_steps, log_every_n_steps, trace_every_n_steps, logdir
            )
    options: dict[str, Any] = {
        "init_op": init_op, "init_feed_dict": init_feed_dict, "init_fn": init_fn,
        "local_init_op": local_init_op, "ready_for_local_init_op": None,
        "ready_op": ready_op, "summary_op": summary_op,
        "summary_writer": summary_writer, "global_step": step, "saver": saver,
        "save_summaries_secs": save_summaries_secs,
        "save_model_secs": save_interval_secs,
    }  # fmt: skip
    supervisor = Supervisor(graph=graph, is_chief=is_chief, logdir=logdir, **options)
    if summary_writer is not None:
        kwargs["summary_writer"] = supervisor.summary_writer

    def loop() -> Any:
        loss = None
        with supervisor.managed_session(
            master, start_standard_services=False, config=session_config
        ) as session:
            get_logger().info("Starting Session.")
            used: Any = session if session_wrapper is None else session_wrapper(session)
            if is_chief and logdir is not None:
                supervisor.start_standard_services(used)
            threads = supervisor.start_queue_runners(used)
            get_logger().info("Starting Queues.")
            progress = progress_of(number_of_steps, lambda: used.run(step))
            try:
                with progress as show:
                    while not supervisor.should_stop():
                        loss, stops = train_step_fn(used, train_op, step, kwargs)
                        show({"loss": loss})
                        if not stops:
                            continue
                        get_logger().info("Stopping Training.")
                        supervisor.request_stop()
                        break
            except OutOfRangeError as error:
                get_logger().info(
                    "Caught OutOfRangeError. Stopping Training. %s", error
                )
            # Before the last checkpoint: a thread that writes an earlier one might
            # make that the latest.  The session's end closes the event file.
            supervisor.stop(threads, False, ignore_live_threads=ignore_live_threads)
            if logdir is not None and supervisor.is_chief:
                get_logger().info("Finished training! Saving model to disk.")
                supervisor.saver.save(
                    used, supervisor.save_path, global_step=supervisor.global_step
                )
        return loss

    while True:
        try:
            return loop()
        except AbortedError:
            get_logger().info("Retrying training!")


def _check(
    train_op: Any, logdir: Any, summary_op: Any, saver: Any, steps: int | None,
    refused: Mapping[str, Any],
) -> None:  # fmt: skip
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        if summary_op is not _USE_DEFAULT and summary_op is not None:
            raise ValueError("Cannot provide summary_op because logdir=None")
        if saver is not None:
            raise ValueError("Cannot provide saver because logdir=None")
    if steps is not None and steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")
    for name, value in refused.items():
        if value is not None:
            raise NotImplementedError(f"slim.learning.train({name}=...)")


def _step_arguments(
    step: Any,
    number_of_steps: int | None,
    log_every_n_steps: int,
    trace_every_n_steps: int | None,
    logdir: Any,
) -> dict[str, Any]:
    """When to stop, to log and to trace."""
    with name_scope("train_step"):
        found: dict[str, Any] = {}
        if number_of_steps:
            found["should_stop"] = greater_equal(step, number_of_steps)
        else:
            found["should_stop"] = constant(False)
        if log_every_n_steps > 0:
            found["should_log"] = equal(floormod(step, log_every_n_steps), 0)
        if trace_every_n_steps is not None:
            found["should_trace"] = equal(floormod(step, trace_every_n_steps), 0)
            found["logdir"] = logdir
    return found
