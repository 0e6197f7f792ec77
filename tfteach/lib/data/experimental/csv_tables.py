"""`tf.data.experimental.make_csv_dataset`: batches of the columns of CSV files.

Source: python/data/experimental/ops/readers.py.
"""

from __future__ import annotations

import collections
import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from tfteach.framework.dtypes import (
    DType,
    float32,
    float64,
    int32,
    int64,
    string,
)
from tfteach.framework.export import export
from tfteach.framework.files.file_system import glob, read_file
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, PathLike, TensorLike
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.experimental.elements import ignore_errors, shuffle_and_repeat
from tfteach.lib.data.experimental.interleaving import parallel_interleave
from tfteach.lib.data.experimental.tables import CsvDataset, record_default
from tfteach.lib.data.functions import StructuredFunction
from tfteach.ops.core.constant import constant
from tfteach.ops.data.background import AUTOTUNE
from tfteach.ops.data.mapping import MapDataset


@export(
    "data.experimental.make_csv_dataset",
    "contrib.data.make_csv_dataset",
    v2="data.experimental.make_csv_dataset",
)
def make_csv_dataset(
    file_pattern: PathLike | Sequence[PathLike],
    batch_size: TensorLike,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[TensorLike | DTypeLike] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[str | int] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
) -> Dataset:
    """A dataset of batches of rows of CSV files, by column.

    The files are read while the graph is built: for the columns' names, and for their
    types, the first of int32, int64, float32, float64, string that fits their values.

    Args:
      file_pattern: files or patterns of them, such as "data/*.csv".
      batch_size: the number of rows in a batch.
      column_names: the columns' names; those in the header if None.
      column_defaults: for each column its type, if a value is required, or a default;
        found in the rows if None.
      label_name: the column that is the label, or None.
      select_columns: the columns to read, by name or number; all if None.
      field_delim: the character between two fields.
      use_quote_delim: whether quotes enclose fields.
      na_value: another text, beside "", of a missing value.
      header: whether to omit each file's first line.
      num_epochs: how often to read the rows; without end if None, and then without a
        smaller batch at the end.
      shuffle: whether to shuffle files and rows.
      shuffle_buffer_size, shuffle_seed: see `Dataset.shuffle`.
      prefetch_buffer_size: the number of batches to prepare; `AUTOTUNE` if None.
      num_parallel_reads: how many files take turns; 1 if None.
      sloppy: whether a file whose next row is not ready is passed over.
      num_rows_for_inference: how many rows to read for the types; all if None.
      compression_type: "", "GZIP" or, if no file is read for names or types, "ZLIB".
      ignore_errors: whether to omit rows that cannot be read.

    Returns:
      A dataset of ordered dicts, name -> Tensor [batch_size]; with a label, of pairs of
      such a dict and the label's Tensor [batch_size].

    Raises:
      ValueError: no file matches, files to be read for names or types are compressed
        by ZLIB, names are not unique or differ between files, a row
        has another number of fields, or `label_name` or `select_columns` name no
        column.
    """
    names = _matching(file_pattern)
    reader = _Reader(names, field_delim, use_quote_delim, compression_type)
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        column_names = reader.column_names()
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    selected = _selected(column_names, select_columns)
    types: list[DType] | None = None
    if column_defaults is None:
        types = reader.types(
            len(column_names), na_value, header, num_rows_for_inference, selected
        )
    if select_columns is not None:
        column_names = [column_names[i] for i in selected]
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")

    dataset = Dataset.from_tensor_slices(names)
    if shuffle:
        dataset = dataset.shuffle(len(names), shuffle_seed)
    if types is None:
        defaults = [record_default(value) for value in column_defaults or ()]
    else:
        defaults = [_default(dtype) for dtype in types]

    def filename_to_dataset(filename: TensorLike) -> Dataset:
        rows = CsvDataset(
            filename,
            record_defaults=defaults,
            compression_type=compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=None if select_columns is None else selected,
        )
        return rows.apply(without_errors()) if ignore_errors else rows

    cycle = 1 if num_parallel_reads is None else num_parallel_reads
    dataset = dataset.apply(
        parallel_interleave(filename_to_dataset, cycle, sloppy=sloppy)
    )
    dataset = in_epochs(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    found = _by_name(dataset, column_names, label_name)
    ahead = AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return found.prefetch(ahead)


without_errors = ignore_errors  # also the name of an argument


def in_epochs(
    dataset: Dataset,
    num_epochs: int | None,
    shuffle: bool,
    shuffle_buffer_size: int,
    shuffle_seed: int | None,
) -> Dataset:
    """A dataset repeated, shuffled over the borders of the epochs."""
    if shuffle and num_epochs != 1:
        return dataset.apply(
            shuffle_and_repeat(shuffle_buffer_size, num_epochs, shuffle_seed)
        )
    if shuffle:
        return dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def _by_name(dataset: Dataset, names: Sequence[str], label: str | None) -> Dataset:
    """The components of elements by name."""

    def map_fn(*columns: Any) -> Any:
        features = collections.OrderedDict(zip(names, columns, strict=True))
        if label is None:
            return features
        target = features.pop(label)
        return features, target

    function = StructuredFunction(map_fn, "Dataset.map()", dataset.element_spec)
    op = MapDataset(function.attribute, *function.flat, use_inter_op_parallelism=False)
    variant = op(dataset._variant_tensor, function.captured_inputs)
    return dataset.derived(variant, function.output_specs, function)


def _matching(file_pattern: PathLike | Sequence[PathLike]) -> list[str]:
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    found = sorted({name for pattern in patterns for name in glob(str(pattern))})
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found


def _selected(names: Sequence[str], columns: Sequence[str | int] | None) -> list[int]:
    """The numbers of the selected columns, ascending.

    Raises:
      ValueError: there is no such column, or one occurs twice.
    """
    if columns is None:
        return list(range(len(names)))
    found = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(
                    f"Value '{column}' specified in select_columns not a valid column "
                    "index or name."
                )
            found.append(names.index(column))
        else:
            if not 0 <= column < len(names):
                raise ValueError(
                    f"Column index {column} specified in select_columns out of valid "
                    "range."
                )
            found.append(column)
    if len(set(found)) != len(found):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(found)


class _Reader:
    """Reads CSV files while the graph is built.

    Args:
      names: of the files.
      delimiter: the character between two fields.
      quotes: whether quotes enclose fields.
      compression: "", None, "GZIP" or "ZLIB".
    """

    def __init__(
        self, names: list[str], delimiter: str, quotes: bool, compression: str | None
    ) -> None:
        self._names, self._compression = names, compression
        self._format: dict[str, Any] = {
            "delimiter": delimiter,
            "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        }

    def _rows(self, name: str) -> Iterator[list[str]]:
        if self._compression == "ZLIB":
            raise ValueError(
                "compression_type (ZLIB) is not supported for probing columns: give "
                "column_names and column_defaults"
            )
        if self._compression not in (None, "", "GZIP"):
            raise ValueError(f"compression_type ({self._compression}) is not supported")
        data = read_file(name)
        if self._compression == "GZIP":
            data = gzip.decompress(data)
        text = io.StringIO(data.decode("utf-8", "surrogateescape"), newline="")
        return csv.reader(text, **self._format)

    def column_names(self) -> list[str]:
        """The names in the header, which all files have."""
        found: list[str] | None = None
        for name in self._names:
            names = next(self._rows(name), None)
            if names is None:
                raise ValueError(
                    f"Received StopIteration when reading the header line of {name}.  "
                    "Empty file?"
                )
            if found is not None and names != found:
                raise ValueError("Files have different column names in the header row.")
            found = names
        return found or []

    def types(
        self,
        count: int,
        na_value: str,
        has_header: bool,
        limit: int | None,
        selected: Sequence[int],
    ) -> list[DType]:
        """The types of the selected columns.

        Raises:
          ValueError: a row has not `count` fields.
        """
        least = [-1] * len(selected)  # of `_TYPES`; -1 before the first value
        for row in islice(self._data_rows(has_header), limit):
            if len(row) != count:
                raise ValueError(
                    "Problem inferring types: CSV row has different number of fields "
                    "than expected."
                )
            for i, column in enumerate(selected):
                text = row[column]
                if text not in ("", na_value):
                    least[i] = _fitting(text, least[i])
        return [_TYPES[i][0] for i in least]

    def _data_rows(self, has_header: bool) -> Iterator[list[str]]:
        for name in self._names:
            yield from islice(self._rows(name), int(has_header), None)


def _is_integer(size: int) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            return bool(-(2 ** (size - 1)) <= int(text) < 2 ** (size - 1))
        except ValueError:
            return False

    return fits


def _is_float(most: Any) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            return bool(float(text) < float(most))  # not nan
        except ValueError:
            return False

    return fits


_TYPES: list[tuple[DType, Callable[[str], bool]]] = [
    (int32, _is_integer(32)),
    (int64, _is_integer(64)),
    (float32, _is_float(np.finfo(np.float32).max)),
    (float64, _is_float(np.finfo(np.float64).max)),
    (string, lambda text: True),
]


def _fitting(text: str, least: int) -> int:
    """The number of the first type, from `least` on, that a text fits."""
    return next(i for i in range(max(least, 0), len(_TYPES)) if _TYPES[i][1](text))


def _default(dtype: DType) -> Tensor:
    """What a column has where a value is missing."""
    return constant([""] if dtype is string else [0], dtype)
