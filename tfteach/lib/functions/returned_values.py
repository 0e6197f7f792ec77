"""What a traced function returns: Tensors, and values that consist of Tensors.

Each is the output of an `Identity`, which waits for all that has effects: the effects
then never wait for what is returned.
Source: python/framework/func_graph.py, auto_control_deps.py (names and messages).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.tensor_array import TensorArray
from tfteach.framework.convert import convert
from tfteach.framework.graph import get_default_graph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.sparse_tensor import SparseTensor


def converted(
    value: Any, python_function: Callable[..., Any], operation_value: Any = None
) -> Any:
    """A result as a Tensor, or as a value that consists of Tensors.

    Raises:
      TypeError: it is neither, and cannot be converted.
    """
    if isinstance(value, IndexedSlices | SparseTensor | TensorArray):
        return value
    if operation_value is not None and isinstance(value, Operation):
        with get_default_graph().control_dependencies([value]):
            return identity(operation_value)
    try:
        return convert(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.contrib.eager.defun, Python functions must "
            f"return zero or more Tensors; in compilation of {python_function}, found "
            f"return value of type {type(value)}, which is not a Tensor."
        ) from None


def marked(value: Any, returned: list[Tensor]) -> Any:
    """A copy of a result, whose Tensors are added to those that are `returned`."""
    if isinstance(value, IndexedSlices):
        values, indices = identity(value.values), identity(value.indices)
        returned += [indices, values]
        return IndexedSlices(values, indices, value.dense_shape)
    if isinstance(value, SparseTensor):
        values, indices = identity(value.values), identity(value.indices)
        returned += [indices, values]
        return SparseTensor(indices, values, value.dense_shape)
    if isinstance(value, TensorArray):
        flow = identity(value.flow)
        returned.append(flow)
        return value._with_flow(flow)
    made: Tensor = identity(value)
    returned.append(made)
    return made


def flow_or_tensor(value: Any) -> Tensor:
    """The Tensor that a call returns for a result."""
    flow: Tensor = value.flow if isinstance(value, TensorArray) else value
    return flow
