"""`tf.bitcast`: the same bytes as another type.  Source: core/ops/array_ops.cc."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.dtypes import DType, as_dtype, dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, DTypeLike, TensorLike

_BITS = (
    "bfloat16 float16 float32 float64 int64 int32 uint8 uint16 uint32 uint64 int8 "
    "int16 complex64 complex128 qint8 quint8 qint16 quint16 qint32"
)


class Bitcast(Op):
    """The same bytes reinterpreted as another type.  Source: array_ops.cc, Bitcast."""

    signature = "input: T -> output: type"
    T = dtypes_of(_BITS)
    type: DType
    type_allowed = dtypes_of(_BITS)
    aliases: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    by_type: ClassVar[tuple[str, ...]] = ("input",)

    def infer_shape(self, input: tuple[Shape, DType]) -> Shape:
        known, old, new = input[0], input[1].size, self.type.size
        if known is None or new == old:
            return known
        if new < old:
            return (*known, old // new)
        parts = new // old
        if known and known[-1] not in (None, parts):
            raise ValueError(
                f"Cannot bitcast due to shape. {known[-1]} does not match {parts}"
            )
        return known[:-1]

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        old, new = input.dtype.itemsize, self.type.numpy_dtype.itemsize
        if new > old and (not input.ndim or input.shape[-1] * old != new):
            raise invalid_argument(
                f"Cannot bitcast from {as_dtype(input.dtype).as_datatype_enum} to "
                f"{self.type.as_datatype_enum}"
            )
        flat = xp.ascontiguousarray(input).reshape(-1).view(self.type.numpy_dtype)
        if new == old:
            return flat.reshape(input.shape)
        if new < old:
            return flat.reshape((*input.shape, old // new))
        return flat.reshape(input.shape[:-1])


@export("bitcast")
def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """The bytes of a tensor, reinterpreted as another type.

    Args:
      input: a Tensor.
      type: the new element type; a smaller one adds a last axis, a larger one removes
        the last axis.
      name: the op's name.

    Returns:
      A Tensor of the new type.

    Raises:
      ValueError: the last axis does not hold exactly one element of a larger type.

    Source: Bitcast in core/ops/array_ops.cc.
    """
    op = Bitcast(type)  # type: ignore[arg-type]  # converted by the op
    result = op(input, name=name)
    return result
