"""The elements of a dataset, stage by stage: what each transformation gives.

The dataset is iterated over anew, in one thread and beside the program's iterators, and
each stage's first elements are recorded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np

from tfteach.engine.devices.array_module import to_host
from tfteach.engine.execute.kernel_context import Context
from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.session import Session
from tfteach.explain.pipelines.stage_elements import (
    GivenElement,
    StagedElements,
    StageElements,
)
from tfteach.explain.steps.value_summary import (
    WHOLE,
    Seen,
    figures_of,
    is_array,
    kind_of,
    words_of,
)
from tfteach.framework.defaults import get_default_session
from tfteach.framework.dtypes import variant
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import OpError
from tfteach.framework.functions.body import defined_in
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.framework.type_aliases import FeedDict
from tfteach.ops.data.buffering import Prefetched
from tfteach.ops.data.dataset import (
    BoundFunction,
    Called,
    Dataset,
    Running,
    through_identities,
)
from tfteach.ops.data.elements import Element
from tfteach.ops.data.interleaving import ParallelInterleaved
from tfteach.ops.data.iterators import (
    DatasetIterator,
    IteratorGetNext,
    IteratorGetNextSync,
    MakeIterator,
    OneShotIterator,
)
from tfteach.ops.data.mapping import Mapped, ParallelMapped
from tfteach.ops.data.options import OptionDataset

__all__ = ["elements_of"]

MOST_DRAWN = 200_000  # elements of all stages together
MOST_S = 20.0


def elements_of(
    dataset: Any,
    n: int = 3,
    session: BaseSession | None = None,
    feed_dict: FeedDict | None = None,
) -> StagedElements:
    """The first elements of a dataset, and of each stage that leads to it.

    The dataset is read anew, from its beginning: iterators stay where they are. Its
    functions are called again, with their effects, and files and generators are read
    again; what is random without a seed is other than in a run. Stages with threads are
    read in order; a `prefetch` reads nothing ahead.

    Args:
      dataset: a `tf.data.Dataset`; an iterator, whose dataset is meant; or a tensor
        that `get_next` returned.
      n: the number of elements of the last stage to read, and of each to show.
      session: an open session, whose variables and tables the dataset's functions
        read; None for the default session, or a new one if there is none.
      feed_dict: for placeholders that the dataset reads, as for `session.run`.

    Returns:
      A `StagedElements`. An error of a stage ends reading and is part of it.

    Raises:
      ValueError: `n` is not positive, or the iterator has no dataset yet.
      TypeError: `dataset` is anything else, or was made eagerly.

    Example:
      >>> rows = tf.data.Dataset.range(10).map(lambda x: x * x).batch(2)
      >>> with tf.Session() as sess:
      ...     found = elements_of(rows, 2, sess)
      >>> [str(stage.elements[-1]) for stage in found.stages]
      ['1: 1', '1: 1  of 1', '1: [4, 9]  of 2 to 3']
    """
    if n < 1:
        raise ValueError(f"The number of elements is at least 1, got {n}")
    tensor = dataset_tensor(dataset)
    with _session_for(tensor.graph, session) as open_session:
        return _read(tensor, n, open_session, feed_dict)


def dataset_tensor(given: Any) -> Tensor:
    """The dataset's or the iterator's tensor."""
    tensor = getattr(given, "_variant_tensor", None)
    if tensor is None:
        tensor = getattr(given, "_iterator_resource", given)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "Expected a tf.data.Dataset, an iterator or a tensor of get_next, got "
            f"{type(given).__name__}"
        )
    if isinstance(tensor, EagerTensor):
        raise TypeError(
            "A dataset that was made eagerly has its stages in no graph. Loop over it, "
            "`for x in dataset.take(3): print(x)`, or make it in a "
            "`with tf.Graph().as_default():` block."
        )
    if isinstance(tensor.op.spec, IteratorGetNext | IteratorGetNextSync):
        return tensor.op.inputs[0]
    return tensor


@contextmanager
def _session_for(graph: Graph, given: BaseSession | None) -> Iterator[BaseSession]:
    """The session given, or the default one if it is one of the graph, or a new one."""
    found = get_default_session() if given is None else given
    if found is not None and (given is not None or found.graph is graph):
        yield found
    else:
        with Session(graph=graph) as made:
            yield made


def _read(
    tensor: Tensor, n: int, session: BaseSession, feed_dict: FeedDict | None
) -> StagedElements:
    """Read the dataset of a tensor: see `elements_of`."""
    value, op = _dataset_of(tensor, session, feed_dict)
    record = _Record(_graphs(session.graph, op), n)
    context = Context(op, session.devices[0], session.resources, session)
    running = _StagedRunning(context, record)
    stopped = ""
    try:
        elements = running.staged(value)[0].elements(running)
        for _ in range(n):
            next(elements)
    except (StopIteration, OpError):
        pass  # recorded by the stage
    except _Enough as enough:
        stopped = str(enough)
    return StagedElements(record.stages(), stopped)


def _graphs(graph: Graph, op: Operation) -> list[Graph]:
    """Where a dataset's ops are: in the graph, or in the function of an iterator."""
    spec = op.spec
    if not isinstance(spec, OneShotIterator):
        return [graph]
    factory = spec.dataset_factory
    return [defined_in(graph, factory, op).body(factory).graph, graph]


def _dataset_of(
    tensor: Tensor, session: BaseSession, feed_dict: FeedDict | None
) -> tuple[Dataset, Operation]:
    """The dataset that a tensor produces, and an op for the kernel's context."""
    value = session.run(tensor, feed_dict)
    if isinstance(value, DatasetIterator):
        tensor = through_identities(tensor)
        if value.dataset is not None:
            return value.dataset, tensor.op
        tensor = _initializing(tensor)
        value = session.run(tensor, feed_dict)
    if not isinstance(value, Dataset):
        raise TypeError(f"{tensor.name} is no dataset, and no element of one")
    return value, tensor.op


def _initializing(iterator: Tensor) -> Tensor:
    """The dataset that an iterator will be initialized with."""
    for op in iterator.graph.get_operations():
        makes = isinstance(op.spec, MakeIterator)
        if makes and through_identities(op.inputs[1]) is iterator:
            return op.inputs[0]
    raise ValueError(
        f"{iterator.op.name} has no dataset yet: run the initializer of the iterator"
    )


class _Enough(Exception):
    """So much was read that the rest would not be looked at."""


class _Stage:
    """What is recorded of a stage."""

    def __init__(self, key: str, op: Operation | None) -> None:
        self.key, self.op = key, op
        self.inputs: list[str] = []
        self.elements: list[GivenElement] = []
        self.count = 0
        self.has_ended = False
        self.error: OpError | None = None

    def read(self, key: str) -> None:
        """Note that it reads another stage."""
        if key not in self.inputs:
            self.inputs.append(key)


class _Record:
    """The stages of a dataset as they are read.

    Args:
      graphs: those with the ops of the dataset.
      most: how many elements of each stage to record.
    """

    def __init__(self, graphs: Sequence[Graph], most: int) -> None:
        self.most = most
        self.graphs = graphs
        self._stages: dict[str, _Stage] = {}
        self._left = MOST_DRAWN
        self._until_s = time.monotonic() + MOST_S
        self._error: OpError | None = None

    def stage(self, key: str, op: Operation | None) -> _Stage:
        """The stage of a key: what is known of it, if it was read before."""
        return self._stages.setdefault(key, _Stage(key, op))

    def draw(self) -> None:
        """Count an element.

        Raises:
          _Enough: there were too many.
        """
        self._left -= 1
        if self._left < 0 or time.monotonic() > self._until_s:
            raise _Enough(
                f"Reading was ended after {MOST_DRAWN - self._left - 1:,} elements of "
                "all stages together."
            )

    def counts(self, keys: Sequence[str]) -> dict[str, int]:
        """The number of elements that some stages gave."""
        return {key: self._stages[key].count for key in keys}

    def failed(self, stage: _Stage, error: OpError) -> None:
        """Record an error at the stage where it arose."""
        if self._error is not error:
            self._error = stage.error = error

    def stages(self) -> tuple[StageElements, ...]:
        """All stages, each behind its inputs."""
        found: dict[str, StageElements] = {}

        def add(stage: _Stage) -> None:
            for key in stage.inputs:
                if key not in found:
                    add(self._stages[key])
            op = stage.op
            found[stage.key] = StageElements(
                stage.key,
                "" if op is None else op.type,
                tuple(stage.inputs),
                None if op is None else op.source,
                tuple(stage.elements),
                stage.count,
                stage.has_ended,
                stage.error,
            )

        for stage in list(self._stages.values()):
            if stage.key not in found:
                add(stage)
        return tuple(found.values())


class _StagedRunning(Running):
    """Records the stages of a dataset, and of those that its functions return."""

    def __init__(self, context: Context, record: _Record) -> None:
        super().__init__(context)
        self.record = record
        self._stage: _Stage | None = None  # whose functions are called

    def within(self, stage: _Stage) -> _StagedRunning:
        """The same for the functions of a stage."""
        made = copy(self)
        made._stage = stage
        return made

    def staged(
        self,
        dataset: Dataset,
        outer: str = "",
        graphs: Sequence[Graph] = (),
    ) -> tuple[Dataset, list[str]]:
        """A dataset that records itself and all that it reads.

        A dataset without an op, such as a window or the map of a `map_and_batch`, is a
        part of the one that reads it.

        Args:
          dataset: the dataset.
          outer: the key of the stage whose function returned it, or "".
          graphs: where its ops are; by default those of the record.

        Returns:
          The dataset, and the keys of the stages that a reader of it reads.
        """
        op = _op_of(dataset.node_name, graphs or self.record.graphs)
        name = dataset.node_name if op is None else op.name
        inputs = [self.staged(each, outer, graphs) for each in dataset.inputs]
        if op is not None and isinstance(op.spec, OptionDataset) and inputs:
            return inputs[0]  # no line of the program made it
        read = [key for _, keys in inputs for key in keys]
        made = _without_threads(dataset)
        if inputs:
            made = made.with_inputs(tuple(each for each, _ in inputs))
        if not name:
            return made, read
        stage = self.record.stage(f"{outer}/{name}" if outer else name, op)
        for key in read:
            stage.read(key)
        return _Staged(made, stage), [stage.key]

    def call(self, function: BoundFunction) -> Called:
        called = super().call(function)
        body, stage = function.body, self._stage
        if stage is None or all(t.dtype is not variant for t in body.outputs):
            return called

        def wrapped(arrays: Sequence[Any]) -> list[Any]:
            found = called(arrays)
            for i, value in enumerate(found):
                if isinstance(value, Dataset):
                    found[i], keys = self.staged(value, stage.key, [body.graph])
                    for key in keys:
                        stage.read(key)
            return found

        return wrapped


def _without_threads(dataset: Dataset) -> Dataset:
    """The same dataset, whose functions are called in the calling thread, in order."""
    if isinstance(dataset, ParallelMapped):
        made = Mapped(dataset.inputs[0], dataset.function, dataset.preserves_count)
        made.types = dataset.types
        made.component_shapes = dataset.component_shapes
        made.node_name = dataset.node_name
        return made
    if isinstance(dataset, ParallelInterleaved):
        alone = dataset.with_inputs(dataset.inputs)
        assert isinstance(alone, ParallelInterleaved)
        alone.calls = 1
        return alone
    return dataset


def _op_of(name: str, graphs: Sequence[Graph]) -> Operation | None:
    """The op of a dataset; in the function of an iterator, the one it is a copy of.

    The copy has the name of the op, behind that of the dataset with the options.
    """
    found = [graph.find_operation(name) for graph in graphs]
    op = next((each for each in found if each is not None), None)
    original = graphs[-1].find_operation(name.partition("/")[2])
    if len(graphs) > 1 and op is not None and original is not None:
        return original if original.type == op.type else op
    return op


class _Staged(Dataset):
    """A dataset whose elements are recorded."""

    def __init__(self, dataset: Dataset, stage: _Stage) -> None:
        self._dataset, self.stage = dataset, stage
        self.inputs = dataset.inputs
        self.types, self.component_shapes = dataset.types, dataset.component_shapes
        self.node_name = dataset.node_name

    def elements(self, running: Running) -> Iterator[Element]:
        assert isinstance(running, _StagedRunning)
        self.stage.has_ended = False
        if isinstance(self._dataset, Prefetched):  # no thread that reads ahead
            source = self.inputs[0].elements(running)
        else:
            source = self._dataset.elements(running.within(self.stage))
        return _Recorded(source, self.stage, running.record)


class _Recorded:
    """Iterates over a stage; continues after an error."""

    def __init__(
        self, source: Iterator[Element], stage: _Stage, record: _Record
    ) -> None:
        self._source, self._stage, self._record = source, stage, record

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        stage, record = self._stage, self._record
        record.draw()
        before = record.counts(stage.inputs)
        try:
            element = next(self._source)
        except StopIteration:
            stage.has_ended = True
            raise
        except OpError as error:
            record.failed(stage, error)
            raise
        if len(stage.elements) < record.most:
            after = record.counts(stage.inputs)
            read = {
                key: (before.get(key, 0), count - 1)
                for key, count in after.items()
                if count > before.get(key, 0)
            }
            values = tuple([_seen(i, value) for i, value in enumerate(element)])
            stage.elements.append(GivenElement(stage.count, values, read))
        stage.count += 1
        return element


def _seen(number: int, value: Any) -> Seen:
    """A component of an element."""
    if not is_array(value):
        return Seen(str(number), "variant", (), type(value).__name__)
    array = np.asarray(to_host(value))
    figures = figures_of(array)
    copied = array.copy() if array.size <= WHOLE else None
    said = words_of(array, figures) if copied is None else ""
    return Seen(str(number), kind_of(array), array.shape, said, copied, figures)
