"""Shapes of samples and parameters, static and as Tensors.

Source: python/ops/distributions/distribution.py, util.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice
from tfteach.ops.array.where_select import where, where_v2
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.math.compare import equal
from tfteach.ops.math.reduce_functions import reduce_prod


def same_shapes(sample_shape: Any, *names: str) -> dict[str, Any]:
    """`sample_shape` as the shape of each of the given parameters."""
    return dict.fromkeys(names, convert(sample_shape, int32))


def is_scalar(known: TensorShape, tensor: Callable[[], Tensor]) -> Any:
    if known.ndims is not None:
        return known.ndims == 0
    sizes = tensor()
    if sizes.shape.ndims is not None and sizes.shape.as_list()[0] is not None:
        return sizes.shape.as_list() == [0]
    return equal(shape(sizes)[0], 0)


def as_vector(x: Tensor, name: str) -> tuple[Tensor, Any]:
    """The shape as a vector, and the product of its sizes."""
    known = constant_value(x)
    if known is None:
        product: Any = reduce_prod(x)
    else:
        product = np.prod(known, dtype=x.dtype.numpy_dtype)
    ndims = x.shape.ndims
    if ndims is None:
        axes = rank(x)
        return reshape(x, _at_least_one(equal(axes, 0), shape(x))), product
    if ndims == 0:
        if known is None:
            return reshape(x, [1]), product
        return convert(np.array([known], x.dtype.numpy_dtype), name=name), product
    if ndims != 1:
        raise ValueError("Input is neither scalar nor vector.")
    return x, product


def _at_least_one(is_scalar: Tensor, sizes: Tensor) -> Tensor:
    """[1] for a scalar, otherwise `sizes`."""
    with name_scope("pick_vector", values=[is_scalar, sizes]):
        one = convert(np.array([1], np.int32), name="true_vector")
        n = shape(one)[0]
        both = concat([one, sizes], 0)
        begin = where_v2(is_scalar, 0, n)
        return slice(both, [begin], [where(is_scalar, n, -1)])
