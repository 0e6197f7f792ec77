"""Tensors that a session stores between runs, addressed by handle.

Source: core/ops/data_flow_ops.cc, core/kernels/session_ops.cc,
python/ops/session_ops.py.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.device import canonical_name
from tfteach.framework.dtypes import DType, as_dtype, string
from tfteach.framework.errors import InternalError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.op import NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    DTypeLike,
    Gradient,
    KernelContext,
    SessionLike,
    TensorLike,
)
from tfteach.ops.core.placeholder import placeholder

# Unreferenced handles are deleted in batches of this size.
_MANY_DEAD = 10


class Store:
    """The tensors stored by one session."""

    def __init__(self) -> None:
        self.numbers = itertools.count()
        self.tensors: dict[bytes, Any] = {}
        self.dead: list[bytes] = []
        # (placeholder, result tensor) of the handles' methods.
        self.readers: dict[str, tuple[Tensor, Tensor]] = {}
        self.deleter: tuple[Tensor, Operation] | None = None

    def forget(self, handle: bytes) -> None:
        """Mark a handle as unreferenced; its name may still be in use for a while."""
        self.dead.append(handle)
        if len(self.dead) >= _MANY_DEAD:
            dead, self.dead = self.dead, []
            for name in dead:
                self.tensors.pop(name, None)

    def clear(self) -> None:
        self.tensors.clear()


def _store(ctx: KernelContext) -> Store:
    found: Store = ctx.resource("session tensors", "", Store)
    return found


class _Name(bytes):
    """A handle as an element of a string tensor, with a link to its object."""

    store: Store
    session: Any


class GetSessionHandle(StatefulOp):
    """Store a tensor.  Source: data_flow_ops.cc, GetSessionHandle."""

    signature = "value: T -> handle: string"

    def infer_shape(self, value: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, value: Any) -> Any:
        store = _store(ctx)
        device = ctx.device.name if ctx.device is not None else ""
        name = _Name(f"{ctx.op.name};{next(store.numbers)};{device}".encode())
        name.store, name.session = store, ctx.session
        store.tensors[name] = value
        return name

    def fetched(self, output: Tensor, value: Any) -> Any:
        return TensorHandle(value, output.op.inputs[0].dtype.base_dtype, value.session)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class GetSessionTensor(StatefulOp):
    """A stored tensor.  Source: data_flow_ops.cc, GetSessionTensor."""

    signature = "handle: string -> value: dtype"
    dtype: DType
    aliases: ClassVar[bool] = True

    def compute(self, ctx: KernelContext, handle: Any) -> Any:
        value = _store(ctx).tensors.get(_text(handle))
        if value is None:
            raise invalid_argument(
                f"The tensor with handle '{_text(handle).decode()}' is not in the "
                "session store."
            )
        expected = self.dtype.numpy_dtype
        if expected != getattr(value, "dtype", np.dtype(object)):
            raise InternalError(
                None,
                None,
                f"Output 0 of type {as_dtype(value.dtype).name} does not match "
                f"declared output type {self.dtype.name}",
            )
        return value

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class DeleteSessionTensor(StatefulOp, NoOutputOp):
    """Delete a stored tensor.  Source: data_flow_ops.cc, DeleteSessionTensor."""

    signature = "handle: string ->"

    def compute(self, ctx: KernelContext, handle: Any) -> None:
        if _store(ctx).tensors.pop(_text(handle), None) is None:
            raise invalid_argument(
                f"Failed to delete a tensor with handle '{_text(handle).decode()}' in "
                "the session store."
            )


def _text(handle: Any) -> bytes:
    return bytes(handle.item() if isinstance(handle, np.ndarray) else handle)


class TensorHandle:
    """A tensor stored in a session: the value of `tf.get_session_handle` in a run.

    It may be fed in place of the tensor's value.  The session deletes the tensor some
    time after the last reference to this object, unless `get_raw_handle` was called.

    Attributes:
      handle: the name of the tensor in the session, a str.
    """

    def __init__(self, handle: Any, dtype: DType, session: SessionLike) -> None:
        self.handle: str = handle.decode()
        self.dtype = dtype
        self._name, self._session = handle, session
        self._is_owner = True

    def __del__(self) -> None:
        if self._is_owner:
            self._name.store.forget(self._name)

    def __str__(self) -> str:
        return self.handle

    def stored(self) -> Any:
        """The tensor's value.

        Raises:
          InvalidArgumentError: it has been deleted.
        """
        try:
            return self._name.store.tensors[self._name]
        except KeyError:
            raise invalid_argument(
                f"The tensor with handle '{self.handle}' is not in the session store."
            ) from None

    def _check_live(self) -> None:
        if not self._is_owner:
            raise TypeError(
                f"Persistent tensor {self.handle} may have already been deleted."
            )

    def eval(self) -> Any:
        """The value of the tensor.

        Raises:
          TypeError: `delete` or `get_raw_handle` was called.
        """
        self._check_live()
        parts = self.handle.split(";")
        made = self._name.store.readers
        key = f"{parts[0]};{parts[-1]}"
        if key not in made:
            with self._session.graph.as_default():
                made[key] = get_session_tensor(self.handle, self.dtype)
        holder, reader = made[key]
        return self._session.run(reader, {holder: self.handle})

    def delete(self) -> None:
        """Delete the tensor from the session.

        Raises:
          TypeError: `delete` or `get_raw_handle` was called before.
        """
        self._check_live()
        self._is_owner = False
        store = self._name.store
        if store.deleter is None:
            with self._session.graph.as_default():
                store.deleter = delete_session_tensor(self.handle)
        holder, deleter = store.deleter
        self._session.run(deleter, {holder: self.handle})

    def get_raw_handle(self) -> str:
        """The name; from now on only `tf.delete_session_tensor` deletes the tensor."""
        self._is_owner = False
        return self.handle


@export("get_session_handle")
def get_session_handle(data: TensorLike, name: str | None = None) -> Tensor:
    """Store a tensor in the session; returns a string scalar that names it.

    In a run its value is a `TensorHandle`, with `eval()`, `delete()` and the name
    `handle`; it may be fed in place of a value.

    Args:
      data: a Tensor.
      name: the op's name.

    Raises:
      TypeError: `data` is not a Tensor.

    Example:
      >>> session = tf.Session()
      >>> kept = session.run(tf.get_session_handle(tf.constant([1.0, 2.0]) * 3.0))
      >>> holder, tensor = tf.get_session_tensor(kept.handle, tf.float32)
      >>> session.run(tensor + 1.0, {holder: kept.handle})
      array([4., 7.], dtype=float32)

    Source: GetSessionHandle in core/ops/data_flow_ops.cc.
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return GetSessionHandle()(data, name=name)


@export("get_session_tensor")
def get_session_tensor(
    handle: Any, dtype: DTypeLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A placeholder for a handle's name, and the tensor with that name.

    Args:
      handle: the name of a stored tensor, which includes its device.
      dtype: the type of the tensor.
      name: the op's name.

    Raises:
      ValueError: the name does not end in a device.
      tf.errors.InvalidArgumentError: in a run, no such tensor is stored.

    Source: GetSessionTensor in core/ops/data_flow_ops.cc.
    """
    with get_default_graph().device(_device_of(handle)):
        holder = placeholder(string)
        return holder, GetSessionTensor(as_dtype(dtype))(holder, name=name)


@export("delete_session_tensor")
def delete_session_tensor(
    handle: Any, name: str | None = None
) -> tuple[Tensor, Operation]:
    """A placeholder for a handle's name, and the operation that deletes the tensor.

    Args:
      handle: the name of a stored tensor, which includes its device.
      name: the op's name.

    Raises:
      ValueError: the name does not end in a device.
      tf.errors.InvalidArgumentError: in a run, no such tensor is stored.

    Source: DeleteSessionTensor in core/ops/data_flow_ops.cc.
    """
    with get_default_graph().device(_device_of(handle)):
        holder = placeholder(string)
        return holder, DeleteSessionTensor()(holder, name=name)


def _device_of(handle: Any) -> str:
    text = handle.decode() if isinstance(handle, bytes) else str(handle)
    return canonical_name(text.split(";")[-1])
