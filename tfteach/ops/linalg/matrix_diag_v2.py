"""Arbitrary diagonals of matrices, and bands of them.

A band is a pair (lowest, highest diagonal): 0 is the main diagonal, positive numbers
lie above it.  Its diagonals are stored as the rows of a matrix, the highest first,
left-aligned and padded to the length of the longest.
Source: core/ops/array_ops.cc (MatrixDiagV2 ...), python/ops/array_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient
from tfteach.ops.core.fill import zeros_like


def _band(k: Any) -> tuple[int, int]:
    """The lowest and the highest diagonal."""
    numbers = np.asarray(k).reshape(-1)
    if not 1 <= numbers.size <= 2:
        raise invalid_argument(
            "diag_index must have only one or two elements, received "
            f"{numbers.size} elements."
        )
    low, high = int(numbers[0]), int(numbers[-1])
    if low > high:
        raise invalid_argument(
            f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}"
        )
    return low, high


def _longest(rows: int, columns: int, low: int, high: int) -> int:
    return min(rows + min(high, 0), columns - max(low, 0))


def _check_bounds(rows: int, columns: int, low: int, high: int) -> None:
    for which, number in (("lower", low), ("upper", high)):
        if number and not -rows < number < columns:
            raise invalid_argument(
                f"{which}_diag_index is out of bound: {number}. It must be between "
                f"{-rows} and {columns}"
            )


def _places(xp: ArrayModule, rows: int, columns: int, low: int, high: int) -> Any:
    """For each diagonal: its row in the band, and the indices of its elements."""
    for i, number in enumerate(range(high, low - 1, -1)):
        length = _longest(rows, columns, number, number)
        steps = xp.arange(max(length, 0))
        yield i, steps + max(-number, 0), steps + max(number, 0), steps


def _band_shape(
    batch: tuple[Any, ...], rows: Any, columns: Any, low: int, high: int
) -> tuple[Any, ...]:
    known = rows is not None and columns is not None
    longest = _longest(rows, columns, low, high) if known else None
    return (*batch, *([] if low == high else [high - low + 1]), longest)


def _static_band(k: Any, rows: Any, columns: Any) -> tuple[int, int]:
    """The band; raises ValueError if it cannot fit."""
    numbers = np.ravel(k).tolist()
    if not 1 <= len(numbers) <= 2:
        raise ValueError(
            "diag_index must be a vector with one or two elements. It has "
            f"{len(numbers)} elements."
        )
    low, high = numbers[0], numbers[-1]
    if low > high:
        raise ValueError("lower_diag_index is greater than upper_diag_index")
    if rows is not None and columns is not None:
        for which, number in (("lower", low), ("upper", high)):
            if number and not -rows < number < columns:
                raise ValueError(f"{which}_diag_index is out of bound.")
    return low, high


class MatrixDiagV2(Op):
    """Matrices with given diagonals.  Source: array_ops.cc, MatrixDiagV2."""

    signature = (
        "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> "
        "output: T"
    )
    by_value: ClassVar[tuple[str, ...]] = ("k", "num_rows", "num_cols")
    host_inputs: ClassVar[tuple[str, ...]] = (
        "k", "num_rows", "num_cols", "padding_value"
    )  # fmt: skip

    def infer_shape(
        self, diagonal: Shape, k: Any, num_rows: Any, num_cols: Any, padding: Shape
    ) -> Shape:
        shapes.with_rank_at_least(diagonal, 1)
        if k is None or diagonal is None:
            return None
        low, high = _static_band(k, None, None)
        batch = diagonal[:-1] if low == high else diagonal[:-2]
        if diagonal[-1] is None or num_rows is None or num_cols is None:
            return (*batch, None, None)
        sizes = _matrix_size(diagonal[-1], low, high, int(num_rows), int(num_cols))
        return (*batch, *sizes)

    def check_shapes(
        self,
        diagonal: tuple[int, ...],
        k: tuple[int, ...],
        num_rows: tuple[int, ...],
        num_cols: tuple[int, ...],
        padding_value: tuple[int, ...],
    ) -> None:
        message = "diagonal must be at least 1-dim, received shape: %s"
        require(diagonal, message, diagonal)
        message = "diag_index must be a scalar or vector, received shape: %s"
        require(len(k) <= 1, message, k)
        sizes = ("num_rows", num_rows), ("num_cols", num_cols)
        for name, own in (*sizes, ("padding_value", padding_value)):
            single = all(n == 1 for n in own)
            require(single, f"{name} must have exactly one element, got shape %s", own)

    def compute(
        self,
        xp: ArrayModule,
        diagonal: Array,
        k: Any,
        num_rows: Array,
        num_cols: Array,
        padding: Array,
    ) -> Any:
        low, high = _band(k)
        band = diagonal[..., None, :] if low == high else diagonal
        if band.ndim < 2 or band.shape[-2] != high - low + 1:
            raise invalid_argument(
                "The number of diagonals provided in the input does not match the "
                "lower_diag_index and upper_diag_index range."
            )
        rows, columns = _matrix_size(
            diagonal.shape[-1], low, high, num_rows.item(), num_cols.item()
        )
        _check_bounds(rows, columns, low, high)
        whole = (*band.shape[:-2], rows, columns)
        result = xp.full(whole, padding.item(), diagonal.dtype)
        for i, at_rows, at_columns, steps in _places(xp, rows, columns, low, high):
            result[..., at_rows, at_columns] = band[..., i, : steps.size]
        return result

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.linalg.matrix_diag import matrix_diag_part

        part = matrix_diag_part(grad, k=op.inputs[1])
        return [part, None, None, None, None]


def _matrix_size(
    length: int, low: int, high: int, rows: int, columns: int
) -> tuple[int, int]:
    """The size of the matrix, with -1 replaced by the minimum."""
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    elif rows == -1:
        rows = least_rows
    elif columns == -1:
        columns = least_columns
    return rows, columns


class MatrixDiagPartV2(Op):
    """Diagonals of matrices.  Source: array_ops.cc, MatrixDiagPartV2."""

    signature = "input: T, k: int32, padding_value: T -> diagonal: T"
    by_value: ClassVar[tuple[str, ...]] = ("k",)
    host_inputs: ClassVar[tuple[str, ...]] = ("k", "padding_value")
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, input: Shape, k: Any, padding_value: Shape) -> Shape:
        shapes.with_rank_at_least(input, 2)
        if input is None or k is None:
            return None
        low, high = _static_band(k, *input[-2:])
        return _band_shape(input[:-2], input[-2], input[-1], low, high)

    def check_shapes(self, input: tuple[int, ...], k: tuple[int, ...]) -> None:
        message = "input must be at least 2-dim, received shape: %s"
        require(len(input) >= 2, message, input)
        message = "diag_index must be a scalar or vector, received shape: %s"
        require(len(k) <= 1, message, k)

    def compute(
        self, xp: ArrayModule, input: Array, k: Any, padding_value: Array
    ) -> Any:
        low, high = _band(k)
        rows, columns = input.shape[-2:]
        _check_bounds(rows, columns, low, high)
        longest = _longest(rows, columns, low, high)
        whole = (*input.shape[:-2], high - low + 1, longest)
        result = xp.full(whole, padding_value.item(), input.dtype)
        for i, at_rows, at_columns, steps in _places(xp, rows, columns, low, high):
            result[..., i, : steps.size] = input[..., at_rows, at_columns]
        return result[..., 0, :] if low == high else result

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.linalg.matrix_diag import matrix_diag, matrix_set_diag

        input, k, _ = op.inputs
        sizes = None if input._shape is None else input._shape[-2:]
        if shapes.is_full(sizes):
            rows, columns = sizes
            back = matrix_diag(grad, k=k, num_rows=rows, num_cols=columns)
        else:
            back = matrix_set_diag(zeros_like(input), grad, k=k)
        return [back, None, None]


class MatrixSetDiagV2(Op):
    """Matrices with diagonals replaced.  Source: array_ops.cc, MatrixSetDiagV2."""

    signature = "input: T, diagonal: T, k: int32 -> output: T"
    by_value: ClassVar[tuple[str, ...]] = ("k",)
    host_inputs: ClassVar[tuple[str, ...]] = ("k",)
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, input: Shape, diagonal: Shape, k: Any) -> Shape:
        shapes.with_rank_at_least(input, 2)
        shapes.with_rank_at_least(diagonal, 1)
        if k is None:
            return input
        if input is None:
            low, high = _static_band(k, None, None)
            rank = None if diagonal is None else len(diagonal) + (low == high)
            return None if rank is None else (None,) * rank
        low, high = _static_band(k, *input[-2:])
        shapes.merge(_band_shape(input[:-2], input[-2], input[-1], low, high), diagonal)
        return input

    def check_shapes(
        self, input: tuple[int, ...], diagonal: tuple[int, ...], k: tuple[int, ...]
    ) -> None:
        message = "input must be at least 2-dim, received shape: %s"
        require(len(input) >= 2, message, input)
        message = "diagonal must be at least 1-dim, received shape: %s"
        require(diagonal, message, diagonal)
        message = "diag_index must be a scalar or vector, received shape: %s"
        require(len(k) <= 1, message, k)

    def compute(self, xp: ArrayModule, input: Array, diagonal: Array, k: Any) -> Any:
        low, high = _band(k)
        rows, columns = input.shape[-2:]
        _check_bounds(rows, columns, low, high)
        wanted = _band_shape(input.shape[:-2], rows, columns, low, high)
        if diagonal.shape != wanted:
            raise invalid_argument(
                "Either first dimensions of diagonal don't match input.shape[:-2], or "
                "diagonal.shape[:-1] is not equal to the longests diagonal in range "
                "[lower_diag_index:upper_diag_index]."
            )
        band = diagonal[..., None, :] if low == high else diagonal
        result = input.copy()
        for i, at_rows, at_columns, steps in _places(xp, rows, columns, low, high):
            result[..., at_rows, at_columns] = band[..., i, : steps.size]
        return result
