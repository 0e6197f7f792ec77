"""Windows for frames.  Source: python/ops/signal/window_ops.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, bool_, float32, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.modulo import floormod
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.trigonometry import cos


@export("signal.hann_window", "contrib.signal.hann_window")
def hann_window(
    window_length: TensorLike, periodic: Any = True, dtype: DType = float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Hann's window, `0.5 - 0.5 * cos(2 * pi * n / N)`.

    Args:
      window_length: int scalar.
      periodic: whether N is the length, as for spectra, and not one less, where the
        window is symmetric; odd lengths are symmetric in any case.
      dtype: the float type.
      name: the scope of the ops.

    Returns:
      A Tensor [window_length].

    Raises:
      ValueError: `dtype` is not a float type.

    Source: python/ops/signal/window_ops.py.
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


@export("signal.hamming_window", "contrib.signal.hamming_window")
def hamming_window(
    window_length: TensorLike, periodic: Any = True, dtype: DType = float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Hamming's window, `0.54 - 0.46 * cos(2 * pi * n / N)`.

    Args:
      window_length: int scalar.
      periodic: as in `tf.signal.hann_window`.
      dtype: the float type.
      name: the scope of the ops.

    Returns:
      A Tensor [window_length].

    Raises:
      ValueError: `dtype` is not a float type.

    Source: python/ops/signal/window_ops.py.
    """
    return _raised_cosine(
        name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46
    )


def _raised_cosine(
    name: str | None,
    default_name: str,
    length: Any,
    periodic: Any,
    dtype: DType,
    a: float,
    b: float,
) -> Tensor:
    """`a - b * cos(2 * pi * n / N)`"""
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    with name_scope(name, default_name, [length, periodic]):
        length = convert(length, int32, "window_length")
        length.shape.assert_has_rank(0)
        known = python_constant_value(length)
        if known is not None and known == 1:
            return ones([1], dtype=dtype)
        periodic = cast(convert(periodic, bool_, "periodic"), int32)
        periodic.shape.assert_has_rank(0)
        even = 1 - floormod(length, 2)
        period = cast(length + periodic * even - 1, dtype=dtype)
        count = cast(range_of(length), dtype)
        angle = constant(2 * np.pi, dtype) * count / period
        if known is not None:
            return cast(a - b * cos(angle), dtype=dtype)
        window: Tensor = cond(
            equal(length, 1),
            lambda: ones([1], dtype=dtype),
            lambda: cast(a - b * cos(angle), dtype=dtype),
        )
        return window
