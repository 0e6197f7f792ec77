"""Sums of lists of tensors: `tf.add_n` and `tf.accumulate_n`.

Source: core/ops/math_ops.cc, python/ops/math_ops.py.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert, default_dtype
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.list_elements import (
    ListElements,
    list_elements,
    merged_elements,
)
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape, as_shape
from tfteach.framework.type_aliases import (
    ArrayModule,
    DTypeLike,
    Gradient,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.stack_unstack import brackets
from tfteach.ops.math.compare import NUMBER_TYPES


class AddN(Op):
    """The sum of N tensors of one shape.  Source: math_ops.cc, AddN."""

    signature = "inputs: N*T -> sum: T"
    T = (*NUMBER_TYPES, *dtypes_of("variant"))
    is_elementwise: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, inputs: list[Shape]) -> Shape:
        return _merged(inputs)

    def list_elements(self, op: Operation) -> ListElements | None:
        return functools.reduce(merged_elements, map(list_elements, op.inputs))

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        first = inputs[0]
        if len(inputs) == 2 and first.shape == inputs[1].shape:  # also of variants
            return first + inputs[1]
        if hasattr(first, "zeros"):
            return functools.reduce(operator.add, inputs)
        if len(inputs) == 1:
            return xp.positive(first)
        for i, other in enumerate(inputs):
            if other.shape != first.shape:
                raise invalid_argument(
                    "Inputs to operation {name} of type AddN must have the same size "
                    f"and shape.  Input 0: {brackets(first)} != input {i}: "
                    f"{brackets(other)}"
                )
        total = xp.add(inputs[0], inputs[1])
        for array in inputs[2:]:
            total = xp.add(total, array)
        return total

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad] * len(op.inputs)

    def scalar_expression(self, *inputs: Any) -> str | None:
        return " + ".join(inputs) if len(inputs) > 1 else None


def _merged(inputs: list[Shape]) -> Shape:
    merged: Shape = None
    for i, shape in reversed(list(enumerate(inputs))):
        try:
            merged = shapes.merge(shape, merged)
        except ValueError as error:
            raise ValueError(
                f"{error}\n\tFrom merging shape {i} with other shapes."
            ) from None
    return merged


@export("math.add_n", "add_n")
def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The sum of a list of tensors.

    sum = inputs[0] + inputs[1] + ...

    Args:
      inputs: a list of number Tensors (or IndexedSlices) of one type and shape.
      name: the op's name.

    Returns:
      A Tensor of that type and shape.

    Raises:
      ValueError: the list is empty, or its shapes differ.

    Example:
      >>> tf.Session().run(tf.add_n([[1.0, 2.0], [10.0, 20.0]]))
      array([11., 22.], dtype=float32)

    Source: AddN in core/ops/math_ops.cc.
    """
    if inputs is not None and not isinstance(inputs, list | tuple):
        list(inputs)  # raises for a single tensor: it cannot be iterated over
    if not inputs or not isinstance(inputs, list | tuple):
        raise ValueError(
            "inputs must be a list of at least one Tensor/IndexedSlices with the same "
            "dtype and shape"
        )
    tensors = _converted(inputs)
    if len(tensors) == 1:
        value = convert(tensors[0])
        return identity(value, name=name) if name else value
    return AddN()(tensors, name=name)


def _converted(inputs: Any) -> list[Any]:
    return [t if isinstance(t, IndexedSlices) else convert(t) for t in inputs]


class AccumulateNV2(Op):
    """The sum of N tensors, of a given shape.  Source: math_ops.cc, AccumulateNV2."""

    signature = "inputs: N*T -> sum: T"
    T = NUMBER_TYPES
    shape: Shape

    is_expensive: ClassVar[bool] = False

    def infer_shape(self, inputs: list[Shape]) -> Shape:
        return shapes.merge(_merged(inputs), self.shape)

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        return AddN().compute(xp, *inputs)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad] * len(op.inputs)


@export("math.accumulate_n", "accumulate_n")
def accumulate_n(
    inputs: Sequence[TensorLike],
    shape: ShapeLike | None = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The sum of a list of tensors, as `add_n`.

    sum = inputs[0] + inputs[1] + ...

    Args:
      inputs: a list of number Tensors of one type and shape.
      shape: their shape, if it is not known statically.
      tensor_dtype: the expected type.
      name: the op's name.

    Returns:
      A Tensor of that type and shape.

    Raises:
      ValueError: the list is empty, or its shapes or types differ.
      TypeError: the type is not `tensor_dtype`.

    Example:
      >>> tf.Session().run(tf.accumulate_n([[1.0, 2.0], [10.0, 20.0]]))
      array([11., 22.], dtype=float32)

    Source: AccumulateNV2 in core/ops/math_ops.cc.
    """
    wrong = ValueError(
        "inputs must be a list of at least one Tensor with the same dtype and shape"
    )
    if not inputs or not isinstance(inputs, list | tuple):
        raise wrong
    tensors = _converted(inputs)
    dtype = default_dtype(tensors)
    if any(
        not isinstance(t, Tensor) or t.dtype.base_dtype is not dtype for t in tensors
    ):
        raise wrong
    merged = as_shape(shape)
    for tensor in tensors:
        merged = shapes.merge(merged, tensor._shape)
    if tensor_dtype is not None and tensor_dtype != dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {dtype}")
    if len(tensors) == 1:
        return identity(tensors[0], name=name) if name else tensors[0]
    return AccumulateNV2(merged)(tensors, name=name)
