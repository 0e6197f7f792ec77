"""`if_stmt`, `while_stmt` and `for_stmt`, called as converted code calls them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.lib.autograph.operators import while_loops
from tfteach.lib.autograph.operators.conditionals import if_stmt
from tfteach.lib.autograph.operators.for_loops import for_stmt
from tfteach.lib.autograph.operators.undefined import (
    Undefined,
    UndefinedReturnValue,
    if_defined,
    retval,
)
from tfteach.lib.autograph.operators.while_loops import while_stmt


def run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


# ---- branches


@pytest.mark.parametrize(("cond", "expected"), [(True, 1), (False, -1)])
def test_if_of_tensors_and_others(cond: bool, expected: int) -> None:
    assert if_stmt(cond, lambda: 1, lambda: -1) == expected
    assert run(if_stmt(tf.constant(cond), lambda: 1, lambda: -1)) == expected
    both = if_stmt(tf.constant(cond), lambda: (1, 2), lambda: (-1, -2))
    assert run(both) == (expected, 2 * expected)


def test_a_branch_of_python_is_the_only_one_called() -> None:
    called = []
    if_stmt(0, lambda: called.append("if"), lambda: called.append("else"))
    if_stmt([1], lambda: called.append("if"), lambda: called.append("else"))
    assert called == ["else", "if"]


@pytest.mark.usefixtures("eagerly")
def test_an_eager_branch_is_the_only_one_called() -> None:
    called = []
    if_stmt(tf.constant(False), lambda: called.append("if"), lambda: 3)
    v = tf.Variable(True)
    assert if_stmt(v, lambda: 5, lambda: called.append("else")) == 5
    assert called == []


def test_branches_of_a_variable_and_of_a_sparse_tensor() -> None:
    v = tf.Variable(True)
    y = if_stmt(v, lambda: 1, lambda: 2)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(y) == 1
    sparse = tf.SparseTensor([[0]], [True], [1])
    assert if_stmt(sparse, lambda: 1, lambda: 2) == 1  # it has no truth value


def test_branches_without_results_are_still_built() -> None:
    built = []

    def branch() -> None:
        built.append(tf.no_op())

    assert if_stmt(tf.constant(True), branch, branch, basic_symbol_names=()) is None
    assert len(built) == 2


def test_state_of_a_branch_does_not_leak_into_the_other() -> None:
    o = SimpleNamespace(x=tf.constant(1))
    seen = []

    def set_state(values: Any) -> None:
        (o.x,) = values

    def branch(by: int) -> None:
        seen.append(o.x)
        o.x = o.x + by

    before = o.x
    if_stmt(
        tf.constant(False),
        lambda: branch(10),
        lambda: branch(20),
        lambda: (o.x,),
        set_state,
        (),
        ("o.x",),
    )
    assert seen == [before, before]
    assert run(o.x) == 21


def test_state_of_different_types_is_named() -> None:
    o = SimpleNamespace(x=1)

    def assign(value: Any) -> None:
        o.x = value

    with pytest.raises(TypeError, match=r'"o\.x" has dtype int32 in the TRUE branch'):
        if_stmt(
            tf.constant(True),
            lambda: assign(1),
            lambda: assign(1.0),
            lambda: (o.x,),
            lambda values: assign(values[0]),
            (),
            ("o.x",),
        )


def test_a_result_that_is_a_tuple() -> None:
    found = if_stmt(
        tf.constant(True), lambda: (1, 2), lambda: (3, 4), basic_symbol_names=("y",)
    )
    assert run(found) == (1, 2)
    with pytest.raises(TypeError, match='"y" does not have the same nested structure'):
        if_stmt(
            tf.constant(True), lambda: (1, 2), lambda: (3,), basic_symbol_names=("y",)
        )


def test_results_without_values() -> None:
    yes = tf.constant(True)
    with pytest.raises(ValueError, match=r"in the else branch: \('y',\)"):
        if_stmt(yes, lambda: (1, 2), lambda: (1, Undefined("y")))
    with pytest.raises(ValueError, match="must also be returned from the if branch"):
        if_stmt(yes, UndefinedReturnValue, lambda: 1)
    assert retval(UndefinedReturnValue()) is None
    assert retval(3) == 3


def test_a_variable_that_perhaps_has_a_value() -> None:
    assert if_defined(lambda: 1, "x") == 1
    found = if_defined(lambda: unknown, "x")  # type: ignore[name-defined]  # noqa: F821
    assert isinstance(found, Undefined)
    assert found.symbol_name == "x"


# ---- while


def test_while_of_tensors_and_others() -> None:
    def total(n: Any) -> Any:
        return while_stmt(
            lambda i, s: i < n, lambda i, s: (i + 1, s + i), init_vars=(0, 0)
        )

    assert total(5) == (5, 10)
    assert run(total(tf.constant(5))) == (5, 10)
    assert total(0) == (0, 0)


def test_what_the_test_builds_is_thrown_away_for_python_loops() -> None:
    with tf.Graph().as_default() as graph:
        while_stmt(lambda i: tf.constant(i) is None, lambda i: (i + 1,), init_vars=(0,))
    assert graph.get_operations() == []


def test_a_python_loop_of_too_many_iterations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(while_loops, "PYTHON_MAX_ITERATIONS", 100)
    with pytest.raises(ValueError, match="iteration limit exceeded"):
        while_stmt(lambda i: True, lambda i: (i + 1,), init_vars=(0,))


def test_a_long_python_loop_that_adds_ops_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(while_loops, "INEFFICIENT_UNROLL_MIN_ITERATIONS", 10)
    while_stmt(lambda i: i < 100, lambda i: (i + 1,), init_vars=(0,))
    assert caplog.records == []
    while_stmt(lambda i: i < 13, lambda i: (i + 1 + 0 * len(tf.constant(1).name),),
               init_vars=(0,))  # fmt: skip
    (record,) = caplog.records
    assert "being created in a Python loop with large number of" in record.getMessage()
    assert "were created after iteration 12: (<tf.Operation" in record.getMessage()


def test_state_in_a_loop() -> None:
    o = SimpleNamespace(x=tf.constant(1))

    def set_state(values: Any) -> None:
        (o.x,) = values

    def body(i: Any) -> Any:
        o.x = o.x * 2
        return (i + 1,)

    (i,) = while_stmt(
        lambda i: o.x < 50, body, lambda: (o.x,), set_state, (0,), ("i",), ("o.x",)
    )
    assert run((i, o.x)) == (6, 64)


# ---- for


@pytest.mark.parametrize("kind", ["list", "rows", "range", "steps"])
def test_for(kind: str) -> None:
    items: Any = {
        "list": [1, 2, 3, 4],
        "rows": tf.constant([1, 2, 3, 4]),
        "range": tf.range(1, 5),
        "steps": tf.range(1, tf.constant(5), tf.placeholder_with_default(1, [])),
    }[kind]

    def found(extra_test: Any) -> Any:
        return for_stmt(items, extra_test, lambda i, s: (s * 10 + i,), init_vars=(0,))

    assert run(tf.constant(found(None)[0])) == 1234 if kind == "list" else True
    if kind != "list":
        assert run(found(None)) == (1234,)
        assert run(found(lambda s: s < 12)) == (12,)
    else:
        assert found(lambda s: s < 12) == (12,)


@pytest.mark.parametrize("step", [-1, tf.constant])
def test_for_over_a_range_that_goes_down(step: Any) -> None:
    delta = -1 if step == -1 else tf.placeholder_with_default(-1, [])
    numbers = tf.range(4, tf.constant(0), delta)
    s = for_stmt(numbers, None, lambda i, s: (s * 10 + i,), init_vars=(0,))
    assert run(s) == (4321,)


def test_a_range_is_not_computed() -> None:
    numbers = tf.range(tf.constant(3))
    (s,) = for_stmt(numbers, None, lambda i, s: (s + i,), init_vars=(0,))
    seen = {s.op}
    waiting = [s.op]
    while waiting:
        new = {t.op for t in waiting.pop().inputs} - seen
        seen |= new
        waiting += new
    assert numbers.op not in seen


def test_for_over_rows_of_unknown_number() -> None:
    rows = tf.placeholder(tf.int32, [None, 2])
    (s,) = for_stmt(
        rows,
        None,
        lambda row, s: (s + row,),
        init_vars=(tf.zeros([2], tf.int32),),
        basic_symbol_names=("s",),
    )
    with tf.Session() as session:
        found = session.run(s, {rows: [[1, 2], [3, 4], [5, 6]]})
        np.testing.assert_array_equal(found, [9, 12])


def test_for_without_variables() -> None:
    seen: list[Any] = []
    assert for_stmt([1, 2], None, lambda i: (seen.append(i), ())[1]) == ()
    assert seen == [1, 2]


def test_undefined_variables_of_a_loop() -> None:
    undefined = (1, Undefined("y"))
    for items in tf.range(3), tf.constant([1]), tf.data.Dataset.range(3):
        with pytest.raises(ValueError, match=r"before the loop: \('y',\)"):
            for_stmt(items, None, lambda i, a, b: (a, b), init_vars=undefined)
    assert for_stmt([1], None, lambda i, a, b: (a, i), init_vars=undefined) == (1, 1)


def test_objects_with_loops_of_their_own() -> None:
    class Ours:
        def _converted_for(self, loop: Any) -> Any:
            assert loop.extra_test is None
            return loop.body("item", *loop.init_vars)

    class Theirs:
        def _autograph_for_loop(self, extra_test: Any, body: Any, init: Any) -> Any:
            return body("other", *init)

    for thing, expected in ((Ours(), "item"), (Theirs(), "other")):
        assert for_stmt(thing, None, lambda i, s: (i, s), init_vars=("s",)) == (
            expected,
            "s",
        )
    with pytest.raises(ValueError, match="before the loop"):
        for_stmt(Theirs(), None, lambda i, s: (s,), init_vars=(Undefined("s"),))
