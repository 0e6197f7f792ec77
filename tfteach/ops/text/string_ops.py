"""Element-wise string ops: case, length, substrings, joins, base64.

Source: core/ops/string_ops.cc.
"""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.text.byte_string_arrays import each, each_as


class TextOp(Op, abstract=True):
    """Strings have neither gradients nor GPU kernels."""

    on_gpu: ClassVar[bool] = False

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        return inputs[0]

    def gradient(self, op: Operation, *_: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


# ---- case, spaces, length


class CaseOp(TextOp, abstract=True):
    """Change of case: ASCII letters only, or all letters with "utf-8"."""

    encoding: str = ""

    def change(self, xp: ArrayModule, input: Any, ascii: Any, unicode: Any) -> Any:
        if self.encoding not in ("", "utf-8"):
            raise invalid_argument(
                "only utf-8 or '' (no encoding) is supported, received " + self.encoding
            )
        if self.encoding == "":
            return each(ascii, input)
        return each(lambda s: unicode(s.decode("utf-8", "replace")).encode(), input)


class StringLower(CaseOp):
    """Strings in lower case.  Source: string_ops.cc, StringLower."""

    signature = "input: string -> output: string"

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return self.change(xp, input, bytes.lower, str.lower)


class StringUpper(CaseOp):
    """Strings in upper case.  Source: string_ops.cc, StringUpper."""

    signature = "input: string -> output: string"

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return self.change(xp, input, bytes.upper, str.upper)


@export("strings.lower")
def string_lower(
    input: TensorLike, encoding: str = "", name: str | None = None
) -> Tensor:
    """Each string in lower case; beyond ASCII only with `encoding="utf-8"`.

    Example:
      >>> tf.strings.lower(["CamelCase"])  # [b"camelcase"]

    Source: StringLower in core/ops/string_ops.cc.
    """
    return StringLower(encoding)(input, name=name)


@export("strings.upper")
def string_upper(
    input: TensorLike, encoding: str = "", name: str | None = None
) -> Tensor:
    """Each string in upper case; beyond ASCII only with `encoding="utf-8"`.

    Example:
      >>> tf.strings.upper(["CamelCase"])  # [b"CAMELCASE"]

    Source: StringUpper in core/ops/string_ops.cc.
    """
    return StringUpper(encoding)(input, name=name)


class StringStrip(TextOp):
    """Strings without surrounding white space.  Source: string_ops.cc, StringStrip."""

    signature = "input: string -> output: string"

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return each(lambda s: s.strip(string.whitespace.encode()), input)


@export("strings.strip", "string_strip")
def string_strip(input: TensorLike, name: str | None = None) -> Tensor:
    r"""Each string without leading and trailing white space.

    Example:
      >>> tf.strings.strip([" a b\n"])  # [b"a b"]

    Source: StringStrip in core/ops/string_ops.cc.
    """
    return StringStrip()(input, name=name)


UNITS = ("BYTE", "UTF8_CHAR")


class StringLength(TextOp):
    """The length of each string in bytes or characters.

    Source: string_ops.cc, StringLength.
    """

    signature = "input: string -> output: int32"
    unit: str = "BYTE"

    def validate(self) -> None:
        check_choice(self.op_type, "unit", self.unit, UNITS)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return each_as(np.int32, len if self.unit == "BYTE" else _characters, input)


def _characters(value: bytes) -> int:
    """The length of a UTF-8 string: its bytes except continuation bytes."""
    return sum(byte & 0xC0 != 0x80 for byte in value)


@export("strings.length")
def string_length(
    input: TensorLike, name: str | None = None, unit: str = "BYTE"
) -> Tensor:
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


# ---- substrings and joins


class Substr(TextOp):
    """A substring of each string.  Source: string_ops.cc, Substr."""

    signature = "input: string, pos: T, len: T -> output: string"
    T = dtypes_of("int32 int64")
    unit: str = "BYTE"

    def validate(self) -> None:
        check_choice(self.op_type, "unit", self.unit, UNITS)

    def infer_shape(self, input: Shape, pos: Shape, len: Shape) -> Shape:
        if pos is not None:  # TensorFlow treats an unknown rank as -1
            shapes.with_rank(pos, -1 if len is None else tuple.__len__(len))
        shapes.merge(pos, len)
        return shapes.broadcast(input, pos)

    def compute(self, xp: ArrayModule, input: Array, pos: Array, len: Array) -> Any:
        if np.shape(pos) != np.shape(len):
            raise invalid_argument("pos and len should have the same shape")
        where = np.arange(np.size(input)).reshape(np.shape(input))
        return each(self._cut, input, pos, len, where)

    def _cut(self, value: bytes, pos: int, size: int, index: int) -> bytes:
        # The start of each unit, and the end.
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
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    name: str | None = None,
    unit: str = "BYTE",
) -> Tensor:
    """A substring of each string: `len` bytes (or characters) from `pos`.

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
    """Strings of several tensors joined element-wise.

    Source: string_ops.cc, StringJoin.
    """

    signature = "inputs: N*string -> output: string"
    separator: str = ""

    def infer_shape(self, inputs: list[Shape], *_: Shape) -> Shape:
        found: Shape = ()
        for shape in inputs:
            if shape is None or len(shape):  # scalars match every shape
                found = shape if found == () else shapes.merge(found, shape)
        return found

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        full = {np.shape(i) for i in inputs} - {()}
        if len(full) > 1:
            raise invalid_argument(
                "Input shapes do not match: "
                + " vs. ".join(str(list(shape)) for shape in sorted(full))
            )
        between = self.separator.encode()
        return each(lambda *parts: between.join(parts), *inputs)


@export("strings.join", "string_join")
def string_join(
    inputs: Sequence[TensorLike], separator: str = "", name: str | None = None
) -> Tensor:
    """The strings of several tensors, joined element-wise.

    Args:
      inputs: a list of string Tensors of one shape; scalars broadcast.
      separator: the string between two parts.
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

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        def encode(value: bytes) -> bytes:
            text = base64.urlsafe_b64encode(value)
            return text if self.pad else text.rstrip(b"=")

        return each(encode, input)


class DecodeBase64(TextOp):
    """Bytes from web-safe base64.  Source: string_ops.cc, DecodeBase64."""

    signature = "input: string -> output: string"

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return each(_decode, input)


def _decode(value: bytes) -> bytes:
    text = value.rstrip(b"=") if len(value) % 4 == 0 else value
    if len(text) % 4 == 1:
        raise invalid_argument("Base64 string length cannot be 1 modulo 4.")
    if not re.fullmatch(rb"[A-Za-z0-9_-]*", text) or len(value) - len(text) > 2:
        raise invalid_argument("Invalid character found in base64.")
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


@export("encode_base64", "io.encode_base64")
def encode_base64(
    input: TensorLike, pad: bool = False, name: str | None = None
) -> Tensor:
    """Each string in web-safe base64 (RFC 4648, section 5).

    Args:
      input: a string Tensor.
      pad: whether to pad with "=" to a multiple of four.
      name: the op's name.

    Example:
      >>> tf.encode_base64(["a?~"])  # [b"YT9-"]

    Source: EncodeBase64 in core/ops/string_ops.cc.
    """
    return EncodeBase64(pad)(input, name=name)


@export("decode_base64", "io.decode_base64")
def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """Decode web-safe base64 strings, padded or not.

    Raises:
      tf.errors.InvalidArgumentError: in a run, a character is outside the alphabet.

    Example:
      >>> tf.decode_base64(["YT9-"])  # [b"a?~"]

    Source: DecodeBase64 in core/ops/string_ops.cc.
    """
    return DecodeBase64()(input, name=name)
