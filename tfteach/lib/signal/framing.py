"""Signals split into frames, and reconstructed from frames.

Source: python/ops/signal/shape_ops.py, reconstruction_ops.py, util_ops.py.
"""

from __future__ import annotations

import math
from typing import Any

from tfteach.control.loop import while_loop
from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.array.gather import gather
from tfteach.ops.array.padding import pad
from tfteach.ops.array.strided_slice import strided_slice
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.fill import zeros, zeros_like
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import rank, shape, size
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.compare import greater
from tfteach.ops.math.modulo import floormod
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_sum


def scalar(value: Any, name: str) -> Tensor:
    """`value` as a scalar Tensor.  Raises: ValueError: it is not a scalar."""
    tensor = convert(value, name=name)
    tensor.shape.assert_has_rank(0)
    return tensor


def _known_shape(
    signal: Tensor, length: Tensor, step: Tensor, pad_end: bool, axis: Tensor
) -> list[int | None] | None:
    """The static shape of the frames."""
    known = [python_constant_value(value) for value in (length, step, axis)]
    frame, hop, at = (None if value is None else int(value) for value in known)
    if signal.shape.ndims is None:
        return None
    if at is None:
        return [None] * (signal.shape.ndims + 1)
    sizes = signal.shape.as_list()
    samples, count = sizes[at], None
    if samples is not None and hop is not None:
        if pad_end:
            count = max(0, -(-samples // hop))
        elif frame is not None:
            count = max(0, (samples - frame + hop) // hop)
    return [*sizes[:at], count, frame, *sizes[at:][1:]]


def _greatest_divisor(a: Tensor, b: Tensor) -> Tensor:
    with name_scope(None, "gcd", [a, b]):
        for tensor, what in ((a, "a"), (b, "b")):
            if not tensor.dtype.is_integer:
                raise ValueError(f"{what} must be an integer type. Got: {tensor.dtype}")
        known_a, known_b = python_constant_value(a), python_constant_value(b)
        if known_a is not None and known_b is not None:
            return convert(math.gcd(int(known_a), int(known_b)))
        found = while_loop(
            lambda _, rest: greater(rest, zeros_like(rest)),
            lambda a, rest: [rest, floormod(a, rest)],
            [a, b],
            back_prop=False,
        )
        divisor: Tensor = found[0]
        return divisor


@export("signal.frame", "contrib.signal.frame")
def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: TensorLike = -1,
    name: str | None = None,
) -> Tensor:
    """Overlapping frames of equal length from a signal.

    Args:
      signal: Tensor [..., samples, ...] of rank 1 or more.
      frame_length: int scalar, the number of samples per frame.
      frame_step: int scalar, the number of samples between the starts of frames.
      pad_end: whether incomplete frames at the end are padded.
      pad_value: the padding.
      axis: the axis of the samples.
      name: the scope of the ops.

    Returns:
      A Tensor [..., frames, frame_length, ...].

    Raises:
      ValueError: an argument is not a scalar, or the signal is one.

    Example:
      >>> tf.Session().run(tf.signal.frame(tf.range(5), 3, 2)).tolist()
      [[0, 1, 2], [2, 3, 4]]

    Source: python/ops/signal/shape_ops.py.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert(signal, name="signal")
        frame_length = convert(frame_length, name="frame_length")
        frame_step = convert(frame_step, name="frame_step")
        axis = convert(axis, name="axis")
        signal.shape.with_rank_at_least(1)
        for value in (frame_length, frame_step, axis):
            value.shape.assert_has_rank(0)
        known = _known_shape(signal, frame_length, frame_step, pad_end, axis)
        dimensions = rank(signal)
        axis = range_of(dimensions)[axis]
        sizes = shape(signal)
        outer, samples, inner = split(sizes, [axis, 1, dimensions - 1 - axis])
        samples = reshape(samples, [])
        outer_count, inner_count = size(outer), size(inner)
        if pad_end:
            pad_value = convert(pad_value, signal.dtype)
            pad_value.shape.assert_has_rank(0)
            count = -(-samples // frame_step)
            missing = frame_length + frame_step * (count - 1) - samples
            missing = maximum(0, missing)
            before = zeros([outer_count, 2], missing.dtype)
            after = zeros([inner_count, 2], missing.dtype)
            paddings = concat([before, [[0, missing]], after], 0)
            signal = pad(signal, paddings, constant_values=pad_value)
            sizes = shape(signal)
            samples = sizes[axis]
        else:
            count = maximum(0, 1 + (samples - frame_length) // frame_step)
        # Frames are gathered from parts whose size divides both length and step.
        part = _greatest_divisor(frame_length, frame_step)
        parts_per_frame, parts_per_step = frame_length // part, frame_step // part
        parts = samples // part
        used = concat([outer, [parts * part], inner], 0)
        parted = concat([outer, [parts, part], inner], 0)
        pieces = strided_slice(signal, zeros_like(sizes), used)
        pieces = reshape(pieces, parted)
        first = reshape(range_of(count) * parts_per_step, [count, 1])
        following = reshape(range_of(parts_per_frame), [1, parts_per_frame])
        frames = gather(pieces, first + following, axis=axis)
        frames = reshape(frames, concat([outer, [count, frame_length], inner], 0))
        if known:
            frames.set_shape(known)
        return frames


@export("signal.overlap_and_add", "contrib.signal.overlap_and_add")
def overlap_and_add(
    signal: TensorLike, frame_step: TensorLike, name: str | None = None
) -> Tensor:
    """A signal from overlapping frames, which are added at their positions.

    Args:
      signal: Tensor [..., frames, frame_length].
      frame_step: int scalar, the number of samples between the starts of frames.
      name: the scope of the ops.

    Returns:
      A Tensor [..., (frames - 1) * frame_step + frame_length].

    Raises:
      ValueError: `frame_step` is not an int scalar, or the rank is below 2.

    Example:
      >>> frames = tf.constant([[1, 2, 3], [4, 5, 6]])
      >>> tf.Session().run(tf.signal.overlap_and_add(frames, 2)).tolist()
      [1, 2, 7, 5, 6]

    Source: python/ops/signal/reconstruction_ops.py.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        frame_step = scalar(frame_step, "frame_step")
        if not frame_step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {frame_step.dtype}")
        sizes = shape(signal)
        outer = sizes[:-2]
        outer_rank = size(outer)

        def reshaped(*inner: Any, name: str | None = None) -> Tensor:
            return reshape(signal, concat([outer, list(inner)], 0), name=name)

        length, frames = sizes[-1], sizes[-2]
        total = length + frame_step * (frames - 1)
        step = python_constant_value(frame_step)
        is_known = step is not None and signal.shape.ndims is not None
        if is_known and step == dimension_value(signal.shape[-1]):
            return reshaped(total, name="fast_path")
        # Each frame is split into segments of one step.  Reading rows as if they were
        # one segment shorter shifts each row by one more segment.
        segments = -(-length // frame_step)
        own = [[0, segments], [0, segments * frame_step - length]]
        paddings = concat([zeros([outer_rank, 2], int32), own], 0)
        signal = pad(signal, paddings)
        signal = reshaped(frames + segments, segments, frame_step)
        perm = concat([range_of(outer_rank), outer_rank + [1, 0, 2]], 0)  # noqa: RUF005
        signal = transpose(signal, perm)
        signal = reshaped((frames + segments) * segments, frame_step)
        signal = signal[..., : (frames + segments - 1) * segments, :]
        signal = reshaped(segments, frames + segments - 1, frame_step)
        signal = reduce_sum(signal, -3)
        signal = reshaped((frames + segments - 1) * frame_step)
        return signal[..., :total]
