"""Stacks: a loop's forward values, stored per iteration for its gradient.

Source: core/ops/data_flow_ops.cc, core/kernels/stack.cc.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import NoOutputOp, StatefulOp
from tfteach.framework.op_traits import Collection, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext

_numbers = itertools.count()


class Stack:
    """The values of one stack in one run; the object itself serves as the handle."""

    shape: ClassVar[tuple[int, ...]] = (2,)  # the handle's, as in TensorFlow
    __slots__ = ("closed", "limit", "name", "values")

    def __init__(self, name: str, limit: int) -> None:
        self.name = f"{name}_{next(_numbers)}"
        self.limit = limit  # negative: unlimited
        self.values: list[Any] = []
        self.closed = False

    def push(self, value: Any) -> None:
        """Push a value.

        Raises:
          InvalidArgumentError: the stack is closed, or full.
        """
        self._check_open()
        if 0 <= self.limit <= len(self.values):
            raise invalid_argument(
                f"Stack[{self.name}] overflowed its max_size ({self.limit})"
            )
        self.values.append(value)

    def pop(self) -> Any:
        """Remove and return the top value.

        Raises:
          InvalidArgumentError: the stack is closed, or empty.
        """
        self._check_open()
        if not self.values:
            raise invalid_argument(f"Stack[{self.name}] is empty when calling Pop().")
        return self.values.pop()

    def close(self) -> None:
        self.closed = True
        self.values.clear()

    def _check_open(self) -> None:
        if self.closed:
            raise invalid_argument(f"Stack[{self.name}] has already been closed.")


class StackV2(StatefulOp):
    """A new empty stack.  Source: data_flow_ops.cc, StackV2."""

    signature = "max_size: int32 -> handle: resource"
    elem_type: DType
    stack_name: str = ""
    host_inputs: ClassVar[tuple[str, ...]] = ("max_size",)
    collection_role: ClassVar[Collection | None] = Collection.STACK

    def infer_shape(self, max_size: Shape) -> Shape:
        return (2,)

    def compute(self, ctx: KernelContext, max_size: Any) -> Stack:
        if max_size.shape:
            raise invalid_argument(
                f"Stack size must be a scalar, but had shape: "
                f"{shapes.text(max_size.shape)}"
            )
        return Stack(self.stack_name or ctx.op.name, int(max_size))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class StackPushV2(StatefulOp):
    """Push `elem`, and forward it.  Source: data_flow_ops.cc."""

    signature = "handle: resource, elem: T -> output: T"
    swap_memory: bool = False
    aliases: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    collection_role: ClassVar[Collection | None] = Collection.PUSH
    stored_input: ClassVar[int] = 1
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, handle: Shape, elem: Shape) -> Shape:
        return elem

    def compute(self, ctx: KernelContext, handle: Stack, elem: Any) -> Any:
        handle.push(elem)
        return elem

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


class StackPopV2(StatefulOp):
    """Remove and return the top value.  Source: data_flow_ops.cc."""

    signature = "handle: resource -> elem: elem_type"
    elem_type: DType
    aliases: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = False
    collection_role: ClassVar[Collection | None] = Collection.POP
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, handle: Shape) -> Shape:
        return None

    def compute(self, ctx: KernelContext, handle: Stack) -> Any:
        return handle.pop()

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class StackCloseV2(StatefulOp, NoOutputOp):
    """Release the stack's values.  Source: data_flow_ops.cc, StackCloseV2."""

    signature = "handle: resource ->"

    def infer_shape(self, handle: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, handle: Stack) -> tuple[()]:
        handle.close()
        return ()
