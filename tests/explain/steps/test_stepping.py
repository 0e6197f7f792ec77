from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.steps.recording import Recording
from tfteach.explain.steps.stepping import record
from tfteach.explain.steps.value_summary import BINS, Seen, figures_of, words_of
from tfteach.framework.graph import SessionRun


def recorded(build: Any, feeds: Any = None, **options: Any) -> Recording:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        fetches = build()
        if graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES):
            session.run(tf.global_variables_initializer())
        return record(session, fetches, feeds, **options)


def training() -> Any:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w, name="y")), name="loss")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
    return loss, train


def test_what_each_op_took_and_gave() -> None:
    run = recorded(training, {"x:0": [[1, 2], [3, 4]]})
    assert run.result == (73.0, None)
    assert run.error is None
    y = run[run.breakpoints("y")[0]]
    assert str(y).splitlines()[1:] == [
        "  takes x:0: float32 2x2 [[1., 2.], [3., 4.]]",
        "  takes w/read:0: float32 2x1 [[1.], [2.]]",
        "  gives y:0: float32 2x1 [[ 5.], [11.]]",
    ]
    assert (y.op_type, y.device, y.iteration) == ("MatMul", "CPU:0", 0)
    assert y.elapsed_us > 0
    update = run[run.breakpoints("train/update_w/*")[0]]
    np.testing.assert_allclose(update.outputs[0].array, [[-2.8], [-3.4]], rtol=1e-6)


def test_the_numbers_are_those_of_a_plain_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.placeholder(tf.float64, [2, 3])
        names = [tf.exp(a).name, tf.reduce_sum(tf.exp(a) * a, 1).name]
        feeds = {a: np.arange(6.0).reshape(2, 3)}
        run = record(session, names, feeds)
        known = run.values_at(len(run) - 1)
        for name, value in zip(names, session.run(names, feeds), strict=True):
            np.testing.assert_array_equal(known[name].array, value)


def test_observers_of_the_graph_hear_of_the_run_and_its_end() -> None:
    heard: list[Any] = []

    def listen(event: Any) -> None:
        if isinstance(event, SessionRun):
            heard.append((event.session, event.fetches, event.feeds))
            event.at_end.append(heard.append)

    with tf.Graph().as_default() as graph, tf.Session() as session:
        with pytest.raises(RuntimeError, match="The Session graph is empty"):
            record(session, [])
        a = tf.placeholder(tf.float32, [], name="a")
        good, bad = tf.exp(a), tf.check_numerics(a, "not finite")
        with graph.observe(listen):
            record(session, good, {a: 1.0})
            run = record(session, [bad.name], {"a:0": np.nan})
    assert heard == [
        (session, (good,), (a,)),
        None,
        (session, (bad,), (a,)),
        run.error,
    ]
    assert isinstance(run.error, tf.errors.InvalidArgumentError)


def test_going_forward_and_back() -> None:
    run = recorded(training, {"x:0": [[1, 2]]})
    loss, *_ = run.breakpoints("loss")
    y, *_ = run.breakpoints("y")
    stops = run.breakpoints("y", "loss")
    assert stops == [y, loss]
    assert run.after(-1, stops) == y
    assert run.after(y, stops) == loss
    assert run.after(loss, stops) is None
    assert run.before(loss, stops) == y
    assert run.before(y, stops) is None
    assert "loss:0" not in run.values_at(y)
    assert run.values_at(loss)["loss:0"].text == "25"
    assert run.breakpoints(when=lambda step: step.op_type == "MatMul")[0] == y


def test_the_turns_of_a_loop() -> None:
    def loop() -> Any:
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), [0, 1.0])

    run = recorded(loop)
    assert run.result == (3, 8.0)
    doubled = [step for step in run if step.op == "while/mul"]
    assert [(step.iteration, step.outputs[0].text) for step in doubled] == [
        (0, "2"),
        (1, "4"),
        (2, "8"),
    ]
    assert "while/mul (2)" in str(run)


def test_where_numbers_go_wrong() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [2], name="x")
        return tf.reduce_sum(tf.log(x, name="log") + 1.0)

    run = recorded(build, {"x:0": [-1.0, 0.0]})
    [stop] = run.breakpoints(nan=True)
    assert run[stop].op == "log"
    assert (run[stop].outputs[0].nans, run[stop].outputs[0].infinities) == (1, 1)


def test_an_infinity_and_the_nan_that_it_becomes() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [1], name="x")
        infinite = tf.log(x, name="log")
        return tf.negative(tf.multiply(infinite + 1.0, x, name="zero"))

    run = recorded(build, {"x:0": [0.0]})
    assert [run[stop].op for stop in run.breakpoints(nan=True)] == ["log", "zero"]
    assert run.spoilers() == run.breakpoints(nan=True)


def test_an_error_ends_the_recording() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [2], name="x")
        return tf.check_numerics(tf.log(x, name="log"), "no", name="check")

    run = recorded(build, {"x:0": [0.0, 1.0]})
    assert run.result is None
    assert isinstance(run.error, tf.errors.InvalidArgumentError)
    assert [step.op for step in run] == ["log"]
    assert str(run).endswith(
        "ended by InvalidArgumentError at check: no : Tensor had Inf values"
    )


def test_wrong_fetches_and_feeds_raise_as_in_a_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.constant(1.0)
        with pytest.raises(TypeError, match="Fetch argument"):
            record(session, 3)
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
            record(session, "Const:0", {"nothing:0": 1})


def test_only_so_much_is_kept() -> None:
    def build() -> Any:
        a = tf.placeholder(tf.float32, [2000], name="a")
        return tf.reduce_sum(tf.negative(a)), tf.negative(a[:100], name="small")

    feeds = {"a:0": np.arange(2000)}
    run = recorded(build, feeds)
    [large] = [s for s in run if s.op == "Neg"]
    assert large.outputs[0].array is None
    assert large.outputs[0].text == (
        "[-0., -1., -2., ...] from -1999 to -0, mean -999.5"
    )
    assert run.dropped == 0
    short = recorded(build, feeds, max_bytes=300)
    assert short.dropped == 2
    assert "2 values were not kept" in str(short)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.float32(2.5), "2.5"),
        (np.float32(1000000.5), "1000000.5"),
        (np.float32(2**0.5), "1.4142135"),
        (np.float64(1 / 3), "0.333333333"),
        (np.float32(-3e-8), "-3e-8"),
        (np.float32(-0.0), "-0"),
        (np.float64(np.nan), "NaN"),
        (np.array([True, False]), "[ True, False]"),
        (np.array(b"one", object), "'one'"),
        (
            np.array([b"x" * 50] * 8, object),
            ", ".join([f"'{'x' * 39}…'"] * 6) + ", ...",
        ),
        (np.zeros([0, 3]), "[]"),
        (np.arange(20), "[0, 1, 2, ...] from 0 to 19, mean 9.5"),
        (np.ones(20, bool), "[ True, True, True, ...]"),
    ],
    ids=str,
)
def test_words(array: Any, words: str) -> None:
    assert " ".join(words_of(np.asarray(array)).split()) == words


def test_memory_that_is_alive() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [1000], name="x")
        for i in range(5):
            x = tf.sin(x, name=f"sin{i}")
        return tf.reduce_sum(x)

    run = recorded(build, {"x:0": np.zeros(1000)})
    assert max(step.live_bytes for step in run) <= 2 * 4000
    assert run[-1].live_bytes == 4000  # what the sum was made of


def test_memory_of_a_loop_counts_what_lives() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [1000], name="x")
        return tf.while_loop(
            lambda i, a: i < 20, lambda i, a: (i + 1, tf.sin(a)), [0, x]
        )[1]

    run = recorded(build, {"x:0": np.zeros(1000)})
    assert 4000 <= max(step.live_bytes for step in run) <= 3 * 4000


def nested() -> Any:
    def turn(i: Any, a: Any) -> Any:
        def again(j: Any, b: Any) -> Any:
            return j + 1, tf.multiply(b, 1.5, name="grown")

        return i + 1, tf.while_loop(lambda j, b: j < i, again, [0, a], name="inner")[1]

    return tf.while_loop(lambda i, a: i < 3, turn, [0, 1.0], name="outer")


def test_loops_in_loops_run_in_order() -> None:
    run = recorded(nested)
    assert [step.iterations for step in run] == sorted(step.iterations for step in run)
    outer, *inner = run.loops()
    assert (outer.name, outer.times, outer.outer) == ("outer", 3, ())
    assert [(loop.name, loop.outer, loop.times) for loop in inner] == [
        ("outer/inner", (("outer", i),), i) for i in range(3)
    ]
    assert [run[start].iterations for start in outer.starts] == [
        (("outer", i),) for i in range(4)
    ]
    assert outer.last == len(run) - 1
    grown = [step for step in run if step.op == "outer/inner/grown"]
    assert [(step.iteration, step.outputs[0].text) for step in grown] == [
        (0, "1.5"),
        (0, "2.25"),
        (1, "3.375"),
    ]
    assert "outer/inner/grown (2.1)" in str(run)


def test_what_flows_through_a_loop_is_known() -> None:
    run = recorded(nested)
    for step in run:
        count = len(run.graph.get_operation_by_name(step.op).inputs)
        assert len(step.inputs) == count, step
    grown = run[run.breakpoints("outer/inner/grown")[1]]
    assert [seen.text for seen in grown.inputs] == ["1.5", "1.5"]
    handed = {seen.name: seen.text for step in run for seen in step.passed}
    assert handed["outer/inner/Exit_1:0"] == "3.375"
    assert handed["outer/Merge:1"] == "1"


def test_what_is_fed_flows_into_branches() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [], name="x")
        sure = tf.placeholder(tf.bool, [], name="sure")
        return tf.cond(sure, lambda: x * 2.0, lambda: x * 3.0)

    run = recorded(build, {"x:0": 5.0, "sure:0": True})
    assert "cond/mul_1" not in [step.op for step in run]
    double = run[run.breakpoints("cond/mul")[0]]
    assert double.outputs[0].text == "10"
    assert double.inputs[0].figures is run.fed[0].figures
    handed = {seen.name: seen.text for step in run for seen in step.passed}
    assert handed["cond/mul/Switch:1"] == "5"


def test_resources_are_no_numbers() -> None:
    def build() -> Any:
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        store = tf.TensorArray(tf.float32, 2, name="store").unstack(tf.stack([v, v]))
        return store.stack(), v.assign_add([1.0, 1.0])

    run = recorded(build)
    known = run.values_at(len(run) - 1)
    assert (known["v:0"].dtype, known["v:0"].text) == ("float32", "[2., 3.]")
    assert known["store:0"].dtype == "resource"
    assert known["store:0"].short == "ArrayStore"
    assert " at 0x" not in str(run)


def test_a_variable_before_and_after_its_update() -> None:
    run = recorded(training, {"x:0": [[1, 2], [3, 4]]})
    update = run[run.breakpoints("train/update_w/*")[0]]
    np.testing.assert_array_equal(update.inputs[0].array, [[1.0], [2.0]])
    assert update.inputs[0].name == "w:0"
    assert run.fetches == ("loss:0", "train")
    assert [str(seen) for seen in run.fed] == ["x:0: float32 2x2 [[1., 2.], [3., 4.]]"]
    assert run.values_at(0)["x:0"] is run.fed[0]


def test_an_identity_without_a_step_hands_on_what_was_made() -> None:
    run = recorded(training, {"x:0": [[1, 2], [3, 4]]})
    update = run[run.breakpoints("train/update_w/*")[0]]
    gradient = update.inputs[2]
    assert gradient.name == "gradients/y_grad/tuple/control_dependency_1:0"
    [product] = run.breakpoints("gradients/y_grad/MatMul_1")
    assert gradient.figures is run[product].outputs[0].figures


def test_an_identity_that_is_the_same_in_every_run() -> None:
    def two_losses() -> Any:
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        loss = tf.add_n([tf.reduce_sum(w), tf.nn.l2_loss(w)], name="loss")
        return tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")

    run = recorded(two_losses)  # gradients/loss_grad/tuple/... is folded to 1
    assert run.error is None
    assert run.breakpoints("train/update_w/*")


def test_a_predicate_sees_the_arrays() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [2000], name="x")
        return tf.reduce_sum(tf.square(x, name="square") + 1.0, name="sum")

    feeds = {"x:0": np.arange(2000)}
    run = recorded(build, feeds, when=lambda step, value: value.max() > 1e6)
    assert [run[stop].op for stop in run.stops] == ["square", "add", "sum"]
    with pytest.raises(KeyError, match="oops"):
        recorded(build, feeds, when=lambda step, value: {}["oops"])


def test_the_op_that_failed_shows_what_it_took() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [2], name="x")
        return tf.check_numerics(tf.log(x, name="log"), "no", name="check")

    failed = recorded(build, {"x:0": [0.0, 1.0]}).failed
    assert failed is not None
    assert (failed.op, failed.number, failed.outputs) == ("check", 1, ())
    assert [str(seen) for seen in failed.inputs] == ["log:0: float32 2 [-inf, 0.]"]


def test_a_long_run_is_written_down_in_part() -> None:
    def loop() -> Any:
        return tf.while_loop(lambda i: i < 100, lambda i: i + 1, [0])

    run = recorded(loop, max_steps=30)
    assert (len(run), run.result, run.missed) == (30, 100, 4 * 100 + 2 - 30)
    assert "372 more steps were not recorded" in str(run)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.float32(0.125), "0.125"),
        (np.array([1.0, np.nan, -np.inf]), "[1, NaN, -∞]"),
        (np.array([True]), "[True]"),
        (np.array(b"one", object), "'one'"),
        (np.zeros([2, 3]), "2×3 · 0"),
        (np.array([[-0.0, 1.5e-7]]), "1×2 · 0…1.5e-7"),
        (np.full([64, 28, 28, 1], 0.1234), "64×28×28×1 · 0.12"),
        (np.arange(6.0).reshape(2, 3), "2×3 · 0…5"),
        (np.array([[1.0, np.nan, np.inf, np.inf]]), "1×4 · 1 NaN 2 ∞"),
        (np.zeros([0]), "[]"),
        (np.ones([4], bool), "4"),
    ],
    ids=str,
)
def test_short_words(array: Any, words: str) -> None:
    array = np.asarray(array)
    seen = Seen("t:0", str(array.dtype), array.shape, "", array, figures_of(array))
    assert seen.short == words


def test_figures() -> None:
    figures = figures_of(np.array([*range(32), np.nan, np.inf]))
    assert (figures.nans, figures.infinities) == (1, 1)
    assert (figures.low, figures.high, figures.mean) == (0.0, 31.0, 15.5)
    assert figures.bins == (2,) * BINS
    huge = figures_of(np.array([-1e308, 1e308] * 10))
    assert huge.bins == ()
    assert figures_of(np.full(20, np.nan)).low is None
