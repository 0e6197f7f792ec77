"""Datasets that options add: optimized, with a model of times, with own threads.

The elements are the source's; only `shuffle_and_repeat_fusion` changes their order.
Source: core/kernels/data/optimize_dataset_op.cc, model_dataset_op.cc,
experimental/threadpool_dataset_op.cc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tfteach.framework.dtypes import DType
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.batching import Batched
from tfteach.ops.data.dataset import Dataset, DatasetOp
from tfteach.ops.data.mapping import Mapped
from tfteach.ops.data.selection import Repeated, Taken
from tfteach.ops.data.shuffling import Shuffled


def unchanged(source: Dataset) -> Dataset:
    """All elements of a dataset."""
    return Taken(source, -1)


def optimized(dataset: Dataset, names: Sequence[bytes]) -> Dataset:
    """The dataset after those of TensorFlow's rewrites that a program can notice.

    - `shuffle().repeat()` shuffles over the borders of epochs, in another order.
    - `map().batch()` has another message for different shapes.
    """
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
        both.node_name = made.node_name
        return both
    fuses = b"map_and_batch_fusion" in names
    if isinstance(made, Batched) and isinstance(source, Mapped) and fuses:
        made = made if changes else made.with_inputs(inputs)
        made.__dict__["is_fused"] = True
    return made


class OptionDataset(DatasetOp, abstract=True):
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Any
    ) -> Dataset:
        return unchanged(source)


class OptimizeDataset(OptionDataset):
    """The source after rewrites.  Source: dataset_ops.cc, OptimizeDataset."""

    signature = "input_dataset: variant, optimizations: string -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    optimization_configs: tuple[str, ...] = ()

    def dataset(
        self, context: KernelContext, source: Dataset, *options: Array
    ) -> Dataset:
        return unchanged(optimized(source, options[0].tolist()))


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


class PrivateThreadPoolDataset(OptionDataset):
    """The source.  Source: PrivateThreadPoolDataset."""

    signature = "input_dataset: variant, num_threads: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
