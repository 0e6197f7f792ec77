"""Summaries: values that a run records for TensorBoard, as serialized Summary protos.

Source: core/ops/logging_ops.cc, summary_ops.cc; core/kernels/summary_*_op.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos.tensor_proto import make_tensor_proto
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar
from tfteach.framework.type_aliases import ArrayModule, Gradient
from tfteach.ops.debug.summary_formats import fill_histogram, pixels_of, png, wav

REALS = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64"
)


def _summary_proto() -> Any:
    from tfteach.framework.protos import Summary

    return Summary


def _text(value: Any) -> str:
    """A string tensor's only element as text."""
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

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None] * len(op.inputs)


class ScalarSummary(_SummaryOp):
    """A number per tag.  Source: core/ops/logging_ops.cc, ScalarSummary."""

    signature = "tags: string, values: T -> summary: string"
    T = REALS

    def compute(self, xp: ArrayModule, tags: Any, values: Any) -> Any:
        names, numbers = np.asarray(tags, object), np.asarray(values)
        if names.shape != numbers.shape:
            first = f" (tag '{_text(names)}')" if names.shape == () else ""
            raise invalid_argument(
                f"tags and values not the same shape: {_sizes(names)} != "
                f"{_sizes(numbers)}{first}"
            )
        summary = _summary_proto()()
        for name, number in zip(names.ravel(), numbers.ravel(), strict=True):
            summary.value.add(tag=_text(name), simple_value=float(number))
        return _scalar_string(summary.SerializeToString())


def _sizes(array: Any) -> str:
    return f"[{','.join(map(str, array.shape))}]"


class HistogramSummary(_SummaryOp):
    """A histogram of values.  Source: core/ops/logging_ops.cc."""

    signature = "tag: string, values: T -> summary: string"
    T = REALS
    T_default = float32

    def check_shapes(self, tag: tuple[int, ...]) -> None:
        require_scalar(tag, "tags must be scalar")

    def compute(self, xp: ArrayModule, tag: Any, values: Any) -> Any:
        flat = np.asarray(values).astype(np.float64).ravel()
        if not np.isfinite(flat).all():
            what = "Nan" if np.isnan(flat[~np.isfinite(flat)][0]) else "Infinity"
            raise invalid_argument(f"{what} in summary histogram for: {_text(tag)}")
        summary = _summary_proto()()
        fill_histogram(summary.value.add(tag=_text(tag)).histo, flat)
        return _scalar_string(summary.SerializeToString())


BAD_COLOR = np.array([255, 0, 0, 255], np.uint8)


class ImageSummary(_SummaryOp):
    """Images as PNG.  Source: core/ops/logging_ops.cc, ImageSummary."""

    signature = "tag: string, tensor: T -> summary: string"
    T = dtypes_of("uint8 float32 float16 float64")
    T_default = float32
    max_images: int = 3
    minimum: ClassVar[dict[str, int]] = {"max_images": 1}
    bad_color: np.ndarray[Any, Any] = BAD_COLOR

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ImageSummary):
            return NotImplemented
        return self.max_images == other.max_images and np.array_equal(
            self.bad_color, other.bad_color
        )

    def __hash__(self) -> int:
        return hash((self.max_images, self.bad_color.tobytes()))

    def check_shapes(self, tag: tuple[int, ...]) -> None:
        require_scalar(tag, "Tags must be a scalar")

    def compute(self, xp: ArrayModule, tag: Any, tensor: Any) -> Any:
        images = np.asarray(tensor)
        if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
            raise invalid_argument(
                f"Tensor must be 4-D with last dim 1, 3, or 4, not {_sizes(images)}"
            )
        depth = images.shape[3]
        if 0 in images.shape[1:]:
            raise invalid_argument(
                f"input tensor must have non-zero dims. Found: "
                f"[{', '.join(map(str, images.shape))}]."
            )
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
    """Audio as 16-bit WAV.  Source: core/ops/logging_ops.cc, AudioSummaryV2."""

    signature = "tag: string, tensor: float32, sample_rate: float32 -> summary: string"
    max_outputs: int = 3
    minimum: ClassVar[dict[str, int]] = {"max_outputs": 1}

    def check_shapes(self, tag: tuple[int, ...], sample_rate: tuple[int, ...]) -> None:
        require_scalar(tag, "Tag must be a scalar")
        single = all(n == 1 for n in sample_rate)
        message = "sample_rate must have exactly one element, got shape %s"
        require(single, message, sample_rate)

    def compute(self, xp: ArrayModule, tag: Any, tensor: Any, sample_rate: Any) -> Any:
        sounds, rate = np.asarray(tensor), sample_rate.item()
        if sounds.ndim not in (2, 3):
            raise invalid_argument("Tensor must be 3-D or 2-D, got: " + _sizes(sounds))
        if not rate > 0:
            raise invalid_argument("sample_rate must be > 0")
        if rate >= 1 << 32:
            raise invalid_argument(f"sample_rate must be in (0, 2^32), got: {rate:.0f}")
        if sounds.ndim == 2:
            sounds = sounds[:, :, None]
        summary = _summary_proto()()
        for i, sound in enumerate(sounds[: self.max_outputs]):
            suffix = f"/{i}" if self.max_outputs > 1 else ""
            if not sound.size:
                raise invalid_argument("audio is null")
            if sound.shape[1] >= 1 << 16:
                raise invalid_argument(
                    f"num_channels must be in (0, 2^16), got: {sound.shape[1]}"
                )
            value = summary.value.add(tag=f"{_text(tag)}/audio{suffix}")
            audio = value.audio
            audio.sample_rate = rate
            audio.length_frames, audio.num_channels = sound.shape
            audio.content_type = "audio/wav"
            audio.encoded_audio_string = wav(sound, max(1, round(rate)))
        return _scalar_string(summary.SerializeToString())


class TensorSummaryV2(_SummaryOp):
    """Any tensor, with metadata for a plugin.  Source: logging_ops.cc."""

    signature = (
        "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string"
    )

    def check_shapes(
        self, tag: tuple[int, ...], serialized_summary_metadata: tuple[int, ...]
    ) -> None:
        require_scalar(tag, "tag must be scalar")
        single = all(n == 1 for n in serialized_summary_metadata)
        message = "serialized_summary_metadata must have one element, got shape %s"
        require(single, message, serialized_summary_metadata)

    def compute(
        self, xp: ArrayModule, tag: Any, tensor: Any, serialized_summary_metadata: Any
    ) -> Any:
        summary = _summary_proto()()
        value = summary.value.add(tag=_text(tag))
        array = np.asarray(tensor)
        value.tensor.CopyFrom(make_tensor_proto(array))
        value.metadata.SetInParent()
        metadata = np.asarray(serialized_summary_metadata, object).reshape(-1)[0]
        try:
            value.metadata.ParseFromString(metadata)
        except Exception:  # the exception class depends on protobuf's version
            value.metadata.Clear()
            value.metadata.SetInParent()
        return _scalar_string(summary.SerializeToString())


class MergeSummary(_SummaryOp):
    """The values of several summaries in one.  Source: logging_ops.cc."""

    signature = "inputs: N*string -> summary: string"

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
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
