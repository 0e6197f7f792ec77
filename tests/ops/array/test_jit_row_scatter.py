"""Rows that are changed one after the other: compiled or not, TensorFlow's numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tfteach as tf
from tfteach.framework.loops import compiled_loops
from tfteach.ops.array import jit_row_scatter, segment_kernels
from tfteach.ops.array.gather import check_indices
from tfteach.ops.array.unique import _unique
from tfteach.ops.state import row_updates

SIGNS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "minimum": np.minimum,
    "maximum": np.maximum,
}
IDS = [4, 0, 4, 2, 4, 0, 4, 4, 4, 4, 4, 4, 1]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit_row_scatter, "_ready", {})


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done by loops, which are there at once."""
    pytest.importorskip("llvmlite")
    used: list[str] = []
    inner_change = jit_row_scatter.change_rows

    def change(how: str, *args: Any) -> bool:
        is_done = inner_change(how, *args)
        used.extend([how] * is_done)
        return is_done

    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    for module in segment_kernels, row_updates:
        monkeypatch.setattr(module, "change_rows", change)
    return used


def one_by_one(how: str, target: Any, ids: Any, rows: Any) -> Any:
    found = target.copy()
    for i, row in zip(ids, rows, strict=True):
        found[i] = SIGNS[how](found[i], row, dtype=target.dtype)
    return found


def example(dtype: Any, rank: int) -> tuple[Any, Any]:
    rng = np.random.RandomState(rank)
    inner = (3, 2)[: rank - 1]
    target = rng.randn(5, *inner) * 10
    rows = rng.choice([-0.7, 0.3, 1.1, 0.9], (len(IDS), *inner))
    if np.dtype(dtype).kind == "i":
        rows = rows * 10
    return target.astype(dtype), rows.astype(dtype)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    ("dtype", "how"),
    [
        (dtype, how)
        for dtype in ("f4", "f8", "f2", ml_dtypes.bfloat16, "i4", "c8")
        for how in list(SIGNS)[: 6 if np.dtype(dtype).kind in "fV" else 3]
    ],
)
def test_equal_ids_one_after_the_other(how: str, dtype: Any, rank: int) -> None:
    target, rows = example(dtype, rank)
    wanted = one_by_one(how, target, IDS, rows)
    row_updates.update_rows(np, how, target, np.array(IDS, "i4"), rows)
    np.testing.assert_array_equal(target, wanted)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("how", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize(("dtype", "ids"), [("f4", "i4"), ("f8", "i8")])
def test_loops_give_the_same(
    how: str, dtype: str, ids: str, rank: int, compiled: list[str]
) -> None:
    target, rows = example(dtype, rank)
    rows[1] = np.nan
    wanted = one_by_one(how, target, IDS, rows)
    row_updates.update_rows(np, how, target, np.array(IDS, ids), rows)
    np.testing.assert_array_equal(target, wanted)
    assert compiled == [how]


def test_rows_of_any_layout(compiled: list[str]) -> None:
    target, rows = example("f4", 3)
    unaligned = np.frombuffer(b"\0" + rows.tobytes(), "f4", offset=1)
    unaligned = unaligned.reshape(rows.shape)
    spread = np.repeat(np.array(IDS), 2)[::2]
    turned = rows.transpose(1, 2, 0).copy().transpose(2, 0, 1)
    for given in (turned, rows[:1], unaligned):
        found, given = target.copy(), np.broadcast_to(given, rows.shape)
        row_updates.update_rows(np, "subtract", found, spread, given)
        wanted = one_by_one("subtract", target, IDS, given)
        np.testing.assert_array_equal(found, wanted)
    assert compiled == ["subtract"] * 3


def test_in_a_session(compiled: list[str]) -> None:
    v = tf.Variable(np.ones((4, 3), np.float32))
    ids = tf.placeholder(tf.int32, [None])
    less = tf.scatter_sub(v, ids, tf.ones_like(tf.gather(v, ids)))
    rest = tf.scatter_mul(v, ids, 0.5)
    with tf.Session() as session:
        session.run(v.initializer)
        before = session.run(v)
        assert session.run(less, {ids: [1, 1]})[:, 0].tolist() == [1, -1, 1, 1]
        for bad in ([0, 4], [0, -1]):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\]"):
                session.run(rest, {ids: bad})
        assert session.run(rest, {ids: []})[:, 0].tolist() == [1, -1, 1, 1]
        assert session.run(rest, {ids: [3, 1]})[:, 2].tolist() == [1, -0.5, 1, 0.5]
    assert before.tolist() == [[1, 1, 1]] * 4  # what was fetched is left alone
    assert compiled == ["subtract", "multiply"]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_bounds_of_indices(dtype: Any) -> None:
    good = np.array([[0, 2], [1, 2]], dtype)
    for fine in (good, good.T, good[:, 0], dtype(2), np.array(2, dtype), good[:0]):
        check_indices(np, fine, 3)
    check_indices(np, good[:0], 0)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    for bad in (-1, 3, least, most):
        whole = good.copy()
        whole[1, 0] = bad
        for given, at in ((whole, "[1,0]"), (whole.T, "[0,1]"), (dtype(bad), "")):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                check_indices(np, given, 3)
            assert f"indices{at} = {bad} is not in [0, 3)" in str(caught.value)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_distinct_numbers(dtype: Any, compiled: list[str]) -> None:
    rng = np.random.RandomState(0)
    ends = np.iinfo(dtype)
    for x in (
        rng.randint(-9, 9, 300),
        rng.randint(ends.min, ends.max, 1000, dtype=dtype),
        np.arange(64) << np.iinfo(dtype).bits - 7,  # differ in the high bits only
        np.array([0, -1, ends.max, ends.min, -1, 0]),
        np.array([7, 7]),
        np.array([], np.int32),
        np.repeat(rng.randint(0, 50, 200).astype(dtype), 2)[::2],
    ):
        given = x.astype(dtype, copy=False)
        found = jit_row_scatter.distinct(given)
        assert found is not None
        values, inverse = _unique(np, given, np.dtype(np.int32))
        assert (values.dtype, inverse.dtype) == (dtype, np.int32)
        seen = list(dict.fromkeys(given.tolist()))
        assert values.tolist() == found[0].tolist() == seen
        assert inverse.tolist() == [seen.index(v) for v in given.tolist()]


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("highest", [1, 5, 60, 900])
def test_sums_of_segments(
    dtype: str, highest: int, is_compiled: bool, request: pytest.FixtureRequest
) -> None:
    used = request.getfixturevalue("compiled") if is_compiled else []
    rng = np.random.RandomState(highest)
    data, ids = rng.randn(100, 40).astype(dtype), rng.randint(0, highest, 100)
    for rows, numbers in ((data, ids), (data[:, :2], ids), (data.T, np.sort(ids)[:40])):
        for how, start in (("add", 0), ("multiply", 1)):
            found = segment_kernels.reduce_rows(np, how, rows, numbers, highest, start)
            begin = np.full((highest, rows.shape[1]), start, dtype)
            wanted = one_by_one(how, begin, numbers, rows)
            np.testing.assert_array_equal(found, wanted)
    assert used == ["add", "multiply"] * 3 * is_compiled
