"""TensorArrays: lists of tensors, written and read by index during a run.

A handle refers to the list (tensor_array_store.py).  The flow, a float scalar passed
from op to op, orders them: a read takes the flow of the write before it.
Source: core/ops/data_flow_ops.cc, core/kernels/tensor_array_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, c_name, float32
from tfteach.framework.errors import UnimplementedError, invalid_argument
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.op_traits import Collection, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.state.tensor_array_store import ArrayStore


class _ArrayOp(StatefulOp, abstract=True):
    """An op on a TensorArray; static element shapes are recorded per handle."""

    by_handle: ClassVar[tuple[str, ...]] = ("handle",)


class TensorArrayV3(StatefulOp, MultiOutputOp):
    """A new TensorArray.  Source: data_flow_ops.cc, TensorArrayV3."""

    signature = "size: int32 -> handle: resource, flow: float32"
    dtype: DType  # the order is TensorFlow's
    element_shape: Shape = None
    dynamic_size: bool = False
    clear_after_read: bool = True
    identical_element_shapes: bool = False
    tensor_array_name: str = ""
    host_inputs: ClassVar[tuple[str, ...]] = ("size",)
    collection_role: ClassVar[Collection | None] = Collection.ARRAY

    def infer_shape(self, size: Shape) -> list[Shape]:
        shapes.with_rank(size, 0)
        return [(2,), ()]

    def shape_behind(self) -> Shape:
        shape = self.element_shape
        return shape if self.identical_element_shapes or shapes.is_full(shape) else None

    def compute(self, ctx: KernelContext, size: Any) -> tuple[ArrayStore, Any]:
        if size.shape:
            raise invalid_argument(
                "TensorArray size must be scalar, but had shape: "
                f"{shapes.text(size.shape)}"
            )
        if size < 0:
            raise invalid_argument("Size should be >= 0.")
        store = ArrayStore.numbered(
            self.tensor_array_name or ctx.op.name,
            self.dtype,
            int(size),
            self.element_shape,
            self.identical_element_shapes,
            self.dynamic_size,
            self.clear_after_read,
        )
        return store, ctx.xp.zeros((), float32.numpy_dtype)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None]


class TensorArrayGradV3(_ArrayOp, MultiOutputOp):
    """The TensorArray that collects another's gradients, one for each `source`.

    Source: data_flow_ops.cc, TensorArrayGradV3.
    """

    signature = (
        "handle: resource, flow_in: float32 -> grad_handle: resource, flow_out: float32"
    )
    source: str
    collection_role: ClassVar[Collection | None] = Collection.GRADIENT
    passes_handle: ClassVar[bool] = True

    def infer_shape(self, handle: Shape, flow_in: Shape) -> list[Shape]:
        return [(2,), ()]

    def compute(self, ctx: KernelContext, handle: ArrayStore, flow_in: Any) -> Any:
        return handle.gradient(self.source), flow_in

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None, None]


class TensorArrayWriteV3(_ArrayOp):
    """Write one element.  Source: data_flow_ops.cc, TensorArrayWriteV3."""

    signature = (
        "handle: resource, index: int32, value: T, flow_in: float32 -> "
        "flow_out: float32"
    )
    host_inputs: ClassVar[tuple[str, ...]] = ("index",)
    collection_role: ClassVar[Collection | None] = Collection.WRITE
    stored_input: ClassVar[int] = 2

    def infer_shape(
        self, handle: Shape, index: Shape, value: Shape, flow_in: Shape
    ) -> Shape:
        shapes.with_rank(index, 0)
        shapes.merge(handle, value)
        return ()

    def compute(
        self,
        ctx: KernelContext,
        handle: ArrayStore,
        index: Any,
        value: Any,
        flow_in: Any,
    ) -> Any:
        _check_scalar(index)
        _check_type(handle, ctx.op.inputs[2].dtype.base_dtype)
        handle.write(int(index), value)
        return flow_in


class TensorArrayReadV3(_ArrayOp):
    """Read one element.  Source: data_flow_ops.cc, TensorArrayReadV3."""

    signature = "handle: resource, index: int32, flow_in: float32 -> value: dtype"
    dtype: DType
    host_inputs: ClassVar[tuple[str, ...]] = ("index",)
    aliases: ClassVar[bool] = True
    collection_role: ClassVar[Collection | None] = Collection.READ

    def infer_shape(self, handle: Shape, index: Shape, flow_in: Shape) -> Shape:
        shapes.with_rank(index, 0)
        return handle

    def compute(
        self, ctx: KernelContext, handle: ArrayStore, index: Any, flow_in: Any
    ) -> Any:
        _check_scalar(index)
        _check_request(handle, self.dtype)
        return handle.read(ctx.xp, int(index))


class TensorArrayGatherV3(_ArrayOp):
    """Read some elements, stacked.  Source: data_flow_ops.cc, TensorArrayGatherV3."""

    signature = "handle: resource, indices: int32, flow_in: float32 -> value: dtype"
    dtype: DType
    element_shape: Shape = None
    host_inputs: ClassVar[tuple[str, ...]] = ("indices",)
    collection_role: ClassVar[Collection | None] = Collection.READ
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, handle: Shape, indices: Shape, flow_in: Shape) -> Shape:
        first = shapes.with_rank(indices, 1)
        return None if handle is None else (*first, *handle)

    def read_shape(self, element: Shape, inputs: list[Shape]) -> Shape:
        if element is None:
            return None
        indices = inputs[1]
        return (indices[0] if indices else None, *element)

    def compute(
        self, ctx: KernelContext, handle: ArrayStore, indices: Any, flow_in: Any
    ) -> Any:
        if indices.ndim != 1:
            raise invalid_argument(
                "Expected indices to be a vector, but received shape: "
                f"{shapes.text(indices.shape)}"
            )
        _check_request(handle, self.dtype)
        shape = _merged(handle.element_shape, self.element_shape)
        handle.check_open()
        if not len(indices):
            if not shapes.is_full(shape):
                raise UnimplementedError(
                    None,
                    None,
                    "TensorArray has size zero, but element shape "
                    f"{_text(shape)} is not fully defined. Currently only static "
                    "shapes are supported when packing zero-size TensorArrays.",
                )
            return ctx.xp.zeros((0, *(shape or ())), self.dtype.numpy_dtype)
        found = [handle.read(ctx.xp, i) for i in indices.tolist()]
        for i, value in enumerate(found):
            if value.shape != found[0].shape:
                raise invalid_argument(
                    "TensorArray has inconsistent shapes.  Index 0 has shape: "
                    f"{shapes.text(found[0].shape)} but index {i} has shape: "
                    f"{shapes.text(value.shape)}"
                )
        return ctx.xp.stack(found)


class TensorArrayScatterV3(_ArrayOp):
    """Write the rows of `value` to elements.  Source: data_flow_ops.cc."""

    signature = (
        "handle: resource, indices: int32, value: T, flow_in: float32 -> "
        "flow_out: float32"
    )
    host_inputs: ClassVar[tuple[str, ...]] = ("indices",)
    collection_role: ClassVar[Collection | None] = Collection.WRITE
    stored_input: ClassVar[int] = 2

    def infer_shape(
        self, handle: Shape, indices: Shape, value: Shape, flow_in: Shape
    ) -> Shape:
        first = shapes.with_rank(indices, 1)
        shapes.with_rank_at_least(value, 1)
        if value is not None:
            (n,), m = first, value[0]
            if None not in (n, m) and n != m:
                raise ValueError(f"Dimensions must be equal, but are {m} and {n}")
            shapes.merge(handle, value[1:])
        return ()

    def stored_shape(self, shape: Shape) -> Shape:
        return shape[1:] if shape else None

    def compute(
        self,
        ctx: KernelContext,
        handle: ArrayStore,
        indices: Any,
        value: Any,
        flow_in: Any,
    ) -> Any:
        if indices.ndim != 1:
            raise invalid_argument(
                f"Expected indices to be a vector, but received shape: "
                f"{shapes.text(indices.shape)}"
            )
        if not value.shape:
            raise invalid_argument(
                "Input value for unpack must be at least a vector but received "
                "shape: []"
            )
        if len(indices) != value.shape[0]:
            raise invalid_argument(
                "Expected len(indices) == values.shape[0], but saw: "
                f"{len(indices)} vs. {value.shape[0]}"
            )
        _check_type(handle, ctx.op.inputs[2].dtype.base_dtype)
        rows = [value[i] for i in range(len(indices))]
        if value.dtype.hasobject:  # bare strings, if there is one axis only
            rows = [value[i, ...] for i in range(len(indices))]
        handle.write_many(indices.tolist(), rows)
        return flow_in


class TensorArrayConcatV3(_ArrayOp, MultiOutputOp):
    """All elements concatenated.  Source: data_flow_ops.cc."""

    signature = "handle: resource, flow_in: float32 -> value: dtype, lengths: int64"
    dtype: DType
    element_shape_except0: Shape = None
    collection_role: ClassVar[Collection | None] = Collection.OTHER
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, handle: Shape, flow_in: Shape) -> list[Shape]:
        return [None, (None,)]

    def compute(self, ctx: KernelContext, handle: ArrayStore, flow_in: Any) -> Any:
        xp = ctx.xp
        _check_request(handle, self.dtype)
        handle.check_open()
        if not len(handle):
            shape = self.element_shape_except0
            if not shapes.is_full(shape):
                raise UnimplementedError(
                    None,
                    None,
                    "TensorArray has size zero, but element_shape_except0 "
                    f"{_text(shape)} is not fully defined. Currently only static "
                    "shapes are supported when concatenating zero-size TensorArrays.",
                )
            empty = xp.zeros((0, *(shape or ())), self.dtype.numpy_dtype)
            return empty, xp.zeros(0, "int64")
        found = [handle.read(xp, i) for i in range(len(handle))]
        for i, value in enumerate(found):
            if not value.shape:
                raise invalid_argument(
                    f"Concat saw a scalar shape at index {i} but requires at least "
                    "vectors.  Did you mean to call pack?"
                )
            if value.shape[1:] != found[0].shape[1:]:
                raise invalid_argument(
                    "TensorArray has inconsistent shapes.  Index 0 has (excepting "
                    f"dimension 0) shape: {shapes.text(found[0].shape[1:])} but index "
                    f"{i} has (excepting dimension 0) shape: "
                    f"{shapes.text(value.shape[1:])}"
                )
        lengths = xp.array([v.shape[0] for v in found], "int64")
        return xp.concatenate(found), lengths


class TensorArraySplitV3(_ArrayOp):
    """Write parts of `value` to all elements.  Source: data_flow_ops.cc."""

    signature = (
        "handle: resource, value: T, lengths: int64, flow_in: float32 -> "
        "flow_out: float32"
    )
    host_inputs: ClassVar[tuple[str, ...]] = ("lengths",)
    collection_role: ClassVar[Collection | None] = Collection.WRITE
    stored_input: ClassVar[int] = 1

    def infer_shape(
        self, handle: Shape, value: Shape, lengths: Shape, flow_in: Shape
    ) -> Shape:
        shapes.with_rank(lengths, 1)
        return ()

    def stored_shape(self, shape: Shape) -> Shape:
        return (None, *shape[1:]) if shape else None

    def compute(
        self,
        ctx: KernelContext,
        handle: ArrayStore,
        value: Any,
        lengths: Any,
        flow_in: Any,
    ) -> Any:
        if lengths.ndim != 1:
            raise invalid_argument(
                "Expected lengths to be a vector, received shape: "
                f"{shapes.text(lengths.shape)}"
            )
        if not value.shape:
            raise invalid_argument(
                "Expected value to be at least a vector, but received shape: []"
            )
        total = int(lengths.sum())
        if total != value.shape[0]:
            raise invalid_argument(
                "Expected sum of lengths to be equal to values.shape[0], but sum of "
                f"lengths is {total} and value's shape is: {shapes.text(value.shape)}"
            )
        _check_type(handle, ctx.op.inputs[1].dtype.base_dtype)
        count = len(lengths)
        size = count if count > len(handle) and handle.grows else len(handle)
        if size != count:
            raise invalid_argument(
                "TensorArray's size is not equal to the size of lengths "
                f"({len(handle)} vs. {count}), and the TensorArray is not marked as "
                "dynamically resizeable"
            )
        start, parts = 0, []
        for length in lengths.tolist():
            parts.append(value[start : start + length])
            start += length
        handle.write_many(range(count), parts)
        return flow_in


class TensorArraySizeV3(_ArrayOp):
    """The number of elements.  Source: data_flow_ops.cc, TensorArraySizeV3."""

    signature = "handle: resource, flow_in: float32 -> size: int32"
    collection_role: ClassVar[Collection | None] = Collection.SIZE
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self, handle: Shape, flow_in: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, handle: ArrayStore, flow_in: Any) -> Any:
        handle.check_open()
        return ctx.xp.array(len(handle), "int32")

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


class TensorArrayCloseV3(_ArrayOp, NoOutputOp):
    """Release the elements.  Source: data_flow_ops.cc, TensorArrayCloseV3."""

    signature = "handle: resource ->"
    collection_role: ClassVar[Collection | None] = Collection.CLOSE

    def infer_shape(self, handle: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, handle: ArrayStore) -> tuple[()]:
        handle.close()
        return ()


# ---- checks


def _check_scalar(index: Any) -> None:
    if index.shape:
        raise invalid_argument(
            f"TensorArray index must be scalar, but had shape: "
            f"{shapes.text(index.shape)}"
        )


def _check_type(handle: ArrayStore, dtype: DType) -> None:
    if dtype is not handle.dtype:
        raise invalid_argument(
            f"TensorArray dtype is {c_name(handle.dtype)} but Op is trying to write "
            f"dtype {c_name(dtype)}."
        )


def _check_request(handle: ArrayStore, dtype: DType) -> None:
    if dtype is not handle.dtype:
        raise invalid_argument(
            f"TensorArray dtype is {c_name(handle.dtype)} but Op requested dtype "
            f"{c_name(dtype)}."
        )


def _merged(ours: Shape, asked: Shape) -> Shape:
    """The elements' shape, merged from the array's and the op's."""
    try:
        return shapes.merge(ours, asked)
    except ValueError:
        raise invalid_argument(
            "PartialTensorShape: Incompatible shapes during merge: "
            f"{_text(ours)} vs. {_text(asked)}"
        ) from None


def _text(shape: Shape) -> str:
    return "<unknown>" if shape is None else shapes.text(shape)
