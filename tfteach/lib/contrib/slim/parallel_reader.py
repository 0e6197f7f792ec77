"""`tf.contrib.slim.parallel_reader`: several readers that fill one queue.

Source: contrib/slim/python/slim/data/parallel_reader.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from tfteach.framework import dtypes as tf_dtypes
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, PathLike, TensorLike
from tfteach.lib.queues.batch_queues import run_in_threads, summarize_fullness
from tfteach.lib.queues.input_producers import string_input_producer
from tfteach.ops.io.reader_base import HasHandle, ReaderBase
from tfteach.ops.math.add_n import add_n
from tfteach.ops.queues.queue_base import QueueBase
from tfteach.ops.queues.queues import FIFOQueue, RandomShuffleQueue

if TYPE_CHECKING:
    Sources = PathLike | Sequence[PathLike]


@export("contrib.slim.parallel_reader.ParallelReader")
class ParallelReader(ReaderBase):
    """Readers in threads of their own, whose records go to one queue.

    Args:
      reader_class: makes a reader, such as `tf.TFRecordReader`.
      common_queue: the queue, of keys and values.
      num_readers: how many readers there are.
      reader_kwargs: the arguments of each.

    Raises:
      TypeError: `common_queue` is no queue.

    Source: contrib/slim/python/slim/data/parallel_reader.py.
    """

    def __init__(
        self,
        reader_class: Callable[..., ReaderBase],
        common_queue: QueueBase,
        num_readers: int = 4,
        reader_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(common_queue, QueueBase):
            raise TypeError(f"common_queue must be a queue, not {common_queue!r}")
        kwargs = reader_kwargs or {}
        self._readers = [reader_class(**kwargs) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """How many readers there are."""
        return len(self._readers)

    @property
    def common_queue(self) -> QueueBase:
        """The queue of the records."""
        return self._common_queue

    def read(
        self, queue: HasHandle | Tensor, name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """Tensors: key and value of the next record of any reader, string scalars.

        Args:
          queue: the queue of the files' names.
          name: the name of the op that dequeues.
        """
        self._fill(queue)
        record: Any = self._common_queue.dequeue(name=name)
        return record  # type: ignore[no-any-return]

    def read_up_to(
        self,
        queue: HasHandle | Tensor,
        num_records: TensorLike,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Tensors: keys and values of at most `num_records` records, string vectors.

        Args:
          queue: the queue of the files' names.
          num_records: an int32 scalar.
          name: the name of the op that dequeues.
        """
        self._fill(queue)
        records: Any = self._common_queue.dequeue_up_to(num_records, name=name)
        return records  # type: ignore[no-any-return]

    def _fill(self, queue: HasHandle | Tensor) -> None:
        ops = [
            self._common_queue.enqueue(reader.read(queue)) for reader in self._readers
        ]
        run_in_threads(self._common_queue, ops)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """The number of records read so far by all readers, an int64 scalar."""
        return add_n([r.num_records_produced() for r in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """The number of files read to the end by all readers, an int64 scalar."""
        return add_n([r.num_work_units_completed() for r in self._readers], name=name)

    @property
    def reader_ref(self) -> NoReturn:
        """Not available: there are several readers."""
        raise NotImplementedError("ParallelReader.reader_ref: it has several readers")

    @property
    def supports_serialize(self) -> bool:
        """False."""
        return False


@export("contrib.slim.parallel_reader.get_data_files")
def get_data_files(data_sources: Sources) -> list[str]:
    """The files that match a pattern, or some patterns, such as "data/train-*".

    Raises:
      ValueError: there are none.
    """
    if isinstance(data_sources, list | tuple):
        return [path for one in data_sources for path in get_data_files(one)]
    pattern = str(data_sources)
    has_wildcard = any(character in pattern for character in "*?[")
    found = file_system.glob(pattern) if has_wildcard else [pattern]
    if not found:
        raise ValueError(f"No data files found in {data_sources}")
    return found


@export("contrib.slim.parallel_reader.parallel_read")
def parallel_read(
    data_sources: Sources,
    reader_class: Callable[..., ReaderBase],
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: Mapping[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[DTypeLike] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Tensors: key and value of the next record of some files.

    Args:
      data_sources: the files, as in `get_data_files`.
      reader_class: makes a reader, such as `tf.TFRecordReader`.
      num_epochs: how often to read each file; None for ever.
      num_readers: how many readers there are.
      reader_kwargs: the arguments of each.
      shuffle: whether files and records come in random order.
      dtypes: the types of key and value: strings if None.
      capacity: the most records that the queue holds.
      min_after_dequeue: how many stay in it, so that they are mixed.
      seed: of the random order.
      scope: the name scope.

    Returns:
      The two Tensors, string scalars.

    Example:
      >>> key, record = tf.contrib.slim.parallel_reader.parallel_read(
      ...     "data/train-*", tf.TFRecordReader
      ... )

    Source: contrib/slim/python/slim/data/parallel_reader.py.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(
            files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        types = dtypes or [tf_dtypes.string, tf_dtypes.string]
        common: QueueBase
        if shuffle:
            common = RandomShuffleQueue(
                capacity, min_after_dequeue, types, seed=seed, name="common_queue"
            )
        else:
            common = FIFOQueue(capacity, types, name="common_queue")
        summarize_fullness(common, capacity)
        reader = ParallelReader(reader_class, common, num_readers, reader_kwargs)
        return reader.read(names)


@export("contrib.slim.parallel_reader.single_pass_read")
def single_pass_read(
    data_sources: Sources,
    reader_class: Callable[..., ReaderBase],
    reader_kwargs: Mapping[str, Any] | None = None,
    scope: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Tensors: key and value of the next record of files that are read once, in order.

    Args:
      data_sources: the files, as in `get_data_files`.
      reader_class: makes the reader, such as `tf.TFRecordReader`.
      reader_kwargs: its arguments.
      scope: the name scope.

    Source: contrib/slim/python/slim/data/parallel_reader.py.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(
            files, num_epochs=1, shuffle=False, capacity=1, name="filenames"
        )
        return reader_class(**(reader_kwargs or {})).read(names)
