"""`tf.strings.unicode_*`: conversion between strings and code points.

Where TensorFlow returns a RaggedTensor, these raise NotImplementedError.
Source: python/ops/ragged/ragged_string_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.attributes import as_text
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.range import range as range_of
from tfteach.ops.text.unicode_ops import (
    REPLACEMENT,
    UnicodeDecode,
    UnicodeDecodeWithOffsets,
    UnicodeEncode,
    UnicodeScript,
    UnicodeTranscode,
)


@export("strings.unicode_transcode")
def unicode_transcode(
    input: TensorLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Each string converted to another encoding.

    Args:
      input: string Tensor.
      input_encoding: such as "UTF-8", "UTF-16-BE", "latin1".
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: the handling of invalid bytes: "replace", "ignore" or "strict".
      replacement_char: the code point that replaces them.
      replace_control_characters: whether code points below 32 are invalid too.
      name: the op's name.

    Returns:
      A string Tensor of that shape.

    Raises:
      ValueError: an argument has an unsupported value.
      tf.errors.InvalidArgumentError: (when run) the input's encoding is unknown, or
        bytes are invalid and errors="strict".

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
def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """The script of each code point by ICU's numbers: 25 is Latin, 17 Han.

    Args:
      input: int32 Tensor of code points.
      name: the op's name.

    Returns:
      An int32 Tensor of that shape; -1 for invalid code points.

    Example:
      >>> tf.strings.unicode_script([ord("a"), ord("世"), 32])  # 25, 17, 0

    Source: UnicodeScript in core/ops/string_ops.cc.
    """
    return UnicodeScript()(input, name=name)


def _decoded(
    input: Any, encoding: str, errors: str, replacement: int, controls: bool,
    with_offsets: bool,
) -> tuple[Tensor, Any]:  # fmt: skip
    """(code points of one string, their byte offsets or None)."""
    input = convert(input, name="input")
    as_text("input_encoding", encoding)
    rank = input.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank:
        raise NotImplementedError(
            f"Strings of shape {input.shape} require a RaggedTensor, which is not "
            "supported: decode one string, of shape ()."
        )
    flat = reshape(input, [-1])
    kind = UnicodeDecodeWithOffsets if with_offsets else UnicodeDecode
    found = kind(encoding, errors, replacement, controls)(flat)
    return found[1], found[2] if with_offsets else None


@export("strings.unicode_decode")
def unicode_decode(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """The code points of a string.

    Args:
      input: a scalar string Tensor (higher ranks would require a RaggedTensor).
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
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.strings.unicode_decode` with the byte offset of each character.

    Returns:
      (code points, int32 [characters]; byte offsets, int64 [characters]).

    Source: python/ops/ragged/ragged_string_ops.py.
    """
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return _decoded(
            input, input_encoding, errors, replacement_char,
            replace_control_characters, with_offsets=True,
        )  # fmt: skip


@export("strings.unicode_split")
def unicode_split(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
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
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.strings.unicode_split` with the byte offset of each character.

    Returns:
      (string Tensor [characters]; byte offsets, int64 [characters]).

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
    input: TensorLike,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> Tensor:
    """Strings encoded from code points.

    Args:
      input: int32 Tensor [..., characters].
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: the handling of invalid code points: "replace", "ignore" or "strict".
      replacement_char: the code point that replaces them.
      name: the name scope of its ops.

    Returns:
      A string Tensor of `input`'s shape without its last dimension.

    Raises:
      ValueError: the rank of `input` is 0 or unknown, or an argument is unsupported.
      tf.errors.InvalidArgumentError: (when run) code points are invalid, and
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
    """A matrix's elements in one vector, and the end of each row."""
    with name_scope("RaggedFromTensor"):
        sizes = shape(matrix, out_type=int64)
        columns, rows = sizes[1], sizes[0]
        count = rows * columns
        ends = range_of(rows + 1) * columns
        return reshape(matrix, concat([[count], sizes[2:]], axis=0)), ends
