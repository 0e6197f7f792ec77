"""Strings, element by element: case, length, parts, joins, numbers, hash buckets.

Source: core/ops/string_ops.cc, parsing_ops.cc (StringToNumber).
"""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, dtypes_of, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.ops.hashes import fingerprint64, murmur64, siphash
from tfteach.ops.text_kernels import each, each_as


class TextOp(Op, abstract=True):
    """Strings have neither gradients nor GPU kernels."""

    on_gpu: ClassVar[bool] = False

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        return inputs[0]

    def gradient(self, op: Operation, *_: Any) -> list[Any]:
        return [None] * len(op.inputs)


# ---- case, spaces, length


class CaseOp(TextOp, abstract=True):
    """Another case of each letter: of ASCII's, or with "utf-8" of all."""

    encoding: str = ""

    def change(self, xp: Any, input: Any, ascii: Any, unicode: Any) -> Any:
        if self.encoding not in ("", "utf-8"):
            raise invalid_argument(
                "only utf-8 or '' (no encoding) is supported, received " + self.encoding
            )
        if self.encoding == "":
            return each(ascii, input)
        return each(lambda s: unicode(s.decode("utf-8", "replace")).encode(), input)


class StringLower(CaseOp):
    """Capitals made small.  Source: string_ops.cc, StringLower."""

    signature = "input: string -> output: string"

    def compute(self, xp: Any, input: Any) -> Any:
        return self.change(xp, input, bytes.lower, str.lower)


class StringUpper(CaseOp):
    """Small letters made capitals.  Source: string_ops.cc, StringUpper."""

    signature = "input: string -> output: string"

    def compute(self, xp: Any, input: Any) -> Any:
        return self.change(xp, input, bytes.upper, str.upper)


@export("strings.lower")
def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each string in small letters; beyond ASCII only with `encoding="utf-8"`.

    Example:
      >>> tf.strings.lower(["CamelCase"])  # [b"camelcase"]

    Source: StringLower in core/ops/string_ops.cc.
    """
    return StringLower(encoding)(input, name=name)


@export("strings.upper")
def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each string in capitals; beyond ASCII only with `encoding="utf-8"`.

    Example:
      >>> tf.strings.upper(["CamelCase"])  # [b"CAMELCASE"]

    Source: StringUpper in core/ops/string_ops.cc.
    """
    return StringUpper(encoding)(input, name=name)


class StringStrip(TextOp):
    """Without spaces at the ends.  Source: string_ops.cc, StringStrip."""

    signature = "input: string -> output: string"

    def compute(self, xp: Any, input: Any) -> Any:
        return each(lambda s: s.strip(string.whitespace.encode()), input)


@export("strings.strip", "string_strip")
def string_strip(input: Any, name: str | None = None) -> Tensor:
    r"""Each string without white space at its ends.

    Example:
      >>> tf.strings.strip([" a b\n"])  # [b"a b"]

    Source: StringStrip in core/ops/string_ops.cc.
    """
    return StringStrip()(input, name=name)


UNITS = ("BYTE", "UTF8_CHAR")


def check_unit(op_type: str, unit: str) -> None:
    """The attribute `unit`, as TF's op definitions allow it."""
    if unit not in UNITS:
        allowed = ", ".join(f'"{u}"' for u in UNITS)
        raise ValueError(
            f"Attr 'unit' of '{op_type}' Op passed string '{unit}' not in: {allowed}."
        )


class StringLength(TextOp):
    """Bytes, or characters, of each string.  Source: string_ops.cc, StringLength."""

    signature = "input: string -> output: int32"
    unit: str = "BYTE"

    def validate(self) -> None:
        check_unit(self.op_type, self.unit)

    def compute(self, xp: Any, input: Any) -> Any:
        return each_as(np.int32, len if self.unit == "BYTE" else _characters, input)


def _characters(value: bytes) -> int:
    """Characters of a UTF-8 string: its bytes that do not continue one."""
    return sum(byte & 0xC0 != 0x80 for byte in value)


@export("strings.length")
def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The length of each string, an int32 Tensor of `input`'s shape.

    Args:
      input: a string Tensor.
      name: the op's name.
      unit: "BYTE" or "UTF8_CHAR".

    Example:
      >>> tf.strings.length(["hello", ""])  # [5, 0]

    Source: StringLength in core/ops/string_ops.cc.
    """
    return StringLength(unit)(input, name=name)


# ---- parts and joins


class Substr(TextOp):
    """A part of each string.  Source: string_ops.cc, Substr."""

    signature = "input: string, pos: T, len: T -> output: string"
    T = dtypes_of("int32 int64")
    unit: str = "BYTE"

    def validate(self) -> None:
        check_unit(self.op_type, self.unit)

    def infer_shape(self, input: Shape, pos: Shape, len: Shape) -> Shape:
        shapes.merge(pos, len)
        return shapes.broadcast(input, pos)

    def compute(self, xp: Any, input: Any, pos: Any, len: Any) -> Any:
        if np.shape(pos) != np.shape(len):
            raise invalid_argument("pos and len should have the same shape")
        where = np.arange(np.size(input)).reshape(np.shape(input))
        return each(self._cut, input, pos, len, where)

    def _cut(self, value: bytes, pos: int, size: int, index: int) -> bytes:
        # Where each unit starts, and the end.
        of_byte = self.unit == "BYTE"
        starts = [i for i, byte in enumerate(value) if of_byte or byte & 0xC0 != 0x80]
        starts.append(len(value))
        length = len(starts) - 1
        if not -length <= pos <= length:
            raise invalid_argument(
                f"pos {pos} out of range for string b'{value.decode('latin-1')}' at "
                f"index {index}"
            )
        start = pos if pos >= 0 else pos + length
        end = length if size < 0 else min(length, start + size)
        return value[starts[start] : starts[end]]


@export("substr", "strings.substr")
def substr(
    input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE"
) -> Tensor:
    """A part of each string: `len` bytes (or characters) from `pos`.

    Args:
      input: a string Tensor.
      pos: int32 or int64 Tensor that broadcasts to `input`; negative from the end.
      len: of `pos`'s type and shape.
      name: the op's name.
      unit: "BYTE" or "UTF8_CHAR".

    Returns:
      A string Tensor.

    Raises:
      tf.errors.InvalidArgumentError: in a run, `pos` lies outside a string.

    Example:
      >>> tf.substr(["Hello", "World"], 1, 3)  # [b"ell", b"orl"]

    Source: Substr in core/ops/string_ops.cc.
    """
    return Substr(unit)(input, pos, len, name=name)


class StringJoin(TextOp):
    """Strings joined across tensors.  Source: string_ops.cc, StringJoin."""

    signature = "inputs: N*string -> output: string"
    separator: str = ""

    def infer_shape(self, inputs: list[Shape], *_: Shape) -> Shape:
        found: Shape = ()
        for shape in inputs:
            if shape is None or len(shape):  # scalars go with every shape
                found = shape if found == () else shapes.merge(found, shape)
        return found

    def compute(self, xp: Any, *inputs: Any) -> Any:
        full = {np.shape(i) for i in inputs} - {()}
        if len(full) > 1:
            raise invalid_argument(
                "Input shapes do not match: "
                + " vs. ".join(str(list(shape)) for shape in sorted(full))
            )
        between = self.separator.encode()
        return each(lambda *parts: between.join(parts), *inputs)


@export("strings.join", "string_join")
def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """The strings of several tensors joined, element by element.

    Args:
      inputs: a list of string Tensors of one shape; scalars go with all.
      separator: what stands between two.
      name: the op's name.

    Returns:
      A string Tensor.

    Example:
      >>> tf.string_join(["img", ["1", "2"], ".png"])  # [b"img1.png", b"img2.png"]

    Source: StringJoin in core/ops/string_ops.cc.
    """
    return StringJoin(separator)(inputs, name=name)


# ---- base64


class EncodeBase64(TextOp):
    """Web-safe base64.  Source: string_ops.cc, EncodeBase64."""

    signature = "input: string -> output: string"
    pad: bool = False

    def compute(self, xp: Any, input: Any) -> Any:
        def encode(value: bytes) -> bytes:
            text = base64.urlsafe_b64encode(value)
            return text if self.pad else text.rstrip(b"=")

        return each(encode, input)


class DecodeBase64(TextOp):
    """Bytes from web-safe base64.  Source: string_ops.cc, DecodeBase64."""

    signature = "input: string -> output: string"

    def compute(self, xp: Any, input: Any) -> Any:
        return each(_decode, input)


def _decode(value: bytes) -> bytes:
    text = value.rstrip(b"=") if len(value) % 4 == 0 else value
    if not re.fullmatch(rb"[A-Za-z0-9_-]*", text) or len(value) - len(text) > 2:
        raise invalid_argument("Invalid character found in base64.")
    if len(text) % 4 == 1:
        raise invalid_argument("Base64 string length cannot be 1 modulo 4.")
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


@export("encode_base64", "io.encode_base64")
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Each string in web-safe base64 (RFC 4648, section 5).

    Args:
      input: a string Tensor.
      pad: whether to fill up with "=" to a multiple of four.
      name: the op's name.

    Example:
      >>> tf.encode_base64(["a?~"])  # [b"YT9-"]

    Source: EncodeBase64 in core/ops/string_ops.cc.
    """
    return EncodeBase64(pad)(input, name=name)


@export("decode_base64", "io.decode_base64")
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """What web-safe base64 strings stand for, padded or not.

    Raises:
      tf.errors.InvalidArgumentError: in a run, for a character outside the alphabet.

    Example:
      >>> tf.decode_base64(["YT9-"])  # [b"a?~"]

    Source: DecodeBase64 in core/ops/string_ops.cc.
    """
    return DecodeBase64()(input, name=name)


# ---- numbers


class AsString(TextOp):
    """Numbers as C's printf writes them.  Source: string_ops.cc, AsString."""

    signature = "input: T -> output: string"
    T = dtypes_of("int8 int16 int32 int64 complex64 complex128 float32 float64 bool")
    precision: int = -1
    scientific: bool = False
    shortest: bool = False
    width: int = -1
    fill: str = ""

    def compute(self, xp: Any, input: Any) -> Any:
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
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers or bools as text, a string Tensor of `input`'s shape.

    Args:
      input: an integer, float, complex or bool Tensor.
      precision: digits after the point, for floats; negative: six.
      scientific: 1.5e+00 instead of 1.5, for floats.
      shortest: whichever of both is shorter, for floats.
      width: the text is filled up on the left to so many characters.
      fill: with what ("0" or " "); or "-" to fill on the right, "+" for a sign.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, for formats that `input`'s type does
        not have.

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


class StringToNumber(TextOp):
    """Numbers from text.  Source: core/ops/parsing_ops.cc, StringToNumber."""

    signature = "string_tensor: string -> output: out_type"
    out_type_allowed = dtypes_of("float32 float64 int32 int64")
    out_type: DType = float32

    def compute(self, xp: Any, string_tensor: Any) -> Any:
        dtype = self.out_type.as_numpy_dtype
        read = self._float if self.out_type.is_floating else self._integer
        return each_as(dtype, read, string_tensor)

    def _float(self, text: bytes) -> float:
        stripped = text.strip()
        if not _FLOAT.fullmatch(stripped):
            raise self._error(text)
        if b"x" in stripped.lower():
            return float.fromhex(stripped.decode())
        return float(stripped)

    def _integer(self, text: bytes) -> int:
        stripped = text.strip()
        if not re.fullmatch(rb"-?\d+", stripped):
            raise self._error(text)
        number = int(stripped)
        if not self.out_type.min <= number <= self.out_type.max:
            raise self._error(text)
        return number

    def _error(self, text: bytes) -> Exception:
        return invalid_argument(
            "StringToNumberOp could not correctly convert string: "
            + text.decode("utf-8", "replace")
        )


@export("string_to_number", "strings.to_number")
def string_to_number(
    string_tensor: Any = None,
    out_type: Any = float32,
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The numbers that strings spell, of type `out_type`.

    Args:
      string_tensor: a string Tensor; spaces around a number do not matter.
      out_type: float32, float64, int32 or int64.
      name: the op's name.
      input: another name of `string_tensor`.

    Raises:
      tf.errors.InvalidArgumentError: in a run, for a string that is no number.

    Example:
      >>> tf.string_to_number(["1.5", "-2"])  # [1.5, -2.0]

    Source: StringToNumber in core/ops/parsing_ops.cc.
    """
    return StringToNumber(out_type)(_either(string_tensor, input), name=name)


def _either(string_tensor: Any, input: Any) -> Any:
    """The argument under its old or its new name."""
    if string_tensor is not None and input is not None:
        raise ValueError("Cannot specify both 'string_tensor' and 'input'")
    return input if string_tensor is None else string_tensor


# ---- hash buckets


class BucketOp(TextOp, abstract=True):
    """Strings in buckets by their hashes."""

    num_buckets: int

    def validate(self) -> None:
        if self.num_buckets < 1:
            raise ValueError(
                f"Attr 'num_buckets' of '{self.op_type}' Op passed "
                f"{self.num_buckets} less than minimum 1."
            )


class StringToHashBucket(BucketOp):
    """By MurmurHash64A.  Source: string_ops.cc, StringToHashBucket."""

    signature = "string_tensor: string -> output: int64"

    def compute(self, xp: Any, string_tensor: Any) -> Any:
        return each_as(
            np.int64, lambda s: murmur64(s) % self.num_buckets, string_tensor
        )


class StringToHashBucketFast(BucketOp):
    """By FarmHash's fingerprint.  Source: string_ops.cc, StringToHashBucketFast."""

    signature = "input: string -> output: int64"

    def compute(self, xp: Any, input: Any) -> Any:
        return each_as(np.int64, lambda s: fingerprint64(s) % self.num_buckets, input)


class StringToHashBucketStrong(BucketOp):
    """By SipHash under a key.  Source: string_ops.cc, StringToHashBucketStrong."""

    signature = "input: string -> output: int64"
    key: tuple[int, ...]

    def compute(self, xp: Any, input: Any) -> Any:
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
    input: Any = None,
) -> Tensor:
    """A bucket in [0, num_buckets) for each string, int64; the oldest hash.

    Example:
      >>> tf.string_to_hash_bucket(["a", "b"], 100)

    Source: StringToHashBucket in core/ops/string_ops.cc.
    """
    return StringToHashBucket(num_buckets)(_either(string_tensor, input), name=name)


@export("string_to_hash_bucket_fast", "strings.to_hash_bucket_fast")
def string_to_hash_bucket_fast(
    input: Any, num_buckets: int, name: str | None = None
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
    input: Any, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Tensor:
    """A bucket for each string that nobody without the key can aim at.

    Args:
      input: a string Tensor.
      num_buckets: an int of at least 1.
      key: two ints, 64 bits each.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, `key` has not two elements.

    Example:
      >>> tf.string_to_hash_bucket_strong(["apple"], 10, [1, 2])

    Source: StringToHashBucketStrong in core/ops/string_ops.cc; SipHash.
    """
    op = StringToHashBucketStrong(num_buckets, tuple(key))
    return op(input, name=name)
