"""Embeddings' gradients with as many ids in each run, on the stand-in for CuPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_capture import STATE
from tfteach.engine.execute.cuda_graph import CAPTURE_AFTER
from tfteach.engine.execute.program import HOT_AFTER_RUNS

RUNS = HOT_AFTER_RUNS + CAPTURE_AFTER + 4


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)


def trained(optimizer: Any) -> Callable[[Any], list[Any]]:
    def program(ids: Any) -> list[Any]:
        table = tf.get_variable("table", [7, 3])
        w = tf.get_variable("w", [3, 1])
        rows = tf.nn.embedding_lookup(table, ids)
        loss = tf.reduce_mean(tf.square(tf.matmul(rows, w) - 1.0))
        return [loss, optimizer().minimize(loss), table]

    return program


def scattered(value_of: Callable[[Any, Any], Any]) -> Callable[[Any], list[Any]]:
    """Distinct ids that end as those of a scatter, and what else is done with them."""

    def program(ids: Any) -> list[Any]:
        table = tf.get_variable("table", [7])
        distinct, index = tf.unique(ids)
        sums = tf.unsorted_segment_sum(
            tf.ones([6]), index, tf.shape(distinct)[0], name="sums"
        )
        updated = tf.scatter_add(table, distinct, value_of(sums, distinct))
        return [updated.op, table]

    return program


PADDED = {
    "Adam": trained(lambda: tf.train.AdamOptimizer(0.1)),
    "scaled": scattered(lambda sums, _: tf.sqrt(sums * 2.0) - 1.0),
    "of ids": scattered(lambda sums, ids: sums * tf.cast(ids, tf.float32)),
}
NOT_PADDED = {
    "a mean": scattered(lambda sums, _: sums - tf.reduce_mean(sums)),
    "a vector": scattered(lambda sums, _: sums * tf.constant([2.0])),
    "their number": scattered(lambda sums, ids: sums * tf.to_float(tf.shape(ids)[0])),
    "a fetch": lambda ids: [tf.unsorted_segment_sum(
        tf.ones([6]), tf.unique(ids)[1], tf.shape(tf.unique(ids)[0])[0])],
}  # fmt: skip


def runs(program: Callable[[Any], list[Any]], gpus: int) -> tuple[list[Any], int]:
    """The fetched values of all runs, and what the last one launched."""
    config = tf.ConfigProto(device_count={"GPU": gpus})
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        tf.set_random_seed(5)
        ids = tf.placeholder(tf.int32, [6])
        fetches = program(ids)
        sess.run(tf.global_variables_initializer())
        batches = np.random.default_rng(2).integers(0, 7, (RUNS, 6))
        found = []
        for batch in batches:
            kernels = STATE.kernels
            found.append(sess.run(fetches, {ids: batch}))
        assert len({len(set(batch)) for batch in batches.tolist()}) > 2
        return [
            [v for v in run if v is not None] for run in found
        ], STATE.kernels - kernels


@pytest.mark.parametrize("name", [*PADDED, *NOT_PADDED])
def test_each_run_finds_as_many(name: str) -> None:
    program = {**PADDED, **NOT_PADDED}[name]
    found, kernels = runs(program, 1)
    assert (kernels == 0) == (name in PADDED)
    for run, right in zip(found, runs(program, 0)[0], strict=True):
        for value, reference in zip(run, right, strict=True):
            np.testing.assert_allclose(value, reference, rtol=2e-4, atol=1e-5)
