"""Optionals: a tuple of tensors, or nothing, as a variant scalar.

The gradients of branches carry the values of the branch that ran in them.
Source: core/ops/dataset_ops.cc, core/kernels/data/optional_ops.cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule, Gradient


class OptionalValue:
    """The value of an optional.

    Args:
      components: the tensors; None if it has no value.
    """

    __slots__ = ("components",)

    shape = ()

    def __init__(self, components: tuple[Any, ...] | None) -> None:
        self.components = components

    def zeros(self, xp: ArrayModule) -> OptionalValue:
        """An optional of zeros."""
        if self.components is None:
            return self
        return OptionalValue(tuple(_zeros(xp, value) for value in self.components))

    def __add__(self, other: OptionalValue) -> OptionalValue:
        if self.components is None or other.components is None:
            if self.components is not other.components:
                raise invalid_argument(
                    "Cannot add optionals because one has a value and the other "
                    "doesn't."
                )
            return self
        pairs = zip(self.components, other.components, strict=True)
        return OptionalValue(tuple(a + b for a, b in pairs))

    def __repr__(self) -> str:
        what = "nothing" if self.components is None else f"{len(self.components)}"
        return f"<OptionalValue of {what}>"


def _zeros(xp: ArrayModule, value: Any) -> Any:
    if hasattr(value, "zeros"):
        return value.zeros(xp)
    return xp.zeros(value.shape, value.dtype)


class OptionalNone(Op):
    """An optional without a value.  Source: dataset_ops.cc, OptionalNone."""

    signature = "-> optional: variant"
    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False

    def infer_shape(self) -> Shape:
        return ()

    def compute(self, xp: ArrayModule) -> OptionalValue:
        return OptionalValue(None)


class OptionalFromValue(Op):
    """An optional of some tensors.  Source: dataset_ops.cc, OptionalFromValue."""

    signature = "components: *Toutput_types -> optional: variant"
    minimum: ClassVar[Mapping[str, int]] = {"Toutput_types": 1}
    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False

    def infer_shape(self, components: list[Shape]) -> Shape:
        return ()

    def compute(self, xp: ArrayModule, *components: Any) -> OptionalValue:
        return OptionalValue(components)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        get = OptionalGetValue(
            tuple(t.dtype.base_dtype for t in op.inputs),
            tuple(t.static_shape for t in op.inputs),
        )
        return list(get(grad))


class OptionalHasValue(Op):
    """Whether an optional has a value.  Source: dataset_ops.cc, OptionalHasValue."""

    signature = "optional: variant -> has_value: bool"
    host_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    stops_gradients: ClassVar[bool] = True

    def infer_shape(self, optional: Shape) -> Shape:
        return ()

    def compute(self, xp: ArrayModule, optional: OptionalValue) -> Any:
        return np.bool_(optional.components is not None)


class OptionalGetValue(MultiOutputOp):
    """The tensors of an optional.  Source: dataset_ops.cc, OptionalGetValue."""

    signature = "optional: variant -> components: *output_types"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    variants_on_gpu: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    aliases: ClassVar[bool] = True

    def infer_shape(self, optional: Shape) -> list[Shape]:
        return list(self.output_shapes)

    def compute(self, xp: ArrayModule, optional: OptionalValue) -> Any:
        if optional.components is None:
            raise invalid_argument("The given optional does not have a value.")
        return optional.components

    def gradient(self, op: Operation, *grads: Tensor) -> list[Gradient]:
        return [OptionalFromValue()(list(grads))]
