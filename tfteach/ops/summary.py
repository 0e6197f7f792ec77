"""Summaries: what a run tells TensorBoard, as serialized Summary protos.

Source: core/ops/logging_ops.cc, summary_ops.cc; core/kernels/summary_*_op.cc;
python/summary/summary.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, float32, string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.keys import GraphKeys
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.tensor_proto import make_tensor_proto
from tfteach.ops.summary_formats import fill_histogram, pixels_of, png, wav

REALS = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64"
)


def _summary_proto() -> Any:
    from tensorboard.compat.proto.summary_pb2 import Summary

    return Summary


def _text(value: Any) -> str:
    """A string tensor's one element as text."""
    item: Any = np.asarray(value, object)[()]
    return str(item.decode("utf-8", "replace"))


def _scalar_string(data: bytes) -> np.ndarray[Any, Any]:
    result = np.empty((), object)
    result[()] = data
    return result


class _SummaryOp(Op, abstract=True):
    on_gpu: ClassVar[bool] = False
    is_foldable: ClassVar[bool] = False

    def infer_shape(self, *inputs: Any) -> Shape:
        return ()

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None] * len(op.inputs)


class ScalarSummary(_SummaryOp):
    """A number per tag.  Source: core/ops/logging_ops.cc, ScalarSummary."""

    signature = "tags: string, values: T -> summary: string"
    T = REALS

    def compute(self, xp: Any, tags: Any, values: Any) -> Any:
        names, numbers = np.asarray(tags, object), np.asarray(values)
        if names.shape != numbers.shape:
            first = f" (tag '{_text(names)}')" if names.shape == () else ""
            raise invalid_argument(
                f"tags and values not the same shape: {_sizes(names)} != "
                f"{_sizes(numbers)}{first}"
            )
        summary = _summary_proto()()
        for name, number in zip(names.ravel(), numbers.ravel(), strict=True):
            summary.value.add(tag=name, simple_value=float(number))
        return _scalar_string(summary.SerializeToString())


def _sizes(array: Any) -> str:
    return f"[{','.join(map(str, array.shape))}]"


class HistogramSummary(_SummaryOp):
    """How values are distributed.  Source: core/ops/logging_ops.cc."""

    signature = "tag: string, values: T -> summary: string"
    T = REALS
    T_default = float32

    def compute(self, xp: Any, tag: Any, values: Any) -> Any:
        flat = np.asarray(values).astype(np.float64).ravel()
        if not np.isfinite(flat).all():
            what = "Nan" if np.isnan(flat[~np.isfinite(flat)][0]) else "Infinity"
            raise invalid_argument(f"{what} in summary histogram for: {_text(tag)}")
        summary = _summary_proto()()
        fill_histogram(summary.value.add(tag=_text(tag)).histo, flat)
        return _scalar_string(summary.SerializeToString())


BAD_COLOR = np.array([255, 0, 0, 255], np.uint8)


class ImageSummary(_SummaryOp):
    """Pictures, as PNG.  Source: core/ops/logging_ops.cc, ImageSummary."""

    signature = "tag: string, tensor: T -> summary: string"
    T = dtypes_of("uint8 float32 float16 float64")
    T_default = float32
    max_images: int = 3
    bad_color: np.ndarray[Any, Any] = BAD_COLOR

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ImageSummary):
            return NotImplemented
        return self.max_images == other.max_images and np.array_equal(
            self.bad_color, other.bad_color
        )

    def __hash__(self) -> int:
        return hash((self.max_images, self.bad_color.tobytes()))

    def validate(self) -> None:
        if self.max_images < 1:
            raise ValueError(
                f"Attr 'max_images' of 'ImageSummary' Op passed {self.max_images} less "
                "than minimum 1."
            )

    def compute(self, xp: Any, tag: Any, tensor: Any) -> Any:
        images = np.asarray(tensor)
        if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
            raise invalid_argument(
                f"Tensor must be 4-D with last dim 1, 3, or 4, not {_sizes(images)}"
            )
        depth = images.shape[3]
        summary = _summary_proto()()
        for i, image in enumerate(images[: self.max_images]):
            if image.dtype != np.uint8:
                image = pixels_of(image, self.bad_color[:depth])
            suffix = f"/{i}" if self.max_images > 1 else ""
            value = summary.value.add(tag=f"{_text(tag)}/image{suffix}")
            value.image.height, value.image.width = image.shape[:2]
            value.image.colorspace = depth
            value.image.encoded_image_string = png(image)
        return _scalar_string(summary.SerializeToString())


class AudioSummaryV2(_SummaryOp):
    """Sounds, as 16-bit WAV.  Source: core/ops/logging_ops.cc, AudioSummaryV2."""

    signature = "tag: string, tensor: float32, sample_rate: float32 -> summary: string"
    max_outputs: int = 3

    def validate(self) -> None:
        if self.max_outputs < 1:
            raise ValueError(
                f"Attr 'max_outputs' of 'AudioSummaryV2' Op passed {self.max_outputs} "
                "less than minimum 1."
            )

    def compute(self, xp: Any, tag: Any, tensor: Any, sample_rate: Any) -> Any:
        sounds, rate = np.asarray(tensor), float(sample_rate)
        if sounds.ndim not in (2, 3):
            raise invalid_argument("Tensor must be 3-D or 2-D, got: " + _sizes(sounds))
        if rate <= 0:
            raise invalid_argument("sample_rate must be > 0")
        sounds = sounds.reshape(*sounds.shape[:2], -1)
        summary = _summary_proto()()
        for i, sound in enumerate(sounds[: self.max_outputs]):
            suffix = f"/{i}" if self.max_outputs > 1 else ""
            value = summary.value.add(tag=f"{_text(tag)}/audio{suffix}")
            audio = value.audio
            audio.sample_rate = rate
            audio.length_frames, audio.num_channels = sound.shape
            audio.content_type = "audio/wav"
            audio.encoded_audio_string = wav(sound, round(rate))
        return _scalar_string(summary.SerializeToString())


class TensorSummaryV2(_SummaryOp):
    """Any tensor, with metadata for a plugin.  Source: logging_ops.cc."""

    signature = (
        "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string"
    )

    def compute(
        self, xp: Any, tag: Any, tensor: Any, serialized_summary_metadata: Any
    ) -> Any:
        summary = _summary_proto()()
        value = summary.value.add(tag=_text(tag))
        array = np.asarray(tensor)
        value.tensor.CopyFrom(make_tensor_proto(array))
        value.metadata.ParseFromString(
            np.asarray(serialized_summary_metadata, object)[()]
        )
        return _scalar_string(summary.SerializeToString())


class MergeSummary(_SummaryOp):
    """The values of several summaries in one.  Source: logging_ops.cc."""

    signature = "inputs: N*string -> summary: string"

    def compute(self, xp: Any, *inputs: Any) -> Any:
        merged, tags = _summary_proto()(), set()
        for data in inputs:
            for item in np.asarray(data, object).ravel():
                try:
                    part = _summary_proto().FromString(item)
                except Exception as error:
                    raise invalid_argument(
                        f"Could not parse one of the summary inputs: {error}"
                    ) from None
                for value in part.value:
                    if value.tag and value.tag in tags:
                        raise invalid_argument(
                            f"Duplicate tag {value.tag} found in summary inputs"
                        )
                    tags.add(value.tag)
                merged.value.extend(part.value)
        return _scalar_string(merged.SerializeToString())


# ---- functions

_ILLEGAL = re.compile(r"[^-/\w\.]", re.ASCII)


def clean_tag(name: str | None) -> str | None:
    """A name with what no node name may have replaced by underscores."""
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
    tensor: Any,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of one number, for TensorBoard's Scalars.

    Args:
      name: the tag and the node's name, below the current name scope.
      tensor: a real scalar Tensor.
      collections: the collections to add the summary to; ["summaries"] if None.
      family: what groups several tags in TensorBoard.

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
    values: Any,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of how values are distributed.

    Args:
      name: the tag and the node's name.
      values: a real Tensor of any shape.
      collections: see `tf.summary.scalar`.
      family: see `tf.summary.scalar`.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Raises:
      InvalidArgumentError: in the run, if a value is NaN or infinite.

    Source: HistogramSummary in core/ops/logging_ops.cc.
    """
    with summary_scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        summary: Tensor = HistogramSummary()(tag, values, name=scope)
        _collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


@export("summary.image")
def image(
    name: str,
    tensor: Any,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of pictures.

    Args:
      name: the tag (before "/image/0" ...) and the node's name.
      tensor: uint8 or float Tensor [batch, height, width, channels], of 1 (grey),
        3 (RGB) or 4 (RGBA) channels; floats are scaled to fill 0 to 255.
      max_outputs: the most images of the batch to keep.
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
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of sounds.

    Args:
      name: the tag (before "/audio/0" ...) and the node's name.
      tensor: float32 Tensor [batch, frames] or [batch, frames, channels], values
        between -1 and 1.
      sample_rate: float32 scalar, in Hertz.
      max_outputs: the most sounds of the batch to keep.
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
      ValueError: `tensor` holds no strings.

    Source: python/summary/summary.py, text.
    """
    if tensor.dtype.base_dtype is not string:
        raise ValueError(
            f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}"
        )
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    plugin = SummaryMetadata.PluginData(plugin_name="text")
    metadata = SummaryMetadata(plugin_data=plugin)
    return tensor_summary(
        name, tensor, summary_metadata=metadata, collections=collections
    )


@export("summary.tensor_summary")
def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: Any = None,
    collections: Sequence[str] | None = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary of any tensor.

    Args:
      name: the tag and the node's name.
      tensor: a Tensor of any type and shape.
      summary_description: text about the summary, for TensorBoard.
      collections: see `tf.summary.scalar`.
      summary_metadata: a SummaryMetadata proto that says which plugin shows it.
      family: see `tf.summary.scalar`.
      display_name: what TensorBoard shows instead of the tag.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Source: TensorSummaryV2 in core/ops/logging_ops.cc.
    """
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

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


@export("summary.merge")
def merge(
    inputs: Sequence[Any],
    collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """One summary with the values of several.

    Args:
      inputs: string Tensors of serialized summaries.
      collections: the collections to add the merged summary to; none if None.
      name: the name scope and the node's name.

    Returns:
      A string scalar Tensor: a serialized Summary.

    Raises:
      InvalidArgumentError: in the run, if two values have one tag.

    Source: MergeSummary in core/ops/logging_ops.cc.
    """
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        summary: Tensor = MergeSummary()(list(inputs), name=name)
        _collect(summary, collections, [])
    return summary


@export("summary.merge_all")
def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """One summary with the values of all that a collection holds.

    Args:
      key: the collection.
      scope: keep only summaries whose name begins with a match of this regex.
      name: see `tf.summary.merge`.

    Returns:
      A string scalar Tensor, or None if the collection is empty.

    Example:
      >>> merged = tf.summary.merge_all()
      >>> writer.add_summary(session.run(merged), step)

    Source: python/summary/summary.py, merge_all.
    """
    summaries = get_default_graph().get_collection(key, scope)
    return merge(summaries, name=name) if summaries else None
