"""`tensor[...]`: indexing as strided slices.  Source: python/ops/array_ops.py."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np

from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import as_dtype, int64
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.array.gather import boolean_mask
from tfteach.ops.array.strided_slice import _INDEX_TYPES, StridedSlice, strided_slice
from tfteach.ops.core.constant import constant
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.cast import Cast


def _check_index(index: Any) -> None:
    if isinstance(index, int | Dimension):
        return
    dtype = getattr(index, "dtype", None)
    try:
        is_integer = dtype is not None and as_dtype(dtype).base_dtype in _INDEX_TYPES
    except TypeError:
        is_integer = False
    if not is_integer or (index.shape and len(index.shape) == 1):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and "
            f"scalar tf.int32/tf.int64 tensors are valid indices, got {index!r}"
        )


def _is_given(bound: Any) -> bool:
    return bound is not None and (isinstance(bound, Tensor) or bound != sys.maxsize)


def _is_mask(key: Any) -> bool:
    if isinstance(key, bool):
        return True
    if isinstance(key, Tensor):
        return key.dtype.base_dtype.is_bool
    return isinstance(key, np.ndarray) and key.dtype == np.bool_


def slice_helper(tensor: Any, slice_spec: Any, var: Any = None) -> Tensor:
    """`tensor[slice_spec]`, as a StridedSlice op or a boolean mask."""
    if _is_mask(slice_spec):
        return boolean_mask(tensor, slice_spec)
    if not isinstance(slice_spec, list | tuple):
        slice_spec = [slice_spec]
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks = dict.fromkeys(StridedSlice.fields, 0)
    for i, key in enumerate(slice_spec):
        bit = 1 << i
        first, last, step = 0, 0, 1
        if isinstance(key, builtins.slice):
            for bound in (key.start, key.stop):
                if _is_given(bound):
                    _check_index(bound)
            if _is_given(key.start):
                first = key.start
            else:
                masks["begin_mask"] |= bit
            if _is_given(key.stop):
                last = key.stop
            else:
                masks["end_mask"] |= bit
            if key.step is not None:
                _check_index(key.step)
                step = key.step
        elif key is Ellipsis:
            masks["ellipsis_mask"] |= bit
        elif key is None:
            masks["new_axis_mask"] |= bit
        else:
            _check_index(key)
            first, last = key, key + 1
            masks["shrink_axis_mask"] |= bit
        begin.append(first)
        end.append(last)
        strides.append(step)
    return _packed_slice(tensor, begin, end, strides, masks, var)


def _packed_slice(
    tensor: Any,
    begin: list[Any],
    end: list[Any],
    strides: list[Any],
    masks: dict[str, int],
    var: Any,
) -> Tensor:
    """The slice, with vectors converted to tensors of one type."""
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as scope:
        if not begin:
            packed = [constant(np.zeros(0, np.int32))] * 3
        else:
            packed = [stack(begin), stack(end), stack(strides)]
            if any(p.dtype.base_dtype is int64 for p in packed):
                packed = [
                    p if p.dtype.base_dtype is int64 else Cast(DstT=int64)(p)
                    for p in packed
                ]
        first, last, step = packed
        options: dict[str, Any] = {**masks, "var": var, "name": scope}
        return strided_slice(tensor, first, last, step, **options)
