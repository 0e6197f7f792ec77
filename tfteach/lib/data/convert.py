"""Arguments of datasets as tensors.

Source: python/data/util/convert.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int64
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.ops.core.constant import constant


def optional_param_to_tensor(
    argument_name: str,
    argument_value: TensorLike | None,
    argument_default: TensorLike = 0,
    argument_dtype: DTypeLike = int64,
) -> Tensor:
    """The Tensor of an argument, or a constant of its default if it is None."""
    if argument_value is None:
        return constant(argument_default, argument_dtype, name=argument_name)
    return convert(argument_value, argument_dtype, argument_name)


def partial_shape_to_tensor(shape_like: TensorLike | ShapeLike) -> Tensor:
    """A partial shape as an int64 vector, -1 for unknown sizes.

    Raises:
      ValueError: it is no vector, or the rank is unknown.
      TypeError: it is a tensor of another type.
    """
    return shape_tensor(shape_like, "The given shape {} must", "the")


def shape_tensor(shape: Any, subject: str, article: str) -> Tensor:
    """See `partial_shape_to_tensor`; `subject` and `article` are those of messages."""
    try:
        known = TensorShape(shape)
    except (TypeError, ValueError):
        tensor = convert(shape, preferred_dtype=int64)
    else:
        if known.dims is None:
            return convert(known, int64)
        sizes = [-1 if size is None else size for size in known.as_list()]
        return convert(np.array(sizes, np.int64))
    begin = f"{subject.format(shape)} be a 1-D tensor of tf.int64 values, but {article}"
    if tensor.shape.ndims not in (None, 1):
        raise ValueError(f"{begin} shape was {tensor.shape}.")
    if tensor.dtype is not int64:
        raise TypeError(f"{begin} element type was {tensor.dtype.name}.")
    return tensor
