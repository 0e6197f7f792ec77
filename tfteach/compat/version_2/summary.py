"""`tf.compat.v2.summary`: tensors in event files, and what TensorBoard shows of them.

A summary is a tensor, and the name of the plugin of TensorBoard that shows it.
Source: python/ops/summary_ops_v2.py; TensorBoard's plugins (API, forms of the tensors).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tfteach.control.branch import cond, smart_cond
from tfteach.control.checks.ranks import assert_rank, assert_scalar
from tfteach.control.checks.types import assert_type
from tfteach.control.checks.values import assert_non_negative
from tfteach.control.functional import map_fn
from tfteach.framework.dtypes import float32, float64, int32, string, uint8
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import SummaryMetadata
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import Proto, TensorLike
from tfteach.lib.contrib.summary.recording import current, is_recorded
from tfteach.lib.contrib.summary.summaries import SUMMARIES
from tfteach.lib.image.color import convert_image_dtype
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.debug.summary_writer_ops import WriteRawProtoSummary, WriteSummary
from tfteach.ops.image.encode_image_ops import encode_png
from tfteach.ops.math.binary import minimum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.range import linspace
from tfteach.ops.math.reduce_functions import reduce_max, reduce_min, reduce_sum
from tfteach.ops.math.rounding import floor
from tfteach.ops.signal.wav import encode_wav
from tfteach.ops.text.string_conversion import as_string

_BUCKET_COUNT = 30
_WAV = b"\x10\x0b"  # AudioPluginData(encoding=WAV)


@export(v2="summary.experimental.summary_scope")
@contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: Iterable[Any] | None = None
) -> Iterator[tuple[str, str]]:
    """A block in which a summary is made.

    Args:
      name: the summary's name; `default_name` if it is empty.
      values: the tensors that it is made of.

    Yields:
      (tag, scope): the name within the open scopes, and the scope of the block.
    """
    name = name or default_name
    outer = get_default_graph().scopes.name
    tag = f"{outer}/{name}" if outer else name
    valid = re.sub(r"[^-_/.A-Za-z0-9]", "", name) or None
    with name_scope(valid, default_name, values) as scope:
        yield tag, scope


@export(v2="summary.write")
def write(
    tag: TensorLike,
    tensor: TensorLike,
    step: TensorLike | None = None,
    metadata: Proto | TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Write a tensor, if there is a writer and nothing forbids it.

    Args:
      tag: its name in the event file.
      tensor: of any type and shape.
      step: an int64 scalar; by default that of `set_step`.
      metadata: a SummaryMetadata, or a string Tensor with a serialized one.
      name: the op's name.

    Returns:
      A bool Tensor: whether it was written.

    Raises:
      ValueError: there is a writer, but no step.
    """
    if metadata is None:
        metadata = b""
    elif hasattr(metadata, "SerializeToString"):
        metadata = metadata.SerializeToString()

    def to_file(step: Any, scope: str) -> Operation:
        value = identity(tensor)
        op = WriteSummary()
        return op(current.writer._resource, step, value, tag, metadata, name=scope)

    with name_scope(name, "write_summary") as scope:
        return _recorded(partial(to_file, scope=scope), step)


@export(v2="summary.experimental.write_raw_pb")
def write_raw_pb(
    tensor: TensorLike, step: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Write serialized Summary messages; see `write`.

    Args:
      tensor: a string Tensor.
    """

    def to_file(step: Any, scope: str) -> Operation:
        value = identity(tensor)
        op = WriteRawProtoSummary()
        return op(current.writer._resource, step, value, name=scope)

    with name_scope(name, "write_raw_pb") as scope:
        return _recorded(partial(to_file, scope=scope), step)


def _recorded(to_file: Callable[[Any], Operation], step: Any) -> Tensor:
    """Whether a summary is recorded, by a function of its step."""
    if current.writer is None:
        return constant(False)
    step = current.step if step is None else step
    if step is None:
        raise ValueError(
            "No step set via 'step' argument or tf.summary.experimental.set_step()"
        )
    graph = get_default_graph()

    def record() -> Tensor:
        with get_default_graph().device("cpu:0"), control_dependencies([to_file(step)]):
            return constant(True)

    with graph.device("cpu:0"):
        condition = is_recorded(default=True)
        written: Tensor = smart_cond(
            condition, record, lambda: constant(False), name="summary_cond"
        )
    if not graph.is_eager:
        graph.add_to_collection(SUMMARIES, written)
    return written


def _metadata(plugin: str, description: str | None, content: bytes = b"") -> Any:
    data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return SummaryMetadata(summary_description=description, plugin_data=data)


@export(v2="summary.scalar")
def scalar(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    description: str | None = None,
) -> Tensor:
    """Write a number.

    Args:
      name: the summary's name; the open name scopes precede it.
      data: a real scalar.
      step: an int64 scalar; by default that of `tf.summary.experimental.set_step`.
      description: a text about the summary, in Markdown.

    Returns:
      A bool Tensor: whether it was written.

    Raises:
      ValueError: there is a writer, but no step; `data` isn't a scalar.

    Example:
      >>> writer = tf.compat.v2.summary.create_file_writer("logs")
      >>> with writer.as_default():
      ...     tf.compat.v2.summary.scalar("loss", 0.5, step=1)
    """
    metadata = _metadata("scalars", description)
    with summary_scope(name, "scalar_summary", [data, step]) as (tag, _):
        assert_scalar(data)
        return write(tag, cast(data, float32), step, metadata)


@export(v2="summary.text")
def text(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    description: str | None = None,
) -> Tensor:
    """Write strings, in Markdown; see `scalar`.

    Args:
      data: a string Tensor.
    """
    metadata = _metadata("text", description)
    with summary_scope(name, "text_summary", [data, step]) as (tag, _):
        assert_type(data, string)
        return write(tag, data, step, metadata)


@export(v2="summary.histogram")
def histogram(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    buckets: TensorLike | None = None,
    description: str | None = None,
) -> Tensor:
    """Write a histogram of the values of a real tensor; see `scalar`.

    Args:
      buckets: the number of buckets, 30 by default.  If all values are equal there is
        one bucket, without values none.
    """
    metadata = _metadata("histograms", description)
    with summary_scope(name, "histogram_summary", [data, buckets, step]) as (tag, _):
        count = _BUCKET_COUNT if buckets is None else buckets
        return write(tag, _bucket_rows(data, count), step, metadata)


def _bucket_rows(data: TensorLike, count: Any) -> Tensor:
    """The rows (left edge, right edge, number of values) of a histogram's buckets."""

    def filled() -> Tensor:
        low, high = reduce_min(values), reduce_max(values)
        found: Tensor = cond(
            equal(high - low, 0),
            lambda: _single_bucket(values, low),
            lambda: _buckets(values, low, high, count),
        )
        return found

    with name_scope("buckets"):
        assert_scalar(count)
        assert_type(count, int32)
        values = cast(reshape(data, [-1]), float64)
        found: Tensor = cond(
            equal(size(values), 0), lambda: constant([], float64, (0, 3)), filled
        )
        return found


def _single_bucket(values: Tensor, center: Tensor) -> Tensor:
    number = cast(size(values), float64)
    return transpose(stack([[center - 0.5], [center + 0.5], [number]]))


def _buckets(values: Tensor, low: Tensor, high: Tensor, count: Any) -> Tensor:
    width = (high - low) / cast(count, float64)
    places = cast(floor((values - low) / width), int32)
    one_hots = one_hot(minimum(places, count - 1), count)
    numbers = cast(reduce_sum(one_hots, axis=0), float64)
    # The last edge is the maximum exactly.
    edges = concat([linspace(low, high, count + 1)[:-1], [high]], 0)
    return transpose(stack([edges[:-1], edges[1:], numbers]))


@export(v2="summary.image")
def image(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    max_outputs: TensorLike = 3,
    description: str | None = None,
) -> Tensor:
    """Write images; see `scalar`.

    Args:
      data: Tensor [batch, height, width, channels] of integers, or of floats from 0
        to 1; of one channel (gray) to four.
      max_outputs: how many images of the batch are written at most.
    """
    metadata = _metadata("images", description)
    with summary_scope(name, "image_summary", [data, max_outputs, step]) as (tag, _):
        assert_rank(data, 4)
        assert_non_negative(max_outputs)
        images = convert_image_dtype(data, uint8, saturate=True)
        pictures = _encoded(encode_png, images[:max_outputs], "encode_each_image")
        sizes = shape(images)
        width_and_height = stack(
            [as_string(sizes[2], name="width"), as_string(sizes[1], name="height")],
            name="dimensions",
        )
        return write(tag, concat([width_and_height, pictures], 0), step, metadata)


@export(v2="summary.audio")
def audio(
    name: str,
    data: TensorLike,
    sample_rate: TensorLike,
    step: TensorLike | None = None,
    max_outputs: TensorLike = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Write sounds; see `scalar`.

    Args:
      data: float32 Tensor [batch, frames, channels], from -1 to 1.
      sample_rate: in hertz.
      max_outputs: how many sounds of the batch are written at most.
      encoding: "wav", also the default.

    Raises:
      ValueError: the encoding is another.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    metadata = _metadata("audio", description, _WAV)
    values = [data, sample_rate, max_outputs, step]
    with summary_scope(name, "audio_summary", values) as (tag, _):
        assert_rank(data, 3)
        assert_non_negative(max_outputs)
        clips = identity(data)[:max_outputs]
        encode = partial(encode_wav, sample_rate=sample_rate)
        sounds = _encoded(encode, clips, "encode_each_audio")
        labels = tile([""], shape(clips)[:1])
        return write(tag, transpose(stack([sounds, labels])), step, metadata)


def _encoded(encode: Callable[[Tensor], Tensor], items: Tensor, name: str) -> Tensor:
    """The string of each item; `map_fn` alone makes none of no items."""
    mapped: Tensor = map_fn(encode, items, dtype=string, name=name)
    found: Tensor = cond(
        shape(mapped)[0] > 0, lambda: mapped, lambda: constant([], string)
    )
    return found
