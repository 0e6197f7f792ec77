"""What counts as a Tensor.

Source: python/autograph/utils/tensors.py, python/framework/tensor_util.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.tensor_array import TensorArray
from tfteach.framework.dtypes import variant
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.operation import Tensor
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.range import Range
from tfteach.variables.base import Variable


def is_tensor(value: Any) -> bool:
    """Whether a value is a Tensor, a SparseTensor or a variable."""
    return isinstance(value, Tensor | SparseTensor | Variable)


def is_dense_tensor(value: Any) -> bool:
    """Whether a value is a Tensor or a variable."""
    return isinstance(value, Tensor | Variable)


def is_tensor_array(value: Any) -> bool:
    """Whether a value is a TensorArray."""
    return isinstance(value, TensorArray)


def is_tensor_list(value: Any) -> bool:
    """Whether a value is a tensor list: a variant scalar, as far as is known."""
    return is_dense_tensor(value) and value.dtype == variant and not value.shape.ndims


def is_range_tensor(value: Any) -> bool:
    """Whether a value is the result of `tf.range` in a graph."""
    if not isinstance(value, Tensor) or isinstance(value, EagerTensor):
        return False
    return isinstance(value.op.spec, Range)
