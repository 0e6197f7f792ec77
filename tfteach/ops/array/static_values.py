"""The values and shapes that a graph determines before it runs.

Source: python/framework/tensor_util.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework import constant_values
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import string
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape, unknown_shape
from tfteach.framework.type_aliases import FetchedValues
from tfteach.ops.array.concat_split import ConcatV2
from tfteach.ops.array.strided_slice import StridedSlice
from tfteach.ops.core.shape_ops import Shape_
from tfteach.ops.core.stack_unstack import Pack


@export("get_static_value", "contrib.util.constant_value")
def get_static_value(tensor: object, partial: bool = False) -> FetchedValues:
    """The value of a Tensor if it is the same in every run, else None.

    It evaluates the same ops as TensorFlow's Python: constants, sizes of known shapes,
    and Cast, Concat, Equal, Fill, NotEqual, Pack, Range of such values.  A Tensor with
    a value cannot be fed from then on, since the graph may depend on it.

    Args:
      tensor: a Tensor; other objects are returned unchanged.
      partial: for `tf.stack`, return partly known values too: an object array with None
        for the unknown elements.

    Example:
      >>> tf.get_static_value(tf.stack([tf.placeholder(tf.int32, []), 3]), partial=True)
      array([None, array(3, dtype=int32)], dtype=object)

    Source: python/framework/tensor_util.py.
    """
    if not isinstance(tensor, Tensor):
        # Variables, sparse tensors and slices belong to a graph too.
        return None if hasattr(tensor, "graph") else tensor
    if isinstance(tensor, EagerTensor):
        return tensor.numpy()
    found = _known(tensor, partial)
    if found is not None:
        tensor.graph.prevent_feeding(tensor)
    return found


def _known(tensor: Tensor, partial: bool = False) -> Any:
    op = tensor.op
    if not isinstance(op.spec, Pack):
        return constant_values.python_constant_value(tensor)
    if op.spec.axis != 0 or not op.inputs:
        return None
    values = [_known(value, partial) for value in op.inputs]
    if not any(value is None or value.dtype == object for value in values):
        return np.array(values)
    if tensor.dtype == string and None not in values:
        return np.stack(values)
    if not partial:
        return None
    if all(value is not None and value.ndim for value in values):
        return np.stack([value.astype(object) for value in values])
    found = np.empty(len(values), object)
    found[:] = [None] * len(values)
    for index, value in enumerate(values):
        found[index] = value
    return found


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """The shape denoted by an int vector, as far as the graph determines it.

    It evaluates the ops of `tf.get_static_value`, and Shape, Pack, Concat and
    StridedSlice of vectors that are partly known.

    Args:
      tensor: an int Tensor [rank], or the scalar -1 for an unknown shape.

    Raises:
      ValueError: it is another scalar, or is not a vector.

    Source: python/framework/tensor_util.py.
    """
    if tensor.shape.ndims == 0:
        value = get_static_value(tensor)
        if value is not None and value == -1:
            return TensorShape(None)
        known = "with unknown value" if value is None else f"value '{value}'"
        raise ValueError(
            f"Received a scalar {known} as shape; require a statically known scalar "
            "with value '-1' to describe an unknown shape."
        )
    length = dimension_value(tensor.shape.with_rank(1)[0])
    if length == 0:
        return TensorShape([])
    found = _known_sizes(tensor)
    if isinstance(found, TensorShape):
        return found
    value = get_static_value(tensor)
    if value is None:
        return unknown_shape(length)
    return TensorShape([size if size >= 0 else None for size in value.tolist()])


def _known_sizes(tensor: Tensor) -> Any:
    """The sizes, from the ops that compute shapes, or NotImplemented."""
    if isinstance(tensor, EagerTensor):
        return NotImplemented
    op = tensor.op
    spec = op.spec
    if isinstance(spec, Shape_):
        return op.inputs[0].shape
    if isinstance(spec, Pack):
        values = [get_static_value(size) for size in op.inputs]
        return TensorShape([
            None if value is None or value < 0 else int(value) for value in values
        ])  # fmt: skip
    if isinstance(spec, ConcatV2):
        whole = TensorShape([])
        for part in op.inputs[:-1]:
            whole = whole.concatenate(constant_value_as_shape(part))
        return whole
    if not isinstance(spec, StridedSlice):
        return NotImplemented
    bounds = [get_static_value(bound) for bound in op.inputs[1:]]
    other = spec.ellipsis_mask or spec.new_axis_mask or spec.shrink_axis_mask
    if other or any(bound is None for bound in bounds):
        return NotImplemented
    begin, end, stride = (int(bound[0]) for bound in bounds)
    span = slice(
        None if spec.begin_mask else begin, None if spec.end_mask else end, stride
    )
    whole = constant_value_as_shape(op.inputs[0])
    return NotImplemented if whole.ndims is None else TensorShape(whole[span])
