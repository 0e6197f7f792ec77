"""Converts values to TensorProtos and back.

Source: python/framework/tensor_util.py (API).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.protos import tensor_proto
from tfteach.ops.core.constant import constant


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
      shape: the shape; missing values are filled with the last one.
      verify_shape: raise unless `values` has exactly `shape`.
      allow_broadcast: a single value may fill the shape; it always may here.

    Raises:
      TypeError: `values` does not fit `dtype`, or `shape` under `verify_shape`.
      ValueError: there are more values than `shape` has elements.

    Example:
      >>> tf.make_ndarray(tf.make_tensor_proto([1.0, 2.0]))
      array([1., 2.], dtype=float32)
    """
    with Graph().as_default():
        made = constant(values, dtype, shape, verify_shape=verify_shape)
        return made.op.node_def.attr["value"].tensor


@export("make_ndarray", "contrib.util.make_ndarray")
def make_ndarray(tensor: Any) -> Any:
    """The array in a TensorProto; strings as an object array of bytes."""
    return tensor_proto.make_ndarray(tensor)
