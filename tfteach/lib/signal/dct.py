"""Discrete cosine transforms.  Source: python/ops/signal/dct_ops.py."""

from __future__ import annotations

import math
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import float32, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.padding import pad
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.complex import complex, real
from tfteach.ops.math.exponential import exp
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.unary import rsqrt, sqrt
from tfteach.ops.signal.fft import irfft, rfft


def _check(input: Any, kind: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if kind == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        size = getattr(input.shape[-1], "value", input.shape[-1])
        if size is not None and size < 2:
            raise ValueError(
                "Type-I DCT requires the dimension to be greater than one."
            )
    if norm not in (None, "ortho"):
        raise ValueError(
            f"Unknown normalization. Expected None or 'ortho', got: {norm}"
        )


def _length(input: Tensor) -> Tensor:
    """The length of the last axis, an int if it is known."""
    size: Any = dimension_value(input.shape[-1])
    return size or shape(input)[-1]


@export("signal.dct", "spectral.dct")
def dct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform along the last axis, as in SciPy.

    Type 2: `2 * sum(x[k] * cos(pi * i * (2 k + 1) / (2 n)), k)`; type 3 is its inverse
    up to a factor; type 1 is that of a signal mirrored at both ends.

    Args:
      input: float32 Tensor [..., samples].
      type: 1, 2 or 3.
      n: the length to which the signal is truncated or zero-padded.
      axis: -1.
      norm: "ortho" for factors that make the transform orthogonal.
      name: the scope of the ops.

    Returns:
      A float32 Tensor [..., n].

    Raises:
      NotImplementedError: `axis` is not -1.
      ValueError: `type`, `n` or `norm` is not supported; type 1 with "ortho" or with
        fewer than two samples.

    Example:
      >>> tf.Session().run(tf.signal.dct(tf.constant([1.0, 1.0])))
      array([4., 0.], dtype=float32)

    Source: python/ops/signal/dct_ops.py.
    """
    _check(input, type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        input = convert(input, float32)
        size = _length(input)
        if n is not None:
            input = _resized(input, size, n)
        size = _length(input)
        as_float = cast(size, float32)
        if type == 1:
            mirrored = concat([input, input[..., -2:0:-1]], axis=-1)
            return real(rfft(mirrored))
        if type == 2:
            angle = -range_of(as_float) * math.pi * 0.5 / as_float
            scale = 2.0 * exp(complex(0.0, angle))
            spectrum = rfft(input, fft_length=[2 * size])[..., :size]
            found = real(spectrum * scale)
            if norm == "ortho":
                first = 0.5 * rsqrt(as_float)
                found *= _weights(first, first * sqrt(2.0), size)
            return found
        if norm == "ortho":
            first = sqrt(as_float)
            input *= _weights(first, first * sqrt(0.5), size)
        else:
            input *= as_float
        angle = range_of(as_float) * math.pi * 0.5 / as_float
        scale = 2.0 * exp(complex(0.0, angle))
        whole = irfft(scale * complex(input, 0.0), fft_length=[2 * size])
        return real(whole)[..., :size]


def _resized(input: Tensor, size: Any, n: int) -> Tensor:
    if n <= size:
        return input[..., 0:n]
    paddings = [[0, 0] for _ in input.shape]
    paddings[-1][1] = n - size
    return pad(input, paddings=convert(paddings, int32))


def _weights(first: Tensor, others: Tensor, size: Any) -> Tensor:
    """One factor for the first element, another for the rest."""
    return pad(expand_dims(first, 0), [[0, size - 1]], constant_values=others)


@export("signal.idct", "spectral.idct")
def idct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `tf.signal.dct`, up to a factor if `norm` is None.

    Args:
      input: float32 Tensor [..., samples].
      type, n, axis, norm, name: as in `tf.signal.dct`.

    Raises:
      NotImplementedError, ValueError: as in `tf.signal.dct`.

    Source: python/ops/signal/dct_ops.py.
    """
    _check(input, type, n, axis, norm)
    inverse = {1: 1, 2: 3, 3: 2}[type]
    return dct(input, type=inverse, n=n, axis=axis, norm=norm, name=name)
