"""Datasets of the elements of datasets: flat_map, unbatch, chosen ones.

Source: core/kernels/data/flat_map_dataset_op.cc,
experimental/{directed_interleave,unbatch}_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.data.dataset import (
    BoundFunction,
    Called,
    Dataset,
    DatasetOp,
    DrawBlock,
    Running,
)
from tfteach.ops.data.elements import Element, column_elements, stacked

_END: Any = object()


class FlatMapped(Dataset):
    """The elements of the datasets that a function returns, one after the other."""

    def __init__(self, source: Dataset, function: BoundFunction) -> None:
        self.inputs = (source,)
        self.function = function

    def elements(self, running: Running) -> Iterator[Element]:
        source = self.inputs[0].elements(running)
        call = running.call(self.function)
        return FlatElements(_InnerDatasets(source, call, running, self.node_name))

    def blocks(self, running: Running) -> DrawBlock:
        source = self.inputs[0].elements(running)
        call = running.call(self.function)
        return FlatBlocks(_InnerDatasets(source, call, running, self.node_name)).draw


class _InnerDatasets:
    """Iterates over the datasets that a function returns, and how each one runs."""

    def __init__(
        self, source: Iterator[Element], call: Called, running: Running, name: str
    ) -> None:
        self._source, self._call, self._running = source, call, running
        self._name, self._count = name, 0  # of inner datasets

    def __iter__(self) -> Iterator[tuple[Dataset, Running]]:
        return self

    def __next__(self) -> tuple[Dataset, Running]:
        (dataset,) = self._call(next(self._source))
        inner = self._running.inner(self._name, self._count)
        self._count += 1
        return dataset, inner


class FlatElements:
    """Iterates over one inner dataset after the other."""

    def __init__(self, datasets: Iterator[tuple[Dataset, Running]]) -> None:
        self._datasets = datasets
        self._inner: Iterator[Element] = iter(())

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            for element in self._inner:
                return element
            self._inner = iter(())  # dropped before the next one begins
            dataset, running = next(self._datasets)
            self._inner = dataset.elements(running)


class FlatBlocks:
    """Draws several elements at a time, in blocks where an inner dataset can."""

    def __init__(self, datasets: Iterator[tuple[Dataset, Running]]) -> None:
        self._datasets = datasets
        self._block: DrawBlock = _nothing
        self._inner: Iterator[Element] = iter(())

    def draw(self, count: int) -> Element | None:
        """The next elements, stacked; fewer at the end, and then None."""
        found: list[Element] = []
        while True:
            wanted = count - len(found)
            block = self._block(wanted)
            if block is not None and len(block[0]) == count:
                return block
            found += [] if block is None else _rows(block)
            found += islice(self._inner, count - len(found))
            if len(found) == count or not self._begins_next():
                return stacked(found) if found else None

    def _begins_next(self) -> bool:
        """Begin with the next inner dataset; False if there is none."""
        self._block, self._inner = _nothing, iter(())  # dropped before
        for dataset, running in self._datasets:
            block = dataset.blocks(running)
            if block is None:
                self._inner = dataset.elements(running)
            else:
                self._block = block
            return True
        return False


def _nothing(_: int) -> Element | None:
    return None


def _rows(block: Element) -> list[Element]:
    """The elements of a block."""
    return list(zip(*map(column_elements, block), strict=True))


class Directed(Dataset):
    """Elements of several datasets, as a dataset of their numbers selects them.

    Numbers of datasets that have ended are passed over.
    """

    def __init__(self, selector: Dataset, sources: tuple[Dataset, ...]) -> None:
        self.inputs = (selector, *sources)

    def elements(self, running: Running) -> Iterator[Element]:
        iterators = [
            source.elements(running.branch(i)) for i, source in enumerate(self.inputs)
        ]
        return DirectedElements(iterators[0], iterators[1:])


class DirectedElements:
    """Draws from the iterator that the selector names."""

    def __init__(
        self, selector: Iterator[Element], sources: list[Iterator[Element]]
    ) -> None:
        self._selector = selector
        self._sources: list[Iterator[Element] | None] = [*sources]

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while any(source is not None for source in self._sources):
            (number,) = next(self._selector)
            if not 0 <= number < len(self._sources):
                raise invalid_argument(
                    f"Selector index out of range: {int(number)} >= "
                    f"{len(self._sources)}"
                )
            source = self._sources[int(number)]
            if source is not None:
                element = next(source, _END)
                if element is not _END:
                    return element
                self._sources[int(number)] = None
        raise StopIteration


class Unbatched(Dataset):
    """The rows of elements."""

    def __init__(self, source: Dataset) -> None:
        self.inputs = (source,)

    def elements(self, running: Running) -> Iterator[Element]:
        return UnbatchedElements(self.inputs[0].elements(running))


class UnbatchedElements:
    """Iterates over the rows of one element after the other."""

    def __init__(self, source: Iterator[Element]) -> None:
        self._source = source
        self._rows: Iterator[Element] = iter(())

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            for row in self._rows:
                return row
            element = next(self._source)
            for array in element:
                if not array.shape:
                    raise invalid_argument(
                        "Input element must have a non-scalar value in each component."
                    )
                if len(array) != len(element[0]):
                    raise invalid_argument(
                        "Input element must have the same batch size in each component."
                        f" Component 0 had size {len(element[0])} but component 1 had "
                        f"size, {len(array)}."
                    )
            self._rows = zip(*map(column_elements, element), strict=True)


# ---- ops


class FlatMapDataset(DatasetOp):
    """Elements of a function's datasets.  Source: dataset_ops.cc, FlatMapDataset."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments -> handle: variant"
    )
    f: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *captured: Any
    ) -> Dataset:
        return FlatMapped(source, BoundFunction(context, self.f, captured))


class DirectedInterleaveDataset(DatasetOp):
    """Elements that another dataset selects.  Source: DirectedInterleaveDataset."""

    signature = (
        "selector_input_dataset: variant, data_input_datasets: N*variant "
        "-> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {
        "output_types": 1, "output_shapes": 1, "N": 1,
    }  # fmt: skip

    def dataset(
        self, context: KernelContext, selector: Dataset, *sources: Dataset
    ) -> Dataset:
        return Directed(selector, sources)


class UnbatchDataset(DatasetOp):
    """The rows of elements.  Source: experimental_dataset_ops.cc, UnbatchDataset."""

    signature = "input_dataset: variant -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(self, context: KernelContext, source: Dataset) -> Dataset:
        return Unbatched(source)
