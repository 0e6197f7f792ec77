"""Datasets of the lines and records of files.

Source: python/data/ops/readers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data.base import DatasetBase, int64_tensor
from tfteach.lib.data.convert import optional_param_to_tensor
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.experimental.interleaving import parallel_interleave
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.data.reading import (
    FixedLengthRecordDatasetV2,
)
from tfteach.ops.data.reading import (
    TextLineDataset as TextLineDatasetOp,
)
from tfteach.ops.data.reading import (
    TFRecordDataset as TFRecordDatasetOp,
)

_BUFFER_BYTES = 256 * 1024
_RECORD = TensorSpec([], string)


def _file_names(filenames: TensorLike | DatasetBase) -> DatasetBase:
    if not isinstance(filenames, DatasetBase):
        names = reshape(convert(filenames, string), [-1], name="flat_filenames")
        return Dataset.from_tensor_slices(names)
    if filenames.output_types is not string:
        raise TypeError(
            "`filenames` must be a `tf.data.Dataset` of `tf.string` elements."
        )
    if not filenames.output_shapes.is_compatible_with([]):
        raise TypeError(
            "`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements."
        )
    return filenames


def _kind(compression_type: TensorLike | None) -> Tensor:
    return optional_param_to_tensor("compression_type", compression_type, "", string)


class _Reader(Dataset):
    """The records of several files."""

    # Whether `_inputs()` has the dataset of names; TensorFlow's differ.
    reads_names: ClassVar[bool] = False

    def __init__(
        self,
        filenames: TensorLike | DatasetBase,
        read: Callable[[Tensor], Tensor],
        num_parallel_reads: int | None,
    ) -> None:
        names: Any = _file_names(filenames)
        self._filenames = names

        def read_one_file(filename: TensorLike) -> Dataset:
            name = convert(filename, string, "filename")
            return Dataset(read(name), _RECORD)

        if num_parallel_reads is None:
            found = names.flat_map(read_one_file)
        elif num_parallel_reads == -1:
            found = names.interleave(read_one_file, num_parallel_calls=-1)
        else:
            found = parallel_interleave(read_one_file, num_parallel_reads)(names)
        functions = found._wrapped_functions
        inputs = [names] if self.reads_names else []
        super().__init__(found._variant_tensor, _RECORD, inputs, functions)


@export("data.TextLineDataset", v2="data.TextLineDataset")
class TextLineDataset(_Reader):
    """The lines of text files, without their ends.

    Args:
      filenames: a string Tensor, or a dataset of scalar strings.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size: the number of bytes to read at a time.
      num_parallel_reads: the number of files that take turns; None for one after the
        other.

    Raises:
      tf.errors.NotFoundError: in a run, a file does not exist.

    Source: python/data/ops/readers.py.
    """

    type_name: ClassVar[str] = "TextLineDatasetV1"

    def __init__(
        self,
        filenames: TensorLike | DatasetBase,
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        num_parallel_reads: int | None = None,
    ) -> None:
        def read(filename: Tensor) -> Tensor:
            kind = _kind(compression_type)
            size = optional_param_to_tensor("buffer_size", buffer_size, _BUFFER_BYTES)
            return TextLineDatasetOp()(filename, kind, size)

        super().__init__(filenames, read, num_parallel_reads)


@export("data.TFRecordDataset", v2="data.TFRecordDataset")
class TFRecordDataset(_Reader):
    """The records of TFRecord files, as strings.

    Args:
      filenames: a string Tensor, or a dataset of scalar strings.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size: the number of bytes to read at a time.
      num_parallel_reads: the number of files that take turns; None for one after the
        other.

    Raises:
      TypeError: the dataset of names has other elements.
      tf.errors.DataLossError: in a run, a file is damaged.

    Source: python/data/ops/readers.py.
    """

    type_name: ClassVar[str] = "TFRecordDatasetV1"
    reads_names: ClassVar[bool] = True

    def __init__(
        self,
        filenames: TensorLike | DatasetBase,
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        num_parallel_reads: int | None = None,
    ) -> None:
        def read(filename: Tensor) -> Tensor:
            kind = _kind(compression_type)
            size = optional_param_to_tensor("buffer_size", buffer_size, _BUFFER_BYTES)
            return TFRecordDatasetOp()(filename, kind, size)

        super().__init__(filenames, read, num_parallel_reads)


@export("data.FixedLengthRecordDataset", v2="data.FixedLengthRecordDataset")
class FixedLengthRecordDataset(_Reader):
    """The records of binary files, each of the same number of bytes.

    Args:
      filenames: a string Tensor, or a dataset of scalar strings.
      record_bytes: the number of bytes in a record.
      header_bytes, footer_bytes: the number of bytes to omit at the beginning and at
        the end of each file.
      buffer_size: the number of bytes to read at a time.
      compression_type: "", "GZIP" or "ZLIB".
      num_parallel_reads: the number of files that take turns; None for one after the
        other.

    Raises:
      tf.errors.InvalidArgumentError: in a run, a file has other than whole records.

    Source: python/data/ops/readers.py.
    """

    type_name: ClassVar[str] = "FixedLengthRecordDatasetV1"

    def __init__(
        self,
        filenames: TensorLike | DatasetBase,
        record_bytes: TensorLike,
        header_bytes: TensorLike | None = None,
        footer_bytes: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        compression_type: TensorLike | None = None,
        num_parallel_reads: int | None = None,
    ) -> None:
        def read(filename: Tensor) -> Tensor:
            size = int64_tensor(record_bytes, "record_bytes")
            header = optional_param_to_tensor("header_bytes", header_bytes)
            footer = optional_param_to_tensor("footer_bytes", footer_bytes)
            buffer = optional_param_to_tensor("buffer_size", buffer_size, _BUFFER_BYTES)
            kind = _kind(compression_type)
            op = FixedLengthRecordDatasetV2()
            return op(filename, header, size, footer, buffer, kind)

        super().__init__(filenames, read, num_parallel_reads)
