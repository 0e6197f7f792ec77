"""Spectra of frames, and signals reconstructed from them.

Source: python/ops/signal/spectral_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.signal.framing import frame, overlap_and_add, scalar
from tfteach.lib.signal.windows import hann_window
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.padding import pad
from tfteach.ops.array.tile import tile
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.binary import pow as power
from tfteach.ops.math.cast import cast
from tfteach.ops.math.exponential import log
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.rounding import ceil
from tfteach.ops.math.unary import square
from tfteach.ops.signal.fft import irfft, rfft


@export("signal.stft", "contrib.signal.stft")
def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The short-time Fourier transform: the spectra of overlapping frames.

    Args:
      signals: float32 Tensor [..., samples].
      frame_length: int scalar, the number of samples per frame.
      frame_step: int scalar, the number of samples between the starts of frames.
      fft_length: int scalar, the padded length of frames; None: the next power of two.
      window_fn: a function (length, dtype) -> a window that frames are multiplied by;
        None for none.
      pad_end: whether incomplete frames at the end are padded.
      name: the scope of the ops.

    Returns:
      A complex64 Tensor [..., frames, fft_length // 2 + 1].

    Example:
      >>> tf.signal.stft(tf.zeros([2, 1000]), frame_length=256, frame_step=128).shape
      TensorShape([Dimension(2), Dimension(6), Dimension(129)])

    Source: python/ops/signal/spectral_ops.py.
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length = scalar(frame_length, "frame_length")
        frame_step = scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _next_power_of_two(frame_length)
        else:
            fft_length = convert(fft_length, name="fft_length")
        framed = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            framed *= window_fn(frame_length, dtype=framed.dtype)
        return rfft(framed, [fft_length])


@export("signal.inverse_stft_window_fn", "contrib.signal.inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: TensorLike,
    forward_window_fn: Callable[..., Any] = hann_window,
    name: str | None = None,
) -> Callable[..., Tensor]:
    """The `window_fn` with which `tf.signal.inverse_stft` inverts `tf.signal.stft`.

    Args:
      frame_step: int scalar, the number of samples between the starts of frames.
      forward_window_fn: the `window_fn` of `tf.signal.stft`.
      name: the scope of the ops.

    Returns:
      A function (frame_length, dtype) -> a window [frame_length].

    Source: python/ops/signal/spectral_ops.py; Griffin and Lim 1984.
    """
    with name_scope(name, "inverse_stft_window_fn"):
        frame_step = scalar(frame_step, "frame_step")

    def window_fn(frame_length: Any, dtype: DTypeLike) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn"):
            frame_length = scalar(frame_length, "frame_length")
            window = forward_window_fn(frame_length, dtype=dtype)
            total = square(window)
            overlaps = -(-frame_length // frame_step)
            total = pad(total, [(0, overlaps * frame_step - frame_length)])
            total = reshape(total, [overlaps, frame_step])
            total = reduce_sum(total, 0, keepdims=True)
            total = tile(total, [overlaps, 1])
            total = reshape(total, [overlaps * frame_step])
            result: Tensor = window / total[:frame_length]
            return result

    return window_fn


@export("signal.inverse_stft", "contrib.signal.inverse_stft")
def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Signals from the spectra of their frames.

    Args:
      stfts: complex64 Tensor [..., frames, fft_length // 2 + 1].
      frame_length: int scalar, the number of samples per frame.
      frame_step: int scalar, the number of samples between the starts of frames.
      fft_length: int scalar; None: the smallest power of two >= `frame_length`.
      window_fn: a function (length, dtype) -> a window that frames are multiplied by,
        such as the result of `tf.signal.inverse_stft_window_fn`; None for none.
      name: the scope of the ops.

    Returns:
      A float32 Tensor [..., samples].

    Example:
      >>> spectra = tf.signal.stft(tf.random_normal([1000]), 256, 128)
      >>> window_fn = tf.signal.inverse_stft_window_fn(128)
      >>> signal = tf.signal.inverse_stft(spectra, 256, 128, window_fn=window_fn)

    Source: python/ops/signal/spectral_ops.py.
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        frame_length = scalar(frame_length, "frame_length")
        frame_step = scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _next_power_of_two(frame_length)
        else:
            fft_length = scalar(fft_length, "fft_length")
        frames = _of_length(irfft(stfts, [fft_length]), frame_length)
        if window_fn is not None:
            frames *= window_fn(frame_length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, frame_step)


def _of_length(frames: Tensor, length: Tensor) -> Tensor:
    """Frames truncated or zero-padded to a length."""
    constant_length = python_constant_value(length)
    known = None if constant_length is None else int(constant_length)
    dimensions = frames.shape.ndims
    actual = None if dimensions is None else dimension_value(frames.shape[-1])
    if known is None or actual is None:
        frames = frames[..., :length]
        axes, sizes = rank(frames), shape(frames)
        before = zeros([axes - 1, 2], length.dtype)
        missing = maximum(0, length - sizes[-1])
        paddings = concat([before, [[0, missing]]], 0)
        frames = pad(frames, paddings)
    elif actual > known:
        frames = frames[..., :known]
    elif actual < known:
        others = [[0, 0]] * (len(frames.shape) - 1)
        frames = pad(frames, [*others, [0, known - actual]])
    if known is not None and frames.shape.ndims is not None:
        frames.set_shape([None] * (frames.shape.ndims - 1) + [known])
    return frames


def _next_power_of_two(value: Tensor) -> Tensor:
    known = python_constant_value(value)
    if known is not None:
        exponent = np.ceil(np.log(known) / np.log(2.0))
        return constant(int(2**exponent), value.dtype)
    exponent = ceil(log(cast(value, float32)) / log(2.0))
    return cast(power(2.0, exponent), value.dtype)
