"""Candidates drawn for many batches at once are those of each batch by itself."""

from __future__ import annotations

import numpy as np
import pytest

from tfteach.ops.nn import candidate_sampling as kernels
from tfteach.ops.random.philox import Stream


@pytest.mark.parametrize(
    ("size", "count", "is_enough"),
    [(50_000, 64, {True}), (70, 64, {False}), (12, 8, {True, False}), (9, 1, {True})],
)
def test_ahead_and_one_by_one(size: int, count: int, is_enough: set[bool]) -> None:
    sampler = kernels.LogUniform(size)
    likely = (2 * count + 16) * sampler.words_per_draw
    one_by_one, ahead = (
        kernels.Batches(Stream(3, 4), 512 * count, likely, draw)
        for draw in (None, sampler.ahead(count))
    )
    true = np.array([[0], [size // 2], [size - 1]])
    seen = set()
    for _ in range(100):
        ours, theirs = ahead.next(), one_by_one.next()
        seen.add(ours[1] is not None)
        found = kernels.sample(sampler, ours, count, True, true)
        wanted = kernels.sample(sampler, theirs, count, True, true)
        for a, b in zip(found, wanted, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        assert len(set(found[0].tolist())) == count
        assert found[0].base is None  # nothing else is kept with it
    assert seen == is_enough


def test_expected_from_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = np.array([[0, 7], [49, 3]])
    outside = np.array([[0], [50], [-3]])  # TensorFlow takes any number here
    found = [kernels.LogUniform(50).expected(c, 8, 11) for c in (classes, outside)]
    monkeypatch.setattr(kernels, "_TABLE", 0)
    wanted = [kernels.LogUniform(50).expected(c, 8, 11) for c in (classes, outside)]
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == np.float32
        np.testing.assert_array_equal(a, b)
    p = np.log((classes + 2.0) / (classes + 1.0)) / np.log(51.0)
    np.testing.assert_allclose(found[0], 1 - (1 - p) ** 11, rtol=1e-6)
