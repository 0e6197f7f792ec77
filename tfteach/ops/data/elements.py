"""Elements of datasets: tuples of arrays, one for each component.

Datasets whose elements are rows of arrays that exist anyway (slices of tensors, also
shuffled or repeated) iterate over row numbers: a batch of them is gathered at once.
Source: core/framework/dataset.h, core/kernels/data/batch_dataset_op.cc (messages).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import (
    CancelledError,
    DeadlineExceededError,
    OpError,
    invalid_argument,
)
from tfteach.framework.type_aliases import Array
from tfteach.ops.text.byte_string_arrays import strings

Element = tuple[Any, ...]

_ROWS_AHEAD = 64


class Rows:
    """An iterator over the numbers of rows, in blocks."""

    def take(self, count: int) -> Array:
        """The next numbers as int64 [count]; fewer at the end."""
        raise NotImplementedError


class RowElements:
    """Rows as elements."""

    def __init__(self, table: list[Array], rows: Rows) -> None:
        self.table = table
        self.rows = rows
        self._ahead: Iterator[Element] = iter(())

    def __iter__(self) -> RowElements:
        return self

    def __next__(self) -> Element:
        for element in self._ahead:
            return element
        numbers = self.rows.take(_ROWS_AHEAD)
        if not len(numbers):
            raise StopIteration
        columns = [column_elements(array[numbers]) for array in self.table]
        self._ahead = zip(*columns, strict=True)
        return next(self._ahead)


def row_elements(table: list[Array], rows: Rows) -> Iterator[Element]:
    """The elements that are these rows of a table."""
    return RowElements(table, rows)


def column_elements(array: Array) -> Sequence[Any]:
    """The items of an array along its first axis, as arrays."""
    if array.ndim > 1 or not array.dtype.hasobject:
        return list(array)
    return [text_array(item) for item in array.tolist()]


def text_array(item: Any) -> Any:
    """A scalar of type string or variant as kernels pass it."""
    return np.array(item, object) if isinstance(item, bytes) else item


def stacked(elements: Sequence[Element], is_fused: bool = False) -> Element:
    """Elements along a new first axis.

    Args:
      elements: at least one.
      is_fused: whether TensorFlow would run `map` and `batch` as one, with another
        message.

    Raises:
      InvalidArgumentError: the shapes of a component differ.
    """
    columns = zip(*elements, strict=True)
    return tuple([_column(i, list(c), is_fused) for i, c in enumerate(columns)])


def _column(number: int, items: list[Any], is_fused: bool) -> Any:
    first = items[0]
    shape = first.shape
    for i, item in enumerate(items):
        if item.shape != shape:
            ours, its = shapes.text(shape), shapes.text(item.shape)
            if is_fused:
                raise invalid_argument(
                    "Cannot add tensor to the batch: number of elements does not "
                    f"match. Shapes are: [tensor]: {its}, [batch]: {ours}"
                )
            raise invalid_argument(
                f"Cannot batch tensors with different shapes in component {number}. "
                f"First element had shape {ours} and element {i} had shape {its}."
            )
    dtype = getattr(first, "dtype", None)
    if dtype is None or (dtype.hasobject and not shape):  # variants or strings
        texts = [item if dtype is None else item.item() for item in items]
        return strings(texts, (len(items),))
    if not shape:
        return np.array(items, dtype)
    return np.concatenate(items).reshape((len(items), *shape))


def draw_all(iterator: Iterator[Element], count: int) -> list[Element]:
    """The next elements, fewer at the end; an error among them ends no drawing.

    Raises:
      OpError: the first of them, after the last element.
    """
    found: list[Element] = []
    failure: OpError | None = None
    for _ in range(count):
        try:
            found.append(next(iterator))
        except StopIteration:
            break
        except (CancelledError, DeadlineExceededError):
            raise
        except OpError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return found
