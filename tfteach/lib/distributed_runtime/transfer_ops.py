"""`_Send` and `_Recv` of a task's part of a step, as operations of its graph.

Source: core/kernels/sendrecv_ops.cc.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, ClassVar

from tfteach.engine.flow.flow_nodes import Frame, place_of_call
from tfteach.framework.dtypes import DType
from tfteach.framework.murmur_hash import murmur64
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


class RecvTensors(StatefulOp, abstract=True):
    """Takes tensors from the rendezvous of the step, once all are there."""

    op_type: ClassVar[str] = "_RecvTogether"
    signature = "step_id: int64 -> tensors: *dtypes"
    keys: tuple[str, ...]
    dtypes: tuple[DType, ...]

    may_wait: ClassVar[bool] = True
    waits_for_peers: ClassVar[bool] = True

    def infer_shape(self, step_id: Shape) -> list[Shape]:
        return [None] * len(self.dtypes)

    def compute(self, ctx: KernelContext, step_id: Any) -> list[Any]:
        step = int(step_id)
        return [ctx.session.receive(step, key, ctx) for key in self.keys]


# The ID of the step whose part this thread runs; an input would have to enter loops.
step_of_part: ContextVar[int] = ContextVar("step_of_part")


class SendPerhapsDead(StatefulOp, abstract=True):
    """Sends a tensor of a branch or a loop, which may be dead."""

    op_type: ClassVar[str] = "_Send"
    signature = "tensor: T ->"
    key: str

    exchanges_dead: ClassVar[bool] = True

    def infer_shape(self, tensor: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, tensor: Any) -> None:
        dtype = ctx.op.inputs[0].dtype
        ctx.session.send(
            step_of_part.get(), at_place(self.key, ctx.session), tensor, dtype
        )


class RecvPerhapsDead(StatefulOp, abstract=True):
    """Receives a tensor of a branch or a loop, which may be dead."""

    op_type: ClassVar[str] = "_Recv"
    signature = "-> tensor: dtype"
    key: str
    dtype: DType

    may_wait: ClassVar[bool] = True
    waits_for_peers: ClassVar[bool] = True
    exchanges_dead: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return None

    def compute(self, ctx: KernelContext) -> Any:
        key = at_place(self.key, ctx.session)
        return ctx.session.receive(step_of_part.get(), key, ctx)


TRANSFERS = SendTensor, RecvTensor, SendPerhapsDead, RecvPerhapsDead


def at_place(key: str, session: Any) -> str:
    """The rendezvous key for the frame and the iteration that the kernel runs in.

    TensorFlow names a frame by a hash: 1 of its path, 2 of its parent's and its name.

    Args:
      key: the one outside of loops, which ends in ";0:0".
      session: the part, which knows who is at the other end.
    """
    found = place_of_call.get()
    if found is None or found[0].parent is None:
        return key
    frame, iteration = found
    if session.exchanges_with_tensorflow_2(key):
        number = _number(frame)
    else:
        number = murmur64(_path(frame).encode())
    return f"{key.rpartition(';')[0]};{number}:{iteration}"


def _path(frame: Frame) -> str:
    if frame.parent is None:
        return ""
    return f"{_path(frame.parent)};{frame.parent_iteration};{frame.name}"


def _number(frame: Frame) -> int:
    if frame.parent is None:
        return 0
    inner = _combined(frame.parent_iteration, murmur64(frame.name.encode()))
    return _combined(_number(frame.parent), inner)


def _combined(a: int, b: int) -> int:
    """Combine two hashes.  Source: tsl/platform/hash.h."""
    return (a ^ (b + 0x9E3779B97F4A7800 + (a << 10) + (a >> 4))) & (1 << 64) - 1
