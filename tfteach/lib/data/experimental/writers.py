"""`tf.data.experimental.TFRecordWriter`.

Source: python/data/experimental/ops/writers.py.
"""

from __future__ import annotations

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.operation import Operation
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data.base import DatasetBase
from tfteach.ops.core.constant import constant
from tfteach.ops.data.writing import DatasetToTFRecord


@export("data.experimental.TFRecordWriter", "contrib.data.TFRecordWriter")
class TFRecordWriter:
    """Writes a dataset to a TFRecord file.

    Args:
      filename: a string scalar.
      compression_type: "", "GZIP" or "ZLIB".

    Example:
      >>> strings = tf.data.Dataset.range(3).map(tf.as_string)
      >>> write = tf.data.experimental.TFRecordWriter("numbers").write(strings)
    """

    def __init__(
        self, filename: TensorLike, compression_type: TensorLike | None = None
    ) -> None:
        self._filename = convert(filename, string, "filename")
        if compression_type is None:
            kind = constant("", string, name="compression_type")
        else:
            kind = convert(compression_type, string, "compression_type")
        self._compression_type = kind

    def write(self, dataset: DatasetBase) -> Operation:
        """An Operation that writes all elements.

        Args:
          dataset: of string scalars.

        Raises:
          TypeError: it is no dataset, or has other elements.
        """
        if not isinstance(dataset, DatasetBase):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        types, shapes = dataset.output_types, dataset.output_shapes
        if types is not string or shapes.ndims not in (None, 0):
            raise TypeError(
                "`dataset` must produce scalar `DT_STRING` tensors whereas it produces "
                f"shape {shapes} and types {types}"
            )
        return DatasetToTFRecord()(
            dataset._variant_tensor, self._filename, self._compression_type
        )
