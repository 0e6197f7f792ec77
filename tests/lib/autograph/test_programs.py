"""What converted programs compute.  The numbers are those of TensorFlow 1.15.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.framework import nest

pytestmark = pytest.mark.usefixtures("eagerly")


def values(result: Any) -> Any:
    """The numbers of a result, nested as it is."""
    return nest.map_structure(
        lambda v: v.numpy().tolist() if isinstance(v, tf.Tensor) else v, result
    )


def run(function: Callable[..., Any], *arguments: Any) -> Any:
    return values(tf.function(function)(*map(tf.constant, arguments)))


# ---- gradients


def power(x: Any, n: Any) -> Any:
    y = tf.ones([])
    i = 0
    while i < n:
        y = y * x
        i += 1
    return y


def test_gradients_of_a_loop_to_the_second_order() -> None:
    f: Any = tf.function(power)
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x, tf.constant(4))
        first = inner.gradient(y, x)
    assert values([y, first, outer.gradient(first, x)]) == [81.0, 108.0, 108.0]


def test_gradients_of_variables_in_branches_and_of_rows() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def branch(x: Any) -> Any:
        if x > 1:
            return v * x
        else:
            return v * v * x

    found = []
    for x in 0.5, 3.0:
        with tf.GradientTape() as tape:
            y = branch(tf.constant(x))
        found += [y, tape.gradient(y, v)]
    assert values(found) == [2.0, 2.0, 6.0, 3.0]

    @tf.function
    def over_rows(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            if x > 0:
                total += x * x * v
            else:
                total -= x
        return total

    xs = tf.constant([1.0, -2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = over_rows(xs)
    assert values([y, *tape.gradient(y, [v, xs])]) == [22.0, 10.0, [4.0, -1.0, 12.0]]


def test_a_training_loop_in_the_graph() -> None:
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def train(steps: Any) -> Any:
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w * w)
            w.assign_sub(0.1 * tape.gradient(loss, w))
        return tf.reduce_sum(w * w)

    assert values(train(tf.constant(5))) == pytest.approx(0.53687077)
    assert values(w.read_value()) == pytest.approx([0.32767996, 0.6553599])


# ---- effects


def test_effects_happen_in_the_order_of_the_code() -> None:
    log = tf.Variable(1)

    @tf.function
    def in_branches(n: Any) -> Any:
        for i in tf.range(n):
            if tf.equal(i % 2, 0):
                log.assign(log * 10 + i)
            else:
                log.assign_add(1)
        return log.read_value()

    assert values(in_branches(tf.constant(5))) == 1134

    @tf.function
    def before_and_after(n: Any) -> Any:
        log.assign(n)
        if n > 2:
            log.assign_add(10)
        between = log.read_value()
        while log < 30:
            log.assign(log + 7)
        return between, log.read_value()

    assert values(before_and_after(tf.constant(1))) == (1, 36)
    assert values(before_and_after(tf.constant(5))) == (15, 36)

    @tf.function
    def reset() -> Any:
        if log > 5:
            log.assign(0)
        return log + 1

    log.assign(3)
    assert values(reset()) == 4
    log.assign(30)
    assert values(reset()) == 1


def test_a_loop_without_variables_runs() -> None:
    count = tf.Variable(0)

    @tf.function
    def f() -> None:
        while count < 5:
            count.assign_add(2)

    f()
    assert values(count.read_value()) == 6


# ---- statements


def while_true(n: Any) -> Any:
    while tf.constant(True):
        n = n + 1
        if n > 10:
            break
    return n


def array_of_squares(n: Any) -> Any:
    squares = tf.TensorArray(tf.int32, size=n)
    for i in tf.range(n):
        squares = squares.write(i, i * i)
    return squares.stack()


def structures(n: Any) -> Any:
    state = {"a": 0, "b": (1, tf.zeros([2]))}
    while state["a"] < n:
        doubled = state["b"][0] * 2
        state = {"a": state["a"] + 1, "b": (doubled, state["b"][1] + 1)}
    return state


def recurrent(xs: Any, h: Any) -> Any:
    outputs = tf.TensorArray(tf.float32, size=len(xs))
    for t in tf.range(len(xs)):
        h = h * 0.5 + xs[t]
        outputs = outputs.write(t, h)
    return outputs.stack(), h


def python_range(n: Any) -> Any:
    total = 0
    for i in range(n, n + 2):
        total += i
    return total


def empty_range(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += i
    return total


def rows_of_rows(rows: Any) -> Any:
    total = 0
    for row in rows:
        total += row[0] * row[1]
    return total


def try_and_with(n: Any) -> Any:
    try:
        with tf.name_scope("s"):
            if n > 1:
                y = n * 2
            else:
                y = -n
    except ValueError:
        y = 0
    return y


def starred(x: Any) -> Any:
    a, *b = [x, x + 1, x + 2]
    if x > 0:
        a, b = b[0], [a, a]
    else:
        b = [x, x]
    return a, b


def augmented_items(x: Any) -> Any:
    by_key, by_index = {"k": x}, [x]
    if x > 0:
        by_key["k"] += 1
        by_index[0] *= 3
    return by_key["k"], by_index[0]


def members_in_a_loop(n: Any) -> Any:
    class Box:
        total: Any = 0

    box = Box()
    for i in tf.range(n):
        box.total = box.total + i
    return box.total


def list_of_choices(n: Any) -> Any:
    return [n * i if n > i else n for i in range(3)]


def logic(x: Any) -> Any:
    return (
        not (x > 1),
        x > 1 and x < 5 and x < 1,
        x > 5 or x > 1,
        True and x,
        False or x,
        x is None,
        None and x,
    )


def numbers(n: Any) -> Any:
    return (
        int(n),
        float(n),
        abs(-n),
        int(tf.constant("12")),
        float(tf.constant("1.5")),
    )


def pairs(x: Any) -> Any:
    found = []
    for i, (a, b) in enumerate(zip([1, 2], [3, 4], strict=True)):
        found.append(x * a + b * i)
    return found


def items_of_a_list(y: Any) -> Any:
    for x in [1, 2, 3]:
        if x == y:
            return x * 10
    return -1


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (while_true, (4,), 11),
        (array_of_squares, (5,), [0, 1, 4, 9, 16]),
        (structures, (3,), {"a": 3, "b": (8, [3.0, 3.0])}),
        (recurrent, ([1.0, 2.0], 4.0), ([3.0, 3.5], 3.5)),
        (python_range, (3,), 7),
        (empty_range, (-3,), 0),
        (rows_of_rows, ([[1, 2], [3, 4]],), 14),
        (try_and_with, (2,), 4),
        (try_and_with, (-2,), 2),
        (starred, (3,), (4, [3, 3])),
        (augmented_items, (3,), (4, 9)),
        (members_in_a_loop, (4,), 6),
        (list_of_choices, (2,), [0, 2, 2]),
        (numbers, (2,), (2, 2.0, 2, 12, 1.5)),
        (pairs, (2,), [2, 8]),
        (items_of_a_list, (2,), -1),  # `==` compares identities
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_statements(
    function: Callable[..., Any], arguments: Any, expected: Any
) -> None:
    assert run(function, *arguments) == expected


def test_logic_of_tensors_and_others() -> None:
    found = run(lambda x: logic(x)[:-1], 2)
    assert found == (False, False, True, 2, 2, False)


def test_a_python_loop_over_tensors_is_unrolled() -> None:
    def f(x: Any) -> Any:
        for w in (1, 2, 3):
            if w == 2:
                continue
            x = x * w
        return x

    traced: Any = tf.function(f)
    x = tf.constant(5)
    assert values(traced(x)) == 15
    types = {op.type for op in traced.get_concrete_function(x).graph.get_operations()}
    assert "While" not in types


# ---- variables without a value


def test_variables_of_a_try_statement() -> None:
    def f(x: Any) -> Any:
        try:
            y = unknown_name  # type: ignore[name-defined]
        except NameError:
            is_known = False
        else:
            is_known = True
        if is_known:
            x = x + y
        return x

    assert run(f, 3) == 3


def test_deleted_variables() -> None:
    def f(x: Any) -> Any:
        y = x
        if x > 0:
            z = y + 1
            del y
        else:
            z = x
        return z

    assert run(f, 3) == 4
