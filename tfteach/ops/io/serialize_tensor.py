"""Tensors as serialized TensorProtos, and back.

Source: core/ops/parsing_ops.cc, core/kernels/parse_tensor_op.cc.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.protos.attr_value import c_name
from tfteach.framework.protos.tensor_proto import make_ndarray
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, DTypeLike, TensorLike
from tfteach.ops.text.byte_string_arrays import strings
from tfteach.ops.text.string_ops import TextOp


class SerializeTensor(TextOp):
    """A tensor as a TensorProto.  Source: core/ops/parsing_ops.cc, SerializeTensor."""

    signature = "tensor: T -> serialized: string"

    def infer_shape(self, tensor: Shape) -> Shape:
        return ()

    def compute(self, xp: ArrayModule, tensor: Array) -> Any:
        from tfteach.framework.protos import TensorProto

        dtype = string if tensor.dtype.hasobject else as_dtype(tensor.dtype)
        proto = TensorProto(dtype=dtype.as_datatype_enum)
        proto.tensor_shape.SetInParent()
        for size in tensor.shape:
            proto.tensor_shape.dim.add(size=size)
        if dtype is string:
            proto.string_val.extend(tensor.reshape(-1).tolist())
        else:
            little = tensor.astype(tensor.dtype.newbyteorder("<"), copy=False)
            proto.tensor_content = little.tobytes()
        return strings([proto.SerializeToString()], ())


@export("serialize_tensor", "io.serialize_tensor")
def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as a serialized TensorProto, a string scalar.

    Args:
      tensor: a Tensor of any type that has values.
      name: the op's name.

    Example:
      >>> text = tf.serialize_tensor([1.0, 2.0])
      >>> tf.parse_tensor(text, tf.float32)  # [1.0, 2.0]

    Source: SerializeTensor in core/ops/parsing_ops.cc.
    """
    return SerializeTensor()(tensor, name=name)


class ParseTensor(TextOp):
    """The tensor of a TensorProto.  Source: core/ops/parsing_ops.cc, ParseTensor."""

    signature = "serialized: string -> output: out_type"
    out_type: DType

    def infer_shape(self, serialized: Shape) -> Shape:
        return None

    def compute(self, xp: ArrayModule, serialized: Array) -> Any:
        from tfteach.framework.protos import TensorProto

        if serialized.ndim:
            raise invalid_argument(
                "Expected `serialized` to be a scalar, got shape: "
                f"{shapes.text(serialized.shape)}"
            )
        proto: Any = TensorProto()
        try:
            proto.ParseFromString(serialized.item())
        except DecodeError:
            raise invalid_argument(
                "Could not parse `serialized` as TensorProto: "
                f"'{serialized.item().decode('latin-1')}'"
            ) from None
        try:
            found = make_ndarray(proto)
        except (TypeError, ValueError) as error:
            raise invalid_argument(f"Cannot parse tensor from proto: {error}") from None
        dtype = as_dtype(proto.dtype)
        if dtype != self.out_type:
            raise invalid_argument(
                f"Type mismatch between parsed tensor ({c_name(dtype)}) and dtype "
                f"({c_name(self.out_type)})"
            )
        return np.asarray(found)


@export("parse_tensor", "io.parse_tensor")
def parse_tensor(
    serialized: TensorLike, out_type: DTypeLike, name: str | None = None
) -> Tensor:
    """The tensor of a serialized TensorProto; its shape is known in a run only.

    Args:
      serialized: a string scalar, such as of `tf.serialize_tensor`.
      out_type: the tensor's type.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, `serialized` is no scalar, no
        TensorProto, or one of another type.

    Example:
      >>> tf.parse_tensor(tf.serialize_tensor([[1, 2]]), tf.int32)  # [[1, 2]]

    Source: ParseTensor in core/ops/parsing_ops.cc.
    """
    op: Any = ParseTensor
    found: Tensor = op(out_type)(serialized, name=name)
    return found
