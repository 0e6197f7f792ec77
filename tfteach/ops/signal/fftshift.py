"""Spectra with frequency 0 in the middle.

Source: python/ops/signal/fft_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.transpose_reverse import roll


def _shifted(default: str, sign: int, x: Any, axes: Any, name: str | None) -> Tensor:
    with name_scope(name, default) as scope:
        x = convert(x)
        sizes = x.shape.as_list()
        if axes is None:
            axes = tuple(range(len(sizes)))
        if isinstance(axes, int):
            shift: Any = sign * (sizes[axes] // 2)
        else:
            shift = [sign * (sizes[axis] // 2) for axis in axes]
        return roll(x, shift, axes, scope)


@export("signal.fftshift")
def fftshift(
    x: TensorLike, axes: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The halves of axes swapped: frequency 0 in the middle.

    Args:
      x: Tensor of known shape.
      axes: an int or ints; all axes if None.
      name: the op's name.

    Returns:
      A Tensor of that shape and type.

    Example:
      >>> tf.Session().run(tf.signal.fftshift([0.0, 1.0, -1.0]))
      array([-1.,  0.,  1.], dtype=float32)

    Source: python/ops/signal/fft_ops.py.
    """
    return _shifted("fftshift", 1, x, axes, name)


@export("signal.ifftshift")
def ifftshift(
    x: TensorLike, axes: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The inverse of `tf.signal.fftshift`; they differ for odd lengths."""
    return _shifted("ifftshift", -1, x, axes, name)
