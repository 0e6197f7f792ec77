"""Datasets of the elements of several datasets by turns: interleave.

Source: core/kernels/data/{interleave,parallel_interleave}_dataset_op.cc,
experimental/parallel_interleave_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.shape import Shape
from tfteach.framework.threads import thread_count
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.data.background import (
    AUTOTUNE,
    CANCELLED,
    Background,
    Measured,
    Threads,
    thread_limit,
)
from tfteach.ops.data.dataset import (
    BoundFunction,
    Called,
    Dataset,
    DatasetOp,
    Running,
    integer,
)
from tfteach.ops.data.elements import Element

_END: Any = object()


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
            self._choose_turn()
            inner = self._open[self._turn]
            if inner is not None:
                element = next(inner, _END)
                if element is not _END:
                    self._count_element()
                    return element
                self._open[self._turn] = None
                self._end_turn()
            elif self._source is not None:
                self._fill(self._turn)
            elif any(found is not None for found in self._open):
                self._advance()
            else:
                raise StopIteration

    def _choose_turn(self) -> None:
        """Prepare for the next element or the next end of an inner dataset."""

    def _count_element(self) -> None:
        self._drawn += 1
        if self._drawn == self._block:
            self._advance()

    def _end_turn(self) -> None:
        self._advance()

    def _advance(self) -> None:
        self._drawn = 0
        self._turn = (self._turn + 1) % len(self._open)

    def _fill(self, slot: int) -> None:
        """Open the next inner dataset in a slot that has none."""
        assert self._source is not None
        outer = next(self._source, _END)
        if outer is _END:
            self._source = None
        else:
            self._open[slot] = self._opened(outer, slot)

    def _opened(self, outer: Element, slot: int) -> Iterator[Element]:
        return _open(self._call, outer, self._running.inner(self._name, slot))


class ParallelInterleaved(Interleaved):
    """The same, drawn by several threads where an element takes long or waits.

    Args:
      source, function, cycle, block: see `Interleaved`.
      calls: from how many datasets to draw at the same time, or `AUTOTUNE`.
      ahead: the number of elements to prepare of each dataset.
      is_sloppy: whether the order may vary.

    Attributes:
      replaces: whether the next dataset replaces one that has ended at once, and a
        block goes on in another dataset if there is none.
    """

    replaces = False

    def __init__(
        self,
        source: Dataset,
        function: BoundFunction,
        cycle: int,
        block: int,
        calls: int,
        ahead: int,
        is_sloppy: bool,
    ) -> None:
        super().__init__(source, function, cycle, block)
        self.calls, self.ahead, self.is_sloppy = calls, ahead, is_sloppy

    def elements(self, running: Running) -> Iterator[Element]:
        source = self.inputs[0].elements(running)
        call = running.call(self.function)
        turns = self.cycle, self.block
        made = ParallelInterleavedElements(
            source, call, running, self.node_name, *turns
        )
        made._replaces = self.replaces
        calls = self.cycle if self.calls == AUTOTUNE else min(self.calls, self.cycle)
        count = thread_limit(running, calls, [self.function])
        if self.function.may_block:
            return made.in_background(count, self.ahead, self.is_sloppy)
        if count < 2:
            return made
        return Measured(
            made, lambda: made.in_background(count, self.ahead, self.is_sloppy)
        )


class ParallelInterleavedElements(InterleavedElements):
    """The same in the calling thread; after `in_background`, others draw the elements.

    They draw from all datasets of a cycle at once, each of which has its own slot, so
    that the order does not depend on them, unless it is sloppy.
    """

    _replaces = False
    _threads: Threads | None = None
    _ahead: int
    _is_sloppy: bool

    def in_background(
        self, count: int, ahead: int, is_sloppy: bool
    ) -> ParallelInterleavedElements:
        """Draw the remaining elements by `count` threads.

        Args:
          count: the number of threads that draw at the same time.
          ahead: the number of elements to prepare of each dataset.
          is_sloppy: whether to pass over datasets without an element that is ready.
        """
        self._threads = Threads(count)
        self._ahead, self._is_sloppy = ahead, is_sloppy
        for slot, inner in enumerate(self._open):
            if inner is not None:
                self._open[slot] = self._drawn_apart(inner)
        return self

    def __next__(self) -> Element:
        try:
            return super().__next__()
        except StopIteration:
            raise
        except Exception:
            self._count_element()  # unlike `interleave` by one thread
            raise

    def _choose_turn(self) -> None:
        if self._threads is None and not self._replaces:
            return
        size = len(self._open)
        for slot in (*range(self._turn, size), *range(self._turn)):
            if self._open[slot] is None and self._source is not None:
                self._fill(slot)
        if self._threads is not None and self._is_sloppy:
            self._pass_over()

    def _end_turn(self) -> None:
        if not self._replaces:
            self._advance()
            return
        drawn = self._drawn
        if self._source is not None:
            self._fill(self._turn)
        is_replaced = self._open[self._turn] is not None
        self._advance()
        if not is_replaced:
            self._drawn = drawn

    def _opened(self, outer: Element, slot: int) -> Iterator[Element]:
        own = self._running.inner(self._name, slot)
        inner = _Opening(partial(_open, self._call, outer, own))
        return inner if self._threads is None else self._drawn_apart(inner)

    def _drawn_apart(self, inner: Iterator[Element]) -> Background:
        made = Background(
            inner,
            self._running,
            self._ahead,
            threads=self._threads,
            name="tfteach-interleave",
        )
        made.start()
        return made

    def _pass_over(self) -> None:
        """Advance to a dataset with an element that is ready, once there is one."""
        assert self._threads is not None
        inners: list[Any] = self._open
        size = len(inners)

        def ready() -> int | None:
            """How many turns to advance."""
            for step in range(size):
                inner = inners[(self._turn + step) % size]
                if inner is not None and inner.buffer.is_ready():
                    return step
            return None

        with self._threads.has_elements:
            if any(inner is not None for inner in inners):
                self._running.wait_until(
                    self._threads.has_elements, lambda: ready() is not None, CANCELLED
                )
            for _ in range(ready() or 0):
                self._advance()


def _open(call: Called, outer: Element, running: Running) -> Iterator[Element]:
    (dataset,) = call(outer)
    return dataset.elements(running)  # type: ignore[no-any-return]


class _Opening:
    """An iterator that is made by the thread that first draws from it."""

    def __init__(self, make: Callable[[], Iterator[Element]]) -> None:
        self._make: Callable[[], Iterator[Element]] | None = make
        self._elements: Iterator[Element] = iter(())

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        make, self._make = self._make, None
        if make is not None:
            self._elements = make()
        return next(self._elements)


# ---- ops


def _turns(values: Sequence[Any], quote: str = "`{}` must be > 0") -> tuple[int, int]:
    """The cycle's length and the number of consecutive elements."""
    cycle, block = (integer(value) for value in values)
    if cycle <= 0:
        raise invalid_argument(quote.format("cycle_length"))
    if block <= 0:
        raise invalid_argument(quote.format("block_length"))
    return cycle, block


def _cores_for_autotune(cycle: Any) -> int:
    return thread_count() if integer(cycle) == AUTOTUNE else integer(cycle)


class InterleaveDataset(DatasetOp):
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
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *arguments: Any
    ) -> Dataset:
        *captured, cycle, block = arguments
        turns = _turns(
            (_cores_for_autotune(cycle), block), "{} must be greater than zero."
        )
        return Interleaved(source, BoundFunction(context, self.f, captured), *turns)


class ParallelInterleaveDatasetV2(DatasetOp):
    """The same by several threads, in the same order unless `sloppy`.

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
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *arguments: Any
    ) -> Dataset:
        *captured, cycle, block, parallel = arguments
        turns = _turns((_cores_for_autotune(cycle), block))
        calls = integer(parallel)
        if calls < 1 and calls != AUTOTUNE:
            raise invalid_argument("num_parallel_calls must be greater than zero.")
        if calls > turns[0]:
            raise invalid_argument(
                "num_parallel_calls must less than or equal to cycle_length."
            )
        function = BoundFunction(context, self.f, captured)
        ahead = 2 * turns[1]
        return ParallelInterleaved(
            source, function, *turns, calls, ahead, bool(self.sloppy)
        )


class ParallelInterleaveDataset(DatasetOp):
    """The same by a thread for each dataset.  Source: experimental_dataset_ops.cc."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, cycle_length: int64, "
        "block_length: int64, sloppy: bool, buffer_output_elements: int64, "
        "prefetch_input_elements: int64 -> handle: variant"
    )
    f: Function
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *arguments: Any
    ) -> Dataset:
        *captured, cycle, block, sloppy, buffer_size, inputs_ahead = arguments
        turns = _turns((cycle, block))
        ahead = integer(buffer_size)
        if ahead <= 0:
            raise invalid_argument("`buffer_output_elements` must be > 0")
        if integer(inputs_ahead) < 0:
            raise invalid_argument("`prefetch_input_elements` must be >= 0")
        function = BoundFunction(context, self.f, captured)
        made = ParallelInterleaved(
            source, function, *turns, turns[0], ahead, bool(sloppy)
        )
        made.replaces = True
        return made
