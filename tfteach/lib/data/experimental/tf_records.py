"""Batches of the records of files.

Source: python/data/experimental/ops/readers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.experimental.csv_tables import in_epochs
from tfteach.lib.data.readers import TFRecordDataset
from tfteach.ops.data.background import AUTOTUNE

_READS = 24


def make_tf_record_dataset(
    file_pattern: TensorLike,
    batch_size: int,
    parser_fn: Callable[..., Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int | None = None,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    num_parallel_parser_calls: int | None = None,
    drop_final_batch: bool = False,
) -> Dataset:
    """A dataset of batches of the records of TFRecord files.

    Args:
      file_pattern: a string or a vector of strings, such as "data/*.tfrecord".
      batch_size: the number of records in a batch.
      parser_fn: a function of a record, a string scalar; None for the records.
      num_epochs: how often to read the records; without end if None.
      shuffle: whether to shuffle files and records.
      shuffle_buffer_size: the number of records to draw from; 10000 if None.
      shuffle_seed: see `Dataset.shuffle`.
      prefetch_buffer_size: the number of batches to prepare; `AUTOTUNE` if None.
      num_parallel_reads: how many files take turns; 24 if None.
      num_parallel_parser_calls: how many records to parse at the same time;
        `batch_size` if None.
      drop_final_batch: whether to omit a smaller batch at the end, as without end.

    Returns:
      A dataset of string vectors, or of batches of what `parser_fn` returns.
    """
    names = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    reads = _READS if num_parallel_reads is None else num_parallel_reads
    dataset: Dataset = TFRecordDataset(names, num_parallel_reads=reads)
    size = 10000 if shuffle_buffer_size is None else shuffle_buffer_size
    dataset = in_epochs(dataset, num_epochs, shuffle, size, shuffle_seed)
    if parser_fn is not None:
        calls = num_parallel_parser_calls
        dataset = dataset.map(parser_fn, batch_size if calls is None else calls)
    drops = drop_final_batch or num_epochs is None
    dataset = dataset.batch(batch_size, drop_remainder=drops)
    return dataset.prefetch(
        AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    )
