"""`tf.TensorArray`: a list of tensors, read and written by index in loops.

Source: python/ops/tensor_array_ops.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Self

from tfteach.control.control_flow_v2_toggles import is_functional
from tfteach.framework import dtypes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import (
    colocate_with,
    control_dependencies,
    device,
    name_scope,
)
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.ops.core.identity_reshape import Identity
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_
from tfteach.ops.state.tensor_array_ops import (
    TensorArrayCloseV3,
    TensorArrayConcatV3,
    TensorArrayGatherV3,
    TensorArrayGradV3,
    TensorArrayReadV3,
    TensorArrayScatterV3,
    TensorArraySizeV3,
    TensorArraySplitV3,
    TensorArrayV3,
    TensorArrayWriteV3,
)


@export("TensorArray")
class TensorArray:
    """A list of tensors of one type, written once per index and read in any order.

    Writing returns a new TensorArray, to be used from then on, so that reads wait for
    the writes (in the graph its `flow` has that dependency).

    Args:
      dtype: the elements' type.
      size: int32 scalar, the number of elements; required without `handle`.
      dynamic_size: whether writing beyond the end extends it (default: no).
      clear_after_read: whether reading an element releases it (default: yes).
      tensor_array_name: a name used in messages.
      handle: a Tensor, the handle of an existing one; requires `flow` too.
      flow: a float scalar Tensor, the flow of an existing one.
      infer_shape: whether all elements have the same shape, which is then inferred.
      element_shape: the elements' static shape, possibly partial.
      colocate_with_first_write_call: colocate it with the first value written.
      name: the name scope of the new operation.

    Raises:
      ValueError: the arguments are inconsistent.
      TypeError: `handle` is not a Tensor.

    Example:
      >>> squares = tf.TensorArray(tf.float32, size=2)
      >>> squares = squares.write(0, 1.0).write(1, 4.0)
      >>> squares.stack()  # [1., 4.]

    Source: python/ops/tensor_array_ops.py; TensorArrayV3.
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A TensorArray of the kind that the default graph's control flow uses."""
        if cls is TensorArray and get_default_graph().is_eager:
            from tfteach.control.tensor_array_eager import EagerTensorArray

            return object.__new__(EagerTensorArray)  # type: ignore[return-value]
        if cls is TensorArray and is_functional():
            from tfteach.control.tensor_array_v2 import TensorListArray

            return object.__new__(TensorListArray)  # type: ignore[return-value]
        return object.__new__(cls)

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: TensorLike | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        given = {
            "size": size,
            "element_shape": element_shape,
            "dynamic_size": dynamic_size,
            "clear_after_read": clear_after_read,
        }
        _check_handle(handle, tensor_array_name, given)
        self._dtype = as_dtype(dtype).base_dtype
        self._dynamic_size: bool | None = bool(dynamic_size)
        self._infer_shape = infer_shape
        # Lists, because all TensorArrays of one handle share this knowledge.
        self._places: list[Tensor] | None = (
            [] if colocate_with_first_write_call else None
        )
        self._element_shape = [TensorShape(element_shape)]
        # The scope is always opened, because TensorFlow uses up the name, too.
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                if flow is None:
                    raise ValueError("flow must not be None if handle is not None.")
                self._handle, self._flow = handle, flow
                return
            op = TensorArrayV3(
                dtype=self._dtype,
                element_shape=self._element_shape[0].dims_or_none,
                dynamic_size=self._dynamic_size,
                clear_after_read=clear_after_read is None or clear_after_read,
                identical_element_shapes=infer_shape,
                tensor_array_name=tensor_array_name or "",
            )
            if self._places is None:
                self._handle, self._flow = op(size, name=scope)
            else:
                with device(None), colocate_with(None, ignore_existing=True):
                    self._handle, self._flow = op(size, name=scope)

    # ---- properties

    @property
    def flow(self) -> Any:
        """A float scalar Tensor that depends on this state of the list."""
        return self._flow

    @property
    def dtype(self) -> DType:
        """The elements' type."""
        return self._dtype

    @property
    def handle(self) -> Tensor:
        """The handle of the list."""
        return self._handle

    @property
    def element_shape(self) -> TensorShape:
        """The static shape of the elements."""
        return self._element_shape[0]

    @property
    def dynamic_size(self) -> bool:
        """True if writes beyond the end extend it."""
        return bool(self._dynamic_size)

    def _with_flow(self, flow: Tensor) -> TensorArray:
        """The same list in another state."""
        made = TensorArray(
            dtype=self._dtype,
            handle=self._handle,
            flow=flow,
            infer_shape=self._infer_shape,
            colocate_with_first_write_call=self._places is not None,
        )
        made._dynamic_size = self._dynamic_size
        made._places = self._places
        made._element_shape = self._element_shape
        return made

    def identity(self) -> TensorArray:
        """The same TensorArray, whose flow has the current control dependencies."""
        return self._with_flow(Identity()(self._flow))

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> Any:
        """The TensorArray that accumulates the gradients of this one.

        Args:
          source: distinguishes calls of `tf.gradients`.
          flow: the flow to wait for (default: this one's).
          name: the name scope of the new operations.

        Returns:
          A TensorArray; repeated writes to an index accumulate.
        """
        flow = self._flow if flow is None else flow
        with (
            name_scope(name, "TensorArrayGrad", [self._handle]),
            colocate_with(self._handle),
        ):
            handle, _ = TensorArrayGradV3(source=source)(self._handle, flow, name=name)
            with control_dependencies([handle]):
                flow = Identity()(flow, name="gradient_flow")
            made = TensorArray(
                dtype=self._dtype,
                handle=handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
            made._element_shape = self._element_shape
            return made

    # ---- reading

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """The element at `index`, an int32 scalar."""
        value: Tensor = TensorArrayReadV3(dtype=self._dtype)(
            self._handle, index, self._flow, name=name
        )
        value.set_shape(self.element_shape)
        return value

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one Tensor [size, ...]."""
        with (
            colocate_with(self._handle),
            name_scope(name, "TensorArrayStack", [self._handle]),
        ):
            return self.gather(range_(0, self.size()), name=name)

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements at `indices`, an int32 Tensor [n], as one Tensor [n, ...]."""
        op = TensorArrayGatherV3(
            dtype=self._dtype, element_shape=self.element_shape.dims_or_none
        )
        value: Tensor = op(self._handle, indices, self._flow, name=name)
        if self.element_shape.ndims is not None:
            value.set_shape([None, *self.element_shape.as_list()])
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """The elements concatenated; they may differ in their first size."""
        rest = self.element_shape[1:].dims_or_none
        op = TensorArrayConcatV3(dtype=self._dtype, element_shape_except0=rest)
        value: Tensor = op(self._handle, self._flow, name=name)[0]
        if rest is not None:
            value.set_shape([None, *rest])
        return value

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, an int32 scalar Tensor."""
        size: Tensor = TensorArraySizeV3()(self._handle, self._flow, name=name)
        return size

    # ---- writing

    def write(
        self, index: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """The TensorArray after writing `value` to `index`.

        Raises:
          ValueError: the shape differs from the elements'.
        """
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = convert(value, name="value", preferred_dtype=self._dtype)
            self._check_element_shape(value.shape)
            with self._beside(value):
                flow = TensorArrayWriteV3()(
                    self._handle, index, value, self._flow, name=name
                )
            return self._with_flow(flow)

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """The TensorArray after writing the rows of `value` to its elements."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = shape_of(value)[0]
            return self.scatter(indices=range_(0, count), value=value, name=name)

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """The TensorArray after writing rows of `value` to `indices`.

        Raises:
          ValueError: the shape differs from the elements'.
        """
        values = [self._handle, value, indices]
        with name_scope(name, "TensorArrayScatter", values):
            value = convert(value, name="value", preferred_dtype=self._dtype)
            self._check_element_shape(value.shape[1:])
            with self._beside(value):
                flow = TensorArrayScatterV3()(
                    self._handle, indices, value, self._flow, name=name
                )
            return self._with_flow(flow)

    def split(
        self, value: TensorLike, lengths: TensorLike, name: str | None = None
    ) -> TensorArray:
        """The TensorArray after writing parts of `value` to its elements.

        Args:
          value: Tensor [sum of lengths, ...].
          lengths: int Tensor [size], the first size of each element.
          name: the name scope of the new operations.

        Raises:
          ValueError: the shape differs from the elements'.
        """
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert(value, self._dtype, "value")
            with self._beside(value):
                lengths = cast(lengths, dtypes.int64)
                self._check_equal_parts(value, lengths)
                flow = TensorArraySplitV3()(
                    self._handle, value, lengths, self._flow, name=name
                )
            return self._with_flow(flow)

    def close(self, name: str | None = None) -> Operation:
        """An operation that releases the elements."""
        made: Operation = TensorArrayCloseV3()(self._handle, name=name)
        return made

    def _check_element_shape(self, shape: TensorShape) -> None:
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(
                f"Inconsistent shapes: saw {shape} but expected {self.element_shape} "
                "(the elements of this TensorArray have one shape; infer_shape=False "
                "lets them differ)."
            )
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    def _check_equal_parts(self, value: Tensor, lengths: Tensor) -> None:
        """The elements' shape, if a tensor is split into parts of one known length."""
        known = constant_value(lengths)
        if (
            known is not None
            and value.shape.ndims is not None
            and known.size
            and known.ndim
            and known.max() == known.min()
        ):
            first = TensorShape([int(known[0])])
            self._check_element_shape(first.concatenate(value.shape[1:]))

    @contextmanager
    def _beside(self, value: Tensor) -> Iterator[None]:
        """The op to colocate with: the source of the first value."""
        if self._places is None:
            place: Any = nullcontext()
        else:
            if not self._places:
                self._places.append(value)
            place = colocate_with(self._places[0])
        with place:
            yield


def _check_handle(handle: Any, array_name: str | None, given: dict[str, Any]) -> None:
    if handle is None:
        if given["size"] is None:
            raise ValueError("Size must be provided if handle is not provided")
        return
    if array_name:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    for what, value in given.items():
        if value is not None:
            raise ValueError(
                f"Cannot provide both a handle and {what} at the same time"
            )


def flow_of(value: Any) -> Any:
    """The flow of a TensorArray; other values unchanged."""
    return value.flow if isinstance(value, TensorArray) else value


def arrays_again(originals: list[Any], values: list[Any]) -> list[Any]:
    """`values`, with flows converted to TensorArrays where `originals` has them."""
    if len(originals) != len(values):
        raise ValueError(
            "Lengths of original Tensor list and new list do not match: "
            f"{len(originals)} vs. {len(values)}"
        )
    return [
        old._with_flow(new) if isinstance(old, TensorArray) else new
        for old, new in zip(originals, values, strict=True)
    ]
