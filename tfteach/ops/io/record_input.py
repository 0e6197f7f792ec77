"""`tf.contrib.framework.RecordInput`: records of shuffled files, without queues.

Source: python/ops/data_flow_ops.py, RecordInput (API and names of nodes).
"""

from __future__ import annotations

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.array.concat_split import split
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.io import record_input_op

# By `tf.python_io.TFRecordCompressionType`.
_COMPRESSIONS = ("", "ZLIB", "GZIP")


@export("contrib.framework.RecordInput")
class RecordInput:
    """Reads records of TFRecord files in random order, epoch after epoch.

    Each epoch returns each record once.  The order follows from `seed`, but is not
    TensorFlow's, whose threads compete for places in the buffer.

    Args:
      file_pattern: the files, with `*`, `?` and `[...]`; several divided by commas.
      batch_size: the number of records in a batch.
      buffer_size: the number of records to choose the next one from.
      parallelism: the number of files read at a time.
      shift_ratio: by which part of the list of files, in [0, 1], each epoch shifts it.
      seed: of the order.
      name: the ops' name.
      batches: the number of batches that one run returns; None for a single one.
      compression_type: of `tf.python_io.TFRecordCompressionType`; None for files that
        are not compressed.

    Example:
      >>> records = tf.contrib.framework.RecordInput("train-*.tfrecord", batch_size=8)
      >>> examples = tf.parse_example(
      ...     records.get_yield_op(), {"x": tf.FixedLenFeature([], tf.float32)})

    Source: RecordInput in core/ops/data_flow_ops.cc.
    """

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: int | None = None,
    ) -> None:
        self._batches, self._name = batches, name
        self._op = record_input_op.RecordInput(
            file_pattern,
            file_random_seed=seed,
            file_shuffle_shift_ratio=shift_ratio,
            file_buffer_size=buffer_size,
            file_parallelism=parallelism,
            batch_size=batch_size * (batches or 1),
            compression_type=_COMPRESSIONS[compression_type or 0],
        )

    def get_yield_op(self) -> Tensor | list[list[Tensor]]:
        """A Tensor of strings, the records of one batch: `[batch_size]`.

        Returns:
          With `batches`, a list with a list of scalars, the records, for each batch.

        Raises:
          tf.errors.NotFoundError: in a run, no file matches.
          tf.errors.DataLossError: in a run, a file is damaged.
          tf.errors.InvalidArgumentError: in a run, a size is not positive.
          tf.errors.OutOfRangeError: in a run, the files have no record.
        """
        records = self._op(name=self._name)
        if self._batches is None:
            return records
        with name_scope(self._name):
            scalars = [
                reshape(part, [])
                for part in split(records, self._op.batch_size, axis=0)
            ]
            return [scalars[i :: self._batches] for i in range(self._batches)]
