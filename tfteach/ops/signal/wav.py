"""WAV files.

Source: core/ops/audio_ops.cc, core/kernels/decode_wav_op.cc, encode_wav_op.cc,
core/lib/wav/wav_io.cc (messages).
"""

from __future__ import annotations

import struct
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.text.byte_string_arrays import strings


class DecodeWav(MultiOutputOp):
    """The samples of a WAV file.  Source: core/ops/audio_ops.cc, DecodeWav."""

    signature = "contents: string -> audio: float, sample_rate: int32"
    desired_channels: int = -1
    desired_samples: int = -1

    on_gpu: ClassVar[bool] = False

    def infer_shape(self, contents: Shape) -> list[Shape]:
        shapes.with_rank(contents, 0)
        sizes = self.desired_samples, self.desired_channels
        for what, size in zip(("samples", "channels"), sizes, strict=True):
            if size < -1:
                raise ValueError(f"{what} must be non-negative, got {size}")
        return [tuple(None if size == -1 else size for size in sizes), ()]

    def compute(self, xp: ArrayModule, contents: Array) -> tuple[Any, Any]:
        if contents.ndim:
            raise invalid_argument(
                f"contents must be scalar, got shape {shapes.text(contents.shape)}"
            )
        wanted = self.desired_channels
        samples, rate = _samples(contents.item())
        if wanted != -1:  # the last channel again for those that lack
            chosen = np.minimum(np.arange(wanted), samples.shape[1] - 1)
            samples = samples[:, chosen]
        if self.desired_samples != -1:
            count = self.desired_samples
            missing = max(0, count - len(samples))
            samples = np.pad(samples[:count], ((0, missing), (0, 0)))
        return samples, np.int32(rate)


def _samples(data: bytes) -> tuple[Any, int]:
    """The samples, float32 [samples, channels], and the sample rate."""
    for at, wanted in ((0, b"RIFF"), (8, b"WAVE")):
        if data[at : at + 4] != wanted:
            raise invalid_argument(
                f"Header mismatch: Expected {wanted.decode()} but found "
                f"{data[at : at + 4].decode('utf-8', 'replace')}"
            )
    at, channels, rate, found = 12, 0, 0, None
    while at + 8 <= len(data):
        name, (size,) = data[at : at + 4], struct.unpack_from("<I", data, at + 4)
        at += 8
        if at + size > len(data):
            raise invalid_argument("Data too short when trying to read string")
        if name == b"fmt ":
            _, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", data, at)
            if bits != 16:
                raise invalid_argument(
                    f"Can only read 16-bit WAV files, but received {bits}"
                )
        elif name == b"data" and channels:
            found = np.frombuffer(data, "<i2", size // 2, at).reshape(-1, channels)
        at += size
    if found is None:
        raise invalid_argument("The WAV file has no data after its format")
    return found.astype(np.float32) / np.float32(32768), rate


class EncodeWav(Op):
    """Samples as a WAV file.  Source: core/ops/audio_ops.cc, EncodeWav."""

    signature = "audio: float, sample_rate: int32 -> contents: string"

    on_gpu: ClassVar[bool] = False

    def infer_shape(self, audio: Shape, sample_rate: Shape) -> Shape:
        shapes.with_rank(audio, 2)
        shapes.with_rank(sample_rate, 0)
        return ()

    def compute(self, xp: ArrayModule, audio: Array, sample_rate: Array) -> Any:
        if audio.ndim != 2:
            raise invalid_argument(
                f"audio must be 2-dimensional{shapes.text(audio.shape)}"
            )
        if sample_rate.ndim:
            raise invalid_argument(
                "Input sample_rate should be a scalar tensor, got "
                f"{shapes.text(sample_rate.shape)} instead."
            )
        channels, rate = audio.shape[1], int(sample_rate)
        if not audio.size or rate <= 0:
            raise invalid_argument(
                f"audio of shape {shapes.text(audio.shape)} at {rate} samples per "
                "second: both must be positive"
            )
        scaled = np.clip(np.rint(audio * np.float32(32768)), -32768, 32767)
        data = scaled.astype("<i2").tobytes()
        form = struct.pack(
            "<HHIIHH", 1, channels, rate, rate * channels * 2, 2 * channels, 16
        )
        parts = b"WAVEfmt " + struct.pack("<I", 16) + form
        parts += b"data" + struct.pack("<I", len(data)) + data
        return strings([b"RIFF" + struct.pack("<I", len(parts)) + parts], ())


@export("audio.decode_wav")
def decode_wav(
    contents: TensorLike,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """The samples of a WAV file of 16 bits, from -1 to 1, and the sample rate.

    Args:
      contents: a string scalar, the file's content.
      desired_channels: the number of channels to return; the last one is repeated if
        the file has fewer.  -1 for those of the file.
      desired_samples: the number of samples to return, padded with 0; -1 for all.
      name: the op's name.

    Returns:
      audio: float32 [samples, channels].
      sample_rate: an int32 scalar.

    Raises:
      tf.errors.InvalidArgumentError: in a run, it is no such file.

    Example:
      >>> audio, rate = tf.audio.decode_wav(tf.read_file("yes.wav"), desired_channels=1)

    Source: DecodeWav in core/ops/audio_ops.cc.
    """
    return DecodeWav(desired_channels, desired_samples)(contents, name=name)


@export("audio.encode_wav")
def encode_wav(
    audio: TensorLike, sample_rate: TensorLike, name: str | None = None
) -> Tensor:
    """Samples as a WAV file of 16 bits, a string scalar.

    Args:
      audio: float32 [samples, channels], clipped to [-1, 1].
      sample_rate: an int32 scalar, samples per second.
      name: the op's name.

    Raises:
      ValueError: `audio` or `sample_rate` has another rank.

    Example:
      >>> file = tf.audio.encode_wav([[0.0], [0.5]], 8000)

    Source: EncodeWav in core/ops/audio_ops.cc.
    """
    return EncodeWav()(audio, sample_rate, name=name)
