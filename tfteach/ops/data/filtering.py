"""Datasets without repeated elements or errors.

Source: core/kernels/data/experimental/{unique,ignore_errors}_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import OpError
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.data.dataset import Dataset, DatasetOp, Running
from tfteach.ops.data.elements import Element


class Unique(Dataset):
    """Each element once, in the order of its first occurrence."""

    def __init__(self, source: Dataset) -> None:
        self.inputs = (source,)

    def elements(self, running: Running) -> Iterator[Element]:
        seen: set[Any] = set()

        def is_new(element: Element) -> bool:
            array = np.asarray(element[0])
            key = array.shape, tuple(array.ravel().tolist())
            is_first = key not in seen
            seen.add(key)
            return is_first

        return filter(is_new, self.inputs[0].elements(running))


class WithoutErrors(Dataset):
    """The elements that can be computed."""

    def __init__(self, source: Dataset) -> None:
        self.inputs = (source,)

    def cardinality(self) -> int:
        return self.inputs[0].cardinality()

    def elements(self, running: Running) -> Iterator[Element]:
        return _WithoutErrors(self.inputs[0].elements(running))


class _WithoutErrors:
    def __init__(self, source: Iterator[Element]) -> None:
        self._source = source

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            try:
                return next(self._source)
            except OpError:
                continue


class UniqueDataset(DatasetOp):
    """Each element once.  Source: experimental_dataset_ops.cc, UniqueDataset."""

    signature = "input_dataset: variant -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(self, context: KernelContext, source: Dataset) -> Dataset:
        return Unique(source)


class IgnoreErrorsDataset(DatasetOp):
    """Elements without errors.  Source: IgnoreErrorsDataset."""

    signature = "input_dataset: variant -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(self, context: KernelContext, source: Dataset) -> Dataset:
        return WithoutErrors(source)
