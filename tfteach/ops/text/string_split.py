"""Strings split into parts, and joined along axes.

Source: core/ops/string_ops.cc; python/ops/string_ops.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import dtypes_of, int32, string
from tfteach.framework.errors import OutOfRangeError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.core import shape_ops
from tfteach.ops.core.constant import constant
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_ops import axes_of
from tfteach.ops.text.byte_string_arrays import strings
from tfteach.ops.text.string_ops import TextOp

# ---- split


def sparse_rows(rows: list[list[bytes]]) -> tuple[Any, Any, Any]:
    """Lists of different lengths as the three components of a sparse matrix."""
    indices = [(r, c) for r, row in enumerate(rows) for c in range(len(row))]
    values = [value for row in rows for value in row]
    width = max(map(len, rows), default=0)
    return (
        np.array(indices, np.int64).reshape(len(indices), 2),
        strings(values, (len(values),)),
        np.array([len(rows), width], np.int64),
    )


class SplitOp(TextOp, MultiOutputOp, abstract=True):
    """Parts of strings as rows of a sparse matrix."""

    def infer_shape(self, input: Shape, separator: Shape) -> list[Shape]:
        shapes.with_rank(input, 1)
        shapes.with_rank(separator, 0)
        return [(None, 2), (None,), (2,)]

    def scalar(self, what: str, value: Any) -> bytes:
        found: bytes = np.asarray(value, object).item()
        return found


class StringSplit(SplitOp):
    """Strings split at any of some characters.  Source: string_ops.cc, StringSplit."""

    signature = (
        "input: string, delimiter: string -> indices: int64, values: string, "
        "shape: int64"
    )
    skip_empty: bool = True

    def check_shapes(self, input: tuple[int, ...], delimiter: tuple[int, ...]) -> None:
        require_vector(input, "input must be a vector, got shape: %s")
        require_scalar(delimiter, "delimiter must be a scalar, got shape: %s")

    def compute(self, xp: ArrayModule, input: Array, delimiter: Array) -> Any:
        characters = self.scalar("delimiter", delimiter)
        return sparse_rows([self._parts(value, characters) for value in input])

    def _parts(self, value: bytes, characters: bytes) -> list[bytes]:
        if not characters:
            return [value[i : i + 1] for i in range(len(value))]
        one = characters[:1]
        for other in characters[1:]:
            value = value.replace(bytes([other]), one)
        parts = value.split(one) if value else []
        return [part for part in parts if part or not self.skip_empty]


class StringSplitV2(SplitOp):
    """Strings split as by Python's `split`.  Source: string_ops.cc, StringSplitV2."""

    signature = (
        "input: string, sep: string -> indices: int64, values: string, shape: int64"
    )
    maxsplit: int = -1

    def check_shapes(self, input: tuple[int, ...], sep: tuple[int, ...]) -> None:
        require_vector(input, "input must be a vector, got shape: %s")
        require_scalar(sep, "sep must be a scalar, got shape: %s")

    def compute(self, xp: ArrayModule, input: Array, sep: Array) -> Any:
        separator = self.scalar("sep", sep)
        return sparse_rows([self._parts(value, separator) for value in input])

    def _parts(self, value: bytes, separator: bytes) -> list[bytes]:
        if separator or self.maxsplit < 0:
            return value.split(separator or None, self.maxsplit)
        if self.maxsplit == 0:
            return [value]
        # TF appends the text after the last split even if it is empty.
        parts = value.split(None, self.maxsplit)
        return [*parts, b""] if len(parts) == self.maxsplit else parts


def _sparse(parts: list[Tensor]) -> SparseTensor:
    indices, values, shape = parts
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def _only_sparse(result_type: Any) -> None:
    if result_type == "RaggedTensor":
        raise NotImplementedError(
            "result_type='RaggedTensor' is not implemented: use 'SparseTensor'"
        )
    if result_type != "SparseTensor":
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


@export("string_split")
def string_split(
    source: TensorLike,
    sep: TensorLike | None = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> SparseTensor:
    """Each string of a vector split at any of the characters of `sep`.

    Args:
      source: string Tensor [n].
      sep: a str or scalar string Tensor; " " if None; if empty, split into bytes.
      skip_empty: omit empty parts.
      delimiter: older name of `sep`.
      result_type: "SparseTensor".
      name: the op's name.

    Returns:
      A string SparseTensor [n, most parts], row i of which holds the parts of string i.

    Raises:
      ValueError: `source` is not a vector; both `sep` and `delimiter` are given.
      NotImplementedError: `result_type` is "RaggedTensor".

    Example:
      >>> tf.string_split(["hello world", "a b c"]).values
      >>> # [b"hello", b"world", b"a", b"b", b"c"]

    Source: StringSplit in core/ops/string_ops.cc.
    """
    sep = deprecated_argument_lookup("sep", sep, "delimiter", delimiter)
    with name_scope(name, "StringSplit", [source]):
        sep = convert(" " if sep is None else sep, string)
        source = convert(source, string)
        _only_sparse(result_type)
        return _sparse(StringSplit(skip_empty)(source, sep))


@export("strings.split")
def strings_split(
    input: TensorLike | None = None,
    sep: TensorLike | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: TensorLike | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Each string of a vector split as by Python's `str.split`.

    Args:
      input: string Tensor [n].
      sep: a str or scalar string Tensor; runs of white space if None or empty.
      maxsplit: the maximum number of splits per string; -1: unlimited.
      result_type: "SparseTensor".
      source: older name of `input`.
      name: the op's name.

    Returns:
      A string SparseTensor [n, most parts].

    Raises:
      ValueError: `input` is not a vector.
      NotImplementedError: `result_type` is "RaggedTensor".

    Example:
      >>> tf.strings.split(["a,b,,c"], ",").values  # [b"a", b"b", b"", b"c"]

    Source: StringSplitV2 in core/ops/string_ops.cc.
    """
    _only_sparse(result_type)
    input = deprecated_argument_lookup("input", input, "source", source)
    with name_scope(name, "StringSplit", [input]):
        input = convert(input, string, "input")
        sep = convert("" if sep is None else sep, string)
        return _sparse(StringSplitV2(maxsplit)(input, sep))


# ---- joins along axes


class ReduceJoin(TextOp):
    """Strings joined along axes.  Source: string_ops.cc, ReduceJoin."""

    signature = "inputs: string, reduction_indices: int32 -> output: string"
    keep_dims: bool = False
    separator: str = ""
    by_value: ClassVar[tuple[str, ...]] = ("reduction_indices",)

    def infer_shape(self, inputs: Shape, reduction_indices: Any) -> Shape:
        if inputs is None:
            return None
        if reduction_indices is None:
            return (None,) * len(inputs) if self.keep_dims else None
        axes = axes_of(reduction_indices, len(inputs))
        if self.keep_dims:
            return tuple(1 if i in axes else n for i, n in enumerate(inputs))
        return tuple(n for i, n in enumerate(inputs) if i not in axes)

    def compute(self, xp: ArrayModule, inputs: Array, reduction_indices: Array) -> Any:
        inputs = np.asarray(inputs, object)
        listed = np.ravel(reduction_indices).tolist()
        for i, axis in enumerate(listed):
            if not -inputs.ndim <= axis < inputs.ndim:
                raise OutOfRangeError(
                    None,
                    None,
                    f"Invalid reduction dimension {axis} for input with "
                    f"{inputs.ndim} dimension(s)",
                )
            if axis % inputs.ndim in [a % inputs.ndim for a in listed[:i]]:
                raise invalid_argument(f"Duplicate reduction dimension {axis}")
        axes = [axis % inputs.ndim for axis in listed]
        rest = [i for i in range(inputs.ndim) if i not in axes]
        # Joined in the order listed.
        ordered = inputs.transpose(rest + axes[::-1])
        shape = ordered.shape[: len(rest)]
        length = math.prod(ordered.shape[len(rest) :])
        rows = ordered.reshape(math.prod(shape), length)
        between = self.separator.encode()
        joined = strings([between.join(row) for row in rows], shape)
        return np.expand_dims(joined, tuple(sorted(axes))) if self.keep_dims else joined


@export("reduce_join", "strings.reduce_join")
def reduce_join(
    inputs: TensorLike,
    axis: TensorLike | None = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Strings joined along axes, in the order in which the axes are listed.

    Args:
      inputs: a string Tensor.
      axis: the axis or axes, negative from the end; all if None.
      keep_dims: older name of `keepdims`.
      separator: the string between two parts.
      name: the op's name.
      reduction_indices: older name of `axis`.
      keepdims: keep the joined axes with size 1.

    Returns:
      A string Tensor without the joined axes.

    Raises:
      ValueError: an axis is out of range.

    Example:
      >>> tf.reduce_join([["a", "b"], ["c", "d"]], 0)  # [b"ac", b"bd"]

    Source: ReduceJoin in core/ops/string_ops.cc.
    """
    axis, keepdims = (
        deprecated_argument_lookup(
            "axis", axis, "reduction_indices", reduction_indices
        ),
        deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims),
    )
    op = ReduceJoin(keepdims, separator)
    with name_scope(None, "ReduceJoin", [inputs]):
        inputs = convert(inputs)
        if axis is None:
            axis = _all_axes(inputs)
        return op(inputs, axis, name=name)


def _all_axes(inputs: Tensor) -> Tensor:
    """All axes, the last first, so that elements are joined in row-major order."""
    rank = inputs.shape.ndims
    if rank is not None:
        return constant(np.arange(rank - 1, -1, -1, dtype=np.int32))
    axes: Tensor = range_of(shape_ops.rank(inputs) - 1, -1, -1)
    return axes


class UnsortedSegmentJoin(TextOp):
    """Strings joined by segment.  Source: string_ops.cc, UnsortedSegmentJoin."""

    signature = (
        "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments "
        "-> output: string"
    )
    separator: str = ""
    Tindices = dtypes_of("int32 int64")
    Tnumsegments = dtypes_of("int32 int64")
    Tnumsegments_default = int32
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"num_segments": 0}
    by_value: ClassVar[tuple[str, ...]] = ("num_segments",)

    def infer_shape(
        self, inputs: Shape, segment_ids: Shape, num_segments: Any
    ) -> Shape:
        if inputs is None or segment_ids is None:
            return None
        shapes.merge(inputs[: len(segment_ids)], segment_ids)
        count = None if num_segments is None else int(num_segments)
        return (count, *inputs[len(segment_ids) :])

    def check_shapes(
        self,
        inputs: tuple[int, ...],
        segment_ids: tuple[int, ...],
        num_segments: tuple[int, ...],
    ) -> None:
        require_scalar(num_segments, "Number of segments should be a scalar, got %s")
        require(segment_ids, "Segment_id cannot have rank 0")
        rank = len(segment_ids)
        if rank > len(inputs):
            message = f"Invalid segment_id rank {rank} for input with {len(inputs)} "
            raise OutOfRangeError(None, None, message + "dimension(s)")
        for i, (own, wanted) in enumerate(zip(segment_ids, inputs, strict=False)):
            message = (
                f"Segment dimension is {own} while input dimension is {wanted} in "
            )
            require(own == wanted, message + f"rank {i}")

    def compute(
        self, xp: ArrayModule, inputs: Array, segment_ids: Array, num_segments: Array
    ) -> Any:
        inputs, ids = np.asarray(inputs, object), np.asarray(segment_ids)
        rest = inputs.shape[ids.ndim :]
        rows = inputs.reshape(ids.size, int(np.prod(rest)))
        count = int(num_segments)
        for place, segment in self._out_of(ids, count):
            raise invalid_argument(
                "segment_ids are not allowed to exceed num_segments or to have "
                f"negative values. segment_ids[{place}] is {segment}, num_segments "
                f"{count}"
            )
        members = [rows[ids.ravel() == segment] for segment in range(count)]
        between = self.separator.encode()
        joined = [between.join(m[:, c]) for m in members for c in range(rows.shape[1])]
        return strings(joined, (count, *rest))

    @staticmethod
    def _out_of(ids: Any, count: int) -> Iterator[tuple[Any, Any]]:
        for place, segment in np.ndenumerate(ids):
            if not 0 <= segment < count:
                yield ",".join(map(str, place)), segment


@export("strings.unsorted_segment_join")
def unsorted_segment_join(
    inputs: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """The strings of each segment, joined.

    Args:
      inputs: a string Tensor.
      segment_ids: int32 or int64 Tensor, with the first dimensions of `inputs`; strings
        with negative ids are dropped.
      num_segments: the number of segments.
      separator: the string between two parts.
      name: the op's name.

    Returns:
      A string Tensor `[num_segments, ...]`.

    Raises:
      tf.errors.InvalidArgumentError: in a run, an id is `num_segments` or more.

    Example:
      >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2)
      >>> # [b"b", b"ac"]

    Source: UnsortedSegmentJoin in core/ops/string_ops.cc.
    """
    op = UnsortedSegmentJoin(separator)
    return op(inputs, segment_ids, num_segments, name=name)
