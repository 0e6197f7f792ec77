"""Large results lie where earlier ones lay, and never where one still lies."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework import large_array_pool


@pytest.fixture(autouse=True)
def small_ones(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(large_array_pool, "MIN_BYTES", 1000)
    monkeypatch.setattr(large_array_pool, "_KEPT_BYTES", 10_000)
    monkeypatch.setattr(large_array_pool, "_free", {})
    monkeypatch.setattr(large_array_pool, "_cached", 0)
    yield
    gc.collect()


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_memory_is_used_again_when_nobody_shows_it() -> None:
    first = large_array_pool.empty((30, 20), np.float32)
    place, part = address(first), first[3:5]
    del first
    other = large_array_pool.empty((20, 30), np.float32)
    assert address(other) != place, "part still shows it"
    part[...] = 1.0
    del part
    again = large_array_pool.empty((600,), np.int32)
    assert address(again) == place
    assert again.shape == (600,)
    assert again.dtype == np.int32
    assert again.flags.writeable
    assert again.flags.c_contiguous


def test_only_so_much_is_kept() -> None:
    for size in range(2000, 9000, 1000):
        large_array_pool.empty((size,), np.int8)
    assert 0 < large_array_pool._cached <= 10_000
    assert large_array_pool._cached == sum(
        m.nbytes for f in large_array_pool._free.values() for m in f
    )


def test_small_ones_and_objects_are_numpys_own() -> None:
    assert large_array_pool.empty((3,), np.float32).base is None
    assert large_array_pool.empty((3000,), object).base is None
    assert not large_array_pool.is_sole_view(np.empty(5000)[:10])


def test_who_shows_all_of_it_alone() -> None:
    array = large_array_pool.empty((600,), np.float32)
    assert large_array_pool.is_sole_view(array)
    half = array[:300]
    assert not large_array_pool.is_sole_view(array)
    assert not large_array_pool.is_sole_view(half)
    del half
    assert large_array_pool.is_sole_view(array)


def test_a_fetched_result_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    from tfteach.engine.fusion import fuse_large

    monkeypatch.setattr(fuse_large, "MIN_ELEMENTS", 256)
    monkeypatch.setattr(fuse_large, "BLOCK", 64)
    x = tf.placeholder(tf.float32, [1000])
    y = (x + 1.0) * x - x * 2.0 + x
    with tf.Session() as session:
        found = [session.run(y, {x: np.full(1000, i)}) for i in range(20)]
    for i, array in enumerate(found):
        np.testing.assert_array_equal(array, np.full(1000, (i + 1) * i - i))
