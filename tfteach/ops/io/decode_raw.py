"""Strings as the bytes of numbers, and compressed strings.

Source: core/ops/parsing_ops.cc, core/kernels/decode_raw_op.cc, decode_padded_raw_op.cc,
decode_compressed_op.cc.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import DType, c_name, dtypes_of
from tfteach.framework.errors import DataLossError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.files.compression import GZIP_WINDOW, ZLIB_WINDOW
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, DTypeLike, TensorLike
from tfteach.ops.text.byte_string_arrays import each
from tfteach.ops.text.string_ops import TextOp


def _numbers(
    parts: list[bytes], dtype: DType, little_endian: bool, shape: tuple[int, ...]
) -> Any:
    """The bytes of several strings as an array of numbers."""
    found = np.frombuffer(b"".join(parts), np.uint8)
    if not little_endian:  # the parts of a complex number change places, too
        found = found.reshape(-1, dtype.size)[:, ::-1].reshape(-1)
    little = dtype.numpy_dtype.newbyteorder("<")
    return found.copy().view(little).astype(dtype.numpy_dtype).reshape(shape)


class DecodeRaw(TextOp):
    """Bytes as numbers.  Source: core/ops/parsing_ops.cc, DecodeRaw."""

    signature = "bytes: string -> output: out_type"
    out_type_allowed = dtypes_of(
        "float16 float32 float64 int32 uint16 uint8 int16 int8 int64 complex64 "
        "complex128 bool"
    )
    out_type: DType
    little_endian: bool = True

    def infer_shape(self, bytes: Shape) -> Shape:
        return None if bytes is None else (*bytes, None)

    def compute(self, xp: ArrayModule, bytes: Array) -> Any:
        parts = bytes.reshape(-1).tolist()
        length = len(parts[0]) if parts else 0
        for i, part in enumerate(parts):
            if len(part) != length:
                raise invalid_argument(
                    "DecodeRaw requires input strings to all be the same size, but "
                    f"element {i} has size {length} != {len(part)}"
                )
        size = self.out_type.size
        if length % size:
            raise invalid_argument(
                f"Input to DecodeRaw has length {length} that is not a multiple of "
                f"{size}, the size of {c_name(self.out_type)}"
            )
        shape = (*bytes.shape, length // size)
        return _numbers(parts, self.out_type, self.little_endian, shape)


@export("decode_raw", "io.decode_raw")
def decode_raw(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: TensorLike | None = None,
) -> Tensor:
    """Strings as the bytes of numbers, of the strings' shape and one more axis.

    Args:
      input_bytes: a string Tensor; all of its elements have the same length.
      out_type: float16, float32, float64, int8 to int64, uint8, uint16, complex64,
        complex128 or bool.
      little_endian: whether the least significant byte comes first.
      name: the op's name.
      bytes: the old name of `input_bytes`.

    Raises:
      ValueError: there are no bytes, twice some, or no type.
      tf.errors.InvalidArgumentError: in a run, the lengths differ or are no multiple of
        the type's size.

    Example:
      >>> pixels = tf.decode_raw(tf.read_file("digit.bin"), tf.uint8)

    Source: DecodeRaw in core/ops/parsing_ops.cc.
    """
    given = deprecated_argument_lookup("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    op: Any = DecodeRaw
    found: Tensor = op(out_type, little_endian)(given, name=name)
    return found


class DecodePaddedRaw(TextOp):
    """Bytes as numbers, cut or filled with zeros to one length.

    Source: core/ops/parsing_ops.cc, DecodePaddedRaw.
    """

    signature = "input_bytes: string, fixed_length: int32 -> output: out_type"
    out_type_allowed = dtypes_of(
        "float16 float32 float64 int32 uint16 uint8 int16 int8 int64"
    )
    out_type: DType
    little_endian: bool = True
    by_value_or_shape = ("fixed_length",)

    def infer_shape(self, input_bytes: Shape, fixed_length: Any) -> Shape:
        count = None
        if isinstance(fixed_length, np.ndarray):
            if fixed_length.ndim:
                raise ValueError(
                    f"Input must be scalar but has rank {fixed_length.ndim}"
                )
            length, size = int(fixed_length), self.out_type.size
            if length % size:
                raise ValueError(
                    f"Dimension size must be evenly divisible by {size} but is {length}"
                )
            count = length // size
        else:
            shapes.with_rank(fixed_length, 0)
        return None if input_bytes is None else (*input_bytes, count)

    def compute(self, xp: ArrayModule, input_bytes: Array, fixed_length: Array) -> Any:
        if fixed_length.ndim:
            raise invalid_argument(
                "k must be scalar, got shape " + shapes.text(fixed_length.shape)
            )
        length, size = int(fixed_length), self.out_type.size
        if length <= 0:
            raise invalid_argument(
                f"fixed_length ({length}) must be greater than zero."
            )
        if length % size:
            raise invalid_argument(
                f"fixed_length ({length}) must be a multiple of the size of out_type "
                f"({size})"
            )
        parts = [
            part[:length].ljust(length, b"\0")
            for part in input_bytes.reshape(-1).tolist()
        ]
        shape = (*input_bytes.shape, length // size)
        return _numbers(parts, self.out_type, self.little_endian, shape)


_WINDOWS = {"ZLIB": ZLIB_WINDOW, "GZIP": GZIP_WINDOW}


@export(v2="io.decode_raw")
def decode_raw_v2(
    input_bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.decode_raw`, or strings that are cut or filled with zeros to one length.

    It is `decode_raw` of TensorFlow's inner module parsing_ops.

    Args:
      input_bytes: a string Tensor.
      out_type: as for `tf.decode_raw`.
      little_endian: whether the least significant byte comes first.
      fixed_length: the number of bytes of each string, an int32 scalar and a multiple
        of the type's size; None if they all have one length.
      name: the op's name.

    Source: DecodePaddedRaw in core/ops/parsing_ops.cc.
    """
    kind: Any = DecodeRaw if fixed_length is None else DecodePaddedRaw
    lengths = () if fixed_length is None else (fixed_length,)
    found: Tensor = kind(out_type, little_endian)(input_bytes, *lengths, name=name)
    return found


class DecodeCompressed(TextOp):
    """Decompressed strings.  Source: core/ops/parsing_ops.cc, DecodeCompressed."""

    signature = "bytes: string -> output: string"
    compression_type: str = ""

    def compute(self, xp: ArrayModule, bytes: Array) -> Any:
        if not self.compression_type:
            return bytes.copy()
        if self.compression_type not in _WINDOWS:
            raise invalid_argument(
                "Only ZLIB, GZIP or NONE are supported compressions: got "
                f"{self.compression_type!r}"
            )
        return each(self._inflated, bytes)

    def _inflated(self, data: bytes) -> bytes:
        work = zlib.decompressobj(_WINDOWS[self.compression_type])
        try:
            return work.decompress(data)
        except zlib.error as error:
            # "Error -3 while decompressing data: incorrect header check"
            number, _, why = str(error).partition(" while decompressing data: ")
            raise DataLossError(
                None,
                None,
                f"inflate() failed with error {number.removeprefix('Error ')}: {why}",
            ) from None


@export("decode_compressed", "io.decode_compressed")
def decode_compressed(
    bytes: TensorLike, compression_type: str = "", name: str | None = None
) -> Tensor:
    """Decompressed strings, a Tensor of `bytes`' shape.

    What follows the compressed data is ignored, and what is missing at its end.

    Args:
      bytes: a string Tensor.
      compression_type: "ZLIB", "GZIP", or "" for strings that are not compressed.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, another compression type.
      tf.errors.DataLossError: in a run, a string is not compressed so.

    Example:
      >>> import zlib
      >>> tf.decode_compressed([zlib.compress(b"text")], "ZLIB")  # [b"text"]

    Source: DecodeCompressed in core/ops/parsing_ops.cc.
    """
    return DecodeCompressed(compression_type)(bytes, name=name)
