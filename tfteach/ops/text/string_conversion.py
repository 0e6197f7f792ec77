"""Conversion between strings and numbers, and hash buckets.

Source: core/ops/string_ops.cc, parsing_ops.cc (StringToNumber).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import DType, dtypes_of, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.murmur_hash import murmur64
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Array, ArrayModule, DTypeLike, TensorLike
from tfteach.ops.text.byte_string_arrays import each, each_as
from tfteach.ops.text.hash_functions import fingerprint64, siphash
from tfteach.ops.text.string_ops import TextOp


class AsString(TextOp):
    """Numbers formatted as by C's printf.  Source: string_ops.cc, AsString."""

    signature = "input: T -> output: string"
    T = dtypes_of("int8 int16 int32 int64 complex64 complex128 float32 float64 bool")
    precision: int = -1
    scientific: bool = False
    shortest: bool = False
    width: int = -1
    fill: str = ""

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return each(self._writer(np.asarray(input).dtype), input)

    def _writer(self, dtype: np.dtype[Any]) -> Callable[[Any], bytes]:
        if self.scientific and self.shortest:
            raise invalid_argument(
                "Cannot select both scientific and shortest notation"
            )
        if len(self.fill) > 1:
            raise invalid_argument("Fill string must be one or fewer characters")
        if self.fill not in ("", " ", "+", "-", "0", "#"):
            raise invalid_argument(f'Fill argument not supported: "{self.fill}"')
        if dtype.kind not in "fc":
            self._refuse_float_formats(dtype)
        if dtype.kind == "b":
            return lambda value: b"true" if value else b"false"
        width = str(self.width) if self.width > -1 else ""
        precision = f".{self.precision}" if self.precision > -1 else ""
        letter = "e" if self.scientific else "g" if self.shortest else "f"
        if dtype.kind == "i":
            precision, letter = "", "d"
        pattern = f"%{self.fill}{width}{precision}{letter}"
        if dtype.kind == "c":
            return lambda v: f"({pattern % v.real},{pattern % v.imag})".encode()
        return lambda value: (pattern % value).encode()

    def _refuse_float_formats(self, dtype: np.dtype[Any]) -> None:
        if self.scientific or self.shortest:
            raise invalid_argument(
                "scientific and shortest format not supported for datatype "
                f"{dtype.name}"
            )
        if self.precision > -1:
            raise invalid_argument(f"precision not supported for datatype {dtype.name}")


@export("as_string", "dtypes.as_string", "strings.as_string")
def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers or bools formatted as strings, a Tensor of `input`'s shape.

    Args:
      input: an integer, float, complex or bool Tensor.
      precision: digits after the point, for floats; negative: six.
      scientific: format floats as 1.5e+00 instead of 1.5.
      shortest: the shorter of both formats, for floats.
      width: the minimum number of characters; shorter text is padded on the left.
      fill: the padding ("0" or " "); or "-" to pad on the right, "+" for a sign.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, for formats that `input`'s type does not
        support.

    Example:
      >>> tf.as_string([3.14159], precision=2)  # [b"3.14"]

    Source: AsString in core/ops/string_ops.cc.
    """
    return AsString(precision, scientific, shortest, width, fill)(input, name=name)


_FLOAT = re.compile(
    rb"[+-]?(0[xX][0-9a-fA-F]+(\.[0-9a-fA-F]*)?([pP][+-]?\d+)?"
    rb"|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf(inity)?|nan)",
    re.IGNORECASE,
)


def float_of(text: bytes) -> float | None:
    """The float that a text denotes as TensorFlow reads it, or None."""
    stripped = text.strip()
    if text and not stripped:
        return 0.0  # TensorFlow parses blanks as 0, but rejects an empty string
    if not _FLOAT.fullmatch(stripped):
        return None
    if b"x" in stripped.lower():
        return float.fromhex(stripped.decode())
    return float(stripped)


def integer_of(text: bytes, least: int, most: int) -> int | None:
    """The integer in these limits that a text denotes, or None."""
    stripped = text.strip()
    if not re.fullmatch(rb"-?\d+", stripped):
        return None
    number = int(stripped)
    return number if least <= number <= most else None


class StringToNumber(TextOp):
    """Numbers parsed from strings.  Source: core/ops/parsing_ops.cc, StringToNumber."""

    signature = "string_tensor: string -> output: out_type"
    out_type_allowed = dtypes_of("float32 float64 int32 int64")
    out_type: DType = float32

    def compute(self, xp: ArrayModule, string_tensor: Array) -> Any:
        dtype = self.out_type.as_numpy_dtype
        read = self._float if self.out_type.is_floating else self._integer
        return each_as(dtype, read, string_tensor)

    def _float(self, text: bytes) -> float:
        found = float_of(text)
        if found is None:
            raise self._error(text)
        return found

    def _integer(self, text: bytes) -> int:
        found = integer_of(text, self.out_type.min, self.out_type.max)
        if found is None:
            raise self._error(text)
        return found

    def _error(self, text: bytes) -> Exception:
        return invalid_argument(
            "StringToNumberOp could not correctly convert string: "
            + text.decode("utf-8", "replace")
        )


@export("string_to_number", "strings.to_number")
def string_to_number(
    string_tensor: TensorLike | None = None,
    out_type: DTypeLike = float32,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The numbers parsed from strings, of type `out_type`.

    Args:
      string_tensor: a string Tensor; white space around a number is ignored.
      out_type: float32, float64, int32 or int64.
      name: the op's name.
      input: alias of `string_tensor`.

    Raises:
      tf.errors.InvalidArgumentError: in a run, a string is not a number.

    Example:
      >>> tf.string_to_number(["1.5", "-2"])  # [1.5, -2.0]

    Source: StringToNumber in core/ops/parsing_ops.cc.
    """
    op = StringToNumber(out_type)  # type: ignore[arg-type]  # converted by the op
    input = deprecated_argument_lookup("input", input, "string_tensor", string_tensor)
    return op(input, name=name)


# ---- hash buckets


class BucketOp(TextOp, abstract=True):
    """Strings mapped to buckets by their hashes."""

    num_buckets: int

    minimum: ClassVar[dict[str, int]] = {"num_buckets": 1}


class StringToHashBucket(BucketOp):
    """Buckets by MurmurHash64A.  Source: string_ops.cc, StringToHashBucket."""

    signature = "string_tensor: string -> output: int64"

    def compute(self, xp: ArrayModule, string_tensor: Array) -> Any:
        return each_as(
            np.int64, lambda s: murmur64(s) % self.num_buckets, string_tensor
        )


class StringToHashBucketFast(BucketOp):
    """Buckets by FarmHash's fingerprint.

    Source: string_ops.cc, StringToHashBucketFast.
    """

    signature = "input: string -> output: int64"

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return each_as(np.int64, lambda s: fingerprint64(s) % self.num_buckets, input)


class StringToHashBucketStrong(BucketOp):
    """Buckets by keyed SipHash.  Source: string_ops.cc, StringToHashBucketStrong."""

    signature = "input: string -> output: int64"
    key: tuple[int, ...]

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        if len(self.key) != 2:
            raise invalid_argument("Key must have 2 elements")
        return each_as(
            np.int64, lambda s: siphash(self.key, s) % self.num_buckets, input
        )


@export("string_to_hash_bucket", "strings.to_hash_bucket")
def string_to_hash_bucket(
    string_tensor: Any = None,
    num_buckets: Any = None,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """A bucket in [0, num_buckets) for each string, int64; the oldest hash function.

    Example:
      >>> tf.string_to_hash_bucket(["a", "b"], 100)

    Source: StringToHashBucket in core/ops/string_ops.cc.
    """
    input = deprecated_argument_lookup("input", input, "string_tensor", string_tensor)
    return StringToHashBucket(num_buckets)(input, name=name)


@export("string_to_hash_bucket_fast", "strings.to_hash_bucket_fast")
def string_to_hash_bucket_fast(
    input: TensorLike, num_buckets: int, name: str | None = None
) -> Tensor:
    """A bucket in [0, num_buckets) for each string, int64, the same on every machine.

    Args:
      input: a string Tensor.
      num_buckets: an int of at least 1.
      name: the op's name.

    Raises:
      ValueError: `num_buckets` < 1.

    Example:
      >>> tf.string_to_hash_bucket_fast(["apple", "pear"], 10)

    Source: StringToHashBucketFast in core/ops/string_ops.cc; FarmHash.
    """
    return StringToHashBucketFast(num_buckets)(input, name=name)


@export("string_to_hash_bucket_strong", "strings.to_hash_bucket_strong")
def string_to_hash_bucket_strong(
    input: TensorLike, num_buckets: int, key: Any, name: str | None = None
) -> Tensor:
    """A bucket for each string, unpredictable without the key.

    Args:
      input: a string Tensor.
      num_buckets: an int of at least 1.
      key: two ints, 64 bits each.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, `key` does not have two elements.

    Example:
      >>> tf.string_to_hash_bucket_strong(["apple"], 10, [1, 2])

    Source: StringToHashBucketStrong in core/ops/string_ops.cc; SipHash.
    """
    op = StringToHashBucketStrong(num_buckets, key)
    return op(input, name=name)
