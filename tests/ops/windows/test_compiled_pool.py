"""Compiled maxima of windows and their gradients are NumPy's, to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.ops.windows.test_conv_by_tiles import windows
from tfteach.framework import machine_code, threads, workers
from tfteach.framework.loops import compiled_loops
from tfteach.ops.windows import compiled_pool, pool_kernels

needs_compiler = pytest.mark.skipif(
    machine_code.vectors() is None, reason="nothing can be compiled here"
)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Functions are compiled at the first call, and three threads share all work."""
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    monkeypatch.setattr(compiled_pool, "MIN_ELEMENTS", 0)
    monkeypatch.setattr(threads, "MIN_PART", 100)
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    workers.forget_workers()
    with threads.own_threads():
        yield
    workers.forget_workers()


GEOMETRIES = {
    "apart": ((8, 6), (2, 2), (2, 2), "SAME"),
    "apart, padded": ((7, 5), (2, 2), (2, 2), "SAME"),
    "apart, rest": ((7, 5), (2, 2), (2, 2), "VALID"),
    "gaps": ((9, 10), (2, 1), (3, 2), "SAME"),
    "overlapping": ((9, 8), (3, 3), (2, 1), "SAME"),
    "overlapping, valid": ((9, 8), (3, 2), (1, 2), "VALID"),
    "one axis": ((40,), (3,), (2,), "SAME"),
    "three axes": ((4, 5, 6), (2, 3, 2), (2, 2, 1), "SAME"),
}


def unlike(shape: Any, dtype: Any) -> Any:
    """Few different numbers, so that windows have ties, and special ones."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 4, shape).astype(dtype)
    places = rng.random(shape)
    values[places < 0.1] = np.nan
    values[places > 0.95] = np.inf
    values[places > 0.98] = -np.inf
    return values


@needs_compiler
@pytest.mark.parametrize("to_all", [False, True])
@pytest.mark.parametrize("channels", [8, 16, 21])
@pytest.mark.parametrize("name", GEOMETRIES)
def test_numbers_are_numpys(
    at_once: None,
    name: str,
    channels: int,
    to_all: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes, window, strides, padding = GEOMETRIES[name]
    found = windows(sizes, window, strides, (1,) * len(sizes), padding)
    dtype = np.float64 if channels == 8 else np.float32
    x = unlike((5, *sizes, channels), dtype)
    y = compiled_pool.maximum(x, found)
    grad = np.random.default_rng(4).standard_normal(y.shape).astype(dtype)
    grad.flat[::7] = np.inf
    back = compiled_pool.gradient(x, y, grad, found, to_all)
    monkeypatch.setattr(compiled_pool, "MIN_ELEMENTS", x.size + 1)
    assert compiled_pool.maximum(x, found) is None
    expected = pool_kernels.reduce_windows(np, np.fmax, x, found)
    np.testing.assert_array_equal(y, expected)
    expected = pool_kernels.max_gradient(np, x, y, grad, found, to_all)
    np.testing.assert_array_equal(back, expected)


def pooled(dtype: Any = np.float32, data_format: str = "NHWC") -> list[Any]:
    """A pooling's result and gradient in a session."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(unlike((3, 16, 16, 16), np.float32).astype(dtype))
        size = [1, 2, 2, 1] if data_format == "NHWC" else [1, 1, 2, 2]
        y = tf.nn.max_pool(x, size, size, "SAME", data_format)
        return list(session.run([y, tf.gradients(y, x, y + 1)[0]]))


@needs_compiler
def test_ops_are_compiled_once_numpy_has_worked_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled_loops, "_loops", {})
    expected = pooled()
    assert not compiled_loops._loops
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    for ours, theirs in zip(pooled(), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(compiled_loops._loops) == 2


@pytest.mark.parametrize(
    ("dtype", "data_format"), [("float16", "NHWC"), ("float32", "NCHW")]
)
def test_other_types_and_layouts_stay_with_numpy(
    dtype: str, data_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_loops, "_loops", {})
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    pooled(dtype, data_format)
    assert not any(key[0] == "pool" for key in compiled_loops._loops)


@pytest.mark.parametrize("width", [2, 3])
def test_infinite_gradients_reach_the_maxima_only(width: int) -> None:
    """As in TF 1.15.5; a product with truths would be NaN elsewhere."""
    x = np.array([[1, 2, 2, 1], [0, 1, 1, 2], [2, 1, -1, -2], [2, 1, -3, -4]])
    grad = np.array([np.inf, -1, -np.inf, np.nan]).reshape(1, 2, 2, 1)
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.constant(x.reshape(1, 4, 4, 1), tf.float32)
        y = tf.nn.max_pool(images, width, 2, "SAME")
        [back] = tf.gradients(y, images, tf.constant(grad, tf.float32))
        found = session.run(back)[0, :, :, 0]
    expected = np.zeros((4, 4))
    expected[0, 1:3] = np.inf, -1
    expected[2, [0, 2]] = -np.inf, np.nan
    np.testing.assert_array_equal(found, expected)
