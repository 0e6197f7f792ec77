"""Values as TensorProtos and back; the value a Tensor has in any case.

Source: python/framework/tensor_util.py (API).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework import static, tensor_proto
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Tensor
from tfteach.ops.constant import constant


@export("make_tensor_proto", "contrib.util.make_tensor_proto")
def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """`values` as a TensorProto, as `tf.constant` would hold it.

    Args:
      values: number, text, array or nested list.
      dtype: the element type; taken from `values` if None.
      shape: the shape; fewer values are filled up with the last one.
      verify_shape: raise unless `values` has exactly `shape`.
      allow_broadcast: a single value may fill the shape, which is so in any case.

    Raises:
      TypeError: `values` does not fit `dtype`, or `shape` under `verify_shape`.
      ValueError: there are more values than `shape` has room for.

    Example:
      >>> tf.make_ndarray(tf.make_tensor_proto([1.0, 2.0]))
      array([1., 2.], dtype=float32)
    """
    with Graph().as_default():
        made = constant(values, dtype, shape, verify_shape=verify_shape)
        return made.op.node_def.attr["value"].tensor


@export("make_ndarray", "contrib.util.make_ndarray")
def make_ndarray(tensor: Any) -> Any:
    """The array that a TensorProto holds, strings as an object array of bytes."""
    return tensor_proto.make_ndarray(tensor)


@export("get_static_value", "contrib.util.constant_value")
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The array that a Tensor has in every run, or None if that depends on the run.

    Args:
      tensor: a Tensor; anything else is given back.
      partial: also values of which only a part is known, which is not implemented.

    Raises:
      NotImplementedError: `partial` is True.
    """
    if partial:
        raise NotImplementedError("get_static_value: partial=True is not implemented.")
    return static.constant_value(tensor) if isinstance(tensor, Tensor) else tensor
