"""Tensors as serialized TensorProtos, and back.

Source: core/ops/parsing_ops.cc, core/kernels/parse_tensor_op.cc.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, c_name, string, variant
from tfteach.framework.errors import OpError, UnimplementedError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.protos.encoded_variant import EncodedVariant
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

        dtype = _type_of(tensor)
        proto = TensorProto(dtype=dtype.as_datatype_enum)
        proto.tensor_shape.SetInParent()
        for size in tensor.shape:
            proto.tensor_shape.dim.add(size=size)
        if dtype is variant:
            for item in tensor.reshape(-1).tolist():
                proto.variant_val.add().ParseFromString(item)
        elif dtype is string:
            proto.string_val.extend(tensor.reshape(-1).tolist())
        else:
            little = tensor.astype(tensor.dtype.newbyteorder("<"), copy=False)
            proto.tensor_content = little.tobytes()
        return strings([proto.SerializeToString()], ())


def _type_of(array: Array) -> DType:
    """The element type of a value, of which variants and strings are objects."""
    if not isinstance(array, np.ndarray | np.generic):
        raise _not_encoded(array)
    if not array.dtype.hasobject:
        return as_dtype(array.dtype)
    items = array.reshape(-1).tolist()
    if items and all(isinstance(item, EncodedVariant) for item in items):
        return variant
    for item in items:
        if not isinstance(item, bytes):
            raise _not_encoded(item)
    return string


def _not_encoded(value: Any) -> OpError:
    return UnimplementedError(
        None,
        None,
        f"A variant of type {type(value).__name__} cannot be serialized: it exists in "
        "runs only.",
    )


@export("serialize_tensor", "io.serialize_tensor")
def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as a serialized TensorProto, a string scalar.

    Args:
      tensor: a Tensor of any type that has values; of variants, the states of
        iterators.
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
        if proto.dtype == variant.as_datatype_enum == self.out_type.as_datatype_enum:
            return _variants(proto)
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


def _variants(proto: Any) -> Any:
    """The variants of a TensorProto."""
    found = np.empty([dim.size for dim in proto.tensor_shape.dim], object)
    if found.size != len(proto.variant_val):
        raise invalid_argument(
            f"Cannot parse tensor from proto: {len(proto.variant_val)} variants for "
            f"{found.size} elements"
        )
    for i, item in enumerate(proto.variant_val):
        found.flat[i] = EncodedVariant(item.SerializeToString())
    return found


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
