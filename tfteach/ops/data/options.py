"""Datasets with another's elements: optimized, with own threads, with pauses.

The elements are the source's; only `shuffle_and_repeat_fusion` changes their order.
Source: core/kernels/data/optimize_dataset_op.cc, model_dataset_op.cc,
experimental/{threadpool,sleep,non_serializable}_dataset_op.cc.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import FailedPreconditionError, invalid_argument
from tfteach.framework.op import StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, Gradient, KernelContext
from tfteach.ops.data.background import AUTOTUNE
from tfteach.ops.data.batching import Batched
from tfteach.ops.data.buffering import Cached, Prefetched
from tfteach.ops.data.dataset import Dataset, DatasetOp, Running, integer
from tfteach.ops.data.elements import Element, Rows
from tfteach.ops.data.grouping import Windows
from tfteach.ops.data.interleaving import ParallelInterleaved
from tfteach.ops.data.mapping import Filtered, Mapped, ParallelMapped
from tfteach.ops.data.selection import (
    Concatenated,
    OfOne,
    Repeated,
    Shard,
    Skipped,
    Taken,
    Zipped,
)
from tfteach.ops.data.shuffling import Shuffled


class Unchanged(OfOne):
    """All elements of a dataset."""

    def __init__(self, source: Dataset) -> None:
        self.inputs = (source,)

    def rows(self, running: Running) -> Rows:
        return self.inputs[0].rows(running)

    def elements(self, running: Running) -> Iterator[Element]:
        return self.inputs[0].elements(running)


def optimized(dataset: Dataset, names: Sequence[bytes]) -> Dataset:
    """The dataset after those of TensorFlow's rewrites that a program can notice.

    - `shuffle().repeat()` shuffles over the borders of epochs, in another order.
    - `map().batch()` has another message for different shapes.
    - `map_parallelization` calls functions without state from several threads.
    - `make_sloppy` lets parallel `map` and `interleave` return elements out of order.
    """
    if isinstance(dataset, Opaque):
        return dataset
    inputs = tuple(optimized(source, names) for source in dataset.inputs)
    changes = any(a is not b for a, b in zip(inputs, dataset.inputs, strict=True))
    made = dataset.with_inputs(inputs) if changes else dataset
    source = inputs[0] if inputs else None
    if (
        isinstance(made, Repeated)
        and isinstance(source, Shuffled)
        and source.reshuffles
        and b"shuffle_and_repeat_fusion" in names
    ):
        seeds, size = source.seeds, source.size
        both = Shuffled(source.inputs[0], size, seeds, False, made.count)
        both.types, both.component_shapes = made.types, made.component_shapes
        both.node_name, both.op_type = made.node_name, made.op_type
        return both
    if type(made) is Mapped and b"map_parallelization" in names:
        made = _in_threads(made)
    is_parallel = isinstance(made, ParallelMapped | ParallelInterleaved)
    if is_parallel and b"make_sloppy" in names:
        made = made.with_inputs(inputs)
        made.__dict__["is_sloppy"] = True
    fuses = b"map_and_batch_fusion" in names
    if isinstance(made, Batched) and isinstance(source, Mapped) and fuses:
        made = made if changes else made.with_inputs(inputs)
        made.__dict__["is_fused"] = True
    return made


def _in_threads(mapped: Mapped) -> Mapped:
    """The same elements, computed by several threads unless the function has state."""
    try:
        mapped.function.check_stateless()
    except FailedPreconditionError:
        return mapped
    made = ParallelMapped(
        mapped.inputs[0], mapped.function, mapped.preserves_count, AUTOTUNE
    )
    made.types, made.component_shapes = mapped.types, mapped.component_shapes
    made.node_name, made.op_type = mapped.node_name, mapped.op_type
    return made


class Opaque(Unchanged):
    """The elements of a dataset that rewrites leave as it is."""


class OwnThreads(Unchanged):
    """The elements of a dataset, whose transformations use so many threads at most."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count

    def elements(self, running: Running) -> Iterator[Element]:
        return self.inputs[0].elements(running.with_threads(self.count))


# ---- ops


class OptionDataset(DatasetOp, abstract=True):
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Any
    ) -> Dataset:
        return Unchanged(source)


_SLACK_PASSES = (
    Cached, Concatenated, Filtered, Mapped, Repeated, Shard, Shuffled,
    Skipped, Taken, Unchanged, Windows, Zipped,
)  # fmt: skip


def check_slack(dataset: Dataset) -> None:
    """Check that a pipeline has a final `prefetch`, which slack is for.

    Raises:
      InvalidArgumentError: another transformation comes after it, or there is none.
    """
    if isinstance(dataset, Prefetched):
        return
    if not isinstance(dataset, _SLACK_PASSES):
        raise invalid_argument(
            f'Encountered unsupported op "{dataset.op_type}" when rewriting the input '
            "pipeline graph to use slack in its final prefetch transformation."
        )
    for source in dataset.inputs:
        check_slack(source)


class OptimizeDataset(OptionDataset):
    """The source after rewrites.  Source: dataset_ops.cc, OptimizeDataset."""

    signature = "input_dataset: variant, optimizations: string -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    optimization_configs: tuple[str, ...] = ()

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Array
    ) -> Dataset:
        names = options[0].tolist()
        if b"slack" in names:
            check_slack(source)
        return Unchanged(optimized(source, names))


class ModelDataset(OptionDataset):
    """The source, whose parallelism TensorFlow tunes.  Source: ModelDataset."""

    signature = "input_dataset: variant -> handle: variant"
    algorithm: int = 0
    cpu_budget: int = 0
    output_types: tuple[DType, ...]  # type: ignore[misc]  # TensorFlow's order
    output_shapes: tuple[Shape, ...]  # type: ignore[misc]


class MaxIntraOpParallelismDataset(OptionDataset):
    """The source.  Source: MaxIntraOpParallelismDataset."""

    signature = (
        "input_dataset: variant, max_intra_op_parallelism: int64 -> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Any
    ) -> Dataset:
        if integer(options[0]) < 0:
            raise invalid_argument("`max_intra_op_parallelism` must be >= 0")
        return Unchanged(source)


class PrivateThreadPoolDataset(OptionDataset):
    """The source, computed by so many threads.  Source: PrivateThreadPoolDataset."""

    signature = "input_dataset: variant, num_threads: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Any
    ) -> Dataset:
        count = integer(options[0])
        if count < 1:
            raise invalid_argument("`num_threads` must be >= 1")
        return OwnThreads(source, count)


class PrivateThreads(NamedTuple):
    """The resource behind a `ThreadPoolHandle`.

    Attributes:
      threads: how many a transformation may use.
    """

    threads: int


class ThreadPoolHandle(StatefulOp):
    """A number of threads that datasets share.

    `max_intra_op_parallelism` has no effect: the kernels of functions use one thread.
    Source: experimental_dataset_ops.cc, ThreadPoolHandle.
    """

    signature = "-> handle: resource"
    num_threads: int
    max_intra_op_parallelism: int = 1
    display_name: str  # type: ignore[misc]  # TensorFlow's order
    container: str = ""
    shared_name: str = ""
    on_gpu: ClassVar[bool] = False
    aliases: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return ()

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return []

    def compute(self, context: KernelContext) -> PrivateThreads:
        name = self.shared_name or context.op.name
        if self.num_threads < 1:
            raise invalid_argument("`num_threads` must be greater than zero.")
        made = PrivateThreads(self.num_threads)
        return context.resource("thread pool", name, lambda: made, self.container)


class ThreadPoolDataset(OptionDataset):
    """The source, computed by a pool's threads.

    Source: experimental_dataset_ops.cc, ThreadPoolDataset.
    """

    signature = "input_dataset: variant, thread_pool: resource -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    is_stateful: ClassVar[bool] = True

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Any
    ) -> Dataset:
        (pool,) = options
        return OwnThreads(source, pool.threads)


class NonSerializableDataset(OptionDataset):
    """The source, which TensorFlow's rewrites do not see.

    Source: experimental_dataset_ops.cc, NonSerializableDataset.
    """

    signature = "input_dataset: variant -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Any
    ) -> Dataset:
        return Opaque(source)


class Slept(Unchanged):
    """The elements of a dataset, each after a pause."""

    def __init__(self, source: Dataset, pause_s: float) -> None:
        super().__init__(source)
        self._pause_s = pause_s

    @property
    def table(self) -> None:
        return None

    def elements(self, running: Running) -> Iterator[Element]:
        return map(self._after_pause, self.inputs[0].elements(running))

    def _after_pause(self, element: Element) -> Element:
        time.sleep(self._pause_s)
        return element

    def may_block(self) -> bool:
        return True


class SleepDataset(OptionDataset):
    """The source, more slowly.  Source: experimental_dataset_ops.cc, SleepDataset."""

    signature = "input_dataset: variant, sleep_microseconds: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Any
    ) -> Dataset:
        pause_us = integer(options[0])
        if pause_us < 0:
            raise invalid_argument("`sleep_microseconds` must be >= 0")
        return Slept(source, pause_us / 1e6)
