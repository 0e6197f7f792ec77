"""Pooling over one, two, three or any number of dimensions.

Source: python/ops/nn_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_1d import widened
from tfteach.ops.windows.conv_nd import strides_and_rates, with_space_to_batch
from tfteach.ops.windows.pool import AvgPool, MaxPool, avg_pool, max_pool
from tfteach.ops.windows.pool_3d import AvgPool3D, MaxPool3D


def _pool1d(
    op: type[MaxPool] | type[AvgPool], scope: str, name: str | None, input: Any,
    ksize: Any, strides: Any, padding: Any, data_format: str | None,
) -> Tensor:  # fmt: skip
    with name_scope(name, scope, [input]) as full_name:
        layout = "NWC" if data_format is None else data_format
        window = widened(ksize, layout, "ksize")
        steps = widened(strides, layout, "strides")
        axis = 1 if layout == "NWC" else 2
        wide = expand_dims(input, axis)
        made = op(window, steps, padding, "NHWC" if layout == "NWC" else "NCHW")
        return squeeze(made(wide, name=full_name), axis)


@export("nn.max_pool1d")
def max_pool1d(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a sequence.

    Args:
      input: Tensor [batch, width, channels]; [batch, channels, width] for "NCW".
      ksize, strides: an int, or a list of 1 or 3 ints.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      name: the name scope of the ops.

    Returns:
      A Tensor [batch, places, channels] (or as "NCW").

    Raises:
      ValueError: the rank does not match, or an argument is invalid.

    Source: MaxPool in core/ops/nn_ops.cc.
    """
    return _pool1d(
        MaxPool, "MaxPool1d", name, input, ksize, strides, padding, data_format
    )


@export("nn.avg_pool1d")
def avg_pool1d(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a sequence; arguments as for `tf.nn.max_pool1d`.

    Source: AvgPool in core/ops/nn_ops.cc.
    """
    return _pool1d(
        AvgPool, "AvgPool1D", name, input, ksize, strides, padding, data_format
    )


@export("nn.max_pool2d")
def max_pool2d(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Any,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of an image; arguments as for `tf.nn.max_pool`.

    Source: MaxPool in core/ops/nn_ops.cc.
    """
    with name_scope(name, "MaxPool2d", [input]) as scope:
        layout = "NHWC" if data_format is None else data_format
        window = geometry.sequence(ksize, 2, layout, "ksize")
        steps = geometry.sequence(strides, 2, layout, "strides")
        return MaxPool(window, steps, padding, layout)(input, name=scope)


def _pool3d(
    op: type[MaxPool3D] | type[AvgPool3D], scope: str, name: str | None, input: Any,
    ksize: Any, strides: Any, padding: Any, data_format: str | None,
) -> Tensor:  # fmt: skip
    with name_scope(name, scope, [input]) as full_name:
        layout = "NDHWC" if data_format is None else data_format
        window = geometry.sequence(ksize, 3, layout, "ksize")
        steps = geometry.sequence(strides, 3, layout, "strides")
        return op(window, steps, padding, layout)(input, name=full_name)


@export("nn.max_pool3d")
def max_pool3d(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a volume.

    Args:
      input: float Tensor [batch, depth, height, width, channels]; the channels come
        second for "NCDHW".
      ksize, strides: an int, or a list of 1, 3 or 5 ints.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      name: the op's name.

    Returns:
      A Tensor [batch, planes, rows, columns, channels] (or as "NCDHW").

    Raises:
      ValueError: the rank does not match, or an argument is invalid.

    Source: MaxPool3D in core/ops/nn_ops.cc.
    """
    return _pool3d(
        MaxPool3D, "MaxPool3D", name, input, ksize, strides, padding, data_format
    )


@export("nn.avg_pool3d")
def avg_pool3d(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a volume; arguments as for `tf.nn.max_pool3d`.

    Source: AvgPool3D in core/ops/nn_ops.cc.
    """
    return _pool3d(
        AvgPool3D, "AvgPool3D", name, input, ksize, strides, padding, data_format
    )


def _any_rank(
    ways: tuple[Any, Any, Any], input: Any, ksize: Any, strides: Any, padding: Any,
    data_format: str | None, name: str | None,
) -> Tensor:  # fmt: skip
    geometry.need_shape(input)
    input = convert(input, name="input")
    if input._shape is not None:
        n = len(input._shape) - 2
    elif data_format is not None:
        n = len(data_format) - 2
    else:
        raise ValueError("Cannot take the length of shape with unknown rank.")
    if n not in (1, 2, 3):
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {n + 2}.")
    layout = ("NWC", "NHWC", "NDHWC")[n - 1] if data_format is None else data_format
    window = geometry.sequence(ksize, n, layout, "ksize")
    steps = geometry.sequence(strides, n, layout, "strides")
    if n == 1:
        found: Tensor = ways[0](input, window, steps, padding, layout, name)
    else:
        found = ways[n - 1](window, steps, padding, layout)(input, name=name)
    return found


@export("nn.max_pool_v2", v2="nn.max_pool")
def max_pool_v2(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a Tensor of rank 3, 4 or 5.

    Args:
      input: Tensor [batch, *sizes, channels]; the channels come second for "NC...".
      ksize, strides: an int, or a list with one per spatial dimension or per dimension.
      padding: "SAME" or "VALID".
      data_format: as for the functions of one, two and three dimensions.
      name: the op's name.

    Returns:
      A Tensor of the same rank.

    Raises:
      ValueError: the rank is unknown or not supported.

    Source: python/ops/nn_ops.py.
    """
    ways = max_pool1d, MaxPool, MaxPool3D
    return _any_rank(ways, input, ksize, strides, padding, data_format, name)


@export("nn.avg_pool_v2", v2="nn.avg_pool")
def avg_pool_v2(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The mean of each window; arguments as for `tf.nn.max_pool_v2`.

    Source: python/ops/nn_ops.py.
    """
    ways = avg_pool1d, AvgPool, AvgPool3D
    return _any_rank(ways, input, ksize, strides, padding, data_format, name)


@export("nn.pool")
def pool(
    input: TensorLike,
    window_shape: Sequence[int],
    pooling_type: str,
    padding: str,
    dilation_rate: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """Pooling over one, two or three dimensions, with optional dilation.

    Args:
      input: Tensor [batch, *sizes, channels]; the channels come second for "NC...".
      window_shape: a list, one number per spatial dimension.
      pooling_type: "MAX" or "AVG".
      padding: "SAME" or "VALID"; only "VALID" for dilation rates of more than 1.
      dilation_rate, dilations: a list, the distances of a window's elements.
      strides: a list; all 1 if None.
      name: the op's name.
      data_format: "NWC", "NHWC", "NDHWC" or "NCW", "NCHW", "NCDHW".

    Returns:
      A Tensor of `input`'s rank.

    Raises:
      ValueError: the arguments are inconsistent.

    Source: python/ops/nn_ops.py.
    """
    rates = deprecated_argument_lookup(
        "dilations", dilations, "dilation_rate", dilation_rate
    )
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert(input, name="input")
        count = len(window_shape)
        if count not in (1, 2, 3):
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        if input._shape is not None and len(input._shape) != count + 2:
            raise ValueError(f"Shape {input.shape} must have rank {count + 2}")
        steps, apart = strides_and_rates(count, strides, rates)
        _check_pool(pooling_type, padding, window_shape, steps, apart)
        is_first = data_format is not None and data_format.startswith("NC")
        layout = _inner_format(count, data_format)
        window = _wide(window_shape, count, is_first)
        wide_steps = _wide(steps.tolist(), count, is_first)
        start = 2 if is_first else 1

        def op(tensor: Any, _: int, word: Any) -> Tensor:
            if count == 1:
                tensor = expand_dims(tensor, start)
            way = _WAYS[pooling_type][1 if count == 3 else 0]
            result = way(tensor, window, wide_steps, word, layout, name=scope)
            return squeeze(result, [start]) if count == 1 else result

        return with_space_to_batch(
            input, apart, padding, op, spatial_dims=range(start, start + count),
            filter_shape=window_shape,
        )  # fmt: skip


_WAYS: dict[str, Any] = {
    "MAX": (max_pool, max_pool3d),
    "AVG": (avg_pool, avg_pool3d),
}


def _check_pool(
    pooling_type: str, padding: str, window_shape: Any, steps: Any, apart: Any
) -> None:
    """Reject arguments that `tf.nn.pool` does not support.  Raises: ValueError."""
    if padding == "SAME" and (apart > 1).any():
        raise ValueError(
            "pooling with SAME padding is not implemented for dilation_rate > 1"
        )
    if np.any(steps > np.asarray(window_shape)):
        raise ValueError(
            "strides > window_shape not supported due to inconsistency between CPU and "
            "GPU implementations"
        )
    if pooling_type not in _WAYS:
        raise ValueError(
            f"{len(window_shape)}-D {pooling_type} pooling is not supported."
        )


def _inner_format(count: int, data_format: str | None) -> str | None:
    if count != 1:
        return data_format
    formats = {None: "NHWC", "NWC": "NHWC", "NCW": "NCHW"}
    if data_format not in formats:
        raise ValueError('data_format must be either "NWC" or "NCW".')
    return formats[data_format]


def _wide(inner: Any, count: int, is_first: bool) -> list[int]:
    """One number per dimension; a single spatial dimension becomes two."""
    wide = [1, 1, *inner] if is_first else [1, *inner, 1]
    return [1, *wide] if count == 1 else wide
