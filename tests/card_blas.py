"""cuBLAS for tests/strict_card.py, as NVIDIA documents it, computed by NumPy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tests import card_capture
from tests.card_clock import CURRENT

_TYPES = {0: np.float32, 1: np.float64, 2: np.float16}
IN_TF32 = 77
_SUMS = {(0, 68), (0, IN_TF32), (1, 70), (2, 68)}  # of a type, in a type
_INVALID_VALUE, _NOT_SUPPORTED = 7, 15


def _columns(
    address: int, dtype: Any, shape: tuple[int, int], leading: int, stride: int, i: int
) -> Any:
    """A matrix that is stored by columns."""
    rows, columns = shape
    itemsize = np.dtype(dtype).itemsize
    length = ((columns - 1) * leading + rows) * itemsize
    place = address + i * stride * itemsize
    memory = (ctypes.c_char * length).from_address(place)
    return np.ndarray(shape, dtype, memory, 0, (itemsize, leading * itemsize))


class Cublas:
    """The functions that tfteach/framework/card_products.py calls.

    Attributes:
      in_tf32: how many products were computed in TF32.
    """

    in_tf32 = 0

    def cublasCreate_v2(self, handle: Any) -> int:
        card_capture.STATE.refuse_while_capturing("cublasCreate")
        self._card = CURRENT.number
        return 0

    def cublasSetStream_v2(self, handle: Any, stream: int) -> int:
        assert stream == card_capture.STATE.stream.ptr
        return 0

    def cublasSetWorkspace_v2(self, handle: Any, address: int, size: int) -> int:
        return 0 if address % 256 == 0 or size else _INVALID_VALUE

    def cublasGemmStridedBatchedEx(
        self,
        handle: Any,
        *operation_and_sizes_and_matrices: Any,
    ) -> int:
        assert self._card == CURRENT.number, "a handle of another card"
        of_a, of_b, m, n, k, alpha, *rest = operation_and_sizes_and_matrices
        a, b, (beta, *rest) = rest[:4], rest[4:8], rest[8:]
        c, (count, compute, _) = rest[:4], rest[4:]
        assert ctypes.c_float.from_address(alpha).value in (0.0, 1.0)
        del beta
        if len({a[1], b[1], c[1]}) > 1 or (a[1], compute) not in _SUMS:
            return _NOT_SUPPORTED
        shape_a, shape_b = (m, k)[:: -1 if of_a else 1], (k, n)[:: -1 if of_b else 1]
        for (_, _, leading, _), (rows, _) in zip(
            (a, b, c), (shape_a, shape_b, (m, n)), strict=True
        ):
            if leading < max(1, rows):
                return _INVALID_VALUE
        self.in_tf32 += compute == IN_TF32
        dtype = _TYPES[a[1]]

        def matrix(what: Any, shape: tuple[int, int], i: int) -> Any:
            address, _, leading, stride = what
            return _columns(address, dtype, shape, leading, stride, i)

        def call() -> None:
            for i in range(count):
                first, second = matrix(a, shape_a, i), matrix(b, shape_b, i)
                first, second = first.T if of_a else first, second.T if of_b else second
                wide = np.promote_types(dtype, np.float32)
                found = first.astype(wide) @ second.astype(wide)
                matrix(c, (m, n), i)[...] = found

        card_capture.launch("cublasGemm", call)
        return 0
