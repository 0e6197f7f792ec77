"""Datasets of groups of elements: windows, groups by key.

Source: core/kernels/data/window_dataset_op.cc, window_dataset.cc,
experimental/{group_by_window,group_by_reducer}_dataset_op.cc.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import (
    CancelledError,
    DeadlineExceededError,
    OpError,
    invalid_argument,
)
from tfteach.framework.function_attribute import Function
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.data.dataset import (
    BoundFunction,
    Called,
    Dataset,
    DatasetOp,
    Running,
    integer,
)
from tfteach.ops.data.elements import Element, stacked

_END: Any = object()


class Listed(Dataset):
    """A list of elements."""

    def __init__(self, found: Sequence[Element], types: tuple[DType, ...]) -> None:
        self._found = found
        self.types = types
        self.component_shapes = (None,) * len(types)

    def cardinality(self) -> int:
        return len(self._found)

    def elements(self, running: Running) -> Iterator[Element]:
        return iter(self._found)


class Windows(Dataset):
    """Windows of consecutive elements, a dataset for each component."""

    def __init__(
        self, source: Dataset, size: int, shift: int, stride: int, drops: bool
    ) -> None:
        self.inputs = (source,)
        self.size, self.shift, self.stride, self.drops = size, shift, stride, drops

    def cardinality(self) -> int:
        found = self.inputs[0].cardinality()
        if found < 0:
            return found
        if self.drops:
            span = (self.size - 1) * self.stride + 1
            return max(0, (found - span) // self.shift + 1)
        return -(-found // self.shift)

    def elements(self, running: Running) -> Iterator[Element]:
        return map(self._datasets, WindowLists(self, self.inputs[0].elements(running)))

    def _datasets(self, found: list[Element]) -> Element:
        types = self.inputs[0].types
        return tuple(
            Listed([(row[i],) for row in found], (types[i],)) for i in range(len(types))
        )


class WindowLists:
    """Moves a buffer over the elements."""

    def __init__(self, windows: Windows, source: Iterator[Element]) -> None:
        self._windows = windows
        self._source: Iterator[Element] | None = source
        self._buffer: deque[Element | OpError] = deque()

    def __iter__(self) -> Iterator[list[Element]]:
        return self

    def __next__(self) -> list[Element]:
        windows, buffer = self._windows, self._buffer
        span = (windows.size - 1) * windows.stride + 1
        while len(buffer) < span and self._draw():
            pass
        if not buffer or (windows.drops and len(buffer) < span):
            buffer.clear()
            self._source = None
            raise StopIteration
        drawn = list(buffer)[:: windows.stride]
        for _ in range(windows.shift):
            if not buffer and not self._draw():
                break
            buffer.popleft()
        found: list[Element] = []
        for item in drawn:
            if isinstance(item, OpError):
                raise item
            found.append(item)
        return found

    def _draw(self) -> bool:
        if self._source is None:
            return False
        try:
            element = next(self._source, _END)
        except (CancelledError, DeadlineExceededError):
            raise
        except OpError as error:
            element = error  # of the windows that have this element
        if element is _END:
            self._source = None
            return False
        self._buffer.append(element)
        return True


class SlidingWindows(Windows):
    """Batches of the elements of windows."""

    def cardinality(self) -> int:
        return self.inputs[0].cardinality()  # in TensorFlow

    def elements(self, running: Running) -> Iterator[Element]:
        source = self.inputs[0].elements(running)
        return map(stacked, WindowLists(self, source))


class GroupedByWindow(Dataset):
    """Elements of a function of the groups of elements with the same key."""

    def __init__(self, source: Dataset, functions: Sequence[BoundFunction]) -> None:
        self.inputs = (source,)
        self.functions = functions

    def elements(self, running: Running) -> Iterator[Element]:
        calls = [running.call(function) for function in self.functions]
        source = self.inputs[0]
        elements = source.elements(running)
        return GroupElements(elements, source.types, calls, running, self.node_name)


class GroupElements:
    """Collects groups until one is full; at the end by ascending keys."""

    def __init__(
        self,
        source: Iterator[Element],
        types: tuple[DType, ...],
        calls: list[Called],
        running: Running,
        name: str,
    ) -> None:
        self._source: Iterator[Element] | None = source
        self._types = types
        self._key, self._reduce, self._size = calls
        self._running = running
        self._groups: dict[int, list[Element]] = {}
        self._sizes: dict[int, int] = {}
        self._inner: Iterator[Element] = iter(())
        self._name, self._count = name, 0  # of windows

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            for element in self._inner:
                return element
            self._inner = iter(())
            key = self._full_group()
            group = Listed(self._groups.pop(key), self._types)
            (dataset,) = self._reduce((np.int64(key), group))
            self._inner = dataset.elements(self._running.inner(self._name, self._count))
            self._count += 1

    def _full_group(self) -> int:
        while self._source is not None:
            element = next(self._source, _END)
            if element is _END:
                self._source = None
                break
            key = int(self._key(element)[0])
            if key not in self._sizes:
                size = int(self._size((np.int64(key),))[0])
                if size <= 0:
                    raise invalid_argument(
                        f"Window size must be greater than zero, but got {size}."
                    )
                self._sizes[key] = size
            group = self._groups.setdefault(key, [])
            group.append(element)
            if len(group) == self._sizes[key]:
                return key
        if not self._groups:
            raise StopIteration
        return min(self._groups)


class GroupedByReducer(Dataset):
    """A result for each key, folded from the elements that have it."""

    def __init__(self, source: Dataset, functions: Sequence[BoundFunction]) -> None:
        self.inputs = (source,)
        self.functions = functions

    def elements(self, running: Running) -> Iterator[Element]:
        calls = [running.call(function) for function in self.functions]
        return self._results(calls, self.inputs[0].elements(running))

    def _results(
        self, calls: list[Called], source: Iterator[Element]
    ) -> Iterator[Element]:
        key_of, init, reduce, finalize = calls
        states: dict[int, list[Any]] = {}
        for element in source:
            key = int(key_of(element)[0])
            if key not in states:
                states[key] = init((np.int64(key),))
            states[key] = reduce((*states[key], *element))
        for key in sorted(states):
            yield tuple(finalize(states[key]))


# ---- ops


class WindowDataset(DatasetOp):
    """Windows of elements.  Source: dataset_ops.cc, WindowDataset."""

    signature = (
        "input_dataset: variant, size: int64, shift: int64, stride: int64, "
        "drop_remainder: bool -> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {
        "size": 0, "shift": 0, "stride": 0, "drop_remainder": 0,
    }  # fmt: skip

    def dataset(self, context: KernelContext, source: Dataset, *given: Any) -> Dataset:
        size, shift, stride = (integer(value) for value in given[:3])
        for name, value in (("size", size), ("shift", shift), ("stride", stride)):
            if value <= 0:
                raise invalid_argument(f"Window {name} must be greater than zero.")
        return Windows(source, size, shift, stride, bool(given[3]))


class SlidingWindowDataset(DatasetOp):
    """Batches of windows, without a shorter one at the end.

    Source: dataset_ops.cc, SlidingWindowDataset.
    """

    signature = (
        "input_dataset: variant, window_size: int64, window_shift: int64, "
        "window_stride: int64 -> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {
        "window_size": 0, "window_shift": 0, "window_stride": 0,
    }  # fmt: skip

    def dataset(self, context: KernelContext, source: Dataset, *given: Any) -> Dataset:
        size, shift, stride = (integer(value) for value in given)
        names = "Window size", "Window shift", "window_stride"
        for name, value in zip(names, (size, shift, stride), strict=True):
            if value <= 0:
                raise invalid_argument(f"{name} must be greater than zero.")
        return SlidingWindows(source, size, shift, stride, True)


def _bound(
    context: KernelContext,
    functions: Sequence[tuple[Function, tuple[DType, ...]]],
    inputs: Any,
) -> list[BoundFunction]:
    """Functions with their captured values, which follow each other."""
    found, rest = [], list(inputs)
    for function, kinds in functions:
        count = len(kinds)
        found.append(BoundFunction(context, function, rest[:count]))
        del rest[:count]
    return found


class GroupByWindowDataset(DatasetOp):
    """Elements of a function of groups.  Source: GroupByWindowDataset."""

    signature = (
        "input_dataset: variant, key_func_other_arguments: *Tkey_func_other_arguments, "
        "reduce_func_other_arguments: *Treduce_func_other_arguments, "
        "window_size_func_other_arguments: *Twindow_size_func_other_arguments "
        "-> handle: variant"
    )
    key_func: Function
    reduce_func: Function
    window_size_func: Function
    Tkey_func_other_arguments: tuple[DType, ...]
    Treduce_func_other_arguments: tuple[DType, ...]
    Twindow_size_func_other_arguments: tuple[DType, ...]
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *captured: Any
    ) -> Dataset:
        functions = (
            (self.key_func, self.Tkey_func_other_arguments),
            (self.reduce_func, self.Treduce_func_other_arguments),
            (self.window_size_func, self.Twindow_size_func_other_arguments),
        )
        return GroupedByWindow(source, _bound(context, functions, captured))


class GroupByReducerDataset(DatasetOp):
    """A result for each key.  Source: GroupByReducerDataset."""

    signature = (
        "input_dataset: variant, key_func_other_arguments: *Tkey_func_other_arguments, "
        "init_func_other_arguments: *Tinit_func_other_arguments, "
        "reduce_func_other_arguments: *Treduce_func_other_arguments, "
        "finalize_func_other_arguments: *Tfinalize_func_other_arguments "
        "-> handle: variant"
    )
    key_func: Function
    init_func: Function
    reduce_func: Function
    finalize_func: Function
    Tkey_func_other_arguments: tuple[DType, ...]
    Tinit_func_other_arguments: tuple[DType, ...]
    Treduce_func_other_arguments: tuple[DType, ...]
    Tfinalize_func_other_arguments: tuple[DType, ...]
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    is_stateful: ClassVar[bool] = True
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *captured: Any
    ) -> Dataset:
        functions = (
            (self.key_func, self.Tkey_func_other_arguments),
            (self.init_func, self.Tinit_func_other_arguments),
            (self.reduce_func, self.Treduce_func_other_arguments),
            (self.finalize_func, self.Tfinalize_func_other_arguments),
        )
        return GroupedByReducer(source, _bound(context, functions, captured))


class ExperimentalGroupByReducerDataset(GroupByReducerDataset):
    """The same under its older name."""
