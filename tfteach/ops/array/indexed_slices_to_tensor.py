"""Conversion of IndexedSlices to dense tensors.

Source: python/framework/indexed_slices.py.
"""

from __future__ import annotations

import math
import warnings

from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import register_tensor_conversion_function
from tfteach.framework.dtypes import DType
from tfteach.framework.graph import Tensor
from tfteach.framework.indexed_slices import DENSIFYING, IndexedSlices, check_dtype
from tfteach.ops.array.segment_ops import UnsortedSegmentSum

_LARGE_ELEMENTS = 100_000_000


def _densify(
    value: IndexedSlices,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    """The dense tensor: rows of equal index are summed."""
    check_dtype(value, dtype)
    if value.dense_shape is None:
        raise ValueError(
            "Tensor conversion requested for IndexedSlices without dense_shape: "
            f"{value}"
        )
    whole = constant_value(value.dense_shape)
    if whole is None:
        warnings.warn(
            f"{DENSIFYING} of unknown shape. This may consume a large amount of "
            "memory.",
            stacklevel=2,
        )
    elif math.prod(whole.tolist()) >= _LARGE_ELEMENTS:
        warnings.warn(
            f"{DENSIFYING} with {math.prod(whole.tolist())} elements. This may "
            "consume a large amount of memory.",
            stacklevel=2,
        )
    rows = value.dense_shape[0]
    return UnsortedSegmentSum()(
        value.values, value.indices, rows, name=name or "UnsortedSegmentSum"
    )


register_tensor_conversion_function(IndexedSlices, _densify, 100)
