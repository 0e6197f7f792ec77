"""Datasets that call a function for each element: map, filter, scan, take_while.

Source: core/kernels/data/{map,parallel_map,filter}_dataset_op.cc,
experimental/{scan,take_while,map_and_batch}_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import OutOfRangeError, invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.data.background import (
    AUTOTUNE,
    Background,
    Measured,
    thread_limit,
)
from tfteach.ops.data.dataset import (
    UNKNOWN_CARDINALITY,
    BoundFunction,
    Called,
    Dataset,
    DatasetOp,
    Running,
)
from tfteach.ops.data.elements import Element
from tfteach.ops.data.selection import OfOne


class Mapped(Dataset):
    """The results of a function of each element.

    Args:
      source: a dataset.
      function: of an element.
      preserves_count: an OutOfRangeError of the function is an error, and not the end.
    """

    def __init__(
        self, source: Dataset, function: BoundFunction, preserves_count: bool
    ) -> None:
        self.inputs = (source,)
        self.function = function
        self.preserves_count = preserves_count

    def cardinality(self) -> int:
        return self.inputs[0].cardinality()

    def elements(self, running: Running) -> Iterator[Element]:
        call = running.call(self.function)
        source = self.inputs[0].elements(running)
        return MappedElements(source, call, self.preserves_count)


class ParallelMapped(Mapped):
    """The same, by several threads where a call takes long or waits.

    Args:
      source, function, preserves_count: see `Mapped`.
      calls: how many elements to work on at the same time, or `AUTOTUNE`.
    """

    is_sloppy = False  # whether the order may vary

    def __init__(
        self,
        source: Dataset,
        function: BoundFunction,
        preserves_count: bool,
        calls: int,
    ) -> None:
        super().__init__(source, function, preserves_count)
        self.calls = calls

    def elements(self, running: Running) -> Iterator[Element]:
        source = self.inputs[0].elements(running)
        call = running.call(self.function)
        elements = MappedElements(source, call, self.preserves_count)
        count = thread_limit(running, self.calls, [self.function])

        def in_background() -> Background:
            return Background(
                source,
                running,
                count,
                work=elements.result,
                count=count,
                is_ordered=not self.is_sloppy,
                name="tfteach-map",
            )

        if self.function.may_block:
            return in_background()
        return elements if count < 2 else Measured(elements, in_background)


class MappedElements:
    """Calls the function for each element; continues after an error."""

    def __init__(
        self, source: Iterator[Element], call: Called, preserves_count: bool
    ) -> None:
        self._next = source.__next__
        self._call = call
        self._preserves_count = preserves_count

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        return self.result(self._next())

    def result(self, element: Element) -> Element:
        """The function of an element; StopIteration for its OutOfRangeError."""
        try:
            return tuple(self._call(element))
        except OutOfRangeError as error:
            if not self._preserves_count:
                raise StopIteration from None
            raise invalid_argument(
                f"Function invocation produced OutOfRangeError: {error.message}"
            ) from error


class Filtered(OfOne):
    """The elements for which a predicate holds."""

    def __init__(self, source: Dataset, predicate: BoundFunction) -> None:
        self.inputs = (source,)
        self.predicate = predicate

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    @property
    def table(self) -> None:
        return None

    def elements(self, running: Running) -> Iterator[Element]:
        holds = _truth(running.call(self.predicate), "predicate")
        return filter(holds, self.inputs[0].elements(running))


def _truth(call: Called, name: str) -> Callable[[Element], bool]:
    def holds(element: Element) -> bool:
        found = call(element)
        if found[0].shape:
            raise invalid_argument(
                f"The result of the function `{name}` must be a scalar bool."
            )
        return bool(found[0])

    return holds


class TakenWhile(OfOne):
    """The elements before the first for which a predicate does not hold."""

    def __init__(self, source: Dataset, predicate: BoundFunction) -> None:
        self.inputs = (source,)
        self.predicate = predicate

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    @property
    def table(self) -> None:
        return None

    def elements(self, running: Running) -> Iterator[Element]:
        holds = _truth(running.call(self.predicate), "predicate")
        source = self.inputs[0].elements(running)
        return iter(_TakenWhile(source, holds))


class _TakenWhile:
    def __init__(
        self, source: Iterator[Element], holds: Callable[[Element], bool]
    ) -> None:
        self._source, self._holds, self._ended = source, holds, False

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        if not self._ended:
            element = next(self._source)
            if self._holds(element):
                return element
            self._ended = True
        raise StopIteration


class Scanned(Dataset):
    """A function of a state and each element returns the next state and an element."""

    def __init__(
        self, source: Dataset, initial: Element, function: BoundFunction
    ) -> None:
        self.inputs = (source,)
        self.initial = initial
        self.function = function

    def cardinality(self) -> int:
        return self.inputs[0].cardinality()

    def elements(self, running: Running) -> Iterator[Element]:
        call = running.call(self.function)
        return _Scan(self.inputs[0].elements(running), self.initial, call)


class _Scan:
    def __init__(self, source: Iterator[Element], state: Element, call: Called) -> None:
        self._source, self._state, self._call = source, state, call

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        element = next(self._source)
        found = self._call((*self._state, *element))
        count = len(self._state)
        self._state = tuple(found[:count])
        return tuple(found[count:])


# ---- ops


class MapDataset(DatasetOp):
    """A function of each element.  Source: dataset_ops.cc, MapDataset."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments -> handle: variant"
    )
    f: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    use_inter_op_parallelism: bool = True
    preserve_cardinality: bool = False
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *captured: Any
    ) -> Dataset:
        function = BoundFunction(context, self.f, captured)
        return Mapped(source, function, self.preserve_cardinality)


class ParallelMapDataset(DatasetOp):
    """The same, by several threads, in the same order unless `sloppy`.

    Source: dataset_ops.cc, ParallelMapDataset.
    """

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, "
        "num_parallel_calls: int32 -> handle: variant"
    )
    f: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    use_inter_op_parallelism: bool = True
    sloppy: bool = False
    preserve_cardinality: bool = False
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *arguments: Any
    ) -> Dataset:
        *captured, calls = arguments
        if int(calls) < 1 and int(calls) != AUTOTUNE:
            raise invalid_argument("num_parallel_calls must be greater than zero.")
        function = BoundFunction(context, self.f, captured)
        keeps = self.preserve_cardinality
        made = ParallelMapped(source, function, keeps, int(calls))
        made.is_sloppy = self.sloppy
        return made


class FilterDataset(DatasetOp):
    """Elements that a predicate accepts.  Source: dataset_ops.cc, FilterDataset."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments -> handle: variant"
    )
    predicate: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *captured: Any
    ) -> Dataset:
        return Filtered(source, BoundFunction(context, self.predicate, captured))


class TakeWhileDataset(DatasetOp):
    """Elements up to the first that a predicate refuses.  Source: TakeWhileDataset."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments -> handle: variant"
    )
    predicate: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *captured: Any
    ) -> Dataset:
        return TakenWhile(source, BoundFunction(context, self.predicate, captured))


class ScanDataset(DatasetOp):
    """A state handed from element to element.  Source: ScanDataset."""

    signature = (
        "input_dataset: variant, initial_state: *Tstate, other_arguments: *Targuments "
        "-> handle: variant"
    )
    f: Function
    Tstate: tuple[DType, ...]
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    preserve_cardinality: bool = False
    minimum: ClassVar[Mapping[str, int]] = {
        "Tstate": 1, "output_types": 1, "output_shapes": 1,
    }  # fmt: skip

    def dataset(
        self, context: KernelContext, source: Dataset, *arguments: Any
    ) -> Dataset:
        count = len(self.Tstate)
        function = BoundFunction(context, self.f, arguments[count:])
        return Scanned(source, arguments[:count], function)
