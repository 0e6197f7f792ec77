"""Products by tiles: any size, layout and number of threads gives the same sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import tfteach as tf
from tfteach.framework import threads, workers
from tfteach.framework.machine_code import Vectors, vectors
from tfteach.ops.linalg import matmul, product_by_tiles, tile_code

if vectors() is None:
    pytest.skip("no fused multiply-add", allow_module_level=True)

SHAPES = [
    (1, 1, 1),
    (6, 5, 64),
    (7, 300, 65),
    (130, 257, 200),
    (5, 600, 500),  # thin: a transposed `b` is read where it is
    (300, 70, 33),
]
TOLERANCE = {"f": 4e-6, "d": 1e-14}
generator = np.random.default_rng(4)


def matrix(rows: int, columns: int, layout: str, dtype: str) -> Any:
    """One that is contiguous, transposed, or part of a larger one."""
    shape = {
        "rows": (rows, columns),
        "columns": (columns, rows),
        "part": (2 * rows, 3 * columns),
    }[layout]
    whole = generator.standard_normal(shape).astype(dtype)
    if layout == "part":
        return whole[::2, ::-3]
    return whole if layout == "rows" else whole.T


@pytest.fixture
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_by_tiles, "MIN_PRODUCT", 0)
    monkeypatch.setattr(product_by_tiles, "MIN_SIDE", 1)
    monkeypatch.setattr(matmul, "MIN_BLAS_THREADS_PRODUCT", 0)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A processor with 16 vectors of 32 bytes, which this one can imitate."""
    if vectors() != Vectors(64, 32):
        pytest.skip("needs AVX-512")
    monkeypatch.setattr(tile_code, "vectors", lambda: Vectors(32, 16))
    for function in (tile_code.product, tile_code.transpose):
        function.cache_clear()
    yield
    for function in (tile_code.product, tile_code.transpose):
        function.cache_clear()


def check(shape: tuple[int, int, int], first: str, second: str, dtype: str) -> None:
    rows, length, columns = shape
    a = matrix(rows, length, first, dtype)
    b = matrix(length, columns, second, dtype)
    found = product_by_tiles.product(a, b)
    assert found.dtype == a.dtype
    assert found.flags.c_contiguous
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(found - wanted).max() / np.sqrt(length)
    assert error < TOLERANCE[dtype], (shape, first, second)


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("first", ["rows", "columns", "part"])
@pytest.mark.parametrize("second", ["rows", "columns", "part"])
def test_sums(of_any_size: None, first: str, second: str, dtype: str) -> None:
    for shape in SHAPES:
        check(shape, first, second, dtype)


def test_sums_with_narrow_vectors(of_any_size: None, narrow: None) -> None:
    for shape in SHAPES:
        for second in ("rows", "columns"):
            check(shape, "rows", second, "f")


@pytest.mark.parametrize("second", ["rows", "columns"])
@pytest.mark.parametrize("shape", [(64, 700, 300), (300, 100, 64)])
def test_threads_do_not_change_a_bit(
    of_any_size: None,
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, int, int],
    second: str,
) -> None:
    rows, length, columns = shape
    a = matrix(rows, length, "rows", "f")
    b = matrix(length, columns, second, "f")
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        workers.forget_workers()
        found.append(matmul.product(np, a, b))
    workers.forget_workers()
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_each_element_is_counted_once_per_block(of_any_size: None) -> None:
    """Rows that fill an incomplete tile are repeated; sums must not be."""
    length = 3 * tile_code.DEPTH + 1
    found = product_by_tiles.product(
        np.ones((8, length), np.float32), np.ones((length, 70), np.float32)
    )
    np.testing.assert_array_equal(found, np.full((8, 70), length, np.float32))


def test_infinities_stay_in_their_rows_and_columns(of_any_size: None) -> None:
    a, b = np.ones((9, 20), np.float32), np.ones((20, 70), np.float32)
    a[8, 3], b[5, 69] = np.nan, np.inf
    found = product_by_tiles.product(a, b)
    assert np.isnan(found[8]).all()
    assert np.isinf(found[:8, 69]).all()
    np.testing.assert_array_equal(found[:8, :69], 20)


def test_which_products() -> None:
    ones = np.ones((1 << 10, 1 << 10), np.float32)
    half = ones[:512, :512]
    assert not product_by_tiles.applies(half, half)
    assert product_by_tiles.applies(ones, ones)
    assert product_by_tiles.applies(ones.T, ones)
    assert not product_by_tiles.applies(ones, ones[1:])
    assert not product_by_tiles.applies(ones[None], ones)
    assert not product_by_tiles.applies(ones.astype(np.int32), ones)
    thin = np.ones((8, 1 << 15), np.float32)
    assert not product_by_tiles.applies(thin, np.ones((1 << 15, 1 << 10), np.float32))


@pytest.mark.parametrize("can_compile", [True, False])
def test_matmul_with_and_without_a_compiler(
    of_any_size: None, monkeypatch: pytest.MonkeyPatch, can_compile: bool
) -> None:
    if not can_compile:
        monkeypatch.setattr(product_by_tiles, "vectors", lambda: None)
    calls = []
    whole = product_by_tiles.product
    monkeypatch.setattr(
        product_by_tiles, "product", lambda a, b: calls.append(1) or whole(a, b)
    )
    a, b = matrix(40, 30, "rows", "d"), matrix(50, 30, "rows", "d")
    with tf.Session() as session:
        found = session.run(tf.matmul(tf.constant(a), b, transpose_b=True))
    np.testing.assert_allclose(found, a @ b.T, rtol=1e-12, atol=1e-12)
    assert bool(calls) == can_compile
