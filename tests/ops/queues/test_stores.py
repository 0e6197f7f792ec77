"""How queues store rows that come and leave together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.ops.queues.queue_stores import PaddingStore, ShuffleStore

TYPES = (tf.float32, tf.string)


def rows(start: int, stop: int) -> tuple[Any, Any]:
    """Component values that tell their row."""
    numbers = np.arange(start, stop, dtype=np.float32)
    texts = np.array([b"%d" % n for n in range(start, stop)], object)
    return np.stack([numbers, -numbers], 1), texts


def shuffled(shapes: Any = ((2,), ())) -> ShuffleStore:
    return ShuffleStore("q", TYPES, shapes, 100, 0, (1, 2))


def check(numbers: Any, texts: Any) -> set[int]:
    """The rows' numbers, which all components agree on."""
    assert numbers.dtype == np.float32
    assert (numbers[:, 0] == -numbers[:, 1]).all()
    assert [b"%d" % n for n in numbers[:, 0]] == list(texts)
    found = set(numbers[:, 0].astype(int).tolist())
    assert len(found) == len(numbers)
    return found


def test_rows_in_slots_that_are_used_again() -> None:
    queue, there = shuffled(), set()
    for start in range(0, 500, 20):
        queue.push_rows(rows(start, start + 20), 3, 20)
        queue.push((np.array([-start, start], np.float32), np.array(b"-", object)))
        there |= {*range(start + 3, start + 20), -start}
        taken = queue.pop_many(5)
        numbers, _ = queue.batch(taken, 5)
        gone = set(numbers[:, 0].astype(int).tolist())
        assert len(gone) == 5
        assert gone <= there
        there -= gone
        queue.restore(queue.pop_many(7))
        for _ in range(13):
            element = queue.pop()
            there.remove(int(element[0][0]))
            assert element[0].shape == (2,)
    assert queue.size == len(there) == 0


def test_batches_are_copies() -> None:
    queue = shuffled()
    queue.push_rows(rows(0, 10), 0, 10)
    first = queue.batch(queue.pop_many(6), 6)
    single = queue.pop()
    kept = [first[0].copy(), single[0].copy()]
    queue.push_rows(rows(50, 57), 0, 7)
    assert np.array_equal(first[0], kept[0])
    assert np.array_equal(single[0], kept[1])
    last = check(*queue.batch(queue.pop_many(10), 10))
    ended = {*first[0][:, 0].astype(int).tolist(), int(single[0][0])}
    assert last | ended == {*range(10), *range(50, 57)}


@pytest.mark.parametrize("how", ["forget", "clear"])
def test_dropped_rows_leave_their_slots(how: str) -> None:
    queue = shuffled()
    for _ in range(50):
        queue.push_rows(rows(0, 10), 0, 10)
        if how == "clear":
            queue.clear()
        else:
            queue.forget(queue.pop_many(10))
    queue.push_rows(rows(0, 10), 0, 10)
    assert queue._pool is not None
    assert queue._pool._size == 10
    assert check(*queue.batch(queue.pop_many(10), 10)) == {*range(10)}


def test_rows_of_a_queue_without_shapes() -> None:
    queue = shuffled(())
    queue.push_rows(rows(0, 3), 0, 3)
    queue.push_rows((np.ones([2, 5], np.float32), np.array([b"a"] * 2, object)), 0, 2)
    assert sorted(queue.pop()[0].shape for _ in range(5)) == [(2,)] * 3 + [(5,)] * 2


def test_padded_blocks() -> None:
    queue = PaddingStore("q", TYPES, ((None,), (None,)), 100)
    one = np.array([b"x"], object)
    queue.push((np.array([1, 2], np.float32), one))
    both = np.array([[b"y", b"z"], [b"u", b"v"], [b"w", b"w"]], object)
    queue.push_rows((np.full([3, 1], 7, np.float32), both), 0, 3)
    numbers, texts = queue.batch(queue.pop_many(3), 3)
    assert numbers.tolist() == [[1, 2], [7, 0], [7, 0]]
    assert texts.tolist() == [[b"x", b""], [b"y", b"z"], [b"u", b"v"]]
    queue.push((np.array([5], np.float32), both[0]))
    numbers, texts = queue.batch(queue.pop_many(2), 2)
    assert numbers.tolist() == [[7], [5]]
    assert texts.tolist() == [[b"w", b"w"], [b"y", b"z"]]
    queue.push((np.array([5, 6], np.float32), one))
    assert queue.batch(queue.pop_many(1), 1)[0].tolist() == [[5, 6]]
