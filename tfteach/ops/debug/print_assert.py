"""Ops that print values at run time, or assert what holds: Print, PrintV2, Assert.

Source: core/ops/logging_ops.cc, string_ops.cc; core/framework/tensor.cc (format of
values).
"""

from __future__ import annotations

import logging
import pprint
import random
import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import dtypes, nest
from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.op import NoOutputOp, Op, StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    ArrayModule,
    Gradient,
    KernelContext,
    TensorLike,
)
from tfteach.ops.core.control_flow_ops import is_tensor

# ---- formatting of values


def element_text(value: Any, quote: bool = False) -> str:
    """One element in TF's format: floats in their shortest exact form."""
    if isinstance(value, bytes):
        return f'"{_escaped(value)}"' if quote else value.decode("utf-8", "replace")
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        return "?"
    if isinstance(value, np.floating) or value.dtype.kind in "fV":
        if value.dtype != np.float64:
            value = np.float32(value)
        short, exact = (15, 17) if value.dtype == np.float64 else (6, 9)
        text = f"{float(value):.{short}g}"
        return (
            text
            if type(value)(text) == value or value != value
            else (f"{float(value):.{exact}g}")
        )
    return str(value)


# C escapes, as in TF's summaries of strings.
_ESCAPES = {9: r"\t", 10: r"\n", 13: r"\r", 34: r"\"", 39: r"\'", 92: r"\\"}


def _flat_text(value: Any) -> str:
    """One element of a flat list: strings with their bytes escaped."""
    return _escaped(value) if isinstance(value, bytes) else element_text(value)


def _escaped(value: bytes) -> str:
    return "".join(
        _ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        for byte in value
    )


def summarize_flat(array: Any, count: int) -> str:
    """The first `count` elements (all if negative), in the format of Print."""
    array = np.asarray(array)
    limit = array.size if count < 0 else min(count, array.size)
    parts: list[str] = []
    done = _first_elements(array, limit, 0, parts)
    return "".join(parts) + ("..." if done < array.size else "")


def _first_elements(array: Any, limit: int, done: int, parts: list[str]) -> int:
    """Write elements until `limit` are written in total; returns their number."""
    if array.ndim == 0:
        if done < limit:
            parts.append(_flat_text(array[()]))
            done += 1
        return done
    for i, item in enumerate(array):
        if done >= limit:
            if array.ndim == 1 and parts and parts[0] == "[":
                parts.append("...")
            break
        if array.ndim == 1:
            parts.append((" " if i else "") + _flat_text(item))
            done += 1
        else:
            parts.append("[")
            done = _first_elements(item, limit, done, parts)
            parts.append("]")
    return done


def summarize_nested(array: Any, edge: int, depth: int = 0, rank: int = -1) -> str:
    """The array in brackets, with the first and last `edge` items of each dimension."""
    array = np.asarray(array)
    if array.dtype.kind == "c":  # TensorFlow has no format for it
        shown = array.size if edge < 0 else min(edge, array.size)
        return f"[{' '.join('?' * shown)}{'...' * (shown < array.size)}]"
    if array.ndim == 0:
        return element_text(array[()], quote=True)
    if rank < 0:
        rank = array.ndim
        if not array.size and len(array):  # TensorFlow's output
            return "[" + "\n" * (rank - 1) + " ...]"
    gap = " " if array.ndim == 1 else "\n" * (rank - depth - 1) + " " * (depth + 1)
    if edge < 0 or len(array) <= 2 * edge:
        rows = list(array)
        texts = [summarize_nested(row, edge, depth + 1, rank) for row in rows]
    else:
        head, tail = list(array[:edge]), list(array[len(array) - edge :])
        texts = [summarize_nested(row, edge, depth + 1, rank) for row in head]
        texts.append("...")
        texts += [summarize_nested(row, edge, depth + 1, rank) for row in tail]
    return f"[{gap.join(texts)}]"


# ---- the ops


class Assert(StatefulOp, NoOutputOp):
    """Fail the run unless `condition` is true.  Source: logging_ops.cc, Assert."""

    signature = "condition: bool, data: *T ->"
    minimum: ClassVar[dict[str, int]] = {"T": 1}
    summarize: int = 3
    on_gpu: ClassVar[bool] = False
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self, condition: Shape, data: list[Shape]) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, condition: Any, *data: Any) -> tuple[()]:
        if np.ndim(condition):
            raise invalid_argument(
                f"In[0] should be a scalar: [{','.join(map(str, np.shape(condition)))}]"
            )
        if not condition:
            shown = " ".join(f"[{summarize_flat(d, self.summarize)}]" for d in data)
            raise invalid_argument(f"assertion failed: {shown}")
        return ()

    def gradient(self, op: Operation) -> list[Gradient]:
        return [None] * len(op.inputs)


class Print(StatefulOp):
    """`input`; prints `data` as a side effect.  Source: logging_ops.cc, Print."""

    signature = "input: T, data: *U -> output: T"
    message: str = ""
    first_n: int = -1
    summarize: int = 3
    aliases: ClassVar[bool] = True
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, input: Shape, data: list[Shape]) -> Shape:
        return input

    def compute(self, ctx: KernelContext, input: Any, *data: Any) -> Any:
        count = ctx.once(lambda: [0])
        if self.first_n < 0 or count[0] < self.first_n:
            count[0] += 1
            shown = "".join(f"[{summarize_flat(d, self.summarize)}]" for d in data)
            print(self.message + shown, file=sys.stderr, flush=True)
        return input

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad] + [None] * (len(op.inputs) - 1)


class StringFormat(Op):
    """`template` with each placeholder replaced by a tensor's text.

    Source: core/ops/string_ops.cc, StringFormat.
    """

    signature = "inputs: *T -> output: string"
    template: str = "%s"
    placeholder: str = "%s"
    summarize: int = 3
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, inputs: list[Shape]) -> Shape:
        return ()

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        pieces = self.template.split(self.placeholder)
        texts = [summarize_nested(i, self.summarize) for i in inputs]
        found = pieces[0]
        for text, piece in zip(texts, pieces[1:], strict=True):
            found += text + piece
        result = np.empty((), object)
        result[()] = found.encode()
        return result


class PrintV2(StatefulOp, NoOutputOp):
    """Write a string to a stream.  Source: logging_ops.cc, PrintV2."""

    signature = "input: string ->"
    output_stream: str = "stderr"
    end: str = "\n"
    on_gpu: ClassVar[bool] = False
    uses_files: ClassVar[bool] = True

    def infer_shape(self, input: Shape) -> list[Shape]:
        shapes.merge(input, ())
        return []

    def compute(self, ctx: Any, input: Any) -> tuple[()]:
        stream = self.output_stream
        if not stream.startswith("file://") and stream not in _STREAMS:
            raise invalid_argument(
                f"Unknown output stream: {stream}, Valid streams are: "
                f"{' '.join(_STREAMS)}, and file://path"
            )
        value: Any = np.asarray(input, object)[()]
        text = value.decode("utf-8", "replace") + self.end
        if stream.startswith("file://"):
            with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
                file.write(text)
        elif stream.startswith("log("):
            level = {"info": logging.INFO, "warning": logging.WARNING}.get(
                stream[4:-1], logging.ERROR
            )
            get_logger().log(level, text)
        else:
            # Read at run time: a notebook replaces sys.stdout for each cell.
            out = sys.stdout if stream == "stdout" else sys.stderr
            out.write(text)
            out.flush()
        return ()


_STREAMS = ("stdout", "stderr", "log(info)", "log(warning)", "log(error)")


# ---- functions


@export("Print")
def Print_(
    input_: TensorLike,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_`, printing `data` to stderr whenever a run computes it.

    Args:
      input_: the Tensor to forward.
      data: the tensors to print.
      message: the text before them.
      first_n: the number of times to print; None for always.
      summarize: the number of elements of each tensor to print (3; -1 for all).
      name: the op's name.

    Returns:
      A Tensor equal to `input_`; nothing is printed unless it is used.

    Example:
      >>> x = tf.Print(x, [tf.shape(x)], "shape of x: ")

    Source: Print in core/ops/logging_ops.cc.
    """
    op = Print(
        message or "",
        -1 if first_n is None else first_n,
        3 if summarize is None else summarize,
    )
    return op(input_, list(data), name=name)


@export("print")
def print_(*inputs: TensorLike, **kwargs: Any) -> Operation:
    """An operation that prints `inputs` when it is run.

    Args:
      *inputs: tensors, structures of tensors, and anything else.
      **kwargs: `output_stream` (sys.stderr; sys.stdout, a logging function or level, or
        "file://path"), `summarize` (the number of items at each end of a dimension, 3;
        -1 for all), `sep` (" "), `end` (a newline), `name`.

    Returns:
      The Operation: run it, or make another operation depend on it.

    Raises:
      ValueError: a keyword or stream is unknown.

    Example:
      >>> with tf.control_dependencies([tf.print("x =", x)]):
      ...     y = x * 2

    Source: PrintV2 and StringFormat in core/ops; python/ops/logging_ops.py, print_v2.
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    op = PrintV2(_stream_name(stream), end)
    first = inputs[0] if len(inputs) == 1 else None
    if (
        isinstance(first, Tensor)
        and first._shape == ()
        and (first.dtype.base_dtype is dtypes.string)
    ):
        return op(first, name=name)
    template, tensors, placeholder = _template(inputs, sep)
    text = string_format(
        template, tensors, placeholder, summarize, f"{name}_format" if name else None
    )
    return op(text, name=name)


def _stream_name(stream: Any) -> str:
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    for known, text in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
        if stream is known:
            return text
    levels = {logging.INFO: "info", logging.WARNING: "warning", logging.ERROR: "error"}
    level = (
        levels.get(stream)
        if isinstance(stream, int)
        else (
            {
                "info": "info",
                "warn": "warning",
                "warning": "warning",
                "error": "error",
            }.get(getattr(stream, "__name__", ""))
        )
    )
    if level is None:
        raise ValueError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported "
            "streams are sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, "
            "tf.logging.error. File needs to be in the form of 'file://<filepath>'."
        )
    return f"log({level})"


def _template(inputs: Sequence[Any], sep: str) -> tuple[str, list[Any], str]:
    """A template with a placeholder per tensor, the tensors, and the placeholder."""
    bare = nest.map_structure(lambda x: "" if is_tensor(x) else x, inputs)
    without = " ".join(pprint.pformat(x) for x in bare)
    placeholder, numbers = "{}", random.Random(5)
    while placeholder in without:
        placeholder += str(numbers.randint(0, 9))
    tensors: list[Any] = []

    def mark(value: Any) -> Any:
        if not is_tensor(value):
            return value
        if type(value).__name__ == "SparseTensor":
            tensors.extend([value.indices, value.values, value.dense_shape])
            return (
                f"SparseTensor(indices={placeholder}, values={placeholder}, "
                f"shape={placeholder})"
            )
        tensors.append(value)
        return placeholder

    texts = [
        i if isinstance(i, str) else pprint.pformat(nest.map_structure(mark, i))
        for i in inputs
    ]
    template = sep.join(texts).replace(f"'{placeholder}'", placeholder)
    return template, tensors, placeholder


@export("strings.format")
def string_format(
    template: str,
    inputs: Tensor | Sequence[TensorLike],
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """`template` with each placeholder replaced by a tensor's text.

    Args:
      template: a string.
      inputs: a tensor or a list of them, one for each placeholder.
      placeholder: the text to replace.
      summarize: the number of items at each end of a dimension to show; -1 for all.
      name: the op's name.

    Returns:
      A string scalar Tensor.

    Raises:
      ValueError: the numbers of placeholders and tensors differ.

    Source: StringFormat in core/ops/string_ops.cc.
    """
    tensors = [inputs] if is_tensor(inputs) else list(inputs)
    count = template.count(placeholder)
    if count != len(tensors):
        raise ValueError(
            f"{count} placeholder(s) in template does not match {len(tensors)} "
            "tensor(s) provided as input"
        )
    return StringFormat(template, placeholder, summarize)(tensors, name=name)
