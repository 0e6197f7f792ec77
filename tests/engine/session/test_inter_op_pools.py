"""How many threads run the executors of a session, by TensorFlow's rules."""

from __future__ import annotations

import os
from typing import Any

import pytest

import tfteach as tf
from tfteach.engine.session import inter_op_pools
from tfteach.engine.session.inter_op_pools import InterOpPools


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    monkeypatch.setattr(inter_op_pools, "_global", None)
    monkeypatch.setattr(inter_op_pools, "_named", {})
    monkeypatch.delenv("TF_NUM_INTEROP_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(5)))


def count(config: Any, pool: int = 0) -> int:
    found = InterOpPools(config).get(pool)
    return 1 if found is None else found.count


def own(threads: int) -> tf.ConfigProto:
    return tf.ConfigProto(
        inter_op_parallelism_threads=threads, use_per_session_threads=True
    )


def listed(*pools: tuple[int, str], threads: int = 0) -> tf.ConfigProto:
    config = tf.ConfigProto(inter_op_parallelism_threads=threads)
    for number, name in pools:
        config.session_inter_op_thread_pool.add(num_threads=number, global_name=name)
    return config


def test_the_first_session_decides_about_the_pool_of_the_process() -> None:
    assert count(tf.ConfigProto(inter_op_parallelism_threads=3)) == 3
    assert count(tf.ConfigProto(inter_op_parallelism_threads=8)) == 3
    assert count(None) == 3
    assert count(own(8)) == 8
    assert count(tf.ConfigProto(inter_op_parallelism_threads=-1)) == 1  # the caller


@pytest.mark.parametrize(
    ("config", "expected"), [(None, 5), (own(0), 5), (own(1), 1), (own(-2), 5)]
)
def test_the_number_of_threads(config: Any, expected: int) -> None:
    assert count(config) == expected


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "4")
    assert count(own(0)) == 4
    assert count(own(2)) == 2
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "-1")
    assert count(None) == 1
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "many")
    assert count(own(0)) == 5


def test_listed_pools() -> None:
    config = listed((2, ""), (0, ""), (1, ""), threads=7)
    assert [count(config, pool) for pool in (0, 1, 2, -1)] == [2, 7, 1, 1]
    named = InterOpPools(listed((2, "a"))).get(0)
    assert InterOpPools(listed((2, "a"))).get(0) is named
    # Asked for in another size, TensorFlow 1.15.5 gives none, without an error.
    assert count(listed((3, "a"))) == 1
    # There the process ends: "Check failed: num_threads >= 1 (-1 vs. 1)".
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not be negative"):
        InterOpPools(listed((-1, "")))
