"""Sparse tensors of a session under numbers, which go through queues in their place.

Source: core/ops/sparse_ops.cc, core/kernels/sparse_tensors_map_ops.cc.
"""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, c_name, string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.sparse.coo_arrays import check_ordered


class _Entry(NamedTuple):
    """A sparse tensor: arrays."""

    indices: Any
    values: Any
    size: Any


class SparseTensorsMap:
    """The sparse tensors of a map; each is taken once.

    Attributes:
      name: the map's, for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._entries: dict[int, _Entry] = {}
        self._next = 0
        self._lock = threading.Lock()

    def add(self, entry: _Entry) -> int:
        """Store a tensor; returns its number."""
        with self._lock:
            number = self._next
            self._next += 1
            self._entries[number] = entry
            return number

    def take(self, numbers: list[int]) -> list[_Entry]:
        """Remove and return tensors.

        Raises:
          InvalidArgumentError: there is none with a number.
        """
        found = []
        with self._lock:
            for number in numbers:
                if number not in self._entries:
                    raise invalid_argument(
                        f"Unable to find SparseTensor: {number} in map: {self.name}"
                    )
                found.append(self._entries.pop(number))
        return found


class _MapOp(StatefulOp, abstract=True):
    on_gpu: ClassVar[bool] = False

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)

    def tensors(self, ctx: KernelContext) -> SparseTensorsMap:
        """The map, which the first op that names it makes."""
        own: Any = self
        name = own.shared_name or ctx.op.name
        return ctx.resource(
            "sparse tensors map", name, lambda: SparseTensorsMap(name), own.container
        )


class _AddOp(_MapOp, abstract=True):
    signature = (
        "sparse_indices: int64, sparse_values: T, sparse_shape: int64 "
        "-> sparse_handle: int64"
    )
    container: str = ""
    shared_name: str = ""


def _check_parts(indices: Any, values: Any, size: Any) -> None:
    for what, kind, array, rank in (
        ("indices", "matrix", indices, 2),
        ("values", "vector", values, 1),
        ("shape", "vector", size, 1),
    ):
        if array.ndim != rank:
            raise invalid_argument(
                f"Input {what} should be a {kind} but received shape "
                f"{shapes.text(array.shape)}"
            )
    if len(indices) != len(values):
        raise invalid_argument(
            "indices and values rows (indexing dimension) must match. (indices = "
            f"{len(indices)}, values = {len(values)})"
        )
    if indices.shape[1] != len(size):
        raise invalid_argument("Order length must be SparseTensor rank.")


class AddSparseToTensorsMap(_AddOp):
    """Store a sparse tensor.  Source: sparse_ops.cc, AddSparseToTensorsMap."""

    def infer_shape(self, indices: Shape, values: Shape, size: Shape) -> Shape:
        _with_ranks(indices, values, size)
        return ()

    def compute(self, ctx: KernelContext, indices: Any, values: Any, size: Any) -> Any:
        _check_parts(indices, values, size)
        return np.int64(self.tensors(ctx).add(_Entry(indices, values, size)))


class AddManySparseToTensorsMap(_AddOp):
    """Store each row of a sparse tensor.

    Source: sparse_ops.cc, AddManySparseToTensorsMap.
    """

    signature = (
        "sparse_indices: int64, sparse_values: T, sparse_shape: int64 "
        "-> sparse_handles: int64"
    )
    container: str = ""
    shared_name: str = ""

    def infer_shape(self, indices: Shape, values: Shape, size: Shape) -> Shape:
        _with_ranks(indices, values, size)
        return (None,)

    def compute(self, ctx: KernelContext, indices: Any, values: Any, size: Any) -> Any:
        _check_parts(indices, values, size)
        if len(size) <= 1:
            raise invalid_argument(
                f"Rank of input SparseTensor should be > 1, but saw rank: {len(size)}"
            )
        check_ordered(np, indices, size)
        bounds = np.searchsorted(indices[:, 0], np.arange(int(size[0]) + 1)).tolist()
        rows = [
            _Entry(indices[i:j, 1:], values[i:j], size[1:]) for i, j in pairwise(bounds)
        ]
        tensors = self.tensors(ctx)
        handles = np.empty(len(rows), np.int64)
        # As in TensorFlow, empty rows are numbered after all others.
        for row in sorted(range(len(rows)), key=lambda row: not len(rows[row].values)):
            handles[row] = tensors.add(rows[row])
        return handles


def _with_ranks(indices: Shape, values: Shape, size: Shape) -> None:
    shapes.with_rank(indices, 2)
    shapes.with_rank(values, 1)
    shapes.with_rank(size, 1)


class TakeManySparseFromTensorsMap(_MapOp, MultiOutputOp):
    """Remove sparse tensors, and stack them.

    Source: sparse_ops.cc, TakeManySparseFromTensorsMap.
    """

    signature = (
        "sparse_handles: int64 -> sparse_indices: int64, sparse_values: dtype, "
        "sparse_shape: int64"
    )
    dtype: DType
    container: str = ""
    shared_name: str = ""

    def infer_shape(self, handles: Shape) -> list[Shape]:
        shapes.with_rank(handles, 1)
        return [(None, None), (None,), (None,)]

    def compute(self, ctx: KernelContext, handles: Any) -> Any:
        if handles.ndim != 1:
            raise invalid_argument(
                "sparse_handles should be a vector but received shape "
                f"{shapes.text(handles.shape)}"
            )
        if not handles.size:
            raise invalid_argument(
                "Must have at least 1 serialized SparseTensor, but input matrix has 0 "
                "rows"
            )
        entries = self.tensors(ctx).take(handles.tolist())
        for number, entry in enumerate(entries):
            self._check(number, entry, entries[0])
        counts = [len(entry.values) for entry in entries]
        rows = np.repeat(np.arange(len(entries)), counts)[:, None]
        indices = np.concatenate([entry.indices for entry in entries])
        largest = np.max([entry.size for entry in entries], axis=0)
        return (
            np.concatenate([rows, indices], axis=1),
            np.concatenate([entry.values for entry in entries]),
            np.array([len(entries), *largest], np.int64),
        )

    def _check(self, number: int, entry: _Entry, first: _Entry) -> None:
        values = entry.values
        dtype = string if values.dtype == object else as_dtype(values.dtype)
        if dtype is not self.dtype:
            raise invalid_argument(
                f"Requested SparseTensor of type {c_name(self.dtype)} but SparseTensor"
                f"[{number}].values.dtype() == {c_name(dtype)}"
            )
        if len(entry.size) != len(first.size):
            raise invalid_argument(
                "Inconsistent rank across SparseTensors: rank prior to SparseTensor"
                f"[{number}] was: {len(first.size) + 1} but rank of SparseTensor"
                f"[{number}] is: {len(entry.size) + 1}"
            )
