"""`tf.contrib.summary`: summaries that are written to the current writer.

Source: python/ops/summary_ops_v2.py (API, names of nodes).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tfteach.control.branch import smart_cond
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_session
from tfteach.framework.dtypes import int64, string
from tfteach.framework.export import export
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graphdef.graph_def import graph_bytes
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import Proto, SessionLike, TensorLike
from tfteach.lib.contrib.summary.recording import current, should_record_summaries
from tfteach.lib.contrib.summary.writers import WRITER_INIT, Writer, create_file_writer
from tfteach.lib.training.global_step import get_or_create_global_step
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.placeholder import placeholder
from tfteach.ops.debug.summary_functions import summary_scope
from tfteach.ops.debug.summary_writer_ops import (
    ImportEvent,
    WriteAudioSummary,
    WriteGraphSummary,
    WriteHistogramSummary,
    WriteImageSummary,
    WriteScalarSummary,
    WriteSummary,
)

# The collection of the ops that write a graph's summaries.
SUMMARIES = "_SUMMARY_V2"

# From a tag and the name of the op, the op that writes a summary.
Write = Callable[[str, str], Operation]
# A bool Tensor; in a graph without a writer an op that does nothing, eagerly None.
Written = Tensor | Operation | None


@export("contrib.summary.summary_writer_function")
def summary_writer_function(
    name: str,
    tensor: TensorLike | None,
    function: Write,
    family: str | None = None,
) -> Written:
    """Write a summary by a function, if summaries are recorded.

    Args:
      name: the summary's name.
      tensor: what it is made of.
      function: from a tag and the name of the op, the op that writes it.
      family: the first part of the tag.

    Returns:
      A bool Tensor: whether it was written; a `no_op` if there is no writer.
    """
    graph = get_default_graph()
    scope = graph.scopes.name
    outer = scope + "/" if scope else ""

    def record() -> Tensor:
        with (
            name_scope(outer or None),
            summary_scope(name, family, values=[tensor]) as (tag, inner),
            control_dependencies([function(tag, inner)]),
        ):
            return constant(True)

    if current.writer is None:
        return no_op()
    with graph.device("cpu:0"):
        written: Written = smart_cond(
            should_record_summaries(), record, lambda: constant(False), name=""
        )
    if not graph.is_eager:
        graph.add_to_collection(SUMMARIES, written)
    return written


def _step(step: Any) -> Written:
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert(step, int64)


@export("contrib.summary.generic")
def generic(
    name: str,
    tensor: TensorLike,
    metadata: Proto | TensorLike | None = None,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Written:
    """Write a tensor as it is.

    Args:
      name: the summary's name.
      tensor: of any type and shape.
      metadata: a SummaryMetadata, or a string Tensor with a serialized one.
      family: the first part of the tag.
      step: an int64 scalar; the global step by default.

    Returns:
      A bool Tensor: whether it was written; a `no_op` if there is no writer.
    """

    def write(tag: str, scope: str) -> Operation:
        data = metadata
        if data is None:
            data = constant("")
        elif hasattr(data, "SerializeToString"):
            data = constant(data.SerializeToString())
        at = _step(step)
        value = identity(tensor)
        return WriteSummary()(_handle(), at, value, tag, data, name=scope)

    return summary_writer_function(name, tensor, write, family)


@export("contrib.summary.scalar")
def scalar(
    name: str,
    tensor: TensorLike,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Written:
    """Write a number.

    Args:
      name: the summary's name.
      tensor: a real scalar.
      family: the first part of the tag.
      step: an int64 scalar; the global step by default.

    Returns:
      A bool Tensor: whether it was written; a `no_op` if there is no writer.

    Example:
      >>> tf.contrib.summary.scalar("loss", loss, step=7)
    """

    def write(tag: str, scope: str) -> Operation:
        at = _step(step)
        return WriteScalarSummary()(_handle(), at, tag, identity(tensor), name=scope)

    return summary_writer_function(name, tensor, write, family)


@export("contrib.summary.histogram")
def histogram(
    name: str,
    tensor: TensorLike,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Written:
    """Write a histogram of the values of a real tensor; see `scalar`."""

    def write(tag: str, scope: str) -> Operation:
        at = _step(step)
        return WriteHistogramSummary()(_handle(), at, tag, identity(tensor), name=scope)

    return summary_writer_function(name, tensor, write, family)


@export("contrib.summary.image")
def image(
    name: str,
    tensor: TensorLike,
    bad_color: TensorLike | None = None,
    max_images: int = 3,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Written:
    """Write images.

    Args:
      name: the summary's name.
      tensor: uint8 or float Tensor [batch, height, width, 1, 3 or 4].
      bad_color: uint8 [channels], for values that are not finite; red by default.
      max_images: how many images of the batch are written at most.
      family: the first part of the tag.
      step: an int64 scalar; the global step by default.

    Returns:
      A bool Tensor: whether they were written; a `no_op` if there is no writer.
    """

    def write(tag: str, scope: str) -> Operation:
        color = bad_color
        if color is None:
            color = constant([255, 0, 0, 255], "uint8")
        op = WriteImageSummary(max_images=max_images)
        at = _step(step)
        return op(_handle(), at, tag, identity(tensor), color, name=scope)

    return summary_writer_function(name, tensor, write, family)


@export("contrib.summary.audio")
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Written:
    """Write sounds.

    Args:
      name: the summary's name.
      tensor: float32 Tensor [batch, frames, channels] or [batch, frames], from -1 to 1.
      sample_rate: in hertz.
      max_outputs: how many sounds of the batch are written at most.
      family: the first part of the tag.
      step: an int64 scalar; the global step by default.

    Returns:
      A bool Tensor: whether they were written; a `no_op` if there is no writer.
    """

    def write(tag: str, scope: str) -> Operation:
        op = WriteAudioSummary(max_outputs=max_outputs)
        at = _step(step)
        return op(_handle(), at, tag, identity(tensor), sample_rate, name=scope)

    return summary_writer_function(name, tensor, write, family)


@export("contrib.summary.graph")
def graph(
    param: Graph | Proto | TensorLike,
    step: TensorLike | None = None,
    name: str | None = None,
) -> Written:
    """Write a graph, whether summaries are recorded or not.

    Args:
      param: a string Tensor with a serialized GraphDef; in an eager program also a
        Graph or a GraphDef.
      step: an int64 scalar; the global step by default.
      name: the op's name.

    Returns:
      The op that writes it; a `no_op` if there is no writer.

    Raises:
      TypeError: it is no Tensor, in a graph.
    """
    default = get_default_graph()
    if not default.is_eager and not isinstance(param, Tensor):
        raise TypeError(
            "graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: "
            f"{type(param)}"
        )
    if current.writer is None:
        return no_op()
    with default.device("cpu:0"):
        if isinstance(param, Graph) or hasattr(param, "SerializeToString"):
            data = convert(_serialized(param), string)
        else:
            data = identity(param)
        return WriteGraphSummary()(_handle(), _step(step), data, name=name)


@export("contrib.summary.import_event")
def import_event(tensor: TensorLike, name: str | None = None) -> Operation:
    """Write an Event, such as one of another event file.

    Args:
      tensor: a string scalar with a serialized Event.
      name: the op's name.
    """
    return ImportEvent()(_handle(), tensor, name=name)


@export("contrib.summary.initialize", "summary.initialize")
def initialize(
    graph: Graph | Proto | None = None, session: SessionLike | None = None
) -> None:
    """Create the files of a graph's writers; nothing to do in an eager program.

    Args:
      graph: a Graph or GraphDef to write to the current writer.
      session: the session; by default the default one.

    Raises:
      RuntimeError: there is no current writer.
      ValueError: there is no session.
    """
    if get_default_graph().is_eager:
        return
    if current.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        data = _serialized(graph)
        fed = placeholder(string)
        write = WriteGraphSummary()
        with get_default_graph().device("cpu:0"):
            op = write(_handle(), convert(0, int64), identity(fed))
        session.run(op, feed_dict={fed: data})


@export("contrib.summary.summary_writer_initializer_op")
def summary_writer_initializer_op() -> list[Operation]:
    """The ops that create the files of a graph's writers.

    Raises:
      RuntimeError: in an eager program, which has created them.
    """
    default = get_default_graph()
    if default.is_eager:
        raise RuntimeError(
            "tf.contrib.summary.summary_writer_initializer_op is only supported in "
            "graph mode."
        )
    return default.get_collection(WRITER_INIT)


@export("contrib.summary.all_summary_ops", "summary.all_v2_summary_ops")
def all_v2_summary_ops() -> list[Any] | None:
    """The results of a graph's summaries, to be run; None in an eager program."""
    default = get_default_graph()
    return None if default.is_eager else default.get_collection(SUMMARIES)


@export("contrib.summary.eval_dir")
def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder of the summaries of an evaluation.

    Example:
      >>> tf.contrib.summary.eval_dir("model", "test")
      'model/eval_test'
    """
    return os.path.join(model_dir, "eval_" + name if name else "eval")


@export("contrib.summary.create_summary_file_writer")
def create_summary_file_writer(*args: Any, **kwargs: Any) -> Writer:
    """`create_file_writer` by its old name."""
    get_logger().warning(
        "Deprecation Warning: create_summary_file_writer was renamed to "
        "create_file_writer"
    )
    return create_file_writer(*args, **kwargs)


def _handle() -> Tensor:
    return current.writer._resource  # type: ignore[no-any-return]


def _serialized(graph: Any) -> bytes:
    if isinstance(graph, Graph):
        return graph_bytes(graph, add_shapes=True)
    data: bytes = graph.SerializeToString()
    return data
