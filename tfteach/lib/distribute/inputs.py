"""The replicas' inputs: a share of each global batch, or one batch per replica.

Source: python/distribute/input_lib.py.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.distribute.distributed_values import PerReplica
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import shape


@export("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """How many times an input function is called.

    Attributes:
      PER_WORKER: once a process.

    Source: python/distribute/distribute_lib.py.
    """

    PER_WORKER = "PER_WORKER"


@export("distribute.InputContext")
class InputContext:
    """Describes the input pipelines and the replicas to an input function.

    Args:
      num_input_pipelines: the number of processes that read input.
      input_pipeline_id: the number of this one.
      num_replicas_in_sync: the number of replicas.

    Source: python/distribute/distribute_lib.py.
    """

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        """The index of this process's input pipeline."""
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        """The number of processes that read input."""
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch size per replica.

        Raises:
          ValueError: it cannot be divided.
        """
        size, rest = divmod(global_batch_size, self._num_replicas_in_sync)
        if rest:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by "
                f"`num_replicas_in_sync` {self._num_replicas_in_sync!r} "
            )
        return size


class _Calls:
    """Adapts a function that returns batches to the interface of an iterator."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self.initializer = no_op()

    def get_next(self, name: str | None) -> Any:
        with name_scope(name, "get_next"):
            return self._function()


class InputIterator:
    """An iterator whose elements are dealt to the replicas in turn.

    Args:
      source: a dataset of a replica's batches, or a function that returns a batch.
      devices: the replicas' devices.

    Raises:
      ValueError: it is neither.
    """

    def __init__(self, source: Any, devices: Sequence[str]) -> None:
        self._devices = devices
        if hasattr(source, "make_initializable_iterator"):
            with get_default_graph().device("/cpu:0"):
                self._iterator = source.make_initializable_iterator()
        elif callable(source):
            self._iterator = _Calls(source)
        else:
            raise ValueError("input_fn must return a tf.data.Dataset or a callable.")

    @property
    def initializer(self) -> Operation:
        """The Operation that (re)starts the input."""
        initializer: Operation = self._iterator.initializer
        return initializer

    def initialize(self) -> Operation:
        """The Operation that (re)starts the input."""
        return self.initializer

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """This object: it is both the distributed dataset and its iterator.

        Raises:
          NotImplementedError: a `shared_name` is given.
        """
        if shared_name is not None:
            raise NotImplementedError("make_initializable_iterator(shared_name=...)")
        return self

    def get_next(self, name: str | None = None) -> Any:
        """The replicas' next elements, as distributed values.

        Args:
          name: the name of the ops that get them.
        """
        graph = get_default_graph()
        elements: list[Any] = []
        before: list[Any] = []
        for device in self._devices:
            # One after the other: which replica gets which element is no accident.
            with graph.control_dependencies(before), graph.device("/cpu:0"):
                element = self._iterator.get_next(name)
            before = nest.flatten(element)[:1]
            with graph.device(device):
                elements.append(nest.map_structure(identity, element))
        if len(elements) == 1:
            return elements[0]
        return _together(elements, self._devices)

    @property
    def output_types(self) -> Any:
        """The types of an element."""
        return self._iterator.output_types

    @property
    def output_shapes(self) -> Any:
        """The shapes of a replica's element."""
        return self._iterator.output_shapes

    @property
    def output_classes(self) -> Any:
        """The classes of an element."""
        return self._iterator.output_classes


def _together(elements: list[Any], devices: Sequence[str]) -> Any:
    return nest.map_structure(lambda *leaves: PerReplica(devices, leaves), *elements)


class DatasetIterator(InputIterator):
    """Splits each batch of a dataset among the replicas.

    Args:
      dataset: of batches.
      devices: the replicas' devices.
    """

    def __init__(self, dataset: Any, devices: Sequence[str]) -> None:
        count = len(devices)
        super().__init__(dataset if count == 1 else divided(dataset, count), devices)


class InputFunctionIterator(InputIterator):
    """The input of a function that returns a dataset of per-replica batches.

    Args:
      input_fn: gets an InputContext, and returns a dataset of a replica's batches.
      devices: the replicas' devices.
    """

    def __init__(self, input_fn: Callable[..., Any], devices: Sequence[str]) -> None:
        context = InputContext(num_replicas_in_sync=len(devices))
        super().__init__(input_fn(context), devices)


def divided(dataset: Any, count: int) -> Any:
    """A dataset of the batches of another one, each split into `count` parts.

    The parts of an incomplete batch are smaller, or fewer.
    """
    from tfteach.lib.data.dataset import Dataset

    def parts(*batch: Any) -> Any:
        total = shape(nest.flatten(batch)[0], out_type="int64")[0]
        size = (total + count - 1) // count

        def part(index: Tensor) -> Any:
            begin = index * size
            found = nest.map_structure(lambda t: t[begin : begin + size], batch)
            return found if len(found) > 1 else found[0]

        return Dataset.range((total + size - 1) // size).map(part)

    return dataset.flat_map(parts)
