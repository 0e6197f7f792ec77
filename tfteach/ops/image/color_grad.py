"""RGBToHSV's gradient, composed of element-wise nodes as in TensorFlow.

Source: python/ops/image_grad.py (nodes).
"""

from __future__ import annotations

from typing import NamedTuple

from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import add
from tfteach.ops.math.cast import cast
from tfteach.ops.math.division import div_no_nan
from tfteach.ops.math.unary import square


class _Colour(NamedTuple):
    """One channel, and masks (0 or 1) of where it is its pixel's maximum or minimum."""

    plane: Tensor
    biggest: Tensor
    smallest: Tensor


def rgb_to_hsv_gradient(op: Operation, grad: Tensor) -> Tensor:
    """The gradient with respect to red, green and blue.

    Of equal channels the first counts as the maximum, the last as the minimum.  The
    reciprocal of 0 is 0.

    Args:
      op: an RGBToHSV.
      grad: the gradient with respect to hue, saturation and value, [..., 3].
    """
    images, hsv = op.inputs[0], op.outputs[0]
    red, green, blue = (images[..., i] for i in range(3))
    saturation, value = hsv[..., 1], hsv[..., 2]
    dtype = images.dtype
    biggest = [
        cast((red >= blue) & (red >= green), dtype),
        cast((green > red) & (green >= blue), dtype),
        cast((blue > red) & (blue > green), dtype),
    ]
    smallest = [
        cast((red < blue) & (red < green), dtype),
        cast((green <= red) & (green < blue), dtype),
        cast((blue <= red) & (blue <= green), dtype),
    ]
    planes = red, green, blue
    colours = [_Colour(*of) for of in zip(planes, biggest, smallest, strict=True)]
    r, g, b = colours
    by_saturation = [_of_saturation(*of) for of in ((r, g, b), (g, r, b), (b, g, r))]
    by_hue = [_of_hue(colours, i, saturation, value) for i in range(3)]
    rows = [
        stack([grad[..., i] * part for part in parts], axis=-1)
        for i, parts in ((2, biggest), (1, by_saturation), (0, by_hue))
    ]
    return add(add(rows[0], rows[1]), rows[2])


def _inverse(x: Tensor) -> Tensor:
    return div_no_nan(x.dtype.numpy_dtype.type(1), x)


def _positive(colour: _Colour) -> Tensor:
    return cast(colour.plane > 0, colour.plane.dtype)


def _of_saturation(own: _Colour, first: _Colour, second: _Colour) -> Tensor:
    """d saturation / d own."""
    positive = _positive(own)
    smallest = add(first.smallest * first.plane, second.smallest * second.plane)
    rising = own.biggest * smallest * _inverse(square(own.plane))
    falling = own.smallest * -1
    biggest = (first.biggest * first.plane) + (second.biggest * second.plane)
    return positive * add(rising, falling * _inverse(biggest))


def _of_hue(
    colours: list[_Colour], i: int, saturation: Tensor, value: Tensor
) -> Tensor:
    """d hue / d the i-th channel.

    A sum of five cases: the channel is the maximum; or one of the others is, and this
    one is the minimum or in between.
    """
    # On the wheel red, green and blue follow one another.
    own, following, leading = colours[i], colours[(i + 1) % 3], colours[i - 1]
    biggest = _positive(own) * own.biggest * -1
    biggest *= following.plane - leading.plane
    biggest *= _inverse(square(saturation))
    total = 60 * (biggest * _inverse(square(value)))
    parts = []
    others = [colour for colour in colours if colour is not own]
    for other, third in (others, others[::-1]):
        smallest = _positive(other) * other.biggest * own.smallest
        smallest *= leading.plane - following.plane
        pair = (own, other) if i == 0 and other is following else (other, own)
        squared = square(pair[0].plane - pair[1].plane)
        parts.append(60 * (smallest * _inverse(squared)))
        between = _positive(other) * other.biggest * third.smallest
        if other is following:
            between *= -1
        parts.append(60 * (between * _inverse(other.plane - third.plane)))
    for part in parts:
        total += part
    return total / 360
