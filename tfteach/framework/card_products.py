"""Products of matrices on a card, by cuBLAS.

CuPy's own calls of cuBLAS cannot be captured as a CUDA graph (engine/execute/
cuda_graph.py), always compute float32 in full precision, and check their arguments for
longer than a small product takes.  Types that are not listed here are left to CuPy.

float32 is multiplied as TensorFlow does on cards that have TF32: with 10 bits of the
mantissa, and summed in float32.  NVIDIA_TF32_OVERRIDE=0 in the environment turns that
off, as for all libraries of CUDA.
Source: cublasGemmStridedBatchedEx in NVIDIA's documentation of cuBLAS.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.type_aliases import ArrayModule

_NORMAL, _TRANSPOSED = 0, 1  # CUBLAS_OP_N, CUBLAS_OP_T
_DEFAULT_ALGORITHM = -1  # CUBLAS_GEMM_DEFAULT
_IN_FLOAT32, _IN_TF32, _IN_FLOAT64 = 68, 77, 70  # CUBLAS_COMPUTE_...
# NumPy's type -> CUDA_R_..., the type of the sums, and of the factors alpha and beta.
_TYPES: dict[str, tuple[int, int, Any]] = {
    "float16": (2, _IN_FLOAT32, ctypes.c_float),
    "float32": (0, _IN_FLOAT32, ctypes.c_float),
    "float64": (1, _IN_FLOAT64, ctypes.c_double),
}
FIRST_WITH_TF32 = 80  # compute capability 8.0
WORKSPACE_BYTES = 32 << 20  # NVIDIA's recommendation for the newest cards


def allows_tf32(compute_capability: str) -> bool:
    """Whether a card of this capability ("90") multiplies float32 as TF32."""
    return (
        int(compute_capability) >= FIRST_WITH_TF32
        and os.environ.get("NVIDIA_TF32_OVERRIDE") != "0"
    )


def library() -> Any:
    """cuBLAS, which CuPy has loaded."""
    from cupy_backends.cuda.libs import cublas

    found = ctypes.CDLL(cublas.__file__)  # finds the functions of what that links to
    size, pointer = ctypes.c_longlong, ctypes.c_void_p
    number = ctypes.c_int
    found.cublasGemmStridedBatchedEx.argtypes = [
        *(pointer, number, number, number, number, number, pointer),
        *(pointer, number, number, size) * 2,
        *(pointer, pointer, number, number, size, number, number, number),
    ]
    found.cublasSetStream_v2.argtypes = [pointer, pointer]
    found.cublasSetWorkspace_v2.argtypes = [pointer, pointer, ctypes.c_size_t]
    return found


class Factor(NamedTuple):
    """A matrix, or a batch of them, as cuBLAS reads it.

    Attributes:
      address: of the first element.
      operation: whether the matrix's rows are contiguous, or its columns.
      leading: the distance of rows, or of columns, in elements.
      stride: the distance of matrices.
    """

    address: int
    operation: int
    leading: int
    stride: int


class _Cublas:
    """cuBLAS on one card.

    Kernels wait for each other in the stream, so that they share a workspace; with one
    of our own, nothing is allocated for a product that is captured.
    """

    def __init__(self, xp: ArrayModule) -> None:
        self._library = library()
        self._handle = ctypes.c_void_p()
        self._check(self._library.cublasCreate_v2(ctypes.byref(self._handle)))
        try:
            self._workspace = xp.empty(WORKSPACE_BYTES, np.uint8)
        except MemoryError:  # cuBLAS has a smaller one
            self._workspace = None
        self._has_tf32 = allows_tf32(xp.cuda.Device().compute_capability)
        self._lock = threading.Lock()

    def _check(self, status: int) -> None:
        if status:
            raise RuntimeError(f"cuBLAS failed with status {status}")

    def multiply(
        self,
        dtype: np.dtype[Any],
        sizes: tuple[int, int, int, int],
        factors: tuple[Factor, Factor],
        target: Factor,
        stream: int,
    ) -> None:
        """`target = a @ b` for `sizes` m, k, n and the number of matrices."""
        m, k, n, count = sizes
        a, b = factors
        kind, compute, scalar = _TYPES[dtype.name]
        if compute == _IN_FLOAT32 and dtype.itemsize == 4 and self._has_tf32:
            compute = _IN_TF32
        one, zero = scalar(1), scalar(0)
        run = self._library
        # cuBLAS numbers elements by columns, so that it sees the transpose of each
        # matrix: b.T @ a.T is the transpose of the result.
        with self._lock:
            self._check(run.cublasSetStream_v2(self._handle, stream))
            if self._workspace is not None:
                workspace = self._workspace.data.ptr, WORKSPACE_BYTES
                self._check(run.cublasSetWorkspace_v2(self._handle, *workspace))
            self._check(
                run.cublasGemmStridedBatchedEx(
                    *(self._handle, b.operation, a.operation, n, m, k),
                    ctypes.addressof(one),
                    *(b.address, kind, b.leading, b.stride),
                    *(a.address, kind, a.leading, a.stride),
                    ctypes.addressof(zero),
                    *(target.address, kind, target.leading, target.stride),
                    *(count, compute, _DEFAULT_ALGORITHM),
                )
            )


@functools.cache
def _cublas(xp: ArrayModule, number: int) -> _Cublas:
    """cuBLAS on card `number`."""
    return _Cublas(xp)


def matmul(xp: ArrayModule, a: Any, b: Any, out: Any = None) -> Any:
    """a @ b, for arrays on a card.

    Args:
      xp: CuPy.
      a: [..., m, k].
      b: [..., k, n] of the type of `a`; the leading axes broadcast.
      out: None, or a C-contiguous array for the result.

    Raises:
      ValueError: the shapes do not fit.
    """
    if a.dtype.name not in _TYPES or a.dtype != b.dtype or min(a.ndim, b.ndim) < 2:
        found = xp.matmul(a, b)
        if out is None:
            return found
        out[...] = found
        return out
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    if k != b.shape[-2]:
        raise ValueError(f"matmul: {a.shape} and {b.shape}")
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if out is None:
        out = xp.empty((*batch, m, n), a.dtype)
    if not out.size or not k:
        out.fill(0)
        return out
    a, b = _as_batch(xp, a, batch), _as_batch(xp, b, batch)
    (first, a), (second, b) = _factor(a), _factor(b)
    target = Factor(out.data.ptr, _NORMAL, n, m * n)
    sizes = m, k, n, math.prod(batch)
    stream = xp.cuda.get_current_stream().ptr
    blas = _cublas(xp, xp.cuda.Device().id)
    blas.multiply(a.dtype, sizes, (first, second), target, stream)
    return out


def _as_batch(xp: ArrayModule, array: Any, batch: Sequence[int]) -> Any:
    """The matrices, with at most one other axis; without it, if all are the same."""
    if math.prod(array.shape[:-2]) == 1:
        return array.reshape(array.shape[-2:])
    if array.shape[:-2] != tuple(batch):
        array = xp.broadcast_to(array, (*batch, *array.shape[-2:]))
    return array if array.ndim == 3 else array.reshape(-1, *array.shape[-2:])


def _factor(array: Any) -> tuple[Factor, Any]:
    """How cuBLAS reads the matrices, and the array that it reads: maybe a copy."""
    found = _layout(array)
    if found is None:
        array = array.copy()
        found = _layout(array)
        assert found is not None
    return found, array


def _layout(array: Any) -> Factor | None:
    size = array.itemsize
    rows, columns = array.shape[-2:]
    *outer, down, right = array.strides
    stride = outer[0] // size if outer else 0
    if stride < 0:
        return None
    if right == size or columns == 1:
        leading = columns if rows == 1 else down // size
        if leading >= columns and (rows == 1 or down % size == 0):
            return Factor(array.data.ptr, _NORMAL, leading, stride)
    if down == size or rows == 1:
        leading = rows if columns == 1 else right // size
        if leading >= rows:
            return Factor(array.data.ptr, _TRANSPOSED, leading, stride)
    return None
