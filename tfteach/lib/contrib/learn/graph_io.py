"""Batches of examples that queues read from files: `tf.contrib.learn.io`.

`queued_features.py` parses them.

Source: contrib/learn/python/learn/learn_io/graph_io.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.queues.batch import batch_join
from tfteach.lib.queues.input_producers import string_input_producer
from tfteach.lib.queues.shuffle_batch import shuffle_batch_join
from tfteach.ops.array.gather import boolean_mask
from tfteach.ops.core.constant import constant

KEY_FEATURE_NAME = "__key__"
ParseFn = Callable[[Tensor], Any]
# The reader's class, such as tf.TFRecordReader.
Reader = Callable[[], Any]
Files: TypeAlias = "PathLike | Sequence[PathLike]"


def _get_file_names(file_pattern: Files, randomize_input: bool) -> list[str]:
    """The files of one or several patterns; sorted unless they will be shuffled.

    Raises:
      ValueError: there are none.
    """
    if isinstance(file_pattern, str | os.PathLike):
        found = list(file_system.glob(os.fspath(file_pattern)))
    else:
        if not file_pattern:
            raise ValueError("No files given to dequeue_examples.")
        found = [
            name
            for pattern in file_pattern
            for name in file_system.glob(os.fspath(pattern))
        ]
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found if randomize_input else sorted(found)


def _check(
    batch_size: int | Tensor | None,
    queue_capacity: int | None,
    read_batch_size: int | None,
    num_threads: int | None,
    num_epochs: int | None,
) -> None:
    """Check the numbers.

    Raises:
      ValueError: one is missing or out of range.
    """
    if queue_capacity is None or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    if batch_size is None or (
        not isinstance(batch_size, Tensor)
        and (batch_size <= 0 or batch_size >= queue_capacity)
    ):
        raise ValueError(
            f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}."
        )
    if read_batch_size is None or read_batch_size <= 0:
        raise ValueError(f"Invalid read_batch_size {read_batch_size}.")
    if num_threads is None or num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")


def _get_examples(
    files: Any,
    reader: Reader,
    num_threads: int,
    read_batch_size: int,
    filter_fn: Callable[[Tensor, Tensor], Tensor] | None,
    parse_fn: ParseFn | None,
) -> list[Any]:
    """The keys and examples of each thread's reader."""
    with name_scope("read"):
        found: list[Any] = []
        for _ in range(num_threads):
            if read_batch_size > 1:
                keys, examples = reader().read_up_to(files, read_batch_size)
            else:
                keys, examples = reader().read(files)
            if filter_fn is not None:
                mask = filter_fn(keys, examples)
                keys = boolean_mask(keys, mask)
                examples = boolean_mask(examples, mask)
            if parse_fn is not None:
                examples = parse_fn(examples)
            if isinstance(examples, dict):
                examples[KEY_FEATURE_NAME] = keys
                found.append(examples)
            else:
                found.append((keys, examples))
        return found


def _read_keyed_batch_examples_helper(
    file_pattern: Files,
    batch_size: int | Tensor,
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    filter_fn: Callable[[Tensor, Tensor], Tensor] | None = None,
    parse_fn: ParseFn | None = None,
    setup_shared_queue: bool = False,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """The batches of the functions below, with the examples that a filter accepts."""
    names = _get_file_names(file_pattern, randomize_input)
    _check(batch_size, queue_capacity, read_batch_size, num_threads, num_epochs)
    with name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        if setup_shared_queue:
            raise NotImplementedError(
                "setup_shared_queue: a queue of files that several processes share is "
                "not implemented; use tf.contrib.learn.read_keyed_batch_examples"
            )
        with name_scope("file_name_queue") as queue_scope:
            files = string_input_producer(
                constant(names, name="input"),
                num_epochs=num_epochs,
                shuffle=randomize_input,
                seed=seed,
                name=queue_scope,
            )
        examples = _get_examples(
            files, reader, num_threads, read_batch_size, filter_fn, parse_fn
        )
        enqueue_many = read_batch_size > 1
        has_end = num_epochs is not None
        if randomize_input:
            if isinstance(batch_size, Tensor):
                least = int(queue_capacity * 0.4)
            else:
                least = max(queue_capacity - 3 * batch_size, batch_size)
            batches: Any = shuffle_batch_join(
                examples,
                batch_size,
                queue_capacity,
                least,
                seed=seed,
                enqueue_many=enqueue_many,
                allow_smaller_final_batch=has_end,
                name=scope,
            )
        else:
            batches = batch_join(
                examples,
                batch_size,
                queue_capacity,
                enqueue_many=enqueue_many,
                allow_smaller_final_batch=has_end,
                name=scope,
            )
        if isinstance(batches, Mapping):
            parsed = dict(batches)
            return parsed.pop(KEY_FEATURE_NAME), parsed
        return batches


@export("contrib.learn.read_batch_examples", "contrib.learn.io.read_batch_examples")
def read_batch_examples(
    file_pattern: Files,
    batch_size: int | Tensor,
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Tensor | dict[str, Tensor]:
    """Batches of the records of files, read by queues.

    Queue runners must be started, and for `num_epochs` the local variables
    initialized.

    Args:
      file_pattern: a pattern of files' names, or a list of patterns.
      batch_size: the records of a batch, less than `queue_capacity`.
      reader: the class of the reader, such as `tf.TFRecordReader`.
      randomize_input: whether to shuffle the files and the records.
      num_epochs: how often to read the files; None for ever.  If given, the last batch
        may be smaller.
      queue_capacity: how many records the queue holds.
      num_threads: how many readers fill it.
      read_batch_size: how many records a reader reads at once.
      parse_fn: from a Tensor of records to a Tensor, or to a dict of Tensors.
      name: the name of the batches, and the beginning of the ops' names.
      seed: the seed of the order.

    Returns:
      A string Tensor [batch_size], or what `parse_fn` returned, in batches.

    Raises:
      ValueError: there are no such files, or a number is out of range.

    Example:
      >>> records = tf.contrib.learn.io.read_batch_examples(
      ...     "data*.tfrecord", 32, tf.TFRecordReader)

    Source: contrib/learn/python/learn/learn_io/graph_io.py.
    """
    _, examples = read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
        num_threads, read_batch_size, parse_fn, name, seed,
    )  # fmt: skip
    batch: Tensor | dict[str, Tensor] = examples
    return batch


@export(
    "contrib.learn.read_keyed_batch_examples",
    "contrib.learn.io.read_keyed_batch_examples",
)
def read_keyed_batch_examples(
    file_pattern: Files,
    batch_size: int | Tensor,
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Sequence[Any]:
    """Batches of the records of files, with the records' keys.

    Args:
      file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
        num_threads, read_batch_size, parse_fn, name, seed: as in
        `tf.contrib.learn.read_batch_examples`.

    Returns:
      The keys, a string Tensor [batch_size], such as "file:3", and the records.

    Raises:
      ValueError: as in `tf.contrib.learn.read_batch_examples`.

    Source: contrib/learn/python/learn/learn_io/graph_io.py.
    """
    found: Sequence[Any] = _read_keyed_batch_examples_helper(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
        num_threads, read_batch_size, None, parse_fn, False, name, seed,
    )  # fmt: skip
    return found
