"""Initializers that read a matrix of a checkpoint by another vocabulary.

Source: python/training/checkpoint_ops.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int64
from tfteach.framework.export import export
from tfteach.framework.graph import Tensor
from tfteach.framework.type_aliases import DTypeLike, PathLike, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.io.vocabulary_remapping import (
    GenerateVocabRemapping,
    LoadAndRemapMatrix,
)
from tfteach.ops.math.range import range as range_of
from tfteach.variables.initializers import TruncatedNormal, Zeros
from tfteach.variables.scope.store import PartitionInfo

Initializer = Callable[..., Any]


class Vocabularies(NamedTuple):
    """The old and the new vocabulary of an axis.

    Attributes:
      old: the file with a line for each row or column of the checkpoint's matrix; None
        together with `new` if the axis stays as it is.
      new: the file with a line for each of the variable's.
      old_size: how many lines of the old file to use; -1 for all.
    """

    old: Any = None
    new: Any = None
    old_size: int = -1

    def check(self, axis: str) -> None:
        """Raise ValueError if only one of the two is set."""
        if bool(self.old) != bool(self.new):
            raise ValueError(
                f"old_{axis}_vocab_file and new_{axis}_vocab_file must both be "
                f"specified or left unspecified. old_{axis}_vocab_file='{self.old}', "
                f"new_{axis}_vocab_file='{self.new}'"
            )

    def remapping(self, offset: int, count: int) -> tuple[Any, Any]:
        """The old position of each new one, and how many there are."""
        if not self.new:
            return range_of(offset, offset + count, dtype=int64), count
        assert self.old is not None
        op = GenerateVocabRemapping(offset, count, self.old_size)
        old, present = op(self.new, self.old)
        return old, present


@dataclass(frozen=True)
class RemappedMatrix:
    """A matrix of a checkpoint, as a variable with another vocabulary has it.

    It is an initializer: `RemappedMatrix(...)(shape)` is a Tensor of that shape.

    Attributes:
      path: the checkpoint.
      key: the matrix there.
      sizes: the number of new rows and columns, without those for unknown entries.
      rows, columns: their vocabularies.
      row_buckets, column_buckets: the number of rows and columns for unknown entries,
        which follow those of the vocabulary.
      initializer: makes the values that the checkpoint lacks.
      max_rows_in_memory: how many rows to read at once; all if it is not positive.

    Raises:
      TypeError: `initializer` cannot be called.
    """

    path: TensorLike | PathLike
    key: TensorLike
    sizes: tuple[int, int]
    rows: Vocabularies
    columns: Vocabularies
    row_buckets: int
    column_buckets: int
    initializer: Initializer
    max_rows_in_memory: int = -1

    def __post_init__(self) -> None:
        if not callable(self.initializer):
            raise TypeError(
                f"initializer must be callable, instead of being {self.initializer} of "
                f"type {type(self.initializer)}."
            )

    def __call__(
        self,
        shape: Sequence[int],
        dtype: DTypeLike = float32,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        if dtype != float32:
            raise TypeError(
                f"Currently, only float32 is supported. Received dtype: {dtype}"
            )
        shape = list(shape)
        self._check(shape)
        offset = partition_info.single_offset(shape) if partition_info else 0
        height, buckets = shape[0], self.row_buckets
        rest = self.sizes[0] + buckets - offset
        if height > rest:
            raise ValueError(
                f"Trying to initialize {height} additional rows after {offset} rows "
                "have already been initialized, which would exceed expected total row "
                f"count of new_row_vocab_size ({self.sizes[0]}) + num_row_oov_buckets "
                f"({buckets}) = {self.sizes[0] + buckets}."
            )
        unknown = min(height, max(0, offset + height - self.sizes[0]))
        if offset > self.sizes[0]:  # a part that has rows for unknown entries only
            return convert(self.initializer(shape))
        return self._loaded(offset, height - unknown, unknown)

    def _check(self, shape: list[int]) -> None:
        if len(shape) != 2:
            raise ValueError(f"Expected 2-dim shape, but received: {shape}")
        if shape[0] <= 0:
            raise ValueError(
                f"Expected 1st dim of shape to be > 0, but received shape: {shape}"
            )
        width = self.sizes[1] + self.column_buckets
        if shape[1] != width:
            raise ValueError(
                f"Expected 2nd dim of shape to be new_col_vocab_size ({self.sizes[1]}) "
                f"+ num_col_oov_buckets ({self.column_buckets}) = {width}, but "
                f"received shape: {shape}"
            )

    def _loaded(self, offset: int, height: int, row_buckets: int) -> Tensor:
        """Rows that follow the new vocabulary, and then those of unknown entries."""
        for axis, buckets in (("row", row_buckets), ("col", self.column_buckets)):
            if buckets < 0:
                raise ValueError(
                    f"num_{axis}_oov_buckets must be >= 0, but received {buckets}"
                )
        self.rows.check("row")
        self.columns.check("col")
        if not (self.rows.new or self.columns.new):
            raise ValueError(
                "Must provide either row or column vocab files. If no remapping is "
                "necessary, consider using `tf.contrib.framework.init_from_checkpoint` "
                "instead."
            )
        width = self.sizes[1]
        old_rows, rows_found = self.rows.remapping(offset, height)
        old_columns: Any = []
        columns_found: Any = width
        if self.columns.new:
            old_columns, columns_found = self.columns.remapping(0, width)
        missing = height * width - rows_found * columns_found
        kind = LoadAndRemapMatrix(height, width, self.max_rows_in_memory)
        fresh = self.initializer([missing, 1])
        path, key = self.path, self.key
        result = kind(path, key, old_rows, old_columns, fresh)
        if row_buckets:
            more = convert(self.initializer([row_buckets, width]))
            result = concat([result, more], 0)
        if self.column_buckets:
            more = convert(
                self.initializer([height + row_buckets, self.column_buckets])
            )
            result = concat([result, more], 1)
        return result


@export("contrib.framework.load_and_remap_matrix_initializer")
def load_and_remap_matrix_initializer(
    ckpt_path: PathLike,
    old_tensor_name: str,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: TensorLike | None = None,
    new_row_vocab_file: TensorLike | None = None,
    old_col_vocab_file: TensorLike | None = None,
    new_col_vocab_file: TensorLike | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> RemappedMatrix:
    """An initializer that reads a matrix of a checkpoint by another vocabulary.

    Row i of the variable is the checkpoint's row of the same word: line i of the new
    file, found by its text in the old one.  Columns are found alike.

    Args:
      ckpt_path: the checkpoint, of version 2.
      old_tensor_name: the matrix there, of float32.
      new_row_vocab_size, new_col_vocab_size: the variable's rows and columns, without
        those of unknown entries.
      old_row_vocab_size: how many lines of the old rows' file to use; -1 for all.
      old_row_vocab_file, new_row_vocab_file: the files, with a word on each line; None
        if the rows stay as they are.
      old_col_vocab_file, new_col_vocab_file: the same for columns.
      num_row_oov_buckets, num_col_oov_buckets: how many rows and columns for unknown
        entries follow.
      initializer: makes what the checkpoint lacks; None means zeros.
      max_rows_in_memory: how many rows of a partitioned matrix to read at once; all if
        it is not positive.

    Returns:
      An initializer for a variable [rows + buckets, columns + buckets], which may be
      partitioned along its rows.

    Raises:
      TypeError: `initializer` cannot be called.
      ValueError: when it is called: only one file of an axis, or none at all; the
        variable has another shape.

    Example:
      >>> init = tf.contrib.framework.load_and_remap_matrix_initializer(
      ...     "logs/model-7", "embedding", 2000, 64,
      ...     old_row_vocab_file="old.txt", new_row_vocab_file="new.txt")
      >>> embedding = tf.get_variable("embedding", [2000, 64], initializer=init)

    Source: python/training/checkpoint_ops.py.
    """
    return RemappedMatrix(
        ckpt_path,
        old_tensor_name,
        (new_row_vocab_size, new_col_vocab_size),
        Vocabularies(old_row_vocab_file, new_row_vocab_file, old_row_vocab_size),
        Vocabularies(old_col_vocab_file, new_col_vocab_file),
        num_row_oov_buckets,
        num_col_oov_buckets,
        Zeros() if initializer is None else initializer,
        max_rows_in_memory,
    )


@export("contrib.framework.load_embedding_initializer")
def load_embedding_initializer(
    ckpt_path: PathLike,
    embedding_tensor_name: str,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: TensorLike,
    new_vocab_file: TensorLike,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> RemappedMatrix:
    """`load_and_remap_matrix_initializer` of the rows of an embedding.

    Args:
      embedding_dim: the number of columns.
      initializer: None means normal numbers with deviation 1 / sqrt(embedding_dim).
      ckpt_path, embedding_tensor_name, new_vocab_size, old_vocab_file, new_vocab_file,
        old_vocab_size, num_oov_buckets, max_rows_in_memory: as there.

    Source: python/training/checkpoint_ops.py.
    """
    if initializer is None:
        initializer = TruncatedNormal(stddev=1.0 / math.sqrt(embedding_dim))
    return load_and_remap_matrix_initializer(
        ckpt_path,
        embedding_tensor_name,
        new_vocab_size,
        embedding_dim,
        old_vocab_size,
        old_vocab_file,
        new_vocab_file,
        num_row_oov_buckets=num_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


@export("contrib.framework.load_linear_multiclass_bias_initializer")
def load_linear_multiclass_bias_initializer(
    ckpt_path: PathLike,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: TensorLike,
    new_class_vocab_file: TensorLike,
    num_class_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> RemappedMatrix:
    """`load_and_remap_matrix_initializer` of biases [classes, 1].

    Args:
      ckpt_path, bias_tensor_name, new_class_vocab_size, old_class_vocab_file,
        new_class_vocab_file, num_class_oov_buckets, initializer, max_rows_in_memory:
        as there; the vocabulary is that of the rows.

    Source: contrib/framework/python/ops/checkpoint_ops.py.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path,
        bias_tensor_name,
        new_class_vocab_size,
        1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


@export("contrib.framework.load_variable_slot_initializer")
def load_variable_slot_initializer(
    ckpt_path: PathLike,
    old_tensor_name: str,
    primary_partition_info: PartitionInfo | None,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: TensorLike | None = None,
    new_row_vocab_file: TensorLike | None = None,
    old_col_vocab_file: TensorLike | None = None,
    new_col_vocab_file: TensorLike | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Tensor]:
    """`load_and_remap_matrix_initializer` of an optimizer's slot.

    A slot is created without its variable's partition, which is therefore an argument.

    Args:
      primary_partition_info: the `partition_info` that the initializer of the slot's
        variable was called with.
      ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size,
        old_row_vocab_file, new_row_vocab_file, old_col_vocab_file, new_col_vocab_file,
        num_row_oov_buckets, num_col_oov_buckets, initializer, max_rows_in_memory: as
        there.

    Source: contrib/framework/python/ops/checkpoint_ops.py.
    """
    matrix = load_and_remap_matrix_initializer(
        ckpt_path,
        old_tensor_name,
        new_row_vocab_size,
        new_col_vocab_size,
        -1,
        old_row_vocab_file,
        new_row_vocab_file,
        old_col_vocab_file,
        new_col_vocab_file,
        num_row_oov_buckets,
        num_col_oov_buckets,
        initializer,
        max_rows_in_memory,
    )

    def initialize(
        shape: Sequence[int],
        dtype: DTypeLike = float32,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        del partition_info  # the slot's own: it has none
        return matrix(shape, dtype, primary_partition_info)

    return initialize
