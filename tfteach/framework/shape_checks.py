"""Run-time checks of shapes, for `Op.check_shapes`, with TensorFlow's messages."""

from __future__ import annotations

from typing import Any

from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import text

Sizes = tuple[int, ...]


def require(holds: Any, message: str, *values: Any) -> None:
    """Raise InvalidArgumentError unless `holds`.

    Args:
      holds: the condition.
      message: the text, with a `%s` for each of the values.
      *values: shapes, written as TensorFlow does, and others.
    """
    if not holds:
        found = tuple(text(s) if isinstance(s, tuple) else s for s in values)
        raise invalid_argument(message % found)


def require_scalar(shape: Sizes, message: str) -> None:
    """Require rank 0; a `%s` in `message` is the shape."""
    if shape:
        raise invalid_argument(message.replace("%s", text(shape)))


def require_vector(shape: Sizes, message: str) -> None:
    """Require rank 1; a `%s` in `message` is the shape."""
    if len(shape) != 1:
        raise invalid_argument(message.replace("%s", text(shape)))


def require_matrix(shape: Sizes, message: str) -> None:
    """Require rank 2; a `%s` in `message` is the shape."""
    if len(shape) != 2:
        raise invalid_argument(message.replace("%s", text(shape)))


def require_sparse(indices: Sizes, values: Sizes, shape: Sizes) -> None:
    """Require the parts of a sparse tensor to have consistent ranks and sizes."""
    require_vector(values, "vals must be a vec, but got: %s")
    require(indices, "indices must be a matrix, but got: %s", indices)
    message = "indices and values rows (indexing dimension) must match. "
    message += "(indices = %s, values = %s)"
    require(indices[0] == values[0], message, indices[0], values[0])
    require_matrix(indices, "indices must be a matrix, but got: %s")
    require(indices[1:] == shape, "Order length must be SparseTensor rank.")


def require_stored_entries(indices: Sizes, values: Sizes, shape: Sizes) -> None:
    """`require_sparse`, after the checks of kernels that read a sparse tensor."""
    message = "Input sp_indices should be a matrix but received shape: %s"
    require_matrix(indices, message)
    message = "Inputs sp_values and sp_shape should be vectors but received "
    message += "shapes: %s and %s"
    require(len(values) == len(shape) == 1, message, values, shape)
    require_sparse(indices, values, shape)
