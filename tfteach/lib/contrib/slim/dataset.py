"""`tf.contrib.slim.dataset` and `dataset_data_provider`: records as named tensors.

Source: contrib/slim/python/slim/data/{dataset,data_provider,data_decoder,
dataset_data_provider}.py.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.slim.parallel_reader import parallel_read
from tfteach.ops.io.reader_base import ReaderBase

if TYPE_CHECKING:
    from tfteach.lib.contrib.slim.parallel_reader import Sources


@export("contrib.slim.data_decoder.DataDecoder")
class DataDecoder(abc.ABC):
    """Turns a record into tensors; a base class."""

    @abc.abstractmethod
    def decode(self, data: TensorLike, items: Iterable[str]) -> list[Any]:
        """The tensors of these items of a record."""

    @abc.abstractmethod
    def list_items(self) -> Iterable[str]:
        """The names of the items."""


@export("contrib.slim.data_provider.DataProvider")
class DataProvider:
    """Named tensors of an element; a base class.

    Args:
      items_to_tensors: the tensors by name.
      num_samples: how many elements there are.
    """

    def __init__(
        self, items_to_tensors: Mapping[str, Tensor], num_samples: int
    ) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Sequence[str]) -> list[Tensor]:
        """The tensors of these items.

        Raises:
          ValueError: there is none of a name.
        """
        names = self._items_to_tensors.keys()
        for item in items:
            if item not in names:
                raise ValueError(
                    f"Item [{item}] is invalid. Valid entries include: {names}"
                )
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> Iterable[str]:
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> int:
        """How many elements there are."""
        return self._num_samples


@export("contrib.slim.dataset.Dataset")
class Dataset:
    """What is known of a dataset: its files, their reader and decoder.

    Args:
      data_sources: the files, as in `tf.contrib.slim.parallel_reader.get_data_files`.
      reader: makes a reader, such as `tf.TFRecordReader`.
      decoder: a DataDecoder.
      num_samples: how many records there are.
      items_to_descriptions: what each item is, by name.
      **kwargs: further attributes.

    Example:
      >>> slim = tf.contrib.slim
      >>> decoder = slim.tfexample_decoder.TFExampleDecoder(
      ...     {"label": tf.FixedLenFeature([], tf.int64)},
      ...     {"label": slim.tfexample_decoder.Tensor("label")},
      ... )
      >>> data = slim.dataset.Dataset(
      ...     "train-*", tf.TFRecordReader, decoder, 60000, {"label": "the digit"}
      ... )
      >>> provider = slim.dataset_data_provider.DatasetDataProvider(data)
      >>> (label,) = provider.get(["label"])

    Source: contrib/slim/python/slim/data/dataset.py.
    """

    data_sources: Sources
    reader: Callable[..., ReaderBase]
    decoder: DataDecoder
    num_samples: int
    items_to_descriptions: Mapping[str, str]

    def __init__(
        self,
        data_sources: Sources,
        reader: Callable[..., ReaderBase],
        decoder: DataDecoder,
        num_samples: int,
        items_to_descriptions: Mapping[str, str],
        **kwargs: object,
    ) -> None:
        kwargs["data_sources"] = data_sources
        kwargs["reader"] = reader
        kwargs["decoder"] = decoder
        kwargs["num_samples"] = num_samples
        kwargs["items_to_descriptions"] = items_to_descriptions
        self.__dict__.update(kwargs)


@export("contrib.slim.dataset_data_provider.DatasetDataProvider")
class DatasetDataProvider(DataProvider):
    """The items of a Dataset's records, which readers in threads deliver.

    Args:
      dataset: the Dataset.
      num_readers: how many readers there are.
      reader_kwargs: the arguments of each.
      shuffle: whether files and records come in random order.
      num_epochs: how often to read each file; None for ever.
      common_queue_capacity: the most records that the readers' queue holds.
      common_queue_min: how many stay in it, so that they are mixed.
      record_key: the item that is the record's key.
      seed: of the random order.
      scope: the name scope of the readers.

    Raises:
      ValueError: the dataset has an item named as `record_key`.

    Source: contrib/slim/python/slim/data/dataset_data_provider.py.
    """

    def __init__(
        self,
        dataset: Dataset,
        num_readers: int = 1,
        reader_kwargs: Mapping[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        record: Any = parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        key, data = record
        items = dataset.decoder.list_items()
        tensors = dataset.decoder.decode(data, items)
        found = dict(zip(items, tensors, strict=True))
        if record_key in found:
            raise ValueError(
                "The item name used for `record_key` cannot also be used for a "
                f"dataset item: {record_key}"
            )
        found[record_key] = key
        super().__init__(found, dataset.num_samples)
