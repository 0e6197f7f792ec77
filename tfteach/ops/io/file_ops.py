"""Whole files as strings, and names of files by patterns.

Source: core/ops/io_ops.cc, core/kernels/whole_file_read_ops.cc, matching_files_op.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.pending_file import write_file as write_whole
from tfteach.framework.op import NoOutputOp, Op, StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    Gradient,
    KernelContext,
    TensorLike,
)
from tfteach.ops.text.byte_string_arrays import strings


def _path(filename: Array) -> str:
    if filename.ndim:
        raise invalid_argument(
            "Input filename tensor must be scalar, but had shape: "
            f"{shapes.text(filename.shape)}"
        )
    return file_system.resolve(filename.item())


class ReadFile(Op):
    """The content of a file.  Source: core/ops/io_ops.cc, ReadFile."""

    signature = "filename: string -> contents: string"
    on_gpu: ClassVar[bool] = False
    is_foldable: ClassVar[bool] = False  # the file may change between two runs
    uses_files: ClassVar[bool] = True

    def infer_shape(self, filename: Shape) -> Shape:
        shapes.with_rank(filename, 0)
        return ()

    def compute(self, xp: ArrayModule, filename: Array) -> Any:
        return strings([file_system.read_file(_path(filename))], ())

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None]


@export("read_file", "io.read_file")
def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The content of a file, a string scalar.

    Args:
      filename: a string scalar.
      name: the op's name.

    Raises:
      ValueError: `filename` is no scalar.
      tf.errors.NotFoundError: in a run, there is no such file.

    Example:
      >>> image = tf.image.decode_png(tf.read_file("digit.png"))

    Source: ReadFile in core/ops/io_ops.cc.
    """
    return ReadFile()(filename, name=name)


class WriteFile(StatefulOp, NoOutputOp):
    """Replace the content of a file.  Source: core/ops/io_ops.cc, WriteFile."""

    signature = "filename: string, contents: string ->"
    on_gpu: ClassVar[bool] = False
    uses_files: ClassVar[bool] = True

    def infer_shape(self, filename: Shape, contents: Shape) -> list[Shape]:
        shapes.with_rank(filename, 0)
        shapes.with_rank(contents, 0)
        return []

    def compute(
        self, ctx: KernelContext, filename: Array, contents: Array
    ) -> tuple[()]:
        path = _path(filename)
        if contents.ndim:
            raise invalid_argument(
                "Contents tensor must be scalar, but had shape: "
                f"{shapes.text(contents.shape)}"
            )
        folder = file_system.dirname(path)
        if folder and not file_system.exists(folder):
            file_system.makedirs(folder)
        write_whole(path, contents.item())
        return ()


@export("write_file", "io.write_file")
def write_file(
    filename: TensorLike, contents: TensorLike, name: str | None = None
) -> Operation:
    """An op that writes a string to a file, which is created or replaced.

    Directories that are missing are created.  Readers find the old file or the whole
    new one.

    Args:
      filename: a string scalar.
      contents: a string scalar.
      name: the op's name.

    Raises:
      ValueError: one of them is no scalar.
      tf.errors.OpError: in a run, the file cannot be written.

    Example:
      >>> image = tf.zeros([8, 8, 3], tf.uint8)
      >>> save = tf.write_file("black.png", tf.image.encode_png(image))

    Source: WriteFile in core/ops/io_ops.cc.
    """
    return WriteFile()(filename, contents, name=name)


class MatchingFiles(Op):
    """Files that match patterns.  Source: core/ops/io_ops.cc, MatchingFiles."""

    signature = "pattern: string -> filenames: string"
    on_gpu: ClassVar[bool] = False
    is_foldable: ClassVar[bool] = False  # files come and go
    uses_files: ClassVar[bool] = True

    def infer_shape(self, pattern: Shape) -> Shape:
        if pattern is not None and len(pattern) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(pattern)}")
        return (None,)

    def compute(self, xp: ArrayModule, pattern: Array) -> Any:
        if pattern.ndim > 1:
            raise invalid_argument(
                "Input patterns tensor must be scalar or vector, but had shape: "
                f"{shapes.text(pattern.shape)}"
            )
        patterns = [file_system.resolve(one) for one in pattern.reshape(-1)]
        found = [name for one in patterns for name in file_system.glob(one)]
        return strings([name.encode() for name in sorted(found)], (len(found),))

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None]


@export("matching_files", "io.matching_files")
def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that match patterns, a sorted vector of strings.

    Args:
      pattern: a string scalar or vector, with `*`, `?` and `[...]` in file names.
      name: the op's name.

    Raises:
      ValueError: `pattern` has a higher rank.

    Example:
      >>> names = tf.matching_files("data/*.tfrecord")

    Source: MatchingFiles in core/ops/io_ops.cc.
    """
    return MatchingFiles()(pattern, name=name)
