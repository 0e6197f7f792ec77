"""Loops over datasets in converted code: variables, other state, what is checked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.lib.autograph.operators.for_loops import for_stmt

pytestmark = pytest.mark.usefixtures("eagerly")


def numbers() -> Any:
    return tf.data.Dataset.range(5).map(lambda x: tf.cast(x, tf.int32))


@pytest.mark.parametrize("kind", ["dataset", "iterator"])
@pytest.mark.parametrize("limit", [None, 3])
def test_variables_and_state(kind: str, limit: int | None) -> None:
    @tf.function
    def run(iterator: Any) -> Any:
        o = SimpleNamespace(x=tf.constant(0))

        def set_state(values: Any) -> None:
            (o.x,) = values

        def body(x: Any, count: Any) -> Any:
            o.x = o.x * 10 + x
            return (count + 1,)

        extra_test = None if limit is None else (lambda count: count < limit)
        (count,) = for_stmt(
            numbers() if iterator is None else iterator,
            extra_test,
            body,
            lambda: (o.x,),
            set_state,
            (0,),
            ("count",),
            ("o.x",),
        )
        return count, o.x

    count, x = run(iter(numbers()) if kind == "iterator" else None)
    expected = (5, 1234) if limit is None else (3, 12)
    assert (count.numpy(), x.numpy()) == expected


@pytest.mark.parametrize("kind", ["dataset", "iterator"])
def test_loops_for_their_effects(kind: str) -> None:
    v = tf.Variable(0)

    @tf.function
    def run(items: Any) -> None:
        for x in numbers() if items is None else items:
            v.assign(v * 10 + x)

    run(iter(numbers()) if kind == "iterator" else None)
    assert v.numpy() == 1234


def test_state_without_variables() -> None:
    o = SimpleNamespace(x=tf.constant(0))

    def set_state(values: Any) -> None:
        (o.x,) = values

    def body(x: Any) -> tuple[()]:
        o.x = o.x + x
        return ()

    found = for_stmt(numbers(), None, body, lambda: (o.x,), set_state, (), (), ("o.x",))
    assert found == ()
    assert o.x.numpy() == 10


def test_types_and_structures_of_variables_are_kept() -> None:
    def changes_type() -> Any:
        total = 0
        for x in numbers():
            total = tf.cast(x, tf.float32)
        return total

    def changes_type_after_a_break() -> Any:
        total = 0
        for x in numbers():
            total = tf.cast(x, tf.float32)
            if x > 2:
                break
        return total

    def changes_structure() -> Any:
        total: Any = 0
        for x in numbers():
            total = (x, x)
        return total

    for function, message in (
        (changes_type, '"total" has dtype int32 before the loop, but dtype float32'),
        (changes_type_after_a_break, '"total" has dtype int32 before the loop, but dt'),
        (changes_structure, '"total" does not have the same nested structure after'),
    ):
        with pytest.raises(TypeError, match=message):
            tf.function(function)()


def test_shapes_of_variables_are_relaxed() -> None:
    def grows() -> Any:
        found = tf.zeros([1], tf.int32)
        for x in numbers():
            found = tf.concat([found, [x]], 0)
        return found

    assert tf.function(grows)().numpy().tolist() == [0, 0, 1, 2, 3, 4]


def test_converted_outside_of_a_traced_function() -> None:
    def total(start: Any) -> Any:
        for x in numbers():
            start += x
        return start

    converted: Any = tf.autograph.to_graph(total)
    assert converted(tf.constant(1)).numpy() == 11
