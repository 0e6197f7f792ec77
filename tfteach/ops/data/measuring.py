"""Datasets whose stages report what they do to a watch.

A watched dataset is a copy in which each stage is wrapped; other datasets know nothing
of it.  A stage that is fast is timed for a part of its elements only: between bursts of
timed elements, C code passes the elements through and counts them.
Source: no TensorFlow code; TensorFlow 1.15 has `experimental_stats` instead.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import chain, compress, repeat, starmap
from operator import length_hint
from threading import get_ident
from typing import Any

from tfteach.framework.pipeline_meters import StageMeter, Watch, clock_ns, counted
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.dataset import BoundFunction, Called, Dataset, DrawBlock, Running
from tfteach.ops.data.elements import Element, Rows
from tfteach.ops.data.options import Unchanged

_BURST = 32  # elements timed one after the other
_TIMING_NS = 250  # what timing an element costs
_SHARE = 0.005  # of a stage's time, for timing it
_MOST_UNTIMED = 4_000
_NEW = 0.25  # of a burst, in the mean of the bursts so far
_QUICK_NS, _OF_QUICK = 25_000, 8  # calls for rows


def measured_elements(
    dataset: Dataset, context: KernelContext, watch: Watch, pipeline: Hashable
) -> tuple[Running, Iterator[Element]]:
    """The elements of a dataset, of which each stage reports to `watch`.

    Args:
      dataset: what to iterate over.
      context: of the kernel that initializes the iterator.
      watch: receives the reports.
      pipeline: the key of the pipeline in `watch`.

    Returns:
      The initialization, to be closed, and an iterator.
    """
    running = _MeasuredRunning(context, watch, pipeline)
    return running, running.wrapped(dataset, "").elements(running)


class _MeasuredRunning(Running):
    """Wraps the datasets that functions return, too."""

    def __init__(
        self, context: KernelContext, watch: Watch, pipeline: Hashable
    ) -> None:
        super().__init__(context)
        self._watch, self._pipeline = watch, pipeline
        self._stage = ""  # whose functions are called
        self._meter: StageMeter | None = None  # of their time, if they run in threads

    def within(self, stage: str, meter: StageMeter | None) -> _MeasuredRunning:
        """The same for the functions of a stage.

        Args:
          stage: its key.
          meter: receives the time of the functions; None not to measure it.
        """
        made = copy.copy(self)
        made._stage, made._meter = stage, meter
        return made

    def wrapped(self, dataset: Dataset, outer: str) -> Dataset:
        """A dataset and all that it reads, each in a `_Stage`.

        Args:
          dataset: the dataset.
          outer: the stage whose function returned it, or "".
        """
        if type(dataset) is Unchanged:  # for an option
            return self.wrapped(dataset.inputs[0], outer)
        inputs = tuple(self.wrapped(source, outer) for source in dataset.inputs)
        made = dataset.with_inputs(inputs) if inputs else dataset
        name = f"{outer}/{dataset.node_name}" if outer else dataset.node_name
        return _Stage(made, name, self._watch.stage(self._pipeline, name))

    def call(self, function: BoundFunction) -> Called:
        called = super().call(function)
        if not function.returns_dataset:
            return called if self._meter is None else _timed(called, self._meter)
        stage = self._stage

        def wrapped(arrays: Sequence[Any]) -> list[Any]:
            found = called(arrays)
            return [
                self.wrapped(value, stage) if isinstance(value, Dataset) else value
                for value in found
            ]

        return wrapped


def _timed(called: Called, meter: StageMeter) -> Called:
    """A function that reports its time, in whatever thread it is called."""

    def call(arrays: Sequence[Any]) -> list[Any]:
        began_ns = clock_ns()
        try:
            return called(arrays)
        finally:
            meter.called(clock_ns() - began_ns)

    return call


class _Stage(Dataset):
    """A dataset whose iterators report to a meter."""

    def __init__(self, dataset: Dataset, stage: str, meter: StageMeter) -> None:
        self._dataset, self._stage, self._meter = dataset, stage, meter
        self.inputs = dataset.inputs
        self.types, self.component_shapes = dataset.types, dataset.component_shapes
        self.node_name, self.op_type = dataset.node_name, dataset.op_type

    @property
    def table(self) -> list[Array] | None:
        return self._dataset.table

    def cardinality(self) -> int:
        return self._dataset.cardinality()

    def may_block(self) -> bool:
        return self._dataset.may_block()

    def rows(self, running: Running) -> Rows:
        rows = self._dataset.rows(self._inside(running))
        self._began(rows)
        return _MeasuredRows(rows, self._meter)

    def elements(self, running: Running) -> Iterator[Element]:
        elements = self._dataset.elements(self._inside(running))
        self._began(elements)
        return chain.from_iterable(_Segments(elements, self._meter))

    def blocks(self, running: Running) -> DrawBlock | None:
        draw, meter = self._dataset.blocks(self._inside(running)), self._meter
        if draw is None:
            return None
        self._began(draw)

        def measured(count: int) -> Element | None:
            with _Asking(meter):
                found = draw(count)
            if found is not None:
                meter.add(len(found[0]))
            return found

        return measured

    def _inside(self, running: Running) -> Running:
        assert isinstance(running, _MeasuredRunning)
        in_threads = hasattr(self._dataset, "calls")
        return running.within(self._stage, self._meter if in_threads else None)

    def _began(self, iterator: Any) -> None:
        self._meter.epochs += 1
        if hasattr(iterator, "buffered"):
            self._meter.holds(iterator)


class _Segments:
    """Iterators over consecutive parts of the elements: timed ones, and others."""

    def __init__(self, elements: Iterator[Element], meter: StageMeter) -> None:
        self._next, self._meter = elements.__next__, meter
        self._counter = meter.counter()
        self._burst = _Burst(self._next, meter, self._counter)
        self._passed = self._began_ns = 0  # elements, time before the untimed segment
        self._calls: Any = (
            None  # those left in the untimed segment; None in a timed one
        )

    def __iter__(self) -> Iterator[Iterator[Element]]:
        return self

    def __next__(self) -> Iterator[Element]:
        counter, burst, meter = self._counter, self._burst, self._meter
        meter.thread = get_ident()
        ended = burst.has_ended
        if self._calls is not None:
            calls = counted(counter) - self._passed
            meter.untimed(calls, burst.mean_ns, clock_ns() - self._began_ns)
            # An end at the very last call is met again by the next burst.
            ended = length_hint(self._calls) > 0
        if ended:
            meter.release(counter)
            raise StopIteration
        untimed = 0 if self._calls is not None else burst.finish()
        if not untimed:
            self._calls = None
            return burst
        self._passed, self._calls = counted(counter), repeat((), untimed)
        self._began_ns = clock_ns()
        # An error is passed on, and the segment goes on with the next call.
        return compress(starmap(self._next, self._calls), counter)


class _Burst:
    """Times a number of elements, again and again.

    The first burst stands for itself only: the first element may fill a buffer.

    Attributes:
      mean_ns: the time of an element in the last burst.
      has_ended: whether the elements have ended.
    """

    def __init__(
        self,
        following: Callable[[], Element],
        meter: StageMeter,
        counter: Iterator[int],
    ) -> None:
        self._next, self._meter, self._counter = following, meter, counter
        self._left, self._elapsed_ns = _BURST, 0
        self._is_first = True
        self._smooth_ns = 0.0  # the mean of the bursts so far
        self.mean_ns = 0.0
        self.has_ended = False

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        if not self._left:
            raise StopIteration  # the burst ends, not the elements
        meter = self._meter
        meter.asked_ns = began_ns = clock_ns()
        try:
            found = self._next()
        except StopIteration:
            self.has_ended = True
            raise
        finally:
            elapsed_ns = clock_ns() - began_ns
            meter.asked_ns = 0
            self._elapsed_ns += elapsed_ns
            meter.timed(elapsed_ns)
        next(self._counter)
        self._left -= 1
        return found

    def finish(self) -> int:
        """Prepare the next burst; returns how many elements to pass before it.

        At the very beginning that is none.
        """
        if self._left:
            return 0
        self.mean_ns = mean_ns = self._elapsed_ns / _BURST
        self._left, self._elapsed_ns = _BURST, 0
        if self._is_first:
            self._is_first = False
            return 0
        self._meter.usual(mean_ns)
        known_ns = self._smooth_ns
        self._smooth_ns += (mean_ns - known_ns) * (_NEW if known_ns else 1)
        share = self._smooth_ns * _SHARE / _TIMING_NS
        return 0 if share >= 1 else min(_MOST_UNTIMED, int(_BURST / max(share, 1e-9)))


class _MeasuredRows(Rows):
    """Numbers of rows. Of quick calls, every eighth is timed."""

    def __init__(self, rows: Rows, meter: StageMeter) -> None:
        self._take, self._meter = rows.take, meter
        self._is_first = True  # the first call may fill a buffer
        self._smooth_ns = 0.0  # the mean of the timed calls so far
        self._untimed = 0  # calls that follow
        self._last_ns = self._ended_ns = 0  # of the last timed call: length and end

    def take(self, count: int) -> Array:
        meter = self._meter
        if self._untimed:
            self._untimed -= 1
            found = self._take(count)
        else:
            meter.thread = get_ident()
            meter.asked_ns = began_ns = clock_ns()
            if self._is_quick():
                meter.untimed(_OF_QUICK - 1, self._last_ns, began_ns - self._ended_ns)
            found = self._take(count)
            self._timed(began_ns, clock_ns())
            meter.asked_ns = 0
        meter.add(len(found))
        return found

    def _is_quick(self) -> bool:
        return 0 < self._smooth_ns < _QUICK_NS

    def _timed(self, began_ns: int, ended_ns: int) -> None:
        self._last_ns, self._ended_ns = ended_ns - began_ns, ended_ns
        self._meter.timed(self._last_ns)
        if self._is_first:
            self._is_first = False
            return
        known_ns = self._smooth_ns
        self._smooth_ns += (self._last_ns - known_ns) * (_NEW if known_ns else 1)
        if self._is_quick():
            self._untimed = _OF_QUICK - 1


class _Asking:
    """A call for elements, timed."""

    __slots__ = ("_meter",)

    def __init__(self, meter: StageMeter) -> None:
        self._meter = meter

    def __enter__(self) -> None:
        self._meter.thread = get_ident()
        self._meter.asked_ns = clock_ns()

    def __exit__(self, *_: object) -> None:
        meter = self._meter
        meter.timed(clock_ns() - meter.asked_ns)
        meter.asked_ns = 0
