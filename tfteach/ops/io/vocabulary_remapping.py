"""Matrices of a checkpoint whose rows and columns follow another vocabulary.

Source: core/ops/checkpoint_ops.cc, core/kernels/generate_vocab_remapping_op.cc,
load_and_remap_matrix_op.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import c_name, float32, int64, string
from tfteach.framework.errors import (
    InternalError,
    InvalidArgumentError,
    UnimplementedError,
    invalid_argument,
)
from tfteach.framework.files.tensor_bundle import BundleReader, read_bundle
from tfteach.framework.files.tensor_slice import FULL, SliceSpec, TensorSlice
from tfteach.framework.op import MultiOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, KernelContext
from tfteach.ops.state.lookup_tables import Table
from tfteach.ops.state.vocabulary_files import vocabulary_lines

MISSING = -1


class GenerateVocabRemapping(MultiOutputOp):
    """The row in an old vocabulary of each entry of a new one; -1 where it has none.

    Source: core/ops/checkpoint_ops.cc, GenerateVocabRemapping.
    """

    signature = (
        "new_vocab_file: string, old_vocab_file: string -> "
        "remapping: int64, num_present: int32"
    )
    new_vocab_offset: int
    num_new_vocab: int
    old_vocab_size: int = -1

    on_gpu: ClassVar[bool] = False
    uses_files: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False  # the files may change between two runs
    minimum: ClassVar[dict[str, int]] = {
        "new_vocab_offset": 0, "num_new_vocab": 0, "old_vocab_size": -1,
    }  # fmt: skip

    def infer_shape(self, new_vocab_file: Shape, old_vocab_file: Shape) -> list[Shape]:
        shapes.with_rank(new_vocab_file, 0)
        shapes.with_rank(old_vocab_file, 0)
        return [(self.num_new_vocab,), ()]

    def compute(
        self, xp: ArrayModule, new_vocab_file: Array, old_vocab_file: Array
    ) -> tuple[Any, ...]:
        new = vocabulary_lines(_path("new", new_vocab_file))
        if len(new) < self.new_vocab_offset + self.num_new_vocab:
            raise invalid_argument(
                "lookup table size must be larger than last new vocab entry's line: "
                f"the new vocabulary has {len(new)} lines, and lines "
                f"{self.new_vocab_offset} to "
                f"{self.new_vocab_offset + self.num_new_vocab} are wanted"
            )
        table = Table(string, int64, is_mutable=False)
        old = vocabulary_lines(_path("old", old_vocab_file), self.old_vocab_size)
        table.fill(np.array(old, object), np.arange(len(old)))
        wanted = new[self.new_vocab_offset :][: self.num_new_vocab]
        found = table.find(np.array(wanted, object), np.int64(MISSING))
        return found, np.int32(np.count_nonzero(found != MISSING))

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None, None]


def _path(which: str, name: Array) -> str:
    if name.shape:
        raise invalid_argument(
            f"{which}_vocab_file should be a single string, but got "
            f"{shapes.text(name.shape)}"
        )
    found: str = name.item().decode()
    if not found:  # TensorFlow says "new" of both
        raise invalid_argument(f"{which} vocab filename cannot be empty.")
    return found


class LoadAndRemapMatrix(StatefulOp):
    """A matrix of a checkpoint with its rows and columns in a new order.

    Those that the checkpoint lacks are filled from `initializing_values`, row by row.
    Source: core/ops/checkpoint_ops.cc, LoadAndRemapMatrix.
    """

    signature = (
        "ckpt_path: string, old_tensor_name: string, row_remapping: int64, "
        "col_remapping: int64, initializing_values: float -> output_matrix: float"
    )
    num_rows: int
    num_cols: int
    max_rows_in_memory: int = -1

    on_gpu: ClassVar[bool] = False
    uses_files: ClassVar[bool] = True
    minimum: ClassVar[dict[str, int]] = {"num_rows": 0, "num_cols": 1}

    def infer_shape(
        self,
        ckpt_path: Shape,
        old_tensor_name: Shape,
        row_remapping: Shape,
        col_remapping: Shape,
        initializing_values: Shape,
    ) -> Shape:
        return (self.num_rows, self.num_cols)

    def compute(
        self,
        ctx: KernelContext,
        ckpt_path: Array,
        old_tensor_name: Array,
        row_remapping: Array,
        col_remapping: Array,
        initializing_values: Array,
    ) -> Any:
        for what, array in (
            ("row_remapping", row_remapping),
            ("col_remapping", col_remapping),
        ):
            if array.ndim != 1:
                raise invalid_argument(
                    f"{what} must be a vector, got shape {shapes.text(array.shape)}"
                )
        if len(row_remapping) != self.num_rows:
            raise invalid_argument(
                f"Size of row_remapping is {len(row_remapping)} instead of being equal "
                f"to num_rows={self.num_rows}"
            )
        columns = col_remapping if col_remapping.size else np.arange(self.num_cols)
        if len(columns) != self.num_cols:
            raise invalid_argument(
                f"Provided col_remapping, but its size is {len(columns)} instead of "
                f"being equal to num_cols={self.num_cols}"
            )
        _require_distinct(row_remapping)
        _require_distinct(columns)
        name = _single("old_tensor_name", old_tensor_name)
        result = np.zeros((self.num_rows, self.num_cols), np.float32)

        def read(reader: BundleReader) -> None:
            width = self._checked_shape(reader, name, not col_remapping.size)[1]
            if columns.size and columns.max() >= width:
                raise invalid_argument(
                    f"Column {columns.max()} of col_remapping is not in tensor {name}, "
                    f"which has {width}"
                )
            self._load(reader, name, row_remapping, columns, result)

        read_bundle(_single("ckpt_path", ckpt_path), read)
        missing = (row_remapping < 0)[:, None] | (columns < 0)
        _fill(result, missing, initializing_values.reshape(-1))
        return result

    def _checked_shape(
        self, reader: BundleReader, name: str, has_all_columns: bool
    ) -> tuple[int, ...]:
        found = reader.dtype_of(name)
        if found is not float32:
            raise invalid_argument(
                f"Tensor {name} has invalid type {c_name(found)} instead of expected "
                "type float"
            )
        shape = reader.types_and_shapes()[name][1]
        if len(shape) != 2:
            raise invalid_argument(
                f"Tensor {name} has shape {shapes.text(shape)} of invalid rank "
                f"{len(shape)} instead of expected shape of rank 2."
            )
        if has_all_columns and shape[1] != self.num_cols:
            raise invalid_argument(
                f"Tensor {name} has shape {shapes.text(shape)}, where the size of its "
                f"2nd dimension is {shape[1]} instead of being equal to "
                f"num_cols={self.num_cols}"
            )
        return shape

    def _load(
        self, reader: BundleReader, name: str, rows: Array, columns: Array, result: Any
    ) -> None:
        """Copy what the checkpoint has, a part of its rows at a time."""
        shape = reader.types_and_shapes()[name][1]
        present = rows[rows >= 0]
        if not present.size:
            return
        first, last = int(present.min()), int(present.max())
        count = last + 1 - first
        # A tensor that is not partitioned is read as a whole, to compare its checksum.
        if 0 < self.max_rows_in_memory < count and reader.count_slices(name):
            count = self.max_rows_in_memory
        targets = np.flatnonzero(columns >= 0)
        for start in range(first, last + 1, count):
            size = min(count, last + 1 - start)
            part = TensorSlice(((start, size), (0, FULL)))
            try:
                loaded = reader.read_slice(name, SliceSpec(shape, part))
            except InvalidArgumentError as error:
                raise InternalError(None, None, error.message) from None
            here = np.flatnonzero((rows >= start) & (rows < start + size))
            picked = loaded[rows[here] - start][:, columns[targets]]
            result[np.ix_(here, targets)] = picked

    def gradient(self, op: Operation, grad: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


def _single(what: str, array: Array) -> str:
    if array.size != 1:
        raise invalid_argument(
            f"{what} must have one element, got shape {shapes.text(array.shape)}"
        )
    found: str = array.reshape(-1)[0].decode()
    return found


def _require_distinct(remapping: Array) -> None:
    """Raise if a row or column would stand at two places."""
    seen: dict[int, int] = {}
    for new, old in enumerate(remapping.tolist()):
        if old < 0:
            continue
        if old in seen:
            raise UnimplementedError(
                None,
                None,
                f"Old ID {old} is mapped to both new ID {seen[old]} and {new}, which "
                "is not supported.",
            )
        seen[old] = new


def _fill(result: Array, missing: Array, values: Array) -> None:
    """Write the values to where they are missing, all of which must be used."""
    count = int(np.count_nonzero(missing))
    if count > values.size:
        raise invalid_argument(
            f"initializing_values contained {values.size} elements, but more missing "
            f"values remain: {count} are needed"
        )
    if count < values.size:
        raise invalid_argument(
            f"initializing_values contained {values.size} elements, but only {count} "
            "elements were used to fill in missing values."
        )
    result[missing] = values
