"""Datasets of the features of serialized Examples.

Source: python/data/experimental/ops/{parsing_ops,readers}.py,
contrib/data/python/ops/readers.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import DatasetBase
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.experimental.csv_tables import in_epochs
from tfteach.lib.data.experimental.interleaving import parallel_interleave
from tfteach.lib.data.readers import TFRecordDataset
from tfteach.lib.parsing.examples import ALL_KINDS
from tfteach.lib.parsing.features import (
    RawFeatures,
    SparseFeature,
    merge_sparse_features,
    with_unknown_first_axis,
)
from tfteach.ops.data.background import AUTOTUNE
from tfteach.ops.data.parsing import ParseExampleDataset
from tfteach.ops.sparse.sparse_tensor_spec import SparseTensorSpec

Transformation = Callable[[Dataset], Dataset]


@export("data.experimental.parse_example_dataset", "contrib.data.parse_example_dataset")
def parse_example_dataset(
    features: Mapping[str, Any], num_parallel_calls: TensorLike = 1
) -> Transformation:
    """A transformation: the features of batches of serialized Examples.

    Args:
      features: as of `tf.parse_example`.
      num_parallel_calls: a positive number, or `AUTOTUNE`; checked, but without effect:
        one call parses a whole batch.

    Returns:
      A function for `Dataset.apply`, of a dataset of string vectors; its result has
      dicts as elements: name -> Tensor or SparseTensor.

    Raises:
      ValueError: there are no features.
      TypeError: while applied: the dataset has other elements.

    Example:
      >>> features = {"x": tf.FixedLenFeature([2], tf.float32)}
      >>> records = tf.data.TFRecordDataset("examples").batch(32)
      >>> records.apply(tf.data.experimental.parse_example_dataset(features))
    """
    if features is None:
        raise ValueError(f"Missing: features was {features}.")

    def transform(dataset: Dataset) -> Dataset:
        parsed = _parsed(dataset, features, num_parallel_calls)
        if any(isinstance(feature, SparseFeature) for feature in features.values()):
            return parsed.map(
                lambda found: merge_sparse_features(features, found),
                num_parallel_calls=num_parallel_calls,
            )
        return parsed

    return transform


def _parsed(
    dataset: Dataset, features: Mapping[str, Any], num_parallel_calls: TensorLike
) -> Dataset:
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(
        TensorSpec([None], string)
    ):
        raise TypeError("Input dataset should be a dataset of vectors of strings")
    raw = RawFeatures(with_unknown_first_axis(features), ALL_KINDS)
    if not raw.sparse_keys and not raw.dense_keys:
        raise ValueError("Must provide at least one sparse key or dense key")
    size = spec.shape[0] if spec.shape.ndims else None
    dense = zip(raw.dense_keys, raw.dense_types, raw.dense_shapes, strict=True)
    specs: dict[str, Any] = {
        key: TensorSpec([size, *shape.as_list()], dtype) for key, dtype, shape in dense
    }
    for key, dtype in zip(raw.sparse_keys, raw.sparse_types, strict=True):
        specs[key] = SparseTensorSpec([size, None], dtype)
    defaults = raw.default_tensors()
    types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
    op = ParseExampleDataset(
        tuple(raw.sparse_keys),
        tuple(raw.dense_keys),
        tuple(raw.sparse_types),
        tuple(raw.dense_types),
        tuple(raw.dense_shapes),  # type: ignore[arg-type]  # converted by the op
        types,
        shapes,
    )
    variant = op(dataset._variant_tensor, num_parallel_calls, defaults)
    return dataset.derived(variant, specs)


@export(
    "data.experimental.make_batched_features_dataset",
    "contrib.data.make_batched_features_dataset",
    v2="data.experimental.make_batched_features_dataset",
)
def make_batched_features_dataset(
    file_pattern: TensorLike,
    batch_size: TensorLike,
    features: Mapping[str, Any],
    reader: Callable[..., Any] = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """A dataset of batches of the features of Examples in files.

    Args:
      file_pattern: a string or a vector of strings, such as "data/*.tfrecord".
      batch_size: the number of Examples in a batch.
      features: as of `tf.parse_example`.
      reader: a function or class that returns a dataset of the records of a file.
      label_key: the feature that is the label, or None.
      reader_args: further arguments of `reader`.
      num_epochs: how often to read the Examples; without end if None.
      shuffle: whether to shuffle files and Examples.
      shuffle_buffer_size, shuffle_seed: see `Dataset.shuffle`.
      prefetch_buffer_size: the number of batches to prepare; `AUTOTUNE` if None.
      reader_num_threads: how many files take turns; 1 if None.
      parser_num_threads: see `parse_example_dataset`; 2 if None.
      sloppy_ordering: whether a file whose next record is not ready is passed over.
      drop_final_batch: whether to omit a smaller batch at the end, as without end.

    Returns:
      A dataset of dicts, name -> Tensor [batch_size, ...] or SparseTensor; with a
      label, of pairs of such a dict and the label.

    Raises:
      TypeError: `reader` is a `tf.ReaderBase`.
      ValueError: `label_key` is no feature.
    """
    names = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    arguments = () if reader_args is None else tuple(reader_args)
    cycle = 1 if reader_num_threads is None else reader_num_threads
    if isinstance(reader, type) and not issubclass(reader, DatasetBase):
        raise TypeError(
            "The `reader` argument must return a `Dataset` object. `tf.ReaderBase` "
            "subclasses are not supported. For example, pass "
            "`tf.data.TFRecordDataset` instead of `tf.TFRecordReader`."
        )
    dataset = names.apply(
        parallel_interleave(
            lambda filename: reader(filename, *arguments),
            cycle,
            sloppy=sloppy_ordering,
        )
    )
    if dataset.output_types == (string, string):
        dataset = dataset.map(lambda _, record: record)
    dataset = in_epochs(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    drops = drop_final_batch or num_epochs is None
    dataset = dataset.batch(batch_size, drop_remainder=drops)
    threads = 2 if parser_num_threads is None else parser_num_threads
    dataset = dataset.apply(parse_example_dataset(features, threads))
    if label_key is not None:
        if label_key not in features:
            raise ValueError(
                f"The `label_key` provided ({label_key!r}) must be one of the "
                "`features` keys."
            )
        dataset = dataset.map(lambda found: (found, found.pop(label_key)))
    ahead = AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return dataset.prefetch(ahead)


@export("contrib.data.read_batch_features")
def read_batch_features(
    file_pattern: TensorLike,
    batch_size: TensorLike,
    features: Mapping[str, Any],
    reader: Callable[..., Any] = TFRecordDataset,
    reader_args: Sequence[Any] | None = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> dict[str, Any]:
    """The features of a batch of Examples in files.

    Args:
      file_pattern, batch_size, features, reader, reader_args, num_epochs: see
        `make_batched_features_dataset`.
      randomize_input: whether to shuffle files and Examples.
      capacity: the size of the buffer from which Examples are drawn.

    Returns:
      A dict, name -> Tensor [batch_size, ...] or SparseTensor.
    """
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    found: dict[str, Any] = dataset.make_one_shot_iterator().get_next()
    return found
