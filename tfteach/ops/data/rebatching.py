"""Datasets of the parts of batches, one for each replica of a model.

Source: core/kernels/data/rebatch_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.dataset import Dataset, DatasetOp, Running, integer
from tfteach.ops.data.elements import Element


class Rebatched(Dataset):
    """Each element in `count` parts along the first axis, of which the last ones may be
    smaller, or empty."""

    def __init__(self, source: Dataset, count: int) -> None:
        self.inputs = (source,)
        self._count = count

    def elements(self, running: Running) -> Iterator[Element]:
        return _Parts(self.inputs[0].elements(running), self._count)


class _Parts:
    """Iterates over the parts of one element after the other."""

    def __init__(self, source: Iterator[Element], count: int) -> None:
        self._source, self._count = source, count
        self._ready: Iterator[Element] = iter(())

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            for part in self._ready:
                return part
            element = next(self._source)
            parts = [_split(array, self._count) for array in element]
            self._ready = zip(*parts, strict=True)


def _split(array: Array, count: int) -> list[Array]:
    size = -(-len(array) // count)
    return [array[i * size : (i + 1) * size] for i in range(count)]


# ---- ops


class RebatchDataset(DatasetOp):
    """Parts of batches.  Source: experimental_dataset_ops.cc, RebatchDataset.

    `use_fallback` has no effect: TensorFlow makes the batches smaller where it can, and
    otherwise splits them.
    """

    signature = "input_dataset: variant, num_replicas: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    use_fallback: bool = True
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(self, context: KernelContext, *inputs: Any) -> Dataset:
        source, replicas = inputs
        count = integer(replicas)
        if count < 1:
            raise invalid_argument("num_replicas must be greater than zero.")
        return Rebatched(source, count)
