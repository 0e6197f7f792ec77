"""Tensors stacked along a new axis, and unstacked; conversion of lists of tensors.

Source: core/ops/array_ops.cc, python/ops/array_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert, register_tensor_conversion_function
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.list_elements import ListElements, list_elements
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.math.cast import Cast


def brackets(array: Any) -> str:
    """An array's shape as TF's kernels write it: "[2,3]"."""
    return "[" + ",".join(map(str, array.shape)) + "]"


def merge_all(parts: list[Shape]) -> Shape:
    """Merge shapes that must be equal.

    Raises:
      ValueError: two of them are incompatible.
    """
    merged: Shape = None
    for i, part in enumerate(reversed(parts)):
        try:
            merged = shapes.merge(part, merged)
        except ValueError:
            refuse_merge(part, merged, len(parts) - 1 - i)
    return merged


def refuse_merge(a: Shape, b: Shape, position: int) -> None:
    assert a is not None and b is not None
    text_a, text_b = shapes.text(a), shapes.text(b)
    end = f"\n\tFrom merging shape {position} with other shapes."
    if len(a) != len(b):
        raise ValueError(
            f"Shapes must be equal rank, but are {len(a)} and {len(b)}{end}"
        )
    for i, (m, n) in enumerate(zip(a, b, strict=True)):
        if m is not None and n is not None and m != n:
            raise ValueError(
                f"Dimension {i} in both shapes must be equal, but are {m} and {n}. "
                f"Shapes are {text_a} and {text_b}.{end}"
            )


class Pack(Op):
    """Arrays of one shape, stacked along a new axis.  Source: array_ops.cc, Pack."""

    signature = "values: N*T -> output: T"
    axis: int = 0
    stacks_scalars: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.PYTHON

    def infer_shape(self, values: list[Shape]) -> Shape:
        part = merge_all(values)
        if part is None:
            return None
        rank = len(part) + 1
        if not -rank <= self.axis < rank:
            raise ValueError(f"Invalid axis: {self.axis}; must be in [{-rank},{rank})")
        axis = self.axis % rank
        return (*part[:axis], len(values), *part[axis:])

    def list_elements(self, op: Operation) -> ListElements | None:
        return list_elements(op.inputs[0])

    def compute(self, xp: ArrayModule, *values: Any) -> Any:
        first = values[0]
        if not isinstance(first, np.ndarray | np.generic):  # variants are objects
            found = np.empty(len(values), object)
            for i, value in enumerate(values):
                found[i] = value
            return found
        if not first.shape and not first.dtype.hasobject:
            # Mostly sizes and indices, for which this is faster than stack.
            self._check_values(values)
            return np.array(values, first.dtype)
        return self.compute_on_card(xp, *values)

    def compute_on_card(self, xp: ArrayModule, *values: Any) -> Any:
        self._check_values(values)
        return xp.stack(values, self.axis)

    def _check_values(self, values: tuple[Any, ...]) -> None:
        first = values[0]
        for i, value in enumerate(values):
            if value.shape != first.shape:
                raise invalid_argument(
                    f"Shapes of all inputs must match: values[0].shape = "
                    f"{brackets(first)} != values[{i}].shape = {brackets(value)}"
                )
        rank = first.ndim + 1
        if self.axis and not -rank <= self.axis < rank:
            raise invalid_argument(f"axis = {self.axis} not in [{-rank}, {rank})")

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [*unstack(grad, len(op.inputs), self.axis)]


class Unpack(MultiOutputOp):
    """The slices along one axis.  Source: core/ops/array_ops.cc, Unpack."""

    signature = "value: T -> output: num*T"
    num: int
    axis: int = 0
    aliases: ClassVar[bool] = True
    minimum: ClassVar[dict[str, int]] = {"num": 0}
    checks_only_ranks: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, value: Shape) -> list[Shape]:
        if value is None:
            return [None] * self.num
        rank = len(value)
        if not -rank <= self.axis < rank:
            raise ValueError(f"Invalid axis: {self.axis}; must be in [{-rank},{rank})")
        axis = self.axis % rank
        if value[axis] not in (None, self.num):
            raise ValueError(f"Dimension must be {self.num} but is {value[axis]}")
        return [value[:axis] + value[axis + 1 :]] * self.num

    def check_shapes(self, value: tuple[int, ...]) -> None:
        rank, axis = len(value), self.axis
        require(-rank <= axis < rank, f"axis = {axis} not in [{-rank}, {rank})")

    def compute(self, xp: ArrayModule, value: Array) -> Any:
        if value.shape[self.axis] != self.num:
            raise invalid_argument(
                f"Input shape axis {self.axis} must equal {self.num}, got shape "
                f"{brackets(value)}"
            )
        return tuple(xp.moveaxis(value, self.axis, 0))

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [stack(list(grads), axis=self.axis)]


# ---- public functions


@export("stack")
def stack(
    values: Sequence[TensorLike] | Tensor, axis: int = 0, name: str = "stack"
) -> Tensor:
    """Tensors of one shape and type, stacked along a new axis.

    Args:
      values: a list of Tensors of one shape.
      axis: the position of the new dimension, from -(rank + 1) to rank.
      name: the op's name.

    Returns:
      A Tensor with one more dimension than each value.

    Raises:
      ValueError: `axis` is out of range, or the shapes differ.

    Example:
      >>> tf.stack([[1, 2], [3, 4]], axis=1)  # [[1, 3], [2, 4]]

    Source: Pack in core/ops/array_ops.cc.
    """
    if axis == 0:
        try:
            return convert(values, name=name)
        except (TypeError, ValueError):
            pass  # Pack raises the same error with the op's name
    part = convert(values[0], name=name).static_shape
    if part is not None:
        rank = len(part) + 1
        if not -rank <= axis < rank:
            raise ValueError(f"axis = {axis} not in [{-rank}, {rank})")
    return Pack(axis)(values, name=name)


@export("unstack")
def unstack(
    value: TensorLike, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """The slices of a tensor along one axis.

    Args:
      value: a Tensor of rank at least 1.
      num: the number of slices; inferred from the static shape if None.
      axis: the axis to remove.
      name: the op's name.

    Returns:
      A list of Tensors with one dimension fewer.

    Raises:
      ValueError: `axis` is out of range, or `num` is neither given nor known.

    Source: Unpack in core/ops/array_ops.cc.
    """
    if num is None:
        value = convert(value)
        known = value.static_shape
        if known is not None:
            rank = len(known)
            if not -rank <= axis < rank:
                raise ValueError(f"axis = {axis} not in [{-rank}, {rank})")
            num = known[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.shape}")
    return Unpack(num, axis)(value, name=name)


# ---- conversion of lists of tensors


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or getattr(value, "_is_dense_tensor_like", False)


def _first_dtype(values: Any) -> DType | None:
    for value in values:
        if _is_tensor(value):
            result: DType | None = value.dtype.base_dtype
            return result
        if isinstance(value, list | tuple):
            found = _first_dtype(value)
            if found is not None:
                return found
    return None


def _cast_all(values: Any, dtype: DType) -> list[Any]:
    cast: list[Any] = []
    for value in values:
        if isinstance(value, list | tuple):
            cast.append(_cast_all(value, dtype))
        elif _is_tensor(value) and value.dtype.base_dtype is not dtype:
            cast.append(Cast(DstT=dtype)(value))
        else:
            cast.append(value)
    return cast


def _pack_nested(values: Any, dtype: DType, name: str) -> Any:
    """The list as a tensor if it contains one at any depth, otherwise unchanged."""
    must_pack = False
    parts: list[Any] = []
    with name_scope(name) as scope:
        for i, value in enumerate(values):
            if isinstance(value, list | tuple):
                value = _pack_nested(value, dtype, str(i))
            elif _is_tensor(value) and value.dtype.base_dtype is not dtype:
                raise TypeError(
                    f"Cannot convert a list containing a tensor of dtype "
                    f"{value.dtype} to {dtype} (Tensor is: {value!r})"
                )
            must_pack = must_pack or _is_tensor(value)
            parts.append(value)
        if not must_pack:
            return parts
        tensors = [
            part if _is_tensor(part) else constant(part, dtype, name=str(i))
            for i, part in enumerate(parts)
        ]
        return Pack()(tensors, name=scope)


def _convert_list(
    value: Any,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Any:
    if as_ref:
        return NotImplemented
    found = _first_dtype(value)
    if found is None:
        return NotImplemented
    if dtype is not None and dtype.base_dtype is not found:
        value, found = _cast_all(value, dtype.base_dtype), dtype.base_dtype
    return _pack_nested(value, found, name or "packed")


register_tensor_conversion_function((list, tuple), _convert_list, 99)


class ParallelConcat(Op):
    """Tensors one after the other along the first axis.  Source: ParallelConcat."""

    signature = "values: N*T -> output: T"
    shape: Shape

    is_expensive: ClassVar[bool] = False

    def infer_shape(self, values: list[Shape]) -> Shape:
        if not shapes.is_full(self.shape):
            raise ValueError("shape attr must be fully defined.")
        if not all(shapes.is_full(shape) for shape in values):
            raise ValueError("All input shapes must be fully defined.")
        merged = values[0]
        for i, shape in enumerate(values[1:], 1):
            try:
                merged = shapes.merge(shape, merged)
            except ValueError:
                refuse_merge(shape, merged, i)
        if not merged or merged[0] != 1:
            raise ValueError("Size of first dimension must be 1.")
        return self.shape

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        message = "All input shapes must be the same, with 1 as first size: %s and %s"
        for own in shapes:
            require(own == shapes[0] and own[:1] == (1,), message, shapes[0], own)

    def compute(self, xp: ArrayModule, *values: Any) -> Any:
        found = xp.concatenate(values, 0)
        if found.shape != self.shape:
            raise invalid_argument(
                f"Expected concatenated tensor shape: {shapes.text(self.shape)} got: "
                f"{shapes.text(found.shape)}"
            )
        return found


@export("parallel_stack")
def parallel_stack(
    values: Sequence[TensorLike], name: str = "parallel_stack"
) -> Tensor:
    """Tensors stacked along a new first axis, each as soon as it is there.

    Args:
      values: list of Tensors of one type and fully known shape.
      name: the name of the scope.

    Returns:
      A Tensor [len(values), ...].  It has no gradient.

    Raises:
      ValueError: a shape is not fully known.

    Source: ParallelConcat in core/ops/array_ops.cc.
    """
    with name_scope(name):
        first = convert(values[0])
        whole = TensorShape([len(values)]).concatenate(first.shape)
        parts = [expand_dims(value, 0) for value in values]
        if not all(part.shape.is_fully_defined() for part in parts[1:]):
            raise ValueError("All input shapes must be fully defined.")
        return ParallelConcat(whole.dims_or_none)(parts)
