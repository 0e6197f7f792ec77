"""Convolution in any number of dimensions; dilation by space-to-batch.

Every r-th pixel in each direction becomes a separate image (SpaceToBatchND), so that an
ordinary op is applied to pixels r apart.

Source: python/ops/nn_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.space_to_batch import (
    batch_to_space,
    batch_to_space_nd,
    required_space_to_batch_paddings,
    space_to_batch,
    space_to_batch_nd,
)
from tfteach.ops.core import shape_ops
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_1d import conv1d
from tfteach.ops.windows.conv_2d import (
    Conv2D,
    Conv2DBackpropInput,
    conv2d,
    conv2d_transpose,
)
from tfteach.ops.windows.conv_3d import Conv3D

Build = Callable[[Any, int, Any], Any]


@export("nn.with_space_to_batch")
def with_space_to_batch(
    input: TensorLike,
    dilation_rate: TensorLike,
    padding: str,
    op: Build,
    filter_shape: TensorLike | None = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """`op` applied to pixels `dilation_rate` apart.

    Args:
      input: a Tensor of known rank.
      dilation_rate: int32 Tensor or list, one number per spatial dimension.
      padding: "SAME" or "VALID".
      op: a function of (Tensor, number of spatial dimensions, padding).
      filter_shape: int32 Tensor or list, the window's size; required for "SAME".
      spatial_dims: the positions of the spatial dimensions, ascending.
      data_format: "NC..." if they start at 2, otherwise they start at 1.

    Returns:
      The result of `op`, for all of `input`.

    Raises:
      ValueError: the arguments are inconsistent.

    Source: python/ops/nn_ops.py; SpaceToBatchND, BatchToSpaceND.
    """
    input = convert(input, name="input")

    def build(tensor: Any, count: int, word: Any, _: Any) -> Any:
        return op(tensor, count, word)

    result: Tensor = spread(
        input, dilation_rate, padding, build, filter_shape, spatial_dims, data_format
    )
    return result


def spread(
    input: Any, dilation_rate: Any, padding: str, build: Any, filter_shape: Any,
    spatial_dims: Any, data_format: str | None, filters: Any = None,
) -> Any:  # fmt: skip
    """`with_space_to_batch` for a function that also requires the filters."""
    rate: Any = convert(dilation_rate, int32, "dilation_rate")
    if rate._shape is None or len(rate._shape) != 1:
        raise ValueError("rate must be rank 1")
    (count,) = rate._shape
    if count is None:
        raise ValueError("rate must have known shape")
    is_first = data_format is not None and data_format.startswith("NC")
    dims = _check_dims(spatial_dims, count, is_first)
    needed = dims[-1] + (0 if is_first else 1)
    rank = _rank(input)
    if rank is not None and rank < needed:
        raise ValueError(f"input tensor must have rank {needed} at least")
    const_rate = constant_value(rate)
    if const_rate is not None:
        if (const_rate < 1).any():
            raise ValueError("dilation_rate must be positive")
        if (const_rate == 1).all():
            return build(input, count, padding, filters)
    base: Any
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("filter_shape must be specified for SAME padding")
        window: Any = convert(filter_shape, name="filter_shape")
        known = constant_value(window)
        base = _base_paddings(
            window if known is None else known, count,
            rate if const_rate is None else const_rate,
        )  # fmt: skip
    elif padding == "VALID":
        base = np.zeros([count, 2], np.int32)
    else:
        raise ValueError(f"Invalid padding method {padding!r}")
    return _apply(input, rate, base, dims, data_format, build, filters, count)


def _check_dims(spatial_dims: Any, count: int, is_first: bool) -> list[int]:
    start = 2 if is_first else 1
    given = range(start, start + count) if spatial_dims is None else spatial_dims
    dims = sorted({int(dim) for dim in given})
    if dims != list(given) or dims[0] < 1:
        raise ValueError(
            "spatial_dims must be a montonically increasing sequence of positive "
            "integers"
        )
    return dims


def _apply(
    input: Any, rate: Tensor, base: Any, dims: list[int], data_format: str | None,
    build: Any, filters: Any, count: int,
) -> Tensor:  # fmt: skip
    shape = shapes.as_shape(input.shape)
    sizes: Any = None if shape is None else [shape[dim] for dim in dims]
    if sizes is None or None in sizes:
        tensor = shape_ops.shape(input)
        sizes = stack([tensor[dim] for dim in dims])
    paddings, crops = required_space_to_batch_paddings(
        input_shape=sizes, base_paddings=base, block_shape=rate
    )
    wide_rate = _adjust(rate, 1, dims)
    paddings = _adjust(paddings, 0, dims)
    crops = _adjust(crops, 0, dims)
    inner = space_to_batch_nd(input, block_shape=wide_rate, paddings=paddings)
    result = build(inner, count, "VALID", filters)
    found = batch_to_space_nd(result, block_shape=wide_rate, crops=crops)
    is_first = data_format is not None and data_format.startswith("NC")
    if is_first and filters is not None and found._shape and not found._shape[1]:
        known = list(found._shape)
        known[1] = shapes.TensorShape(filters.shape).as_list()[-1]
        found.set_shape(known)
    return found


def _base_paddings(window: Any, count: int, rate: Any) -> Tensor:
    """The padding of "SAME" for a window whose elements are `rate` apart."""
    inner = window[:count]
    span = inner + (inner - 1) * (rate - 1)
    total = span - 1
    before = total // 2
    after = total - before
    return stack([[before[i], after[i]] for i in range(count)])


def _adjust(tensor: Tensor, fill: int, dims: list[int]) -> Any:
    """Rows for dimensions 1 to the last spatial one; `fill` for those not in `dims`."""
    tail = list(tensor._shape or ())[1:]
    const = constant_value(tensor)
    rows: Any = tensor if const is None else const
    parts: list[Any] = []
    previous, i = 0, 0
    while i < len(dims):
        start = i
        if dims[i] > 1:
            gap = [dims[i] - 1 - previous, *tail]
            parts.append(np.full(gap, fill, tensor.dtype.numpy_dtype))
        while i + 1 < len(dims) and dims[i + 1] == dims[i] + 1:
            i += 1
        parts.append(rows[start : i + 1])
        previous = dims[i]
        i += 1
    return concat(parts, 0) if const is None else np.concatenate(parts)


# ---- functions


@export("nn.convolution")
def convolution(
    input: TensorLike,
    filter: TensorLike,
    padding: str | Sequence[Sequence[int]],
    strides: Sequence[int] | None = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """A convolution over one, two or three dimensions.

    Args:
      input: float Tensor [batch, *sizes, channels]; the channels come second for
        "NC...".
      filter: Tensor [*window, channels, outputs] of the same type.
      padding: "SAME" or "VALID".
      strides: an int or a list, one number per spatial dimension.
      dilation_rate: the distances of the filter's elements, in the same form.
      name: the name scope of the ops.
      data_format: "NWC", "NHWC", "NDHWC" or "NCW", "NCHW", "NCDHW".
      filters, dilations: aliases of `filter` and `dilation_rate`.

    Returns:
      A Tensor [batch, *sizes, outputs] (or as "NC...").

    Raises:
      ValueError: ranks or channels do not match, or both strides and dilations are
        greater than 1.

    Source: python/ops/nn_ops.py.
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    rates = deprecated_argument_lookup(
        "dilations", dilations, "dilation_rate", dilation_rate
    )
    geometry.need_shape(input)
    filter = filter if hasattr(filter, "shape") else convert(filter, name="filter")
    rank = _rank(input)
    rank = _rank(filter) if rank is None else rank
    if rank is None:
        raise ValueError("rank of input or filter must be known")
    if rank not in (3, 4, 5):
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
    layout = "N...C" if data_format is None else data_format
    steps = geometry.sequence(strides, rank - 2, layout, "strides")
    apart = geometry.sequence(rates, rank - 2, layout, "dilations")
    with name_scope(name, "convolution", [input, filter]) as scope:
        if all(n == 1 for n in apart):
            return _plain(
                rank, input, filter, steps, padding, data_format, apart, scope
            )
        inner = geometry.spatial(steps, layout)
        return _dilated(
            input, filter, padding, list(inner),
            list(geometry.spatial(apart, layout)), scope, data_format,
        )  # fmt: skip


def _rank(value: Any) -> int | None:
    shape = shapes.as_shape(value.shape)
    return None if shape is None else len(shape)


def _plain(
    rank: int, input: Any, filter: Any, strides: Any, padding: Any, data_format: Any,
    dilations: Any, name: str,
) -> Tensor:  # fmt: skip
    if rank == 3:
        return conv1d(
            input, filter, strides, padding, data_format=data_format,
            dilations=dilations, name=name,
        )  # fmt: skip
    op: Any
    if rank == 4:
        layout = "NHWC" if data_format is None else data_format
        op = Conv2D(strides, True, padding, (), layout, dilations)
    else:
        layout = "NDHWC" if data_format is None else data_format
        op = Conv3D(strides, padding, layout, dilations)
    found: Tensor = op(input, filter, name=name)
    return found


def _dilated(
    input: Any, filter: Any, padding: Any, strides: list[int], rates: list[int],
    name: str, data_format: str | None,
) -> Tensor:  # fmt: skip
    count = len(rates)
    own, kernel = shapes.as_shape(input.shape), shapes.as_shape(filter.shape)
    for shape, what in ((own, "input"), (kernel, "filter")):
        if shape is not None and len(shape) != count + 2:
            raise ValueError(f"{what} tensor must have rank {count + 2}")
    is_first = data_format is not None and data_format.startswith("NC")
    channels = own and own[1 if is_first else -1]
    depth = kernel and kernel[count]
    if channels is not None and depth is not None and channels != depth:
        raise ValueError(
            "number of input channels does not match corresponding dimension of "
            f"filter, {channels} != {depth}"
        )
    steps, apart = strides_and_rates(count, strides, rates)

    def build(tensor: Any, _: int, word: Any, filters: Any) -> Tensor:
        return _non_atrous(tensor, filters, word, data_format, list(steps), name)

    window: Any = np.array(kernel, np.int32) if shapes.is_full(kernel) else None
    if window is None and padding != "VALID":  # "VALID" needs no padding
        window = shape_ops.shape(filter)
    start = 2 if is_first else 1
    dims = range(start, start + count)
    result: Tensor = spread(
        input, apart, padding, build, window, dims, data_format, filter
    )
    return result


def strides_and_rates(count: int, strides: Any, rates: Any) -> tuple[Any, Any]:
    """Both as int32 arrays of `count` numbers.

    Raises:
      ValueError: the lengths differ, a number is below 1, or both are greater than 1.
    """
    found = []
    for values, what in ((rates, "dilation_rate"), (strides, "strides")):
        numbers = [1] * count if values is None else values
        if len(numbers) != count:
            raise ValueError(f"len({what})={len(numbers)} but should be {count}")
        array_of = np.array(numbers, np.int32)
        if (array_of < 1).any():
            raise ValueError(f"all values of {what} must be positive")
        found.append(array_of)
    apart, steps = found
    if (steps > 1).any() and (apart > 1).any():
        raise ValueError(
            "strides > 1 not supported in conjunction with dilation_rate > 1"
        )
    return steps, apart


def _non_atrous(
    input: Any, filter: Any, padding: Any, data_format: str | None, strides: list[int],
    name: str,
) -> Tensor:  # fmt: skip
    count = len(strides)
    if count == 1:
        layout = "NWC" if data_format is None else data_format
        return conv1d(input, filter, strides[0], padding, data_format=layout, name=name)
    if count == 2:
        layout = "NHWC" if data_format is None else data_format
        wide = geometry.around(1, strides, 1, layout)
        return conv2d(input, filter, wide, padding, data_format=layout, name=name)
    layout = "NDHWC" if data_format is None else data_format
    op = Conv3D(tuple(geometry.around(1, strides, 1, layout)), padding, layout)
    found: Tensor = op(input, filter, name=name)
    return found


@export("nn.atrous_conv2d")
def atrous_conv2d(
    value: TensorLike,
    filters: TensorLike,
    rate: int,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """A convolution with pixels `rate` apart (from French "à trous", with holes).

    Args:
      value: float Tensor [batch, height, width, channels].
      filters: Tensor [height, width, channels, outputs] of the same type.
      rate: an int of at least 1.
      padding: "SAME" or "VALID".
      name: the name scope of the ops.

    Returns:
      A Tensor [batch, rows, columns, outputs].

    Raises:
      ValueError: ranks or channels do not match.

    Source: python/ops/nn_ops.py.
    """
    rates = np.broadcast_to(rate, (2,))
    return convolution(value, filters, padding, dilation_rate=rates, name=name)


@export("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: Tensor | Sequence[int],
    rate: int,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The transposed convolution of `tf.nn.atrous_conv2d`.

    Args:
      value: float Tensor [batch, height, width, channels].
      filters: Tensor [height, width, outputs, channels] of the same type.
      output_shape: int32 Tensor or list [4].
      rate: an int of at least 1.
      padding: "SAME" or "VALID".
      name: the name scope of the ops.

    Returns:
      A Tensor of the shape `output_shape`.

    Raises:
      ValueError: ranks or channels do not match, or an argument is invalid.

    Source: python/ops/nn_ops.py.
    """
    given = [value, filters, output_shape]
    with name_scope(name, "atrous_conv2d_transpose", given):
        value = convert(value, name="value")
        filters = convert(filters, name="filters")
        kernel = shapes.with_rank(filters._shape, 4)
        _check_atrous(value, kernel)
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv2d_transpose(
                value, filters, output_shape, [1, 1, 1, 1], padding, "NHWC"
            )
        shape_tensor = convert(output_shape, name="output_shape")
        if not shapes.compatible(shape_tensor._shape, (4,)):
            raise ValueError(
                "output_shape must have shape (4,), got "
                f"{shapes.TensorShape(shape_tensor._shape)}"
            )
        if isinstance(output_shape, tuple):
            output_shape = list(output_shape)
        _check_atrous_output(output_shape, kernel)
        top, bottom, left, right = _atrous_padding(filters, rate, padding)
        height = output_shape[1] + top + bottom
        width = output_shape[2] + left + right
        more_rows = (rate - height % rate) % rate
        more_columns = (rate - width % rate) % rate
        value = space_to_batch(
            input=value, paddings=[[0, more_rows], [0, more_columns]], block_size=rate
        )
        sizes = [
            rate * rate * output_shape[0], (height + more_rows) // rate,
            (width + more_columns) // rate, output_shape[3],
        ]  # fmt: skip
        op = Conv2DBackpropInput((1, 1, 1, 1), True, "VALID")
        inner = op(sizes, filters, value)
        crops = [[top, bottom + more_rows], [left, right + more_columns]]
        return batch_to_space(input=inner, crops=crops, block_size=rate)


def _check_atrous(value: Tensor, kernel: Any) -> None:
    """Check the channels.  Raises: ValueError."""
    channels = shapes.with_rank(value._shape, 4)[3]
    if None not in (channels, kernel[3]) and channels != kernel[3]:
        raise ValueError(
            "value's input channels does not match filters' input channels, "
            f"{channels} != {kernel[3]}"
        )


def _check_atrous_output(output_shape: Any, kernel: Any) -> None:
    """Check that a list has the filters' channels.  Raises: ValueError."""
    if isinstance(output_shape, Tensor) or kernel[2] is None:
        return
    outputs = output_shape[3]
    if isinstance(outputs, int) and outputs != kernel[2]:
        raise ValueError(
            "output_shape does not match filter's output channels, "
            f"{outputs} != {kernel[2]}"
        )


def _atrous_padding(filters: Tensor, rate: int, padding: Any) -> tuple[Any, ...]:
    """The padding of "SAME": top, bottom, left, right."""
    if padding == "VALID":
        return 0, 0, 0, 0
    if padding != "SAME":
        raise ValueError(f"padding must be either VALID or SAME: {padding}")
    shape: Any = filters._shape
    if not shapes.is_full(shape):
        shape = shape_ops.shape(filters)
    height, width = shape[0], shape[1]
    rows = height + (height - 1) * (rate - 1)
    columns = width + (width - 1) * (rate - 1)
    rows, columns = rows - 1, columns - 1
    top = rows // 2
    bottom = rows - top
    left = columns // 2
    return top, bottom, left, columns - left
