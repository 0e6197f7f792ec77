"""Messages of checks that fail in eager programs, and how tensors are named in them.

Source: python/ops/check_ops.py (messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import InvalidArgumentError, invalid_argument
from tfteach.framework.operation import Tensor


def label(tensor: Tensor, unnamed: str | None = None) -> str:
    """The name of a tensor for messages.

    Args:
      tensor: the tensor.
      unnamed: for a tensor with a value, which has no name; its shape and type if None.
    """
    if not isinstance(tensor, EagerTensor):
        return tensor.name
    if unnamed is not None:
        return unnamed
    return f"shape={tensor.shape} dtype={tensor.dtype.name}"


def comparison_failed(
    symbol: str,
    x: Any,
    y: Any,
    holds: Any,
    data: Sequence[Any] | None,
    summarize: int | None,
    message: str | None,
) -> InvalidArgumentError:
    """The error of a comparison that does not hold for all elements.

    Args:
      symbol: as in `x symbol y`.
      x: a tensor.
      y: a tensor.
      holds: where it holds, a bool Tensor.
      data: the values to print; by default elements of both.
      summarize: how many of each tensor.
      message: a prefix, or None.
    """
    count = 3 if summarize is None else summarize
    if count < 0:
        count = max(np.size(x.value), np.size(y.value))
    if data is None:
        data = [f"Condition x {symbol} y did not hold."]
        if count:
            data += _examples(x, y, holds, count)
    if message is not None:
        data = [message, *data]
    return invalid_argument("\n".join(_text(item, count) for item in data))


def _examples(x: Any, y: Any, holds: Any, count: int) -> list[Any]:
    """The first elements that differ, if the shapes are the same; the first of all."""
    found: list[Any] = []
    if x.shape == y.shape and x.shape.ndims:
        indices = np.argwhere(~holds.numpy())[:count]
        at = tuple(indices.T)
        found += [
            f"Indices of first {len(indices)} different values:", indices,
            "Corresponding x values:", x.numpy()[at],
            "Corresponding y values:", y.numpy()[at],
        ]  # fmt: skip
    for name, tensor in (("x", x), ("y", y)):
        first = np.ravel(tensor.numpy())[:count]
        found += [f"First {first.size} elements of {name}:", first]
    return found


def _text(item: Any, count: int) -> str:
    if not isinstance(item, EagerTensor):
        return str(item)
    values = item.numpy()
    if np.ndim(values) == 0:
        return str(values)
    flat = np.ravel(values)
    return str([str(value) for value in flat[:count]] + ["..."] * (count < flat.size))
