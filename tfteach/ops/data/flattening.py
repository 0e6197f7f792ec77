"""Datasets of the elements of datasets: flat_map, interleave, unbatch.

Source: core/kernels/data/{flat_map,interleave,parallel_interleave}_dataset_op.cc,
experimental/{parallel_interleave,directed_interleave,unbatch}_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    Element,
    Running,
    column_elements,
    integer,
)

_END: Any = object()


class FlatMapped(Dataset):
    """The elements of the datasets that a function returns, one after the other."""

    def __init__(self, source: Dataset, function: BoundFunction) -> None:
        self.inputs = (source,)
        self.function = function

    def elements(self, running: Running) -> Iterator[Element]:
        source = self.inputs[0].elements(running)
        call = running.call(self.function)
        return FlatElements(source, call, running, self.node_name)


class FlatElements:
    """Iterates over one inner dataset after the other."""

    def __init__(
        self, source: Iterator[Element], call: Called, running: Running, name: str
    ) -> None:
        self._source, self._call, self._running = source, call, running
        self._name, self._count = name, 0  # of inner datasets
        self._inner: Iterator[Element] = iter(())

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            for element in self._inner:
                return element
            self._inner = iter(())  # dropped before the next one begins
            (dataset,) = self._call(next(self._source))
            inner = self._running.inner(self._name, self._count)
            self._count += 1
            self._inner = dataset.elements(inner)


class Interleaved(Dataset):
    """The elements of the datasets that a function returns, by turns.

    Args:
      source: a dataset.
      function: of an element; returns a dataset.
      cycle: the number of datasets to take turns.
      block: the number of consecutive elements of each.
    """

    def __init__(
        self, source: Dataset, function: BoundFunction, cycle: int, block: int
    ) -> None:
        self.inputs = (source,)
        self.function = function
        self.cycle, self.block = cycle, block

    def elements(self, running: Running) -> Iterator[Element]:
        source = self.inputs[0].elements(running)
        call = running.call(self.function)
        turns = self.cycle, self.block
        return InterleavedElements(source, call, running, self.node_name, *turns)


class InterleavedElements:
    """Iterates over several inner datasets by turns."""

    def __init__(
        self,
        source: Iterator[Element],
        call: Called,
        running: Running,
        name: str,
        cycle: int,
        block: int,
    ) -> None:
        self._source: Iterator[Element] | None = source
        self._call, self._running = call, running
        self._name = name
        self._block = block
        self._open: list[Iterator[Element] | None] = [None] * cycle
        self._turn = 0
        self._drawn = 0  # elements of this turn

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            inner = self._open[self._turn]
            if inner is not None:
                element = next(inner, _END)
                if element is not _END:
                    self._drawn += 1
                    if self._drawn == self._block:
                        self._advance()
                    return element
                self._open[self._turn] = None
                self._advance()
            elif self._source is not None:
                outer = next(self._source, _END)
                if outer is _END:
                    self._source = None
                else:
                    (dataset,) = self._call(outer)
                    own = self._running.inner(self._name, self._turn)
                    self._open[self._turn] = dataset.elements(own)
            elif any(found is not None for found in self._open):
                self._advance()
            else:
                raise StopIteration

    def _advance(self) -> None:
        self._drawn = 0
        self._turn = (self._turn + 1) % len(self._open)


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


class _InterleaveOp(DatasetOp, abstract=True):
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    after_captured: ClassVar[int] = 2  # the number of inputs behind the captured ones

    def dataset(
        self, context: KernelContext, source: Dataset, *arguments: Any
    ) -> Dataset:
        count = len(arguments) - self.after_captured
        cycle, block = (integer(a) for a in arguments[count : count + 2])
        if cycle <= 0:
            raise invalid_argument("cycle_length must be greater than zero.")
        if block <= 0:
            raise invalid_argument("block_length must be greater than zero.")
        own: Any = self
        function = BoundFunction(context, own.f, arguments[:count])
        return Interleaved(source, function, cycle, block)


class InterleaveDataset(_InterleaveOp):
    """Elements of a function's datasets by turns.

    Source: dataset_ops.cc, InterleaveDataset.
    """

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, cycle_length: int64, "
        "block_length: int64 -> handle: variant"
    )
    f: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]


class ParallelInterleaveDatasetV2(_InterleaveOp):
    """The same order, which several threads prepare in TensorFlow.

    Source: dataset_ops.cc, ParallelInterleaveDatasetV2.
    """

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, cycle_length: int64, "
        "block_length: int64, num_parallel_calls: int64 -> handle: variant"
    )
    f: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    sloppy: bool = False
    after_captured: ClassVar[int] = 3


class ParallelInterleaveDataset(_InterleaveOp):
    """The same order.  Source: experimental_dataset_ops.cc."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, cycle_length: int64, "
        "block_length: int64, sloppy: bool, buffer_output_elements: int64, "
        "prefetch_input_elements: int64 -> handle: variant"
    )
    f: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    after_captured: ClassVar[int] = 5


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
