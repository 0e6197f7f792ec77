"""Datasets of tensors, of their slices, of numbers.

Source: core/kernels/data/tensor_dataset_op.cc, tensor_slice_dataset_op.cc,
sparse_tensor_slice_dataset_op.cc, range_dataset_op.cc,
experimental/random_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.dataset import (
    INFINITE_CARDINALITY,
    Dataset,
    DatasetOp,
    Running,
    integer,
)
from tfteach.ops.data.elements import Element, Rows
from tfteach.ops.random.philox import Philox

# Ranges up to this size are shuffled and batched as arrays.
_LARGEST_TABLE = 1 << 22
_MASK32 = (1 << 32) - 1
_MASK64 = (1 << 64) - 1


class RangeRows(Rows):
    """0, 1, ..., count - 1."""

    def __init__(self, count: int) -> None:
        self._next, self._end = 0, count

    def take(self, count: int) -> Array:
        start = self._next
        self._next = min(self._end, start + count)
        return np.arange(start, self._next)


class TensorElement(Dataset):
    """One element."""

    def __init__(self, element: Element) -> None:
        self._element = element

    def cardinality(self) -> int:
        return 1

    def elements(self, running: Running) -> Iterator[Element]:
        return iter([self._element])


class TensorSlices(Dataset):
    """The rows of arrays."""

    def __init__(self, components: list[Array]) -> None:
        self._components = components
        self._count = len(components[0])

    def cardinality(self) -> int:
        return self._count

    @property
    def table(self) -> list[Array]:
        return self._components

    def rows(self, running: Running) -> Rows:
        return RangeRows(self._count)


class Numbers(Dataset):
    """start, start + step, ..."""

    def __init__(self, start: int, stop: int, step: int) -> None:
        self._range = range(start, stop, step)
        self._array: list[Array] | None = None

    def cardinality(self) -> int:
        return len(self._range)

    @property
    def table(self) -> list[Array] | None:
        if self._array is None and len(self._range) <= _LARGEST_TABLE:
            r = self._range
            self._array = [np.arange(r.start, r.stop, r.step, dtype=np.int64)]
        return self._array

    def rows(self, running: Running) -> Rows:
        return RangeRows(len(self._range))

    def elements(self, running: Running) -> Iterator[Element]:
        return ((np.int64(i),) for i in self._range)


class RandomWords(Iterator[int]):
    """The 32-bit words of TensorFlow's generator for two seeds, in sequence."""

    def __init__(self, seed: int, seed2: int) -> None:
        key = seed & _MASK32, seed >> 32 & _MASK32
        self._philox = Philox((seed2 & _MASK64) << 64, key)
        self._blocks = 0
        self._words = np.empty(0, np.uint32)
        self._at = 0

    def take(self, count: int) -> Array:
        """The next words, as int64."""
        missing = count - (len(self._words) - self._at)
        if missing > 0:
            blocks = max(-(-missing // 4), 64)
            more = self._philox.blocks(blocks, self._blocks).ravel()
            self._blocks += blocks
            self._words = np.concatenate([self._words[self._at :], more])
            self._at = 0
        found = self._words[self._at : self._at + count]
        self._at += count
        return found.astype(np.int64)

    def __next__(self) -> int:
        return int(self.take(1)[0])


class RandomNumbers(Dataset):
    """Random 32-bit numbers, without end."""

    def __init__(self, seeds: tuple[int, int] | None) -> None:
        self._seeds = seeds

    def cardinality(self) -> int:
        return INFINITE_CARDINALITY

    def elements(self, running: Running) -> Iterator[Element]:
        seeds = self._seeds or running.random_seeds(self)
        return ((np.int64(word),) for word in RandomWords(*seeds))


class SparseSlices(Dataset):
    """The rows of a sparse tensor."""

    def __init__(self, indices: Array, values: Array, dense_shape: Array) -> None:
        rows = indices[:, 0] if len(indices) else np.zeros(0, np.int64)
        if np.any(np.diff(rows) < 0):
            raise NotImplementedError(
                "The SparseTensor must be ordered in the batch dimension; handling "
                "arbitrarily ordered input is not currently supported."
            )
        count = int(dense_shape[0])
        self._bounds = np.searchsorted(rows, np.arange(count + 1))
        self._parts = indices[:, 1:], values, dense_shape[1:].astype(np.int64)

    def cardinality(self) -> int:
        return len(self._bounds) - 1

    def elements(self, running: Running) -> Iterator[Element]:
        indices, values, inner = self._parts
        bounds = self._bounds.tolist()
        return ((indices[i:j], values[i:j], inner) for i, j in pairwise(bounds))


# ---- ops


class SourceOp(DatasetOp, abstract=True):
    """A dataset without inputs, which TensorFlow never folds."""

    is_stateful: ClassVar[bool] = True


class TensorDataset(SourceOp):
    """One element.  Source: dataset_ops.cc, TensorDataset."""

    signature = "components: *Toutput_types -> handle: variant"
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"Toutput_types": 1, "output_shapes": 1}

    def dataset(self, context: KernelContext, *components: Any) -> Dataset:
        return TensorElement(components)


class TensorSliceDataset(SourceOp):
    """The slices of tensors along the first axis.

    Source: dataset_ops.cc, TensorSliceDataset.
    """

    signature = "components: *Toutput_types -> handle: variant"
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"Toutput_types": 1, "output_shapes": 1}

    def infer_shape(self, components: list[Shape]) -> Shape:
        sizes = {s[0] for s in components if s} - {None}
        if any(s == () for s in components):
            raise ValueError("Shape must be at least rank 1 but is rank 0")
        if len(sizes) > 1:
            first, second = sorted(sizes)[:2]  # type: ignore[type-var]
            raise ValueError(f"Dimensions must be equal, but are {first} and {second}")
        return ()

    def dataset(self, context: KernelContext, *components: Any) -> Dataset:
        for array in components:
            if not array.ndim:
                raise invalid_argument("All components must be at least 1-dimensional")
            if len(array) != len(components[0]):
                raise invalid_argument(
                    "All components must have the same size in the 0th dimension"
                )
        return TensorSlices(list(components))


class SparseTensorSliceDataset(SourceOp):
    """The rows of a sparse tensor.  Source: SparseTensorSliceDataset."""

    signature = "indices: int64, values: Tvalues, dense_shape: int64 -> handle: variant"

    def compute(
        self, context: KernelContext, indices: Array, values: Array, dense_shape: Array
    ) -> Dataset:
        if len(values) != len(indices) or indices.shape[1:] != dense_shape.shape:
            raise invalid_argument(
                "Number of values must match first dimension of indices. Got "
                f"{len(values)} values, indices shape: {list(indices.shape)}"
            )
        made = SparseSlices(indices, values, dense_shape)
        made.made_by(context.op)
        return made


class RangeDataset(SourceOp):
    """Numbers of a range.  Source: dataset_ops.cc, RangeDataset."""

    signature = "start: int64, stop: int64, step: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {
        "start": 0, "stop": 0, "step": 0,
    }  # fmt: skip

    def dataset(self, context: KernelContext, *inputs: Any) -> Dataset:
        start, stop, step = (integer(value) for value in inputs)
        if step == 0:
            raise invalid_argument("step must be a non-zero integer.")
        return Numbers(start, stop, step)


class RandomDataset(SourceOp):
    """Random numbers.  Source: experimental_dataset_ops.cc, RandomDataset."""

    signature = "seed: int64, seed2: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"seed": 0, "seed2": 0}

    def dataset(self, context: KernelContext, seed: Any, seed2: Any) -> Dataset:
        return RandomNumbers(seeds_or_none(seed, seed2))


def seeds_or_none(seed: Any, seed2: Any) -> tuple[int, int] | None:
    """The two seeds; None for random ones if both are 0."""
    return (int(seed), int(seed2)) if int(seed) or int(seed2) else None
