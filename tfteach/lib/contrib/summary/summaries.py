"""Summaries that are written where they are made.

Source: python/ops/summary_ops_v2.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.branch import smart_cond
from tfteach.framework.dtypes import int64, string
from tfteach.framework.export import export
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graphdef.graph_def import graph_bytes
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Proto, SessionLike, TensorLike
from tfteach.lib.contrib.summary.writers import (
    default_writer,
    known_condition,
    should_record_summaries,
)
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
from tfteach.ops.math.cast import cast

_COLLECTION = "_SUMMARY_V2"
Write = Callable[[Any, Any, str, str], Any]  # (handle, step, tag, scope)


def _step(step: Any) -> Tensor:
    """A step as int64; the global step if None."""
    return cast(get_or_create_global_step() if step is None else step, int64)


def _written(
    name: str, tensor: Any, family: str | None, step: Any, write: Write
) -> Any:
    """Write a summary if one is due, to the writer in effect."""
    writer = default_writer()
    if writer is None:
        return no_op()
    graph = get_default_graph()
    outer = graph.get_name_scope()

    def record() -> Tensor:
        with (
            name_scope(outer + "/" if outer else None),
            summary_scope(name, family, values=[tensor]) as (tag, scope),
        ):
            done = write(writer._resource, _step(step), tag, scope)
            with get_default_graph().control_dependencies([done]):
                return constant(True)

    with graph.device("cpu:0"):
        due, known = should_record_summaries(), known_condition()
        is_due: Any = due if known is None else known
        made = smart_cond(is_due, record, lambda: constant(False))
        if not graph.is_eager:
            graph.add_to_collection(_COLLECTION, made)
    return made


@export("contrib.summary.scalar")
def scalar(
    name: str, tensor: TensorLike, family: str | None = None, step: Any = None
) -> Any:
    """Write a number to the writer in effect, if summaries are recorded here.

    Args:
      name: its tag, within the open name scopes.
      tensor: a scalar.
      family: a name that groups tags.
      step: an int64 step; the global step if None.

    Returns:
      A bool Tensor: whether it was written.  Nothing to run in an eager program.

    Example:
      >>> written = tf.contrib.summary.scalar("loss", 0.5)

    Source: python/ops/summary_ops_v2.py.
    """
    return _written(
        name, tensor, family, step,
        lambda writer, at, tag, scope: WriteScalarSummary()(
            writer, at, tag, identity(tensor), name=scope
        ),
    )  # fmt: skip


@export("contrib.summary.histogram")
def histogram(
    name: str, tensor: TensorLike, family: str | None = None, step: Any = None
) -> Any:
    """Write the distribution of values; arguments and result as of `scalar`.

    Source: python/ops/summary_ops_v2.py.
    """
    return _written(
        name, tensor, family, step,
        lambda writer, at, tag, scope: WriteHistogramSummary()(
            writer, at, tag, identity(tensor), name=scope
        ),
    )  # fmt: skip


@export("contrib.summary.image")
def image(
    name: str,
    tensor: TensorLike,
    bad_color: TensorLike | None = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Write images.

    Args:
      name, family, step: as for `scalar`.
      tensor: shape [batch, height, width, channels].
      bad_color: the uint8 color of pixels that are no numbers; red if None.
      max_images: the number of images to write.

    Source: python/ops/summary_ops_v2.py.
    """
    red = [255, 0, 0, 255]

    def write(writer: Any, at: Any, tag: str, scope: str) -> Any:
        color = constant(red, "uint8") if bad_color is None else bad_color
        op = WriteImageSummary(max_images)
        return op(writer, at, tag, identity(tensor), color, name=scope)

    return _written(name, tensor, family, step, write)


@export("contrib.summary.audio")
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Write sounds.

    Args:
      name, family, step: as for `scalar`.
      tensor: shape [batch, frames, channels], between -1 and 1.
      sample_rate: frames in a second.
      max_outputs: the number of sounds to write.

    Source: python/ops/summary_ops_v2.py.
    """

    def write(writer: Any, at: Any, tag: str, scope: str) -> Any:
        op = WriteAudioSummary(max_outputs)
        return op(writer, at, tag, identity(tensor), sample_rate, name=scope)

    return _written(name, tensor, family, step, write)


@export("contrib.summary.generic")
def generic(
    name: str,
    tensor: TensorLike,
    metadata: Any = None,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Write a tensor.

    Args:
      name, family, step: as for `scalar`.
      tensor: the tensor.
      metadata: a SummaryMetadata proto, for plugins; or None.

    Source: python/ops/summary_ops_v2.py.
    """

    def write(writer: Any, at: Any, tag: str, scope: str) -> Any:
        data = "" if metadata is None else metadata
        if hasattr(data, "SerializeToString"):
            data = data.SerializeToString()
        return WriteSummary()(writer, at, identity(tensor), tag, data, name=scope)

    return _written(name, tensor, family, step, write)


@export("contrib.summary.graph")
def graph(
    param: Graph | Proto | TensorLike, step: Any = None, name: str | None = None
) -> Operation:
    """Write a graph, for TensorBoard's Graphs; also where no summaries are recorded.

    Args:
      param: a serialized GraphDef as a string Tensor; in an eager program also a
        Graph or GraphDef.
      step: an int64 step; the global step if None.
      name: the op's name.

    Raises:
      TypeError: in a graph, `param` is no Tensor.

    Source: python/ops/summary_ops_v2.py.
    """
    if not get_default_graph().is_eager and not isinstance(param, Tensor):
        raise TypeError(
            "graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: "
            f"{type(param)}"
        )
    writer = default_writer()
    if writer is None:
        return no_op()
    data: Any = param
    if isinstance(param, Graph):
        data = graph_bytes(param, add_shapes=True)
    elif hasattr(param, "SerializeToString"):
        data = param.SerializeToString()
    with get_default_graph().device("cpu:0"):
        return WriteGraphSummary()(writer._resource, _step(step), data, name=name)


def write_graph(given: Any, session: SessionLike) -> None:
    """Write a graph at step 0, in a session."""
    is_graph = isinstance(given, Graph)
    data = graph_bytes(given, True) if is_graph else given.SerializeToString()
    held = placeholder(string)
    session.run(graph(held, 0), {held: data})


@export("contrib.summary.import_event")
def import_event(tensor: TensorLike, name: str | None = None) -> Operation:
    """Write a serialized Event proto, as it is.

    Args:
      tensor: a string.
      name: the op's name.

    Source: python/ops/summary_ops_v2.py.
    """
    writer = default_writer()
    if writer is None:
        return no_op()
    return ImportEvent()(writer._resource, tensor, name=name)


@export("contrib.summary.all_summary_ops")
def all_summary_ops() -> list[Any] | None:
    """The summaries of the default graph; None in an eager program.

    Source: python/ops/summary_ops_v2.py.
    """
    if get_default_graph().is_eager:
        return None
    return get_default_graph().get_collection(_COLLECTION)


@export("contrib.summary.eval_dir")
def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder of the summaries of an evaluation.

    Args:
      model_dir: the folder of the model.
      name: the name of the evaluation, if there are several.

    Source: python/ops/summary_ops_v2.py.
    """
    folder = "eval" if not name else "eval_" + name
    return f"{model_dir}/{folder}"
