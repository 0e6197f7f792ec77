"""Two cards, on the stand-in: each array belongs to one, and streams do not wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_arrays import to_card
from tests.card_capture import STATE
from tests.card_clock import CLOCKED
from tests.card_devices import POOL
from tests.eagerly import eager_program
from tests.strict_card import CARD
from tfteach.engine.devices.devices import CudaGPU
from tfteach.engine.execute import cuda_graph, parallel_program
from tfteach.engine.execute.cuda_graph import CAPTURE_AFTER
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.explain import explain_cuda_graphs

LOCAL = "/job:localhost/replica:0/task:0/device:GPU:"
RUNS = HOT_AFTER_RUNS + CAPTURE_AFTER + 2
MIB = 1 << 20
SOFT = {"allow_soft_placement": True}


@pytest.fixture(autouse=True)
def cards(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch, cards=2)


# ---- the stand-in


def test_an_array_of_another_card_is_refused() -> None:
    with CARD.cuda.Device(1):
        x = to_card(np.ones(3))
    assert x.device.id == 1
    message = "array device = 1 while current = 0"
    for use in (lambda: x + 1.0, lambda: CARD.exp(x), lambda: CARD.add(1.0, 2.0, x)):
        with pytest.raises(ValueError, match=message):
            use()
    assert x.get().tolist() == [1.0] * 3
    assert CARD.asarray(x).device.id == 0
    with pytest.raises(NotImplementedError, match="non-contiguous"):
        CARD.array(x[::2])


def test_accesses_that_are_not_ordered_are_refused() -> None:
    first, second = CARD.cuda.Device(0), CARD.cuda.Device(1)
    x = to_card(np.ones(3))
    with second, pytest.raises(AssertionError, match="card 0 may still use"):
        CARD.array(x)
    with first:
        CARD.cuda.get_current_stream().synchronize()
    with second:
        y = CARD.array(x)
    with pytest.raises(AssertionError, match="card 1 may still use"):
        x[...] = 2.0
    del x
    with pytest.raises(AssertionError, match="card 1 may still use"):
        to_card(np.ones(3))  # in memory that was freed
    y.get()
    to_card(np.ones(3))


# ---- copies


def two_gpus() -> list[CudaGPU]:
    return [CudaGPU(0, 0), CudaGPU(1, 1)]


@pytest.mark.parametrize("part", [lambda x: x, lambda x: x.T, lambda x: x[:, 1::2]])
def test_a_copy_waits_for_what_it_reads_and_no_host_waits(
    part: Callable[[Any], Any],
) -> None:
    gpus = two_gpus()
    host = np.arange(12.0).reshape(3, 4)
    waits = POOL.waits, POOL.ends
    with gpus[1].card:
        x = part(to_card(host) + 1.0)
    y = gpus[0].put(x, gpus[1])
    with gpus[1].card:
        x *= 2.0
        del x
        to_card(host)
    assert (POOL.waits, POOL.ends) == waits
    assert y.device.id == 0
    assert (y - 1.0).get().tolist() == part(host).tolist()
    assert CLOCKED.clocks.copies == [(1, 0, y.nbytes)]


# ---- sessions


def tower_losses(x: Any, w: Any, b: Any) -> list[Any]:
    losses = []
    for i in range(2):
        with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower{i}"):
            hidden = tf.nn.relu(tf.matmul(x[i::2], w) + b)
            hidden = tf.nn.dropout(hidden, rate=0.5, seed=i)
            losses.append(tf.reduce_mean(tf.square(tf.transpose(hidden) - 1.0)))
    return losses


def towers(optimizer: Callable[[], Any]) -> Callable[[Any], list[Any]]:
    """Gradients of two cards, averaged where the variables are."""

    def program(x: Any) -> list[Any]:
        with tf.device("/gpu:0"):
            w, b = tf.Variable(tf.ones([700, 3]) * 0.01), tf.Variable(tf.zeros([3]))
        rule = optimizer()
        parts = [rule.compute_gradients(loss, [w, b]) for loss in tower_losses(x, w, b)]
        means = [
            ((first + second) / 2.0, variable)
            for (first, variable), (second, _) in zip(*parts, strict=True)
        ]
        return [w, rule.apply_gradients(means), b]

    return program


def on_the_second_card(x: Any) -> list[Any]:
    with tf.device("/gpu:1"):
        w = tf.Variable(tf.ones([700]))
        loss = tf.reduce_mean(tf.square(x * w - 1.0))
        return [loss, tf.train.AdamOptimizer(0.1).minimize(loss), w]


def a_loop_over_two_cards(x: Any) -> list[Any]:
    def more(i: Any, total: Any) -> tuple[Any, Any]:
        with tf.device("/gpu:1"):
            half = total * 0.5
        with tf.device("/gpu:0"):
            return i + 1, half + 1.0

    with tf.device("/gpu:0"):
        return [tf.while_loop(lambda i, _: i < 3, more, [tf.constant(0), x])[1]]


def rows_of_a_table(x: Any) -> list[Any]:
    """Some are updated in a run that is undone."""
    with tf.device("/gpu:1"):
        table = tf.get_variable("t", [2000, 3], initializer=tf.zeros_initializer())
        rows = tf.gather(table, [1, 5, 1]) + tf.reduce_sum(x)
        step = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.square(rows)))
    with tf.device("/gpu:0"):
        return [tf.reduce_sum(rows) * 2.0, step, table]


PROGRAMS = {
    "descent": towers(lambda: tf.train.GradientDescentOptimizer(0.1)),
    "Adam": towers(lambda: tf.train.AdamOptimizer(0.01)),
    "second card": on_the_second_card,
    "loop": a_loop_over_two_cards,
    "rows": rows_of_a_table,
}


def runs(program: Callable[[Any], list[Any]], **config: Any) -> list[Any]:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 700])
        fetches = program(x)
        with tf.Session(config=tf.ConfigProto(**SOFT, **config)) as sess:
            sess.run(tf.global_variables_initializer())
            feeds = np.random.default_rng(1).normal(size=(RUNS, 4, 700))
            found = [sess.run(fetches, {x: feed}) for feed in feeds]
    return [[v for v in run if v is not None] for run in found]


@pytest.fixture(params=["in order", "executors"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread for both cards, or one for each."""
    is_parallel = request.param == "executors"

    def decided(race: Any, guess: bool) -> None:
        race.is_over, race.is_parallel = True, is_parallel

    monkeypatch.setattr(parallel_program.Race, "__init__", decided)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("way")
def test_programs_compute_what_the_cpu_does(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    copies = CLOCKED.clocks.copies
    found = runs(PROGRAMS[name])
    assert bool(copies) == (name != "second card")
    del copies[:]
    expected = runs(PROGRAMS[name], device_count={"GPU": 0})
    assert not copies
    for run, right in zip(found, expected, strict=True):
        for value, reference in zip(run, right, strict=True):
            np.testing.assert_allclose(value, reference, rtol=1e-4, atol=1e-5)
    capfd.readouterr()  # warnings of devices that do not exist


def test_a_failed_run_leaves_the_second_card_as_it_was() -> None:
    x = tf.placeholder(tf.float32, [None, 700])
    fetches = rows_of_a_table(x)
    with tf.control_dependencies([fetches[1]]):
        failing = tf.py_func(lambda: 1 // 0, [], tf.int64)
    with tf.Session(config=tf.ConfigProto(**SOFT)) as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(fetches, {x: np.ones((2, 700))})[-1]
        for _ in range(2):
            with pytest.raises(tf.errors.UnknownError, match="ZeroDivisionError"):
                sess.run([failing, fetches[1]], {x: np.ones((2, 700))})
            np.testing.assert_array_equal(sess.run(fetches[-1]), before)


@pytest.mark.parametrize("listed", ["0", "1", "1,0"])
def test_visible_devices(listed: str) -> None:
    """A step on one card is a CUDA graph, whichever card that is."""
    options = tf.GPUOptions(visible_device_list=listed)
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    w = tf.Variable([1.0, 2.0, 3.0])
    y = tf.reduce_sum(tf.square(tf.nn.dropout(x * w, rate=0.5, seed=1)), name="y")
    train = tf.train.AdamOptimizer(0.1).minimize(y)
    with tf.Session(config=tf.ConfigProto(gpu_options=options)) as sess:
        listing = [device.physical_device_desc for device in sess.list_devices()[1:]]
        assert ",".join(text[8:9] for text in listing) == listed
        sess.run(tf.global_variables_initializer())
        for _ in range(RUNS):
            kernels, launches = STATE.kernels, STATE.launches
            sess.run([y, train], {x: np.ones((2, 3))})
        assert (STATE.kernels, STATE.launches) == (kernels, launches + 2)
        cells = [cell for _, cell in sess.resources.items() if hasattr(cell, "value")]
        assert {cell.value.device.id for cell in cells} == {int(listed[0])}
        assert not CLOCKED.clocks.copies


def test_chains_are_one_kernel_on_either_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_graph, "CAPTURE_AFTER", 1000)
    x = tf.placeholder(tf.float32, [4])
    counts = []
    for i in range(2):
        with tf.device(f"/gpu:{i}"):
            y = tf.exp(tf.nn.relu(x) * 2.0 + 1.0).op
        with tf.Session() as sess:
            for _ in range(RUNS):
                kernels = STATE.kernels
                sess.run(y, {x: [1.0] * 4})
        counts.append(STATE.kernels - kernels)
    assert counts == [1, 1]


def test_why_a_step_on_two_cards_is_no_graph() -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.device("/gpu:0"):
        one = tf.multiply(x, 2.0, name="one")
    with tf.device("/gpu:1"):
        both = tf.add(one, 1.0, name="both")
    with tf.Session() as sess:
        for _ in range(RUNS):
            sess.run([both], {x: [1.0, 2.0, 3.0]})
            sess.run([one], {x: [1.0, 2.0, 3.0]})
        assert str(explain_cuda_graphs(sess)).splitlines() == [
            "both:0: no graph: it runs on several cards",
            "one:0, fed [(3,)]: a CUDA graph",
        ]


def test_each_card_has_its_ledger_and_its_limit() -> None:
    options = tf.GPUOptions(per_process_gpu_memory_fraction=0.001)
    limit = int((8 << 30) * 0.001)
    x = tf.placeholder(tf.float32, [None])
    parts = []
    for i, size in enumerate((MIB // 4, MIB // 2)):
        with tf.device(f"/gpu:{i}"):
            parts.append(tf.Variable(tf.zeros([size])))
    with tf.device("/gpu:1"):
        y = x * 2.0
    with tf.Session(config=tf.ConfigProto(gpu_options=options)) as sess:
        sess.run(tf.global_variables_initializer())
        ledgers = [device.ledger for device in sess.devices[1:]]
        assert [ledger.limit_bytes for ledger in ledgers] == [limit] * 2
        assert [ledger.current_bytes for ledger in ledgers] == [MIB, 2 * MIB]
        POOL.set_limit(size=5 * MIB)  # of the first
        with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
            sess.run(y, {x: np.zeros(limit // 4, np.float32)})
        assert f"on {LOCAL}1 by allocator GPU_1_bfc" in caught.value.message
        assert "of this card's 8.19 MiB, 2.00 MiB are taken" in caught.value.message
        assert sess.run(y, {x: [1.0]}).tolist() == [2.0]


def test_an_eager_program_copies_between_cards() -> None:
    with eager_program():
        with tf.device("gpu:1"):
            x = tf.constant([[1.0, 2.0], [3.0, 4.0]]) * 2.0
            x = tf.transpose(x)
        with tf.device("gpu:0"):
            y: Any = x + 1.0
        assert y.device == LOCAL + "0"
        waits = POOL.waits
        assert y.numpy().tolist() == [[3.0, 7.0], [5.0, 9.0]]
        assert POOL.waits == waits + 1
        assert (1, 0, 16) in CLOCKED.clocks.copies
