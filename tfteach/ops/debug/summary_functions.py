"""`tf.summary.scalar` etc.: a summary op with its tag, added to collections.

Source: python/summary/summary.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, string
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Proto, TensorLike
from tfteach.ops.debug.summary_ops import (
    AudioSummaryV2,
    HistogramSummary,
    ImageSummary,
    MergeSummary,
    ScalarSummary,
    TensorSummaryV2,
)

_ILLEGAL = re.compile(r"[^-/\w\.]", re.ASCII)


def clean_tag(name: str | None) -> str | None:
    """A name in which characters invalid in node names are replaced by underscores."""
    return None if name is None else _ILLEGAL.sub("_", name).lstrip("/")


@contextmanager
def summary_scope(
    name: str,
    family: str | None = None,
    default_name: str | None = None,
    values: Sequence[Any] = (),
) -> Iterator[tuple[str, str]]:
    """Open a summary's name scope; yields its tag and the scope."""
    base, family = clean_tag(name), clean_tag(family)
    if family is not None:
        base = f"{family}/{base}"
    with name_scope(base, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield tag if family is None else f"{family}/{tag}", scope


def _collect(
    summary: Tensor, collections: Sequence[str] | None, default: Sequence[str]
) -> None:
    for key in default if collections is None else collections:
        get_default_graph().add_to_collection(key, summary)


@export("summary.scalar")
def scalar(
    name: str,
    tensor: TensorLike,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of one number, for TensorBoard's Scalars.

    Args:
      name: the tag and the node's name, relative to the current name scope.
      tensor: a real scalar Tensor.
      collections: keys of the collections that get the summary; ["summaries"] if None.
      family: a prefix that groups tags in TensorBoard.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Example:
      >>> tf.summary.scalar("loss", loss)

    Source: ScalarSummary in core/ops/logging_ops.cc.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary: Tensor = ScalarSummary()(tag, tensor, name=scope)
        _collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


@export("summary.histogram")
def histogram(
    name: str,
    values: TensorLike,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of the distribution of values.

    Args:
      name: the tag and the node's name.
      values: a real Tensor of any shape.
      collections: see `tf.summary.scalar`.
      family: see `tf.summary.scalar`.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Raises:
      InvalidArgumentError: (in a run) a value is NaN or infinite.

    Source: HistogramSummary in core/ops/logging_ops.cc.
    """
    with summary_scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        summary: Tensor = HistogramSummary()(tag, values, name=scope)
        _collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


@export("summary.image")
def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of images.

    Args:
      name: the tag (before "/image/0" ...) and the node's name.
      tensor: uint8 or float Tensor [batch, height, width, channels], of 1 (grey),
        3 (RGB) or 4 (RGBA) channels; floats are scaled to fill 0 to 255.
      max_outputs: the maximum number of images to record.
      collections: see `tf.summary.scalar`.
      family: see `tf.summary.scalar`.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Source: ImageSummary in core/ops/logging_ops.cc.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary: Tensor = ImageSummary(max_outputs)(tag, tensor, name=scope)
        _collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


@export("summary.audio")
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of audio clips.

    Args:
      name: the tag (before "/audio/0" ...) and the node's name.
      tensor: float32 Tensor [batch, frames] or [batch, frames, channels], values
        between -1 and 1.
      sample_rate: float32 scalar, in Hertz.
      max_outputs: the maximum number of clips to record.
      collections: see `tf.summary.scalar`.
      family: see `tf.summary.scalar`.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Source: AudioSummaryV2 in core/ops/logging_ops.cc.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        rate = convert(sample_rate, float32, "sample_rate")
        summary: Tensor = AudioSummaryV2(max_outputs)(tag, tensor, rate, name=scope)
        _collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


@export("summary.text")
def text(name: str, tensor: Tensor, collections: Sequence[str] | None = None) -> Tensor:
    """A summary of text, shown as Markdown.

    Args:
      name: the tag and the node's name.
      tensor: string Tensor of any shape.
      collections: see `tf.summary.scalar`.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Raises:
      ValueError: `tensor` is not a string tensor.

    Source: python/summary/summary.py, text.
    """
    if tensor.dtype.base_dtype is not string:
        raise ValueError(
            f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}"
        )
    from tfteach.framework.protos import SummaryMetadata

    plugin = SummaryMetadata.PluginData(plugin_name="text")
    metadata = SummaryMetadata(plugin_data=plugin)
    return tensor_summary(
        name, tensor, summary_metadata=metadata, collections=collections
    )


@export("summary.tensor_summary")
def tensor_summary(
    name: str,
    tensor: TensorLike,
    summary_description: Any = None,
    collections: Sequence[str] | None = None,
    summary_metadata: Proto | None = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary of any tensor.

    Args:
      name: the tag and the node's name.
      tensor: a Tensor of any type and shape.
      summary_description: text about the summary, for TensorBoard.
      collections: see `tf.summary.scalar`.
      summary_metadata: a SummaryMetadata proto that names the plugin.
      family: see `tf.summary.scalar`.
      display_name: the name in TensorBoard, instead of the tag.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Source: TensorSummaryV2 in core/ops/logging_ops.cc.
    """
    from tfteach.framework.protos import SummaryMetadata

    metadata = SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(summary_metadata)
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    data = metadata.SerializeToString()
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary: Tensor = TensorSummaryV2()(tag, tensor, data, name=scope)
        _collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


_NOT_MERGED = (
    "Merging tf.summary.* ops is not compatible with eager execution. Use "
    "tf.contrib.summary instead."
)


@export("summary.merge")
def merge(
    inputs: Sequence[Any],
    collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """One summary that merges the values of several.

    Args:
      inputs: string Tensors of serialized summaries.
      collections: the collections to add the merged summary to; none if None.
      name: the name scope and the node's name.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Raises:
      InvalidArgumentError: (in a run) two values have the same tag.

    Source: MergeSummary in core/ops/logging_ops.cc.
    """
    require_graph(_NOT_MERGED)
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        summary: Tensor = MergeSummary()(list(inputs), name=name)
        _collect(summary, collections, [])
    return summary


@export("summary.merge_all")
def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """One summary that merges all summaries of a collection.

    Args:
      key: the collection.
      scope: use only summaries whose names start with a match of this regex.
      name: see `tf.summary.merge`.

    Returns:
      A string scalar Tensor, or None if the collection is empty.

    Example:
      >>> merged = tf.summary.merge_all()
      >>> writer.add_summary(session.run(merged), step)

    Source: python/summary/summary.py, merge_all.
    """
    require_graph(_NOT_MERGED)
    summaries = get_default_graph().get_collection(key, scope)
    return merge(summaries, name=name) if summaries else None
