"""Colour ops: RGB and HSV, contrast, hue, saturation.

The kernels process images in blocks of pixels, whose red, green and blue planes fit in
the cache; large images are divided among the cores.

Source: core/ops/image_ops.cc; core/kernels/colorspace_op.h, adjust_contrast_op.cc,
adjust_hue_op.cc, adjust_saturation_op.cc; python/ops/image_grad.py (nodes).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import FailedPreconditionError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.threads import share
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.image.color_grad import rgb_to_hsv_gradient

_BLOCK = 1 << 13  # pixels; about ten planes of float32 fit in the cache
_CHANNELS = 3

# (xp, red, green, blue) -> three planes, written back as the channels
Rule = Callable[[Any, Any, Any, Any], tuple[Any, Any, Any]]


@with_card_kernel(lambda xp, count, run: run([0], count))
def _run_over(xp: ArrayModule, count: int, run: Callable[..., None]) -> None:
    """Call `run` for all pixels: on the host in blocks that fit the caches."""
    if count <= _BLOCK:
        run([0], count)
    else:
        share(range(0, count, _BLOCK), run)


def by_planes(xp: ArrayModule, images: Any, rule: Rule) -> Any:
    """Apply `rule` to the three channels of all pixels; short floats are widened."""
    wide = images.astype("float32") if images.dtype.itemsize < 4 else images
    pixels = wide.reshape(-1, _CHANNELS)
    changed = xp.empty(pixels.shape, wide.dtype)

    def run(starts: Sequence[int], block: int = _BLOCK) -> None:
        for start in starts:
            # A copy even for one pixel: rules modify the planes in place.
            planes = xp.array(pixels[start : start + block].T, order="C")
            for channel, plane in enumerate(rule(xp, *planes)):
                changed[start : start + block, channel] = plane

    _run_over(xp, len(pixels), run)
    return changed.reshape(images.shape).astype(images.dtype, copy=False)


@with_card_kernel(lambda xp, height, row: height)
def _row_block(xp: ArrayModule, height: int, row: int) -> int:
    """The number of image rows modified at a time; only a few on the host."""
    return max(1, _BLOCK * _CHANNELS // row)


@with_card_kernel(lambda xp, count, run: run(range(count)))
def _share_images(
    xp: ArrayModule, count: int, run: Callable[[Sequence[int]], None]
) -> None:
    share(range(count), run)


# ---- RGB and HSV


def _hue(
    xp: ArrayModule, red: Any, green: Any, blue: Any, value: Any, spread: Any
) -> Any:
    """The hue of a colour on a wheel of length 6: in [-1, 5], 0 for greys."""
    number = red.dtype.type
    unit = number(1) / spread
    hue = xp.where(
        green == value,
        (blue - red) * unit + number(2),
        (red - green) * unit + number(4),
    )
    hue = xp.where(red == value, (green - blue) * unit, hue)
    return xp.where(spread > 0, hue, number(0))


def _to_hsv(xp: ArrayModule, red: Any, green: Any, blue: Any) -> tuple[Any, Any, Any]:
    number = red.dtype.type
    value = xp.maximum(xp.maximum(red, green), blue)
    spread = value - xp.minimum(xp.minimum(red, green), blue)
    saturation = xp.where(value > 0, spread / value, number(0))
    hue = _hue(xp, red, green, blue, value, spread)
    hue *= number(1 / 6)
    return hue + (hue < 0), saturation, value


def _ramps(xp: ArrayModule, hue: Any) -> Any:
    """Red, green and blue of a pure hue: three values in [0, 1].

    Args:
      hue: its position on the wheel, in [0, 6].
    """
    number = hue.dtype.type
    for centre, start, sign in ((3, 1, 1), (2, 2, -1), (4, 2, -1)):
        ramp = xp.abs(hue - number(centre))
        ramp = ramp - number(start) if sign > 0 else number(start) - ramp
        yield xp.minimum(xp.maximum(ramp, number(0), out=ramp), number(1), out=ramp)


def _to_rgb(
    xp: ArrayModule, hue: Any, saturation: Any, value: Any
) -> tuple[Any, Any, Any]:
    number = hue.dtype.type
    white = number(1) - saturation
    found = []
    for ramp in _ramps(xp, hue * number(6)):
        ramp *= saturation
        ramp += white
        ramp *= value
        found.append(ramp)
    return found[0], found[1], found[2]


class _Conversion(Op, abstract=True):
    signature = "images: T -> output: T"
    T = dtypes_of("half bfloat16 float32 float64")
    T_default = float32
    rule: ClassVar[Rule]

    def infer_shape(self, images: Shape) -> Shape:
        known = shapes.with_rank_at_least(images, 1)
        if known is None:
            return None
        if known[-1] not in (None, _CHANNELS):
            raise ValueError(f"Dimension must be 3 but is {known[-1]}")
        return (*known[:-1], _CHANNELS)

    def compute(self, xp: ArrayModule, images: Array) -> Any:
        if images.ndim < 1:
            raise invalid_argument("input must be at least 1D[]")
        if images.shape[-1] != _CHANNELS:
            raise FailedPreconditionError(
                None, None, "input must have 3 channels but input only has "
                f"{images.shape[-1]} channels.",
            )  # fmt: skip
        return by_planes(xp, images, type(self).rule)


class RGBToHSV(_Conversion):
    """RGB converted to hue, saturation and value.

    Source: core/ops/image_ops.cc, RGBToHSV.
    """

    rule: ClassVar[Rule] = staticmethod(_to_hsv)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [rgb_to_hsv_gradient(op, grad)]


class HSVToRGB(_Conversion):
    """Hue, saturation and value converted to RGB.

    As in TensorFlow 1.15 it has no gradient.  Source: core/ops/image_ops.cc, HSVToRGB.
    """

    rule: ClassVar[Rule] = staticmethod(_to_rgb)
    stops_gradients: ClassVar[bool] = True


@export("image.rgb_to_hsv")
def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """RGB images, in [0, 1], converted to hue, saturation and value, each in [0, 1].

    value = max(r, g, b), saturation = (value - min(r, g, b)) / value; the hue is
    0 for red, 1/3 for green, 2/3 for blue.

    Args:
      images: float Tensor [..., 3].
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      ValueError: the last dimension is not 3.

    Example:
      >>> tf.Session().run(tf.image.rgb_to_hsv([0.0, 0.5, 0.0]))
      array([0.33333334, 1.        , 0.5       ], dtype=float32)

    Source: RGBToHSV in core/ops/image_ops.cc.
    """
    return RGBToHSV()(images, name=name)


@export("image.hsv_to_rgb")
def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Hue, saturation and value, all in [0, 1], converted to RGB.

    Args:
      images: float Tensor [..., 3].
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Raises:
      ValueError: the last dimension is not 3.

    Example:
      >>> tf.Session().run(tf.image.hsv_to_rgb([0.5, 1.0, 0.5]))
      array([0. , 0.5, 0.5], dtype=float32)

    Source: HSVToRGB in core/ops/image_ops.cc.
    """
    return HSVToRGB()(images, name=name)


# ---- adjustments


class _Adjustment(Op, abstract=True):
    """An op on images [..., height, width, channels] with one number."""

    T = dtypes_of("half float32")
    T_default = float32

    def infer_shape(self, images: Shape, factor: Shape) -> Shape:
        return shapes.with_rank_at_least(images, 3)

    def check(self, images: Any, factor: Any) -> None:
        """Check shapes at run time."""
        if images.ndim < 3:
            raise invalid_argument(
                f"input must be at least 3-D, got shape{shapes.text(images.shape)}"
            )
        if factor.ndim:
            name = type(self).inputs[1].name
            raise invalid_argument(
                f"{name} must be scalar: {shapes.text(factor.shape)}"
            )

    def check_channels(self, images: Any) -> None:
        """Check that the pixels are RGB."""
        if images.shape[-1] != _CHANNELS:
            raise invalid_argument(
                "input must have 3 channels but instead has "
                f"{images.shape[-1]} channels."
            )


class AdjustContrastv2(_Adjustment):
    """Each channel's deviation from its mean, multiplied by a factor.

    Source: core/ops/image_ops.cc, AdjustContrastv2.
    """

    signature = "images: T, contrast_factor: float32 -> output: T"

    def infer_shape(self, images: Shape, factor: Shape) -> Shape:
        shapes.with_rank_at_least(images, 3)
        shapes.with_rank(factor, 0)
        return images

    def compute(self, xp: ArrayModule, images: Array, contrast_factor: Array) -> Any:
        self.check(images, contrast_factor)
        if images.size == 0:
            return images.copy()
        wide = images.astype("float32", copy=False)
        height, width, channels = images.shape[-3:]
        rows = wide.reshape(-1, height, width * channels)
        adjusted = xp.empty_like(rows, order="C")

        def run(numbers: Sequence[int]) -> None:
            for i in numbers:
                # Rows are summed before columns, for long inner loops.
                total = rows[i].sum(axis=0).reshape(width, channels).sum(axis=0)
                mean = total / total.dtype.type(height * width)
                means = xp.tile(mean, width)
                for top in range(0, height, step):
                    part = rows[i, top : top + step] - means
                    part *= contrast_factor
                    xp.add(part, means, out=adjusted[i, top : top + step])

        step = _row_block(xp, height, width * channels)
        _share_images(xp, len(rows), run)
        return adjusted.reshape(images.shape).astype(images.dtype, copy=False)


class AdjustHue(_Adjustment):
    """RGB with each hue rotated by `delta` (1 is a full rotation).

    Source: core/ops/image_ops.cc, AdjustHue.
    """

    signature = "images: T, delta: float32 -> output: T"

    def compute(self, xp: ArrayModule, images: Array, delta: Array) -> Any:
        self.check(images, delta)
        self.check_channels(images)
        rotation = delta * np.float32(6)

        def rule(xp: ArrayModule, red: Any, green: Any, blue: Any) -> Any:
            number = red.dtype.type
            value = xp.maximum(xp.maximum(red, green), blue)
            low = xp.minimum(xp.minimum(red, green), blue)
            spread = value - low
            hue = _hue(xp, red, green, blue, value, spread)
            hue += rotation
            hue -= xp.floor(hue * number(1 / 6)) * number(6)
            for ramp in _ramps(xp, hue):
                ramp *= spread
                ramp += low
                yield ramp

        return by_planes(xp, images, rule)


class AdjustSaturation(_Adjustment):
    """RGB with each saturation multiplied by `scale`, at most 1.

    Source: core/ops/image_ops.cc, AdjustSaturation.
    """

    signature = "images: T, scale: float32 -> output: T"

    def compute(self, xp: ArrayModule, images: Array, scale: Array) -> Any:
        self.check(images, scale)
        self.check_channels(images)
        scale = xp.maximum(scale, np.float32(0))

        def rule(xp: ArrayModule, red: Any, green: Any, blue: Any) -> Any:
            # Value and hue are constant, so each channel's distance from the value is
            # proportional to the saturation, which is spread / value.
            value = xp.maximum(xp.maximum(red, green), blue)
            spread = value - xp.minimum(xp.minimum(red, green), blue)
            factor = value / spread
            xp.fmin(factor, scale, out=factor)
            xp.maximum(factor, value.dtype.type(0), out=factor)
            for channel in (red, green, blue):
                channel -= value
                channel *= factor
                channel += value
                yield channel

        return by_planes(xp, images, rule)
