"""The checks of the lessons on building graphs explain each mistake."""

from __future__ import annotations

from types import ModuleType

import pytest

import tfteach as tf
from tfteach.explain import watch_growth


def answer(scope: str = "parts", divisor: float = 2.0, constant: bool = False):
    with tf.Graph().as_default():
        a = tf.constant(7.0, name="a")
        b = tf.constant(3.0, name="b")
        with tf.name_scope(scope):
            total = tf.add(a, b, name="sum")
            difference = tf.subtract(a, b, name="difference")
        if constant:
            return tf.constant(20.0)
        return tf.divide(total * difference, divisor)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: answer(), "Right"),
        (lambda: 20.0, "not a tensor"),
        (lambda: answer(scope="part"), "no operation named 'parts/sum'"),
        (lambda: answer(divisor=4.0), "is 10.0"),
        (lambda: answer(constant=True), "does not come from `a` and `b`"),
    ],
)
def test_build_and_run(checks, capsys, made, said) -> None:
    checks.check_build_and_run(made())
    assert said in capsys.readouterr().out


SIGMA = 5.670374e-8


@pytest.mark.parametrize(
    ("at_100", "of_sun", "both", "said"),
    [
        (SIGMA * 373.15**4, SIGMA * 5772.0**4, "right", "Right"),
        (None, None, None, "still None"),
        (SIGMA * 100**4, None, None, "you fed `kelvin`"),
        (SIGMA * 373.15**4, None, None, "Cut the graph"),
        (SIGMA * 373.15**4, SIGMA * 6045.15**4, None, "you fed `celsius`"),
        (SIGMA * 373.15**4, SIGMA * 5772.0**4, 3, "fetch a dictionary"),
        (SIGMA * 373.15**4, SIGMA * 5772.0**4, {"K": 1, "W": 2}, "at 0 °C"),
    ],
)
def test_fetch_feed_and_prune(checks, capsys, at_100, of_sun, both, said) -> None:
    if both == "right":
        both = {"K": 273.15, "W": SIGMA * 273.15**4}
    checks.check_fetch_feed_and_prune(at_100, of_sun, both)
    assert said in capsys.readouterr().out


def train(lazy: bool, steps: int = 20, finalize: bool = True):
    graph = tf.Graph()
    with watch_growth(graph) as growth, graph.as_default(), tf.Session() as sess:
        w = tf.Variable(0.0, name="w")

        def step():
            gradient = tf.gradients(tf.square(w * 3.0 - 6.0), w)[0]
            return w.assign_sub(0.05 * gradient)

        update = None if lazy else step()
        init = tf.global_variables_initializer()
        if finalize and not lazy:
            graph.finalize()
        sess.run(init)
        for _ in range(steps):
            sess.run(step() if lazy else update)
        return graph, growth, sess.run(w)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lazy": False}, "Right"),
        ({"lazy": True}, "were added after the first run, by"),
        ({"lazy": False, "finalize": False}, "graph.finalize()"),
        ({"lazy": False, "steps": 2}, "20 steps should bring"),
        ({"lazy": False, "steps": 10}, "keep the 20 steps"),
    ],
)
def test_avoid_lazy_loading(checks, capsys, options, said) -> None:
    checks.check_avoid_lazy_loading(*train(**options))
    assert said in capsys.readouterr().out


def encoded(units: int, names: tuple[str, str], reuse: bool | None, axis: int = 1):
    def compare(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        codes = [
            tf.layers.dense(a, units, name=names[0]),
            tf.layers.dense(b, units, name=names[1], reuse=reuse),
        ]
        return tf.reduce_sum(tf.squared_difference(*codes), axis=axis)

    return compare


@pytest.mark.parametrize(
    ("compare", "said"),
    [
        (encoded(3, ("encoder", "encoder"), True), "Right"),
        (encoded(3, ("one", "two"), None), "there are 4 variables"),
        (
            encoded(3, ("encoder", "encoder"), None),
            "it ends with ValueError: Variable encoder/kernel already",
        ),
        (encoded(3, ("layer", "layer"), True), "should be called `encoder`"),
        (encoded(3, ("encoder", "encoder"), True, axis=0), "not one number a row"),
        (lambda a, b: encoded(3, ("encoder",) * 2, True)(a, b) + 1.0, "distance 0"),
        (lambda a, b: encoded(3, ("encoder",) * 2, True)(a, b) * 2.0, "the *squared*"),
        (encoded(4, ("encoder", "encoder"), True), "has 4 units"),
        (lambda a, b: tf.reduce_sum(a - b, 1), "there are no variables"),
    ],
)
def test_lesson_4(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], compare, said: str
) -> None:
    checks.check_sharing(compare)
    assert said in capsys.readouterr().out


def two_variables() -> tuple[tf.Variable, tf.Variable]:
    return tf.Variable(0.0, name="total"), tf.Variable(0.0, name="count")


def right_mean(x: tf.Tensor) -> tf.Tensor:
    total, count = two_variables()
    return total.assign_add(x) / count.assign_add(1.0)


def no_updates(x: tf.Tensor) -> tf.Tensor:
    total, count = two_variables()
    return total / count


def half_updated(x: tf.Tensor) -> tf.Tensor:
    total, count = two_variables()
    return total.assign_add(x) / tf.maximum(count, 1.0)


@pytest.mark.parametrize(
    ("running_mean", "said"),
    [
        (right_mean, "Right"),
        (no_updates, "after [4.0] it gives nan, but the mean is 4"),
        (half_updated, "after [4.0, 8.0] it gives 12, but the mean is 6"),
        (lambda x: x, "there is no variable"),
        (lambda x: 3.0, "is 3.0, not a tensor"),
        (lambda x: tf.Variable([0.0]).assign_add([x]), "has shape (1,)"),
        (lambda x: tf.Variable(0.0) / tf.Variable(0), "Your line: `(lambda x: tf.Var"),
        (lambda x: tf.Session().run(x), "Your line: `(lambda x: tf.Session()"),
    ],
)
def test_lesson_3(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], running_mean, said: str
) -> None:
    checks.check_running_mean(running_mean)
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "check_running_mean",
        "check_sharing",
        "check_while_loop",
        "check_embeddings",
        "check_towers",
        "check_safe_length",
        "check_distances",
        "check_saver",
    ],
)
def test_a_function_that_fails_or_returns_nothing_is_a_problem_as_well(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    check = getattr(checks, name)
    check(lambda *_: None)
    check(3)

    def fails(*_):
        raise KeyError("scores")

    check(fails)
    nothing, no_function, failed = capsys.readouterr().out.splitlines()
    assert "Not yet: " in nothing
    assert "'int' object is not callable" in no_function
    begin, _, line = failed.partition(" Your line: ")
    assert begin == "Not yet: it ends with KeyError: 'scores'"
    assert line == '`raise KeyError("scores")`'
