"""Statistics of pipelines: how long elements take, and how large they are.

Source: core/kernels/data/experimental/{stats_dataset_ops,stats_aggregator_ops}.cc,
core/framework/stats_aggregator.h.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import OpError
from tfteach.framework.op import StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.data.dataset import Dataset, DatasetOp, Running
from tfteach.ops.data.elements import Element
from tfteach.ops.data.options import Unchanged
from tfteach.ops.debug.summary_formats import Histogram
from tfteach.ops.text.byte_string_arrays import strings

# What is recorded of (seconds, element).
_Number = Callable[[float, Element | None], float | None]

# The sizes in memory that TensorFlow adds for each string, and counts for a variant.
_STRING_BYTES = 8
_VARIANT_BYTES = 64


class Statistics:
    """The resource behind a `StatsAggregatorHandle`: histograms by tags."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._histograms: dict[str, Histogram] = {}

    def add(self, tag: str, value: float) -> None:
        """Add a value to the histogram of a tag."""
        with self._lock:
            histogram = self._histograms.setdefault(tag, Histogram())
            histogram.add(np.array([value]))

    def summary(self) -> bytes:
        """The histograms as a serialized Summary, sorted by tags."""
        from tfteach.framework.protos import Summary

        found = Summary()
        with self._lock:
            for tag in sorted(self._histograms):
                self._histograms[tag].fill(found.value.add(tag=tag).histo)
        serialized: bytes = found.SerializeToString()
        return serialized


class Recorded(Unchanged):
    """The elements of a dataset, whose statistics an aggregator records.

    Args:
      source: the dataset.
      aggregator: the statistics.
      prefix: begins the tags of those of transformations.
    """

    def __init__(self, source: Dataset, aggregator: Statistics, prefix: str) -> None:
        super().__init__(source)
        self._aggregator, self._prefix = aggregator, prefix

    @property
    def table(self) -> None:
        return None

    def elements(self, running: Running) -> Iterator[Element]:
        def record(tag: str, value: float) -> None:
            full = f"{self._prefix}::{tag}" if self._prefix else tag
            self._aggregator.add(full, value)

        return self.inputs[0].elements(running.with_statistics(record))


class Observed(Unchanged):
    """The elements of a dataset, of each of which a number is recorded.

    Args:
      source: the dataset.
      tag: of the numbers.
      number: of (seconds, element); the element is None if computing it failed, and
        None is not recorded.
    """

    def __init__(self, source: Dataset, tag: str, number: _Number) -> None:
        super().__init__(source)
        self._tag, self._number = tag, number

    @property
    def table(self) -> None:
        return None

    def elements(self, running: Running) -> Iterator[Element]:
        source = self.inputs[0].elements(running)
        record = running.record_statistic
        if record is None:
            return source
        return _Observing(source, self._tag, self._number, record)


class _Observing:
    """An iterator that continues after an error, as those of datasets do."""

    def __init__(
        self,
        source: Iterator[Element],
        tag: str,
        number: _Number,
        record: Callable[[str, float], None],
    ) -> None:
        self._source, self._tag = source, tag
        self._number, self._record = number, record

    def __iter__(self) -> _Observing:
        return self

    def __next__(self) -> Element:
        begin_s = time.perf_counter()
        try:
            element = next(self._source)
        except OpError:
            self._add(begin_s, None)
            raise
        self._add(begin_s, element)
        return element

    def _add(self, begin_s: float, element: Element | None) -> None:
        number = self._number(time.perf_counter() - begin_s, element)
        if number is not None:
            self._record(self._tag, number)


def latency_us(elapsed_s: float, _: Element | None) -> float:
    """How long an element took, or its failure, in microseconds."""
    return float(round(elapsed_s * 1e6))


def size_bytes(_: float, element: Element | None) -> float | None:
    """The size of an element in TensorFlow's memory."""
    return None if element is None else float(sum(_bytes_of(part) for part in element))


def _bytes_of(array: Any) -> int:
    dtype = getattr(array, "dtype", None)
    if dtype is None:
        return _VARIANT_BYTES
    if not dtype.hasobject:
        return int(array.nbytes)
    return sum(
        _STRING_BYTES + len(item) if isinstance(item, bytes) else _VARIANT_BYTES
        for item in np.asarray(array, object).reshape(-1).tolist()
    )


# ---- ops


class StatsAggregatorHandle(StatefulOp):
    """New statistics.  Source: experimental_dataset_ops.cc, StatsAggregatorHandle."""

    signature = "-> handle: resource"
    container: str = ""
    shared_name: str = ""
    on_gpu: ClassVar[bool] = False
    aliases: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return ()

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return []

    def compute(self, context: KernelContext) -> Statistics:
        name = self.shared_name or context.op.name
        return context.resource("statistics", name, Statistics, self.container)


class StatsAggregatorSummary(StatefulOp):
    """The statistics as a Summary.

    Source: experimental_dataset_ops.cc, StatsAggregatorSummary.
    """

    signature = "iterator: resource -> summary: string"
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, iterator: Shape) -> Shape:
        return ()

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None]

    def compute(self, context: KernelContext, iterator: Statistics) -> Any:
        return strings([iterator.summary()], ())


class _StatisticsDataset(DatasetOp, abstract=True):
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"tag": 0}


class LatencyStatsDataset(_StatisticsDataset):
    """How long elements take.  Source: LatencyStatsDataset."""

    signature = "input_dataset: variant, tag: string -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    def dataset(self, context: KernelContext, source: Dataset, tag: Any) -> Dataset:
        return Observed(source, _text(tag), latency_us)


class BytesProducedStatsDataset(_StatisticsDataset):
    """How large elements are.  Source: BytesProducedStatsDataset."""

    signature = "input_dataset: variant, tag: string -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    def dataset(self, context: KernelContext, source: Dataset, tag: Any) -> Dataset:
        return Observed(source, _text(tag), size_bytes)


class SetStatsAggregatorDataset(_StatisticsDataset):
    """The source, whose statistics are recorded.  Source: SetStatsAggregatorDataset.

    Of TensorFlow's there are those of the two ops above; `counter_prefix` begins the
    names of others.
    """

    signature = (
        "input_dataset: variant, stats_aggregator: resource, tag: string, "
        "counter_prefix: string -> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    is_stateful: ClassVar[bool] = True

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Any
    ) -> Dataset:
        aggregator, tag, _ = options
        return Recorded(source, aggregator, _text(tag))


def _text(value: Any) -> str:
    text: bytes = np.asarray(value, object).item()
    return text.decode("utf-8", "replace")
