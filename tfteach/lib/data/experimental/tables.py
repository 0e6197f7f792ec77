"""Datasets of the rows of CSV files and of SQL queries.

Source: python/data/experimental/ops/readers.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tfteach.framework.convert import convert, convert_n_to_tensor
from tfteach.framework.dtypes import (
    DType,
    as_dtype,
    bool_,
    dtypes_of,
    int64,
    string,
)
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import (
    DTypeLike,
    Nested,
    TensorLike,
)
from tfteach.lib.data import structures
from tfteach.lib.data.base import int64_tensor
from tfteach.lib.data.dataset import Dataset
from tfteach.ops.core.constant import constant
from tfteach.ops.data.tables import CSVDataset
from tfteach.ops.data.tables import SqlDataset as SqlDatasetOp

_COLUMN_TYPES = dtypes_of("float32 float64 int32 int64 string")
_BUFFER_BYTES = 256 * 1024


@export(
    "data.experimental.CsvDataset",
    "contrib.data.CsvDataset",
    v2="data.experimental.CsvDataset",
)
class CsvDataset(Dataset):
    """The rows of CSV files, as tuples of scalars.

    Args:
      filenames: a string or a vector of strings.
      record_defaults: for each column its type, if a value is required, or a default.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size: the number of bytes to read at a time.
      header: whether to omit each file's first line.
      field_delim: the character between two fields.
      use_quote_delim: whether quotes enclose fields.
      na_value: another text, beside "", of a missing value.
      select_cols: the numbers of the columns to read, ascending; all if None.

    Raises:
      tf.errors.InvalidArgumentError: in a run, a row has other fields.

    Source: python/data/experimental/ops/readers.py.
    """

    type_name: ClassVar[str] = "CsvDatasetV1"

    def __init__(
        self,
        filenames: TensorLike,
        record_defaults: Sequence[TensorLike | DTypeLike],
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        header: TensorLike = False,
        field_delim: TensorLike = ",",
        use_quote_delim: TensorLike = True,
        na_value: TensorLike = "",
        select_cols: Sequence[int] | None = None,
    ) -> None:
        names = convert(filenames, string, "filenames")
        if compression_type is None:
            kind = constant("", string, name="compression_type")
        else:
            kind = convert(compression_type, string, "compression_type")
        defaults = convert_n_to_tensor(
            [record_default(value) for value in record_defaults], name="record_defaults"
        )
        if buffer_size is None:
            size = constant(_BUFFER_BYTES, int64, name="buffer_size")
        else:
            size = int64_tensor(buffer_size, "buffer_size")
        inputs = (
            convert(header, bool_, "header"),
            convert(field_delim, string, "field_delim"),
            convert(use_quote_delim, bool_, "use_quote_delim"),
            convert(na_value, string, "na_value"),
        )
        if select_cols is None:
            columns = constant([], int64, name="select_cols")
        else:
            columns = convert(select_cols, int64, "select_cols")
        specs = tuple(TensorSpec([], tensor.dtype) for tensor in defaults)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        op = CSVDataset(types, shapes)
        super().__init__(op(names, kind, size, *inputs, columns, defaults), specs)


def record_default(value: TensorLike | DTypeLike) -> TensorLike:
    """A default of a column; an empty tensor for the type of a required value."""
    if not isinstance(value, Tensor):
        try:
            found = as_dtype(value)  # or it is a default
        except TypeError:
            return value  # type: ignore[return-value]
        if isinstance(value, DType | type) and found in _COLUMN_TYPES:
            return constant([], found)
    return value  # type: ignore[return-value]


@export(
    "data.experimental.SqlDataset",
    "contrib.data.SqlDataset",
    v2="data.experimental.SqlDataset",
)
class SqlDataset(Dataset):
    """The rows that a query of a database returns.

    Args:
      driver_name: "sqlite".
      data_source_name: the database's file.
      query: an SQL statement.
      output_types: a tuple of the columns' types.

    Raises:
      tf.errors.InvalidArgumentError: in a run, the query fails, or has other
        columns.

    Source: python/data/experimental/ops/readers.py.
    """

    type_name: ClassVar[str] = "SqlDatasetV1"

    def __init__(
        self,
        driver_name: TensorLike,
        data_source_name: TensorLike,
        query: TensorLike,
        output_types: Nested[DTypeLike],
    ) -> None:
        driver = convert(driver_name, string, "driver_name")
        source = convert(data_source_name, string, "data_source_name")
        text = convert(query, string, "query")
        specs = structures.mapped(lambda dtype: TensorSpec([], dtype), output_types)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        super().__init__(SqlDatasetOp(types, shapes)(driver, source, text), specs)
