"""Hot steps as CUDA graphs, which the stand-in for CuPy records and replays."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_capture import STATE
from tfteach.engine.execute import cuda_graph
from tfteach.engine.execute.cuda_graph import CAPTURE_AFTER, GraphedStep
from tfteach.engine.execute.program import HOT_AFTER_RUNS

UNTIL_CAPTURED = HOT_AFTER_RUNS + CAPTURE_AFTER


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)


def graphed(sess: tf.Session) -> GraphedStep:
    """The step that a session ran most often."""
    program, _ = max(sess._programs.values(), key=lambda pair: pair[0]._loops)
    [step] = program.hot.values()
    assert isinstance(step, GraphedStep)
    return step


def features(*shape: int | None) -> Any:
    return tf.placeholder(tf.float32, shape)


def trained(loss: Any, optimizer: Any) -> list[Any]:
    step = tf.train.get_or_create_global_step()
    return [loss, optimizer.minimize(loss, global_step=step), step]


def a_sum() -> tuple[Any, Any]:
    x, y = features(None, 3), features(None, 3)
    return [x + y], {x: (4, 3), y: (4, 3)}


def small_variables() -> tuple[Any, Any]:
    x = features(None, 4)
    w = tf.Variable([1.0, 2.0, 3.0, 4.0])
    loss = tf.reduce_mean(tf.square(x * w + tf.Variable(0.5) - 1.0))
    return [*trained(loss, tf.train.AdamOptimizer(0.1)), w], {x: (5, 4)}


def large_variables() -> tuple[Any, Any]:
    x = features(None, 2000)
    w = tf.get_variable("w", [2000], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(x * w - 1.0))
    return [*trained(loss, tf.train.MomentumOptimizer(0.1, 0.9)), w], {x: (2, 2000)}


def perceptron() -> tuple[Any, Any]:
    x, y = features(None, 8), features(None, 3)
    hidden = tf.layers.dense(x, 16, tf.nn.relu)
    loss = tf.losses.mean_squared_error(y, tf.layers.dense(hidden, 3))
    return trained(loss, tf.train.AdagradOptimizer(0.1)), {x: (6, 8), y: (6, 3)}


def convolutions() -> tuple[Any, Any]:
    x = features(None, 64)
    images = tf.reshape(x, [-1, 8, 8, 1])
    maps = tf.layers.conv2d(images, 3, 3, padding="same", activation=tf.nn.relu)
    maps = tf.layers.conv2d(tf.layers.max_pooling2d(maps, 2, 2), 2, 3)
    logits = tf.layers.dense(tf.layers.flatten(maps), 4)
    loss = tf.losses.sparse_softmax_cross_entropy([0, 3], logits)
    return trained(loss, tf.train.GradientDescentOptimizer(0.1)), {x: (2, 64)}


def random_numbers() -> tuple[Any, Any]:
    """The card draws them, in each run anew."""
    x = features(None, 8)
    w = tf.Variable(tf.ones([8]))
    dropped = tf.nn.dropout(x * w, rate=0.5, seed=3)
    loss = tf.reduce_mean(dropped)
    return [*trained(loss, tf.train.GradientDescentOptimizer(0.1)), dropped], {
        x: (6, 8)
    }


def swapped_variables() -> tuple[Any, Any]:
    x = features()
    u = tf.Variable([1.0, 2.0], use_resource=True)
    v = tf.Variable([3.0, 4.0], use_resource=True)
    a, b = u.read_value(), v.read_value()
    with tf.control_dependencies([a, b]):
        swap = tf.group(u.assign(b), v.assign(a))
    return [a * x, b, swap], {x: ()}


def read_before_and_after() -> tuple[Any, Any]:
    x = features(None)
    v = tf.Variable(tf.ones([3000]))
    before = tf.identity(v.read_value())
    with tf.control_dependencies([before]):
        after = tf.assign_add(v, x)
    return [before, after], {x: (3000,)}


def a_learning_rate_that_is_fed() -> tuple[Any, Any]:
    x, rate = features(3), features()
    w = tf.Variable([1.0, 2.0, 3.0])
    loss = tf.reduce_sum(tf.square(w * x))
    return [tf.train.GradientDescentOptimizer(rate).minimize(loss), w], {
        x: (3,),
        rate: (),
    }


def summaries() -> tuple[Any, Any]:
    """The host computes after the card: the updates come last."""
    x = features(3)
    w = tf.Variable([1.0, 2.0, 3.0])
    loss = tf.reduce_sum(tf.square(w * x))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    return [train, tf.summary.scalar("loss", loss), w], {x: (3,)}


PROGRAMS = [
    a_sum,
    small_variables,
    large_variables,
    perceptron,
    convolutions,
    random_numbers,
    swapped_variables,
    read_before_and_after,
    a_learning_rate_that_is_fed,
    summaries,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_replays_compute_what_runs_do(
    program: Callable[[], tuple[Any, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs() -> list[Any]:
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(7)
            fetches, shapes = program()
            sess.run(tf.global_variables_initializer())
            rng = np.random.default_rng(1)
            found = []
            for _ in range(UNTIL_CAPTURED + 4):
                kernels, launches = STATE.kernels, STATE.launches
                feeds = {x: rng.normal(size=size) for x, size in shapes.items()}
                found.append([v for v in sess.run(fetches, feeds) if v is not None])
            counts.append((STATE.kernels - kernels, STATE.launches - launches))
            steps.append(graphed(sess))
            return found

    counts: list[tuple[int, int]] = []
    steps: list[GraphedStep] = []
    replayed = runs()
    monkeypatch.setattr(cuda_graph, "CAPTURE_AFTER", 1000)
    for run, expected in zip(replayed, runs(), strict=True):
        for value, right in zip(run, expected, strict=True):
            np.testing.assert_array_equal(value, right)
    assert steps[0].reason == ""
    assert steps[0].graph is not None
    (kernels, launches), (without, none) = counts
    assert (launches, none) == (1 if program is a_sum else 2, 0)
    assert kernels == 0 < without


def hot_step(sess: tf.Session, fetches: Any, runs: int = UNTIL_CAPTURED + 2) -> Any:
    for _ in range(runs):
        found = sess.run(fetches)
    return found


def test_a_variable_that_another_step_assigns() -> None:
    w = tf.Variable([1.0, 1.0])
    double = w.assign(w * 2.0)
    value = tf.placeholder(tf.float32, [2])
    other = tf.assign(w, value)
    with tf.Session() as sess:
        sess.run(w.initializer)
        hot_step(sess, double)
        graph = graphed(sess).graph
        for i in range(3):
            sess.run(other, {value: [i, 1.0]})
            assert sess.run(double).tolist() == [2.0 * i, 2.0]
            assert sess.run(w).tolist() == [2.0 * i, 2.0]
        assert graphed(sess).graph is graph is not None


def test_two_hot_steps_share_a_variable() -> None:
    w = tf.Variable(tf.ones([2000]))
    more, twice = tf.assign_add(w, tf.ones([2000])).op, tf.assign(w, w * 2.0).op
    with tf.Session() as sess:
        sess.run(w.initializer)
        expected = 1.0
        for _ in range(UNTIL_CAPTURED + 4):
            sess.run(more)
            sess.run(twice)
            expected = (expected + 1.0) * 2.0
        assert set(sess.run(w).tolist()) == {expected}
        programs = [program for program, _ in sess._programs.values()]
        steps = [step for program in programs for step in program.hot.values()]
        assert len([step for step in steps if step.graph is not None]) == 2


def test_an_array_that_another_variable_shares_is_not_overwritten() -> None:
    v = tf.Variable([1.0, 1.0], name="v", use_resource=True)
    u = tf.Variable([0.0, 0.0], name="u", use_resource=True)
    add, share = v.assign_add([1.0, 1.0]), u.assign(v.read_value())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        hot_step(sess, add)
        shared = sess.run([share, v])[1]
        for _ in range(2):
            sess.run(add)
        assert sess.run(u).tolist() == shared.tolist()
        assert sess.run(v).tolist() == (shared + 2.0).tolist()


def test_memory_that_another_variable_holds_is_not_overwritten() -> None:
    """Also if the step's own variable has another array meanwhile."""
    v = tf.Variable([1.0, 1.0], use_resource=True)
    u = tf.Variable([0.0, 0.0], use_resource=True)
    add, share = v.assign_add([1.0, 1.0]), u.assign(v.read_value())
    other = v.assign([5.0, 5.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        hot_step(sess, add)
        shared = sess.run([share, v])[1].tolist()
        sess.run(other)
        sess.run(add)
        assert sess.run(u).tolist() == shared != [5.0, 5.0]
        assert sess.run(v).tolist() == [6.0, 6.0]


def test_a_step_whose_variables_are_always_shared_is_not_captured_for_ever() -> None:
    v = tf.Variable([1.0, 1.0], use_resource=True)
    u = tf.Variable([0.0, 0.0], use_resource=True)
    add, share = v.assign_add([1.0, 1.0]), u.assign(v.read_value())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(UNTIL_CAPTURED + 6):
            sess.run(add)
            if i < UNTIL_CAPTURED:
                continue
            with_share = sess.run([share, v])[1]
            assert sess.run(u).tolist() == with_share.tolist() == [i + 2.0, i + 2.0]


def not_captured() -> dict[str, tuple[Callable[[Any], Any], str]]:
    def of_python(x: Any) -> Any:
        return tf.py_func(lambda value: value + 1, [x * 2.0], tf.float32) * 2.0

    def shuffled(x: Any) -> Any:
        return tf.random_shuffle(x * 2.0) + 1.0

    def of_a_size(x: Any) -> Any:
        return tf.boolean_mask(x, x > 0.0) * 2.0

    return {
        "Python in the middle": (
            of_python,
            "the card takes PyFunc, which the host computes",
        ),
        "a state": (shuffled, "RandomShuffle has a state of its own"),
        "a size": (of_a_size, "the current stream is capturing"),
    }


@pytest.mark.parametrize("name", not_captured())
def test_the_reason_why_a_step_is_not_captured(name: str) -> None:
    function, reason = not_captured()[name]
    x = tf.placeholder(tf.float32, [4])
    y = function(x)
    with tf.Session() as sess:
        for _ in range(UNTIL_CAPTURED + 2):
            found = sess.run(y, {x: [1.0, 2.0, 3.0, 4.0]})
        assert found.sum() == {"a size": 20.0, "a state": 24.0}.get(name, 48.0)
        step = graphed(sess)
        assert reason in step.reason
        assert any(step.reason in change.reason for change in step._compiled.step.log)


def test_variables_keep_their_values_if_the_host_fails_after_the_card() -> None:
    fails = False

    def check(value: Any) -> Any:
        if fails:
            raise ValueError("stop")
        return value

    w = tf.Variable([1.0, 2.0])
    total = tf.reduce_sum(w)
    train = tf.assign_add(w, [1.0, 1.0]).op
    seen = tf.py_func(check, [total], tf.float32)
    with tf.Session() as sess:
        sess.run(w.initializer)
        hot_step(sess, [seen, train])
        assert graphed(sess).graph is not None
        before = sess.run(w).tolist()
        fails = True
        with pytest.raises(tf.errors.InvalidArgumentError, match="stop"):
            sess.run([seen, train])
        assert sess.run(w).tolist() == before
        fails = False
        sess.run([seen, train])
        assert sess.run(w).tolist() == [v + 1.0 for v in before]


def test_what_waits_for_the_host_after_the_card_waits() -> None:
    fails = False
    calls = []

    def check(value: Any) -> Any:
        if fails:
            raise ValueError("stop")
        return value

    w = tf.Variable([1.0, 2.0])
    seen = tf.py_func(check, [tf.reduce_sum(w)], tf.float32)
    with tf.control_dependencies([seen]):
        later = tf.py_func(
            lambda: np.float32(len(calls.append(1) or calls)), [], tf.float32
        )
    with tf.Session() as sess:
        sess.run(w.initializer)
        hot_step(sess, later)
        assert graphed(sess).graph is not None
        count = len(calls)
        fails = True
        with pytest.raises(tf.errors.InvalidArgumentError, match="stop"):
            sess.run(later)
        assert len(calls) == count


def test_an_error_of_the_host_before_the_card() -> None:
    x = tf.placeholder(tf.string, [])
    w = tf.Variable([1.0, 2.0])
    step = tf.assign_add(w, [1.0, 1.0] * tf.string_to_number(x))
    with tf.Session() as sess:
        sess.run(w.initializer)
        for _ in range(UNTIL_CAPTURED + 2):
            before = sess.run(step, {x: "2"}).tolist()
        assert graphed(sess).graph is not None
        with pytest.raises(tf.errors.InvalidArgumentError, match="StringToNumber"):
            sess.run(step, {x: "two"})
        assert sess.run(w).tolist() == before


def test_an_uninitialized_variable() -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    step = tf.assign_add(w, [1.0, 1.0])
    with tf.Session() as sess:
        sess.run(w.initializer)
        hot_step(sess, step)
        [cell] = [c for _, c in sess.resources.items() if hasattr(c, "is_initialized")]
        cell.clear()
        with pytest.raises(
            tf.errors.FailedPreconditionError, match=r"uninitialized.* w"
        ):
            sess.run(step)
        sess.run(w.initializer)
        assert sess.run(step).tolist() == [2.0, 3.0]


def test_threads_run_one_step() -> None:
    x = tf.placeholder(tf.float32, [3])
    y = tf.exp(x) * 2.0
    with tf.Session() as sess:
        for _ in range(UNTIL_CAPTURED + 1):
            sess.run(y, {x: [0.0] * 3})
        wrong: list[Any] = []

        def run(number: int) -> None:
            for _ in range(20):
                got = sess.run(y, {x: [number] * 3})
                if not np.allclose(got, 2.0 * np.exp(number)):
                    wrong.append(got)

        threads = [threading.Thread(target=run, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_a_result_of_another_size_than_when_captured() -> None:
    x = tf.placeholder(tf.int32, [4])
    y = tf.cast(tf.unique(x).y, tf.float32) * 2.0  # Unique runs on the host
    with tf.Session() as sess:
        for _ in range(UNTIL_CAPTURED + 2):
            sess.run(y, {x: [1, 2, 2, 1]})
        assert graphed(sess).graph is not None
        assert sess.run(y, {x: [1, 2, 3, 1]}).tolist() == [2.0, 4.0, 6.0]
        assert sess.run(y, {x: [5, 5, 6, 6]}).tolist() == [10.0, 12.0]


def test_feeds_are_not_overwritten_before_the_card_has_read_them() -> None:
    """A run that fetches nothing ends before its graph has."""
    x = tf.placeholder(tf.float32, [3])
    w = tf.Variable([0.0, 0.0, 0.0])
    step = tf.assign_add(w, x).op
    with tf.Session() as sess:
        sess.run(w.initializer)
        for i in range(UNTIL_CAPTURED + 2):
            ends = strict_card.POOL.ends
            sess.run(step, {x: [1.0, 2.0, float(i)]})
        assert graphed(sess).graph is not None
        assert (
            strict_card.POOL.ends == ends + 2
        )  # before it writes, and as all runs end


@pytest.mark.parametrize("replays", [0, 2])
def test_an_interrupt_before_the_wait(monkeypatch: Any, replays: int) -> None:
    x, inner, calls = features(3), cuda_graph.CapturedGraph.download, []

    def download(graph: Any, registers: Any) -> None:
        if calls.append(1) or len(calls) == replays + 1:
            raise KeyboardInterrupt
        inner(graph, registers)

    monkeypatch.setattr(cuda_graph.CapturedGraph, "download", download)
    y = tf.floor(x * 2.0 + tf.random_uniform([3]))
    with tf.Session() as sess:
        for i in range(UNTIL_CAPTURED + 4):
            with contextlib.suppress(KeyboardInterrupt):
                assert sess.run(y, {x: np.full(3, i)}).tolist() == [2.0 * i] * 3
    assert len(calls) > replays + 1


def test_the_host_samples_candidates_before_the_card() -> None:
    """It has the labels, as the card has: as many as a batch has, and in int64."""
    ids = np.random.default_rng(1).integers(0, 7, (UNTIL_CAPTURED + 3, 2, 70))

    def losses(gpus: int) -> list[float]:
        config = tf.ConfigProto(device_count={"GPU": gpus})
        with tf.Graph().as_default(), tf.Session(config=config) as sess:
            tf.set_random_seed(3)
            words, labels = (tf.placeholder(tf.int32, [70]) for _ in range(2))
            table, w = (tf.get_variable(n, [7, 3]) for n in "tw")
            loss = tf.reduce_mean(
                tf.nn.nce_loss(
                    w,
                    tf.get_variable("b", [7]),
                    labels[:, None],
                    tf.nn.embedding_lookup(table, words),
                    num_sampled=4,
                    num_classes=7,
                )
            )
            train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
            sess.run(tf.global_variables_initializer())
            found = []
            for i, (word, label) in enumerate(ids):
                launched.append((STATE.kernels, STATE.launches))
                run = sess.run([loss, train], {words: word, labels: label})
                found.append(run[0])
                if i > UNTIL_CAPTURED:
                    kernels, launches = launched[-1]
                    assert STATE.kernels == kernels
                    assert STATE.launches == launches + 2 * gpus
            return found

    launched: list[tuple[int, int]] = []
    np.testing.assert_allclose(losses(1), losses(0), rtol=1e-4)


def test_an_accumulator_counts_all_runs() -> None:
    x = tf.placeholder(tf.float32, [4])
    sums = tf.ConditionalAccumulator(tf.float32, [4])  # of the host
    step = sums.apply_grad(x * 2.0, 0)
    with tf.Session() as sess:
        for _ in range(UNTIL_CAPTURED + 3):
            sess.run(step, {x: [1.0, 2.0, 3.0, 4.0]})
        assert sess.run(sums.num_accumulated()) == UNTIL_CAPTURED + 3
        assert graphed(sess).graph is not None


def test_a_tensor_handle_is_fed() -> None:
    x = tf.placeholder(tf.float32, [3])
    y = x * 2.0 + 1.0
    with tf.Session() as sess:
        handles = [sess.run(tf.get_session_handle(tf.ones([3]) * i)) for i in range(3)]
        for i in range(UNTIL_CAPTURED + 6):
            value = handles[i % 3] if i % 2 else np.ones(3)
            expected = 2.0 * (i % 3) + 1.0 if i % 2 else 3.0
            assert sess.run(y, {x: value}).tolist() == [expected] * 3
        assert graphed(sess).graph is not None
