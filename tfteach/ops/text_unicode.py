"""Unicode in strings: transcoding, code points, characters, scripts.

Source: core/ops/string_ops.cc, core/kernels/unicode_ops.cc,
unicode_script_op.cc; python/ops/ragged/ragged_string_ops.py.
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, dtypes_of, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.inputs import check_choice
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.array import expand_dims, reshape
from tfteach.ops.join import concat
from tfteach.ops.pack import stack
from tfteach.ops.scan import range as range_of
from tfteach.ops.shapes import shape
from tfteach.ops.text import TextOp
from tfteach.ops.text_kernels import each, strings

ENCODINGS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_LARGEST = 0x10FFFF
_REPLACEMENT = 0xFFFD
# What Python calls encodings, but no text in some encoding is.
_NO_TEXT = frozenset(
    "idna punycode raw_unicode_escape undefined unicode_escape".split()
)


# ---- characters


@cache
def _codec(encoding: str) -> str:
    """Python's name of an encoding of text.  Raises: InvalidArgumentError."""
    try:
        found = codecs.lookup(encoding)
    except LookupError:
        found = None
    if found is not None and found._is_text_encoding:
        name = found.name.replace("-", "_")
        if name not in _NO_TEXT:
            return name
    raise invalid_argument(f"Could not create converter for input encoding: {encoding}")


def _characters(data: bytes, encoding: str) -> Iterator[tuple[int | None, int]]:
    """(code point or None where the bytes are wrong, first byte) of each character."""
    start = 0
    while start < len(data):
        error = None
        try:
            text = data[start:].decode(encoding)
        except UnicodeDecodeError as raised:
            error = raised
            text = data[start : start + raised.start].decode(encoding)
        at = start
        for character in text:
            yield ord(character), at
            at += len(character.encode(encoding))
        if error is None:
            return
        yield None, start + error.start
        start += max(error.end, error.start + 1)


def _encoded(points: list[int], encoding: str) -> bytes:
    """Code points as bytes; UTF-8 alone cannot hold half of a surrogate pair."""
    text = "".join(map(chr, points))
    if encoding != "UTF-8":
        return text.encode(encoding, "surrogatepass")
    halves = {c: _REPLACEMENT for c in points if 0xD800 <= c < 0xE000}
    return text.translate(halves).encode(encoding)


class _Lenient(TextOp, abstract=True):
    """What to do with bytes that are no characters."""

    errors = "replace"
    replacement_char = _REPLACEMENT
    choices: ClassVar[tuple[str, ...]] = ("strict", "replace", "ignore")

    def validate(self) -> None:
        if "output_encoding" in self.fields:
            encoding = getattr(self, "output_encoding", None)
            check_choice(self.op_type, "output_encoding", encoding, ENCODINGS)
        check_choice(self.op_type, "errors", self.errors, self.choices)

    def check_replacement(self) -> None:
        if not 0 <= self.replacement_char <= _LARGEST:
            raise invalid_argument("replacement_char out of unicode codepoint range")

    def instead(self, message: str) -> list[int]:
        """The code points in place of what is wrong."""
        if self.errors == "strict":
            raise invalid_argument(message)
        return [self.replacement_char] if self.errors == "replace" else []


class _Reader(_Lenient, abstract=True):
    input_encoding = ""
    replace_control_characters = False

    def read(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(code point, first byte) of each character, mended."""
        for point, at in _characters(data, _codec(self.input_encoding)):
            if point is None:
                found = self.instead("Invalid formatting on input string")
            elif self.replace_control_characters and point < 32:
                found = [] if self.errors == "ignore" else [self.replacement_char]
            else:
                found = [point]
            for one in found:
                yield one, at


# ---- ops


class UnicodeTranscode(_Reader):
    """Strings in another encoding.  Source: string_ops.cc, UnicodeTranscode."""

    signature = "input: string -> output: string"
    input_encoding: str
    output_encoding: str
    errors: str = "replace"
    replacement_char: int = _REPLACEMENT
    replace_control_characters: bool = False

    def compute(self, xp: Any, input: Any) -> Any:
        self.check_replacement()
        _codec(self.input_encoding)
        return each(
            lambda s: _encoded([c for c, _ in self.read(s)], self.output_encoding),
            input,
        )


class _Decode(_Reader, abstract=True):
    input_encoding: str
    errors: str = "replace"
    replacement_char: int = _REPLACEMENT
    replace_control_characters: bool = False
    Tsplits: DType = int64
    Tsplits_allowed = dtypes_of("int32 int64")

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        count = shapes.size_of(inputs[0])
        return [(None if count is None else count + 1,), (None,), (None,)]

    def compute(self, xp: Any, input: Any) -> Any:
        self.check_replacement()
        _codec(self.input_encoding)
        rows = [list(self.read(s)) for s in np.asarray(input, object).ravel()]
        ends = np.cumsum([0, *map(len, rows)]).astype(self.Tsplits.numpy_dtype)
        found = [pair for row in rows for pair in row]
        points = np.array([point for point, _ in found], np.int32)
        return ends, points, np.array([at for _, at in found], np.int64)


class UnicodeDecode(_Decode):
    """All strings' code points, and where each string's end.

    Source: string_ops.cc, UnicodeDecode.
    """

    signature = "input: string -> row_splits: Tsplits, char_values: int32"

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        return super().infer_shape(*inputs)[:2]

    def compute(self, xp: Any, input: Any) -> Any:
        return super().compute(xp, input)[:2]


class UnicodeDecodeWithOffsets(_Decode):
    """UnicodeDecode that also tells each character's first byte.

    Source: string_ops.cc, UnicodeDecodeWithOffsets.
    """

    signature = (
        "input: string -> row_splits: Tsplits, char_values: int32, "
        "char_to_byte_starts: int64"
    )


class UnicodeEncode(_Lenient):
    """Code points as strings.  Source: string_ops.cc, UnicodeEncode."""

    signature = "input_values: int32, input_splits: Tsplits -> output: string"
    errors: str = "replace"
    output_encoding: str  # type: ignore[misc]
    replacement_char: int = _REPLACEMENT
    Tsplits = dtypes_of("int32 int64")
    Tsplits_default = int64
    choices: ClassVar[tuple[str, ...]] = ("ignore", "replace", "strict")

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        shapes.with_rank(inputs[0], 1)
        (ends,) = shapes.with_rank(inputs[1], 1)
        return (None if ends is None else ends - 1,)

    def compute(self, xp: Any, input_values: Any, input_splits: Any) -> Any:
        self.check_replacement()
        ends = input_splits.tolist()
        if not ends or ends[0] != 0 or ends[-1] != len(input_values):
            raise invalid_argument(
                "input_splits must go from 0 to the number of input_values "
                f"{len(input_values)}, got {ends[:1]} ... {ends[-1:]}"
            )
        if any(a > b for a, b in itertools.pairwise(ends)):
            raise invalid_argument(
                "Values in input_splits must be equal or in ascending order."
            )
        points = input_values.tolist()
        found = [
            _encoded(
                [c for point in points[a:b] for c in self._mended(point)],
                self.output_encoding,
            )
            for a, b in itertools.pairwise(ends)
        ]
        return strings(found, (len(found),))

    def _mended(self, point: int) -> list[int]:
        if 0 <= point <= _LARGEST:
            return [point]
        return self.instead("Code point value out of valid Unicode range.")


@cache
def _scripts() -> tuple[Any, Any]:
    """Where each run of one script begins, and the script's number (ICU 64's)."""
    file = Path(__file__).with_name("unicode_scripts.txt")
    rows = [line.split() for line in file.read_text().splitlines()]
    starts = np.array([int(first, 16) for first, _ in rows])
    return starts, np.array([int(script) for _, script in rows], np.int32)


class UnicodeScript(TextOp):
    """The script of each code point.  Source: string_ops.cc, UnicodeScript."""

    signature = "input: int32 -> output: int32"

    def compute(self, xp: Any, input: Any) -> Any:
        starts, numbers = _scripts()
        points = np.asarray(input)
        found = numbers[np.searchsorted(starts, points, "right") - 1]
        return np.where((points < 0) | (points > _LARGEST), np.int32(-1), found)


# ---- functions


@export("strings.unicode_transcode")
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Each string in another encoding.

    Args:
      input: string Tensor.
      input_encoding: such as "UTF-8", "UTF-16-BE", "latin1".
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what to do with wrong bytes: "replace", "ignore" or "strict".
      replacement_char: the code point that stands in for them.
      replace_control_characters: whether code points below 32 count as wrong.
      name: the op's name.

    Returns:
      A string Tensor of that shape.

    Raises:
      ValueError: an argument is none of these.
      tf.errors.InvalidArgumentError: (when run) nobody knows the input's encoding, or
        bytes are wrong and errors="strict".

    Example:
      >>> tf.strings.unicode_transcode(["A", "é"], "UTF-8", "UTF-16-BE")

    Source: UnicodeTranscode in core/ops/string_ops.cc.
    """
    op = UnicodeTranscode(
        input_encoding, output_encoding, errors, replacement_char,
        replace_control_characters,
    )  # fmt: skip
    return op(input, name=name)


@export("strings.unicode_script")
def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The script of each code point, by ICU's numbers: 25 is Latin, 17 Han.

    Args:
      input: int32 Tensor of code points.
      name: the op's name.

    Returns:
      An int32 Tensor of that shape; -1 for what is no code point.

    Example:
      >>> tf.strings.unicode_script([ord("a"), ord("世"), 32])  # 25, 17, 0

    Source: UnicodeScript in core/ops/string_ops.cc.
    """
    return UnicodeScript()(input, name=name)


def _decoded(
    input: Any, encoding: str, errors: str, replacement: int, controls: bool,
    with_offsets: bool,
) -> tuple[Tensor, Any]:  # fmt: skip
    """(code points of one string, their first bytes or None)."""
    input = convert(input, name="input")
    rank = input.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank:
        raise NotImplementedError(
            f"Strings of shape {input.shape} make a RaggedTensor, which tfteach does "
            "not have: decode one string, of shape ()."
        )
    flat = reshape(input, [-1])
    kind = UnicodeDecodeWithOffsets if with_offsets else UnicodeDecode
    found = kind(encoding, errors, replacement, controls)(flat)
    return found[1], found[2] if with_offsets else None


@export("strings.unicode_decode")
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """The code points of a string.

    Args:
      input: a scalar string Tensor (a RaggedTensor would be needed for more).
      input_encoding, errors, replacement_char, replace_control_characters: see
        `tf.strings.unicode_transcode`.
      name: the name scope of its ops.

    Returns:
      An int32 Tensor [characters].

    Raises:
      ValueError: the rank of `input` is not known.
      NotImplementedError: it is not 0.

    Example:
      >>> tf.strings.unicode_decode("né", "UTF-8")  # 110, 233

    Source: python/ops/ragged/ragged_string_ops.py.
    """
    with name_scope(name, "UnicodeDecode", [input]):
        return _decoded(
            input, input_encoding, errors, replacement_char,
            replace_control_characters, with_offsets=False,
        )[0]  # fmt: skip


@export("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.strings.unicode_decode` that also tells where each character begins.

    Returns:
      (code points, int32 [characters]; their first bytes, int64 [characters]).

    Source: python/ops/ragged/ragged_string_ops.py.
    """
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return _decoded(
            input, input_encoding, errors, replacement_char,
            replace_control_characters, with_offsets=True,
        )  # fmt: skip


@export("strings.unicode_split")
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Tensor:
    """The characters of a string, each as a string in the same encoding.

    Args: as for `tf.strings.unicode_decode`.

    Returns:
      A string Tensor [characters].

    Example:
      >>> tf.strings.unicode_split("né", "UTF-8")  # b"n", b"\\xc3\\xa9"

    Source: python/ops/ragged/ragged_string_ops.py.
    """
    with name_scope(name, "UnicodeSplit", [input]):
        points, _ = _decoded(
            input, input_encoding, errors, replacement_char, False, with_offsets=False
        )
        return _each_encoded(points, input_encoding, errors, replacement_char)


@export("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.strings.unicode_split` that also tells where each character begins.

    Returns:
      (string Tensor [characters]; their first bytes, int64 [characters]).

    Source: python/ops/ragged/ragged_string_ops.py.
    """
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        points, starts = _decoded(
            input, input_encoding, errors, replacement_char, False, with_offsets=True
        )
        found = _each_encoded(points, input_encoding, errors, replacement_char)
        return found, starts


def _each_encoded(points: Tensor, encoding: str, errors: str, instead: int) -> Tensor:
    with name_scope("RaggedExpandDims"):
        column = expand_dims(points, -1)
    return unicode_encode(column, encoding, errors, instead)


@export("strings.unicode_encode")
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Tensor:
    """Strings made of code points.

    Args:
      input: int32 Tensor [..., characters].
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what to do with what is no code point: "replace", "ignore" or "strict".
      replacement_char: the code point that stands in for it.
      name: the name scope of its ops.

    Returns:
      A string Tensor of `input`'s shape without its last size.

    Raises:
      ValueError: the rank of `input` is 0 or not known, or an argument none of these.
      tf.errors.InvalidArgumentError: (when run) there are wrong ones, and
        errors="strict".

    Example:
      >>> tf.strings.unicode_encode([110, 233], "UTF-8")  # b"n\\xc3\\xa9"

    Source: python/ops/ragged/ragged_string_ops.py.
    """
    with name_scope(name, "UnicodeEncode", [input]):
        input = convert(input)
        rank = input.shape.ndims
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        how = output_encoding, errors, replacement_char
        if rank > 2:
            flat = reshape(input, stack([-1, shape(input)[-1]]))
            return reshape(unicode_encode(flat, *how), input.shape[:-1])
        op = UnicodeEncode(errors, output_encoding, replacement_char)
        if rank == 1:
            ends = stack([0, shape(input, out_type=int32)[0]])
            with name_scope("UnicodeEncode"):
                found: Tensor = op(input, ends)
            return reshape(found, [])
        values, ends = _rows(input)
        with name_scope("UnicodeEncode"):
            found = op(values, ends)
        return found


def _rows(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """A matrix's elements in one vector, and where each row's end."""
    with name_scope("RaggedFromTensor"):
        sizes = shape(matrix, out_type=int64)
        columns, rows = sizes[1], sizes[0]
        count = rows * columns
        ends = range_of(rows + 1) * columns
        return reshape(matrix, concat([[count], sizes[2:]], axis=0)), ends
