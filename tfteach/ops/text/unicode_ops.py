"""Unicode in strings: transcoding, code points, characters, scripts.

Source: core/ops/string_ops.cc, core/kernels/unicode_ops.cc,
unicode_script_op.cc.
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
from tfteach.framework.dtypes import DType, dtypes_of, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.text.byte_string_arrays import each, strings
from tfteach.ops.text.string_ops import TextOp

ENCODINGS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_LARGEST = 0x10FFFF
REPLACEMENT = 0xFFFD
# Python's codecs that are not text encodings.
_NO_TEXT = frozenset(
    "idna punycode raw_unicode_escape undefined unicode_escape".split()
)


# ---- characters


@cache
def _codec(encoding: str) -> str:
    """Python's name of a text encoding.  Raises: InvalidArgumentError."""
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
    """(code point or None if invalid, byte offset) of each character."""
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
    """Code points as bytes; only UTF-8 cannot encode half of a surrogate pair."""
    text = "".join(map(chr, points))
    if encoding != "UTF-8":
        return text.encode(encoding, "surrogatepass")
    halves = {c: REPLACEMENT for c in points if 0xD800 <= c < 0xE000}
    return text.translate(halves).encode(encoding)


class _Lenient(TextOp, abstract=True):
    """The handling of bytes that do not decode."""

    errors = "replace"
    replacement_char = REPLACEMENT
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
        """The code points that replace invalid ones."""
        if self.errors == "strict":
            raise invalid_argument(message)
        return [self.replacement_char] if self.errors == "replace" else []


class _Reader(_Lenient, abstract=True):
    input_encoding = ""
    replace_control_characters = False

    def read(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(code point, byte offset) of each character, with invalid ones handled."""
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
    """Strings transcoded.  Source: string_ops.cc, UnicodeTranscode."""

    signature = "input: string -> output: string"
    input_encoding: str
    output_encoding: str
    errors: str = "replace"
    replacement_char: int = REPLACEMENT
    replace_control_characters: bool = False

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        self.check_replacement()
        _codec(self.input_encoding)
        return each(
            lambda s: _encoded([c for c, _ in self.read(s)], self.output_encoding),
            input,
        )


class _Decode(_Reader, MultiOutputOp, abstract=True):
    input_encoding: str
    errors: str = "replace"
    replacement_char: int = REPLACEMENT
    replace_control_characters: bool = False
    Tsplits: DType = int64
    Tsplits_allowed = dtypes_of("int32 int64")

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        count = shapes.size_of(inputs[0])
        return [(None if count is None else count + 1,), (None,), (None,)]

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        self.check_replacement()
        _codec(self.input_encoding)
        rows = [list(self.read(s)) for s in np.asarray(input, object).ravel()]
        ends = np.cumsum([0, *map(len, rows)]).astype(self.Tsplits.numpy_dtype)
        found = [pair for row in rows for pair in row]
        points = np.array([point for point, _ in found], np.int32)
        return ends, points, np.array([at for _, at in found], np.int64)


class UnicodeDecode(_Decode):
    """The code points of all strings, and the end of each string.

    Source: string_ops.cc, UnicodeDecode.
    """

    signature = "input: string -> row_splits: Tsplits, char_values: int32"

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        return super().infer_shape(*inputs)[:2]

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return super().compute(xp, input)[:2]


class UnicodeDecodeWithOffsets(_Decode):
    """UnicodeDecode that also returns each character's byte offset.

    Source: string_ops.cc, UnicodeDecodeWithOffsets.
    """

    signature = (
        "input: string -> row_splits: Tsplits, char_values: int32, "
        "char_to_byte_starts: int64"
    )


class UnicodeEncode(_Lenient):
    """Code points encoded as strings.  Source: string_ops.cc, UnicodeEncode."""

    signature = "input_values: int32, input_splits: Tsplits -> output: string"
    errors: str = "replace"
    output_encoding: str  # type: ignore[misc]
    replacement_char: int = REPLACEMENT
    Tsplits = dtypes_of("int32 int64")
    Tsplits_default = int64
    choices: ClassVar[tuple[str, ...]] = ("ignore", "replace", "strict")

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        shapes.with_rank(inputs[0], 1)
        (ends,) = shapes.with_rank(inputs[1], 1)
        return (None if ends is None else ends - 1,)

    def compute(self, xp: ArrayModule, input_values: Array, input_splits: Array) -> Any:
        self.check_replacement()
        input_values, ends = input_values.reshape(-1), input_splits.reshape(-1).tolist()
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
    """The start of each run of code points in one script, and the script (ICU 64)."""
    file = Path(__file__).with_name("unicode_scripts.txt")
    rows = [line.split() for line in file.read_text().splitlines()]
    starts = np.array([int(first, 16) for first, _ in rows])
    return starts, np.array([int(script) for _, script in rows], np.int32)


class UnicodeScript(TextOp):
    """The script of each code point.  Source: string_ops.cc, UnicodeScript."""

    signature = "input: int32 -> output: int32"

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        starts, numbers = _scripts()
        points = np.asarray(input)
        found = numbers[np.searchsorted(starts, points, "right") - 1]
        return np.where((points < 0) | (points > _LARGEST), np.int32(-1), found)
