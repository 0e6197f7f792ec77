"""Arrays that the caller fetches, feeds or gets from a graph are nobody else's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.execute.program import HOT_AFTER_RUNS

ONES = np.ones((3, 3), np.float32)
UNOPTIMIZED = tf.ConfigProto(
    graph_options=tf.GraphOptions(
        optimizer_options=tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0)
    )
)


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


RESULTS: dict[str, Callable[[Any], Any]] = {
    "relu": tf.nn.relu,
    "clip": lambda x: tf.clip_by_value(x, -5.0, 5.0),
    "times": lambda x: x * 2.0,
    "matmul": lambda x: tf.matmul(x, x),
    "softmax": tf.nn.softmax,
    "fed": lambda x: x,
    "identity": tf.identity,
    "view": lambda x: tf.reshape(x + 1.0, [9]),
    "slice": lambda x: (x + 1.0)[1:],
    "unstack": lambda x: tf.unstack(x + 1.0)[1],
    "cond": lambda x: tf.cond(x[0, 0] > 0, lambda: x + 1.0, lambda: x - 1.0),
    "loop": lambda x: tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a + 1.0), [0, x]
    )[1],
    "concat": lambda x: tf.concat([x * 1.5], 0),
    "py_func": lambda x: tf.py_func(lambda a: a, [x], tf.float32),
}


@pytest.mark.parametrize("config", [None, UNOPTIMIZED], ids=["optimized", "L0"])
@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_who_writes_into_a_fetched_array_changes_no_variable(
    result: Callable[[Any], Any], use_resource: bool, config: Any
) -> None:
    x = tf.placeholder(tf.float32, [3, 3])
    y = result(x)
    v = tf.get_variable(
        "v",
        initializer=tf.zeros(y.shape if y.shape.dims else [3, 3]),
        use_resource=use_resource,
        validate_shape=False,
    )
    fetches = [y, tf.assign(v, y, validate_shape=False), tf.identity(y), y + 0.0]
    with tf.Session(config=config) as session:
        session.run(v.initializer)
        for _ in range(HOT_AFTER_RUNS + 2):
            fed = ONES.copy()
            got = session.run(fetches, {x: fed})
            right = got[0].copy()
            fed[...] = -1
            for i, array in enumerate(got):
                np.testing.assert_array_equal(array, right)
                array[...] = -999 - i
            np.testing.assert_array_equal(session.run(v), right)


def test_equal_ops_give_arrays_of_their_own() -> None:
    x = tf.placeholder(tf.float32, [3])
    fetches = [x * 2.0, x * 2.0, tf.identity(x * 2.0)]
    with tf.Session() as session:
        for _ in range(HOT_AFTER_RUNS + 2):
            got = session.run(fetches, {x: np.ones(3, np.float32)})
            got[0][...] = -1
            assert got[1].tolist() == got[2].tolist() == [2.0] * 3
            got[1][...] = -1
            assert got[2].tolist() == [2.0] * 3


def test_a_function_may_go_on_using_the_array_it_returned() -> None:
    own = np.zeros(2000, np.float32)
    v = tf.get_variable("v", [2000], initializer=tf.zeros_initializer())
    y = tf.py_func(lambda: own, [], tf.float32)
    y.set_shape([2000])
    assign, add = v.assign(y), v.assign_add(tf.ones([2000]))
    with tf.Session() as session:
        session.run(assign)
        session.run(add)
        own[...] = 7
        assert session.run(v).tolist() == [1.0] * 2000
        assert own.tolist() == [7.0] * 2000


def test_parts_of_a_run_hand_out_copies() -> None:
    a, b = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    first = a * 2.0
    second = first + b
    with tf.Session() as session:
        handle = session.partial_run_setup([first, second], [a, b])
        got = session.partial_run(handle, first, {a: [1.0, 1.0]})
        got[...] = -999
        assert session.partial_run(handle, second, {b: [1.0, 1.0]}).tolist() == [3, 3]


def test_constants_belong_to_the_graph() -> None:
    source = np.ones(3, np.float32)
    c = tf.constant(source)
    source[...] = -1
    known = tf.contrib.util.constant_value(c)
    with tf.Session() as session:
        for array in (known, session.run(c), session.run(c)):
            assert array.tolist() == [1.0] * 3
            if array.flags.writeable:
                array[...] = -1
        assert session.run(c + 0.0).tolist() == [1.0] * 3


def test_a_loaded_value_is_copied() -> None:
    v = tf.get_variable("v", [2000], initializer=tf.zeros_initializer())
    values = np.ones(2000, np.float32)
    with tf.Session() as session:
        v.load(values, session)
        values[...] = -1
        assert session.run(v).tolist() == [1.0] * 2000


def test_entries_of_a_table_are_copied() -> None:
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    keys = tf.placeholder(tf.int64, [2])
    values = tf.placeholder(tf.float32, [2, 2])
    doubled = values * 2.0
    insert, found = table.insert(keys, doubled), table.lookup(keys)
    with tf.Session() as session:
        fed_keys, fed = np.array([1, 2]), np.ones((2, 2), np.float32)
        got, _ = session.run([doubled, insert], {keys: fed_keys, values: fed})
        got[...] = fed[...] = -1
        for _ in range(2):
            array = session.run(found, {keys: fed_keys})
            assert array.tolist() == [[2.0, 2.0]] * 2
            array[...] = -1
