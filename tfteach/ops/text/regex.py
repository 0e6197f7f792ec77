"""Regular expressions on strings.

TensorFlow uses RE2's syntax; here Python's `re` does the matching.  They agree where
both support a feature.  Source: core/ops/string_ops.cc.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape, with_rank
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.text.byte_string_arrays import each, each_as
from tfteach.ops.text.string_ops import TextOp


def compiled(pattern: bytes) -> re.Pattern[bytes]:
    """The compiled pattern; raises TF's error if it is invalid."""
    try:
        return re.compile(pattern)
    except re.error as error:
        text = pattern.decode("utf-8", "replace")
        raise invalid_argument(f"Invalid pattern: {text}, error: {error}") from None


def replaced(input: Any, pattern: bytes, rewrite: bytes, replace_global: bool) -> Any:
    """Matches replaced, all or the first of each string."""
    expression = compiled(pattern)

    def group(match: re.Match[bytes], which: int) -> bytes:
        # RE2 ignores references to groups that the pattern does not have.
        return (match[which] or b"") if which <= expression.groups else b""

    def expand(match: re.Match[bytes]) -> bytes:
        return re.sub(
            rb"\\([0-9\\])",
            lambda m: b"\\" if m[1] == b"\\" else group(match, int(m[1])),
            rewrite,
        )

    count = 0 if replace_global else 1
    return each(lambda s: expression.sub(expand, s, count=count), input)


def matches(input: Any, pattern: bytes) -> Any:
    """Whether the pattern matches each string completely."""
    expression = compiled(pattern)
    return each_as(np.bool_, lambda s: bool(expression.fullmatch(s)), input)


class StaticRegexReplace(TextOp):
    """Replace the matches of a fixed pattern.  Source: string_ops.cc."""

    signature = "input: string -> output: string"
    pattern: str
    rewrite: str
    replace_global: bool = True

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        pattern, rewrite = self.pattern.encode(), self.rewrite.encode()
        return replaced(input, pattern, rewrite, self.replace_global)


class RegexReplace(TextOp):
    """Replace the matches of a pattern given by a tensor.

    Source: string_ops.cc, RegexReplace.
    """

    signature = "input: string, pattern: string, rewrite: string -> output: string"
    replace_global: bool = True
    host_inputs: ClassVar[tuple[str, ...]] = ("pattern", "rewrite")

    def infer_shape(self, input: Shape, pattern: Shape, rewrite: Shape) -> Shape:
        with_rank(pattern, 0)
        with_rank(rewrite, 0)
        return input

    def compute(
        self, xp: ArrayModule, input: Array, pattern: Array, rewrite: Array
    ) -> Any:
        for name, value in (("Pattern", pattern), ("Rewrite", rewrite)):
            if np.ndim(value):
                raise invalid_argument(
                    f"{name} must be scalar, but received {list(np.shape(value))}"
                )
        return replaced(input, _scalar(pattern), _scalar(rewrite), self.replace_global)


class StaticRegexFullMatch(TextOp):
    """Whether a fixed pattern matches a complete string.  Source: string_ops.cc."""

    signature = "input: string -> output: bool"
    pattern: str

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return matches(input, self.pattern.encode())


class RegexFullMatch(TextOp):
    """Whether a pattern given by a tensor matches a complete string.

    Source: string_ops.cc.
    """

    signature = "input: string, pattern: string -> output: bool"

    def infer_shape(self, input: Shape, pattern: Shape) -> Shape:
        with_rank(pattern, 0)
        return input

    def compute(self, xp: ArrayModule, input: Array, pattern: Array) -> Any:
        if np.ndim(pattern):
            raise invalid_argument(
                f"Pattern must be scalar, but received {list(np.shape(pattern))}"
            )
        return matches(input, _scalar(pattern))


def _scalar(value: Any) -> bytes:
    found = value.item() if hasattr(value, "item") else value
    return found if isinstance(found, bytes) else bytes(found)


@export("regex_replace", "strings.regex_replace")
def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    r"""Each string with the matches of a regular expression replaced.

    Args:
      pattern: a str or scalar string Tensor; RE2's syntax, as far as Python's `re`
      supports it.
        shares it.
      rewrite: a str or scalar string Tensor; `\1` to `\9` refer to groups, `\0` to the
        whole match.
      replace_global: replace all matches, or only the first of each string.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, the pattern is invalid.

    Example:
      >>> tf.regex_replace(["2016-01-02"], r"(\d+)-(\d+)-\d+", r"\2/\1")  # [b"01/2016"]

    Source: StaticRegexReplace and RegexReplace in core/ops/string_ops.cc.
    """
    if isinstance(pattern, str | bytes) and isinstance(rewrite, str | bytes):
        op = StaticRegexReplace(_text(pattern), _text(rewrite), replace_global)
        return op(input, name=name)
    return RegexReplace(replace_global)(input, pattern, rewrite, name=name)


@export("strings.regex_full_match")
def regex_full_match(
    input: TensorLike, pattern: TensorLike, name: str | None = None
) -> Tensor:
    """Whether a regular expression matches each string completely, a bool Tensor.

    Args:
      input: a string Tensor.
      pattern: a str or scalar string Tensor.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, the pattern is invalid.

    Example:
      >>> tf.strings.regex_full_match(["a1", "b"], "[a-z][0-9]")  # [True, False]

    Source: StaticRegexFullMatch and RegexFullMatch in core/ops/string_ops.cc.
    """
    if isinstance(pattern, str | bytes):
        return StaticRegexFullMatch(_text(pattern))(input, name=name)
    return RegexFullMatch()(input, pattern, name=name)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode()
