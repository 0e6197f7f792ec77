"""The stages of tf.data pipelines, read from a graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tfteach.explain.pipelines.pipeline_stages import (
    STEP,
    Pipeline,
    Stage,
    in_order,
    number_of,
)
from tfteach.framework.dtypes import variant
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body, defined_in
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.ops.data.batching import (
    BatchDataset,
    BatchDatasetV2,
    MapAndBatchDataset,
)
from tfteach.ops.data.buffering import CacheDataset, PrefetchDataset
from tfteach.ops.data.dataset import DatasetOp, through_identities
from tfteach.ops.data.flattening import (
    DirectedInterleaveDataset,
    FlatMapDataset,
)
from tfteach.ops.data.generators import GeneratorDataset
from tfteach.ops.data.interleaving import (
    InterleaveDataset,
    ParallelInterleaveDataset,
    ParallelInterleaveDatasetV2,
)
from tfteach.ops.data.iterators import (
    IteratorGetNext,
    IteratorGetNextSync,
    MakeIterator,
    OneShotIterator,
)
from tfteach.ops.data.mapping import (
    FilterDataset,
    MapDataset,
    ParallelMapDataset,
    ScanDataset,
)
from tfteach.ops.data.options import OptionDataset
from tfteach.ops.data.padding import PaddedBatchDataset, PaddedBatchDatasetV2
from tfteach.ops.data.reading import FileDatasetOp
from tfteach.ops.data.selection import (
    ConcatenateDataset,
    RepeatDataset,
    TakeDataset,
    ZipDataset,
)
from tfteach.ops.data.shuffling import ShuffleAndRepeatDataset, ShuffleDataset
from tfteach.ops.data.sources import TensorDataset, TensorSliceDataset

_BATCHES = (
    BatchDataset,
    BatchDatasetV2,
    MapAndBatchDataset,
    PaddedBatchDataset,
    PaddedBatchDatasetV2,
)
_INTERLEAVES = (
    InterleaveDataset,
    ParallelInterleaveDataset,
    ParallelInterleaveDatasetV2,
)
_KINDS: list[tuple[type[Any] | tuple[type[Any], ...], str]] = [
    (MapAndBatchDataset, "map_and_batch"),
    (_BATCHES, "batch"),
    (_INTERLEAVES, "interleave"),
    ((MapDataset, ParallelMapDataset, ScanDataset), "map"),
    (FilterDataset, "filter"),
    (FlatMapDataset, "flat_map"),
    ((ShuffleDataset, ShuffleAndRepeatDataset), "shuffle"),
    (PrefetchDataset, "prefetch"),
    (CacheDataset, "cache"),
    (RepeatDataset, "repeat"),
    (ZipDataset, "zip"),
    (ConcatenateDataset, "concatenate"),
    (DirectedInterleaveDataset, "choose"),
]
_FUNCTION = re.compile(
    r"__inference_Dataset_(?:flat_map|from_generator|map_and_batch|\w+?)_(.+)_\d+$"
)
_SUFFIX = re.compile(r"Dataset(V\d)?$")


def dataset_pipelines(graph: Graph) -> list[Pipeline]:
    """A pipeline for each dataset that initializes an iterator of the graph."""
    found = []
    for op in graph.get_operations():
        spec = op.spec
        if isinstance(spec, OneShotIterator):
            body = defined_in(graph, spec.dataset_factory, op).body(
                spec.dataset_factory
            )
            found.append(_pipeline(op, body.outputs[0], graph))
        elif isinstance(spec, MakeIterator):
            iterator = through_identities(op.inputs[1]).op
            found.append(_pipeline(iterator, op.inputs[0], graph))
    return found


def _pipeline(iterator: Operation, dataset: Tensor, graph: Graph) -> Pipeline:
    stages = _Stages(graph)
    last = stages.of(dataset)
    draws = [
        op
        for op in graph.get_operations()
        if isinstance(op.spec, IteratorGetNext | IteratorGetNextSync)
        and through_identities(op.inputs[0]).op is iterator
    ]
    step = Stage(
        STEP,
        "step",
        "step",
        f"draws {draws[0].name}" if draws else "",
        inputs=() if last is None else (last,),
        op=draws[0].name if draws else iterator.name,
        source=draws[0].source if draws else iterator.source,
    )
    return Pipeline("dataset", iterator.name, in_order([*stages.found, step]), graph)


class _Stages:
    """The stages that lead to a dataset.

    Args:
      graph: whose library has the functions.

    Attributes:
      found: the stages so far.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.found: list[Stage] = []
        self._keys: dict[tuple[Operation, str], str | None] = {}

    def of(self, dataset: Tensor, outer: str = "") -> str | None:
        """The key of the stage that makes a dataset; None if a run determines it.

        Args:
          dataset: a variant.
          outer: the key of the stage whose function makes it, or "".
        """
        op = through_identities(dataset).op
        while isinstance(op.spec, OptionDataset):
            op = through_identities(op.inputs[0]).op
        if not isinstance(op.spec, DatasetOp):
            return None
        if (op, outer) not in self._keys:
            self._keys[op, outer] = key = f"{outer}/{op.name}" if outer else op.name
            self._add(op, key, outer)
        return self._keys[op, outer]

    def _add(self, op: Operation, key: str, outer: str) -> None:
        alone = self._source_of_function(op)
        if alone is not None:
            files = _elements(op.inputs[0])
            title = _title(alone)
            detail = f"{files} files" if files > 1 and title != "from_generator" else ""
            self.found.append(
                Stage(key, "source", title, detail, op=op.name, source=op.source)
            )
            return
        inputs = [self.of(t, outer) for t in op.inputs if _is_dataset(t)]
        inner = [self.of(t, key) for body in self._bodies(op) for t in body.outputs]
        found = [each for each in inputs if each is not None]
        returned = [each for each in inner if each is not None]
        self.found.append(_stage(op, key, tuple(found + returned), tuple(returned)))

    def _bodies(self, op: Operation) -> Iterator[Body]:
        """The functions of an op that return datasets."""
        for value in vars(op.spec).values():
            if isinstance(value, Function):
                body = defined_in(self.graph, value, op).body(value)
                if any(t.dtype is variant for t in body.outputs):
                    yield body

    def _source_of_function(self, op: Operation) -> Operation | None:
        """The files or the generator that tf.data implements by a flat_map."""
        if not isinstance(op.spec, FlatMapDataset):
            return None
        outer = through_identities(op.inputs[0]).op
        if not isinstance(outer.spec, TensorDataset | TensorSliceDataset):
            return None
        if outer.source != op.source:
            return None
        for body in self._bodies(op):
            made = through_identities(body.outputs[0]).op
            if isinstance(made.spec, GeneratorDataset | FileDatasetOp):
                return made
        return None


def _is_dataset(tensor: Tensor) -> bool:
    return tensor.dtype is variant


def _elements(dataset: Tensor) -> int:
    """The number of elements of a TensorSliceDataset; 0 if it is not known."""
    op = through_identities(dataset).op
    shape = op.inputs[0].shape if op.inputs else None
    dims = None if shape is None else shape.dims
    return int(dims[0].value or 0) if dims else 0


def _kind(op: Operation) -> str:
    for kinds, kind in _KINDS:
        if isinstance(op.spec, kinds):
            return kind
    return "source" if not any(map(_is_dataset, op.inputs)) else "other"


def _title(op: Operation) -> str:
    """The method that a program calls for such an op."""
    spec: Any = op.spec
    kind = _kind(op)
    if isinstance(spec, GeneratorDataset):
        return "from_generator"
    if isinstance(spec, TensorSliceDataset):
        scope = op.name.split("/")[-2:-1]
        return "list_files" if scope == ["list_files"] else "from_tensor_slices"
    if isinstance(spec, TensorDataset):
        return "from_tensors"
    name = kind
    if kind in ("other", "source"):
        name = _snake(_SUFFIX.sub("", op.type))
        if isinstance(spec, FileDatasetOp):
            name = op.type.removesuffix("V2")
    if isinstance(spec, PaddedBatchDataset | PaddedBatchDatasetV2):
        name = "padded_batch"
    for value in vars(spec).values():
        if isinstance(value, Function) and (match := _FUNCTION.match(value.name)):
            return f"{name}({match[1].strip('<>')})"
    return name


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _stage(
    op: Operation, key: str, inputs: tuple[str, ...], inner: tuple[str, ...]
) -> Stage:
    spec: Any = op.spec
    numbers = dict(_numbers(op))
    kind, detail, capacity, threads, size, rows = _kind(op), "", 0, 1, 0, 0
    if kind in ("shuffle", "prefetch"):
        capacity = max(0, numbers.get("buffer_size", 0))
        detail = f"buffer of {capacity}" if capacity else ""
        if numbers.get("buffer_size") == -1:
            detail = "buffer tuned"
    elif kind in ("batch", "map_and_batch"):
        size = numbers.get("batch_size", 0)
        detail = f"{size} at a time" if size else ""
    elif kind == "interleave":
        cycle = numbers.get("cycle_length", 0)
        detail = f"{cycle} in turns" if cycle else ""
    elif kind == "repeat":
        count = numbers.get("count", 0)
        detail = "without end" if count < 0 else f"{count} times" if count else ""
    elif "count" in numbers and isinstance(spec, TakeDataset):
        detail = f"{numbers['count']} elements"
    elif isinstance(spec, TensorSliceDataset):
        rows = _elements(op.outputs[0])
        detail = f"{rows} rows" if rows else ""
    if "num_parallel_calls" in numbers:
        threads = numbers["num_parallel_calls"]
        calls = "calls tuned" if threads < 0 else f"{threads} calls at a time"
        detail = f"{detail}, {calls}" if detail else calls
    return Stage(
        key, kind, _title(op), detail, inputs, inner, op.name, op.source,
        capacity, threads or 1, size, rows,
    )  # fmt: skip


def _numbers(op: Operation) -> Iterator[tuple[str, int]]:
    """The constant integer inputs of an op, by the names of its signature."""
    for argument, value in zip(type(op.spec).inputs, op.grouped_inputs(), strict=True):
        if isinstance(value, Tensor) and value.dtype.is_integer:
            found = number_of(value)
            if found:
                yield argument.name, found
