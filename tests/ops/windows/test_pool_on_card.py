"""Pooling by one kernel, on a stand-in for a card that reads its program."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests import card_capture, strict_card
from tests.card_arrays import to_card, to_host
from tests.ops.case import Case, all_cases
from tests.strict_card import CARD
from tfteach.engine.plan.step import kernel_of
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows import pool, pool_kernels, pool_on_card
from tfteach.ops.windows.pool import Pooling

# Sizes, window, strides, padding.
SIZES: dict[str, tuple[Any, ...]] = {
    "apart": ((4, 6), (2, 2), (2, 2), "SAME"),
    "overlapping": ((5, 6), (3, 2), (2, 1), "SAME"),
    "valid": ((5, 6), (3, 3), (1, 2), "VALID"),
    "gaps": ((7, 5), (2, 1), (3, 2), "VALID"),
    "volumes": ((3, 4, 5), (2, 3, 2), (1, 2, 2), "SAME"),
}
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.int64]


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)


def windows_of(name: str) -> geometry.Windows:
    sizes, window, strides, padding = SIZES[name]
    return geometry.lay(sizes, window, strides, (1,) * len(sizes), padding)


def channels_first(array: Any) -> Any:
    return CARD.moveaxis(to_card(np.moveaxis(array, -1, 1).copy()), 1, -1)


def drawn(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    """Few different numbers, so that maxima are tied."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def results(xp: Any, put: Any, name: str, dtype: Any) -> dict[str, Any]:
    windows, sizes = windows_of(name), SIZES[name][0]
    x = drawn((2, *sizes, 3), dtype)
    y = pool_kernels.reduce_windows(np, np.maximum, x, windows)
    of_x, of_y = drawn(x.shape, dtype, 1), drawn(y.shape, dtype, 2)
    largest = xp.maximum if np.dtype(dtype).kind in "iu" else xp.fmax
    x, y, of_x, of_y = map(put, (x, y, of_x, of_y))
    found = {
        "maximum": pool_kernels.reduce_windows(xp, largest, x, windows),
        "gradient": pool_kernels.max_gradient(xp, x, y, of_y, windows),
        "gradient to all": pool_kernels.max_gradient(xp, x, y, of_y, windows, True),
        "gradient's": pool_kernels.max_gradient_gradient(xp, x, y, of_x, windows),
    }
    found["argmax"], found["where"] = pool_kernels.max_and_where(xp, x, windows)
    if np.dtype(dtype).kind not in "iu":
        found["mean"] = pool.mean_windows(xp, x, windows)
        found["mean's"] = pool.spread_means(xp, sizes, of_y, windows)
    return found


def assert_same(name: str, dtype: Any, put: Any = to_card) -> None:
    right = results(np, np.asarray, name, dtype)
    # The maxima of halves and tied gradients are exact; means are not.
    rtol = {2: 0.01, 4: 1e-6}.get(np.dtype(dtype).itemsize, 1e-12)
    for what, got in results(CARD, put, name, dtype).items():
        host, expected = to_host(got), right[what]
        assert host.dtype == expected.dtype, what
        wide = host.astype(float), expected.astype(float)
        tolerance = rtol if what.startswith("mean") else 0.0
        np.testing.assert_allclose(*wide, tolerance, tolerance, err_msg=what)


@pytest.mark.parametrize("put", [to_card, channels_first])
@pytest.mark.parametrize("name", SIZES)
def test_all_windows(name: str, put: Any) -> None:
    assert_same(name, np.float32, put)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=lambda t: t.__name__)
def test_all_types(dtype: Any) -> None:
    assert_same("overlapping", dtype)


def test_a_type_without_a_program() -> None:
    assert pool_on_card.maximum(CARD, to_card(drawn((1, 2, 2, 1), "uint32")),
                                windows_of("apart")) is None  # fmt: skip
    assert_same("apart", np.uint16)


def test_numbers_before_nan() -> None:
    nan = np.nan
    x = np.array([[nan, 1.0], [nan, nan], [2.0, nan], [nan, 0.0]], np.float32)
    windows = geometry.lay((4, 2), (2, 2), (2, 2), (1, 1), "VALID")
    for row in (x, x[::-1].copy(), np.full_like(x, nan)):
        image = row.reshape(1, 4, 2, 1)
        right = pool_kernels.reduce_windows(np, np.fmax, image, windows)
        got = pool_kernels.reduce_windows(CARD, CARD.fmax, to_card(image), windows)
        np.testing.assert_array_equal(to_host(got), right)
        wheres = pool_kernels.max_and_where(CARD, to_card(image), windows)
        for got, right in zip(
            wheres, pool_kernels.max_and_where(np, image, windows), strict=True
        ):
            np.testing.assert_array_equal(to_host(got), right)


ROWS = [case for case in all_cases() if isinstance(case.op, Pooling)]


@pytest.mark.parametrize("case", ROWS, ids=map(str, ROWS))
def test_rows_of_ops(case: Case) -> None:
    op = type(case.op)
    arrays = [a if n in op.host_inputs else to_card(a) for n, a in case.named]
    result = kernel_of(case.op, CARD)(*arrays)
    results = result if isinstance(result, tuple) else (result,)
    for got, right in zip(results, case.expected, strict=True):
        host = to_host(got)
        assert host.shape == np.shape(right)
        tolerance = max(case.tolerance, 1e-5)
        wide = host.astype(float), np.asarray(right).astype(float)
        np.testing.assert_allclose(*wide, rtol=tolerance, atol=tolerance)


def test_each_is_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = windows_of("overlapping")
    x = to_card(drawn((2, 5, 6, 3), np.float32))
    y = pool_kernels.reduce_windows(CARD, CARD.fmax, x, windows)
    names: list[str] = []
    write = card_capture.write

    def record(name: str, *arguments: Any) -> None:
        names.append(name)
        write(name, *arguments)

    monkeypatch.setattr(card_capture, "write", record)
    pool_kernels.reduce_windows(CARD, CARD.fmax, x, windows)
    pool_kernels.max_gradient(CARD, x, y, y, windows)
    pool.mean_windows(CARD, x, windows)
    pool.spread_means(CARD, (5, 6), y, windows)
    assert names == ["pool"] * 4


@pytest.mark.parametrize(("limit", "expected"), [(1 << 30, "int"), (100, "long long")])
def test_only_large_arrays_are_indexed_by_64_bits(
    monkeypatch: pytest.MonkeyPatch, limit: int, expected: str
) -> None:
    sources: list[str] = []
    compiled = pool_on_card._compiled

    def record(xp: Any, source: str) -> Any:
        sources.append(source)
        return compiled(xp, source)

    monkeypatch.setattr(pool_on_card, "_compiled", record)
    monkeypatch.setattr(pool_on_card, "_INT_INDEXED_BELOW", limit)
    assert_same("overlapping", np.float32)
    assert len(sources) == 7
    for source in sources:
        assert f"\n{expected} i = ({expected})((long long)blockIdx.x" in source
        assert f"\n{expected} rest = i / channels" in source
        assert f", {expected} count, {expected} channels" in source
