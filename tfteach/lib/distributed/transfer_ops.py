"""`_Send` and `_Recv` of a task's part of a step, as operations of its graph.

Source: core/kernels/sendrecv_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework.dtypes import DType
from tfteach.framework.op import StatefulOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext


class SendTensor(StatefulOp, abstract=True):
    """Puts a tensor into the rendezvous of the step."""

    op_type: ClassVar[str] = "_Send"
    signature = "tensor: T, step_id: int64 ->"
    key: str

    def infer_shape(self, tensor: Shape, step_id: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, tensor: Any, step_id: Any) -> None:
        dtype = ctx.op.inputs[0].dtype
        ctx.session.send(int(step_id), self.key, tensor, dtype)


class RecvTensor(StatefulOp, abstract=True):
    """Takes a tensor from the rendezvous of the step, once it is there."""

    op_type: ClassVar[str] = "_Recv"
    signature = "step_id: int64 -> tensor: dtype"
    key: str
    dtype: DType

    may_wait: ClassVar[bool] = True
    waits_for_peers: ClassVar[bool] = True

    def infer_shape(self, step_id: Shape) -> Shape:
        return None

    def compute(self, ctx: KernelContext, step_id: Any) -> Any:
        return ctx.session.receive(int(step_id), self.key, ctx)
