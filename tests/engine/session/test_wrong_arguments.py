"""Wrong fetches and feeds: the class and first words of TensorFlow 1.15's errors."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import tfteach as tf


class Things(NamedTuple):
    session: tf.Session
    x: Any
    i: Any
    y: Any
    c: Any
    op: Any
    unfed: Any
    unfetched: Any
    foreign: Any


@pytest.fixture
def it() -> Iterator[Things]:
    with tf.Graph().as_default():
        foreign = tf.constant(1.0, name="foreign")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [2], name="x")
        i = tf.placeholder(tf.int32, [], name="i")
        y, c = tf.multiply(x, 2.0, name="y"), tf.constant(3.0, name="c")
        unfed, unfetched = tf.constant(1.0, name="nofeed"), tf.constant(1.0, name="no")
        graph.prevent_feeding(unfed)
        graph.prevent_fetching(unfetched.op)
        op = tf.no_op("op")
        yield Things(session, x, i, y, c, op, unfed, unfetched, foreign)


INVALID = "has invalid type <class {!r}>, must be a string or Tensor. (Can not convert"
NO_TENSOR = "cannot be interpreted as a Tensor. ("
FETCHES: dict[str, tuple[Any, type[Exception], str]] = {
    "number": (3, TypeError, "Fetch argument 3 " + INVALID.format("int")),
    "none": (
        None,
        TypeError,
        "Fetch argument None has invalid type <class",
    ),
    "nested": ([[[3]]], TypeError, "Fetch argument 3 " + INVALID.format("int")),
    "in a dict": ({"a": 1.5}, TypeError, "Fetch argument 1.5 has invalid type"),
    "array": (np.ones(1), TypeError, "Fetch argument array([1.])"),
    "no operation": (
        "nope",
        ValueError,
        f"Fetch argument 'nope' {NO_TENSOR}\"The name 'nope' refers to an Operation",
    ),
    "no tensor": (
        "nope:0",
        ValueError,
        f"Fetch argument 'nope:0' {NO_TENSOR}\"The name 'nope:0' refers to a Tensor "
        "which does not exist. The operation, 'nope', does not exist in the graph.",
    ),
    "bytes": (b"nope:0", ValueError, f"Fetch argument b'nope:0' {NO_TENSOR}"),
    "no output": (
        "y:1",
        ValueError,
        f"Fetch argument 'y:1' {NO_TENSOR}\"The name 'y:1' refers to a Tensor which "
        "does not exist. The operation, 'y', exists but only has 1 outputs.",
    ),
    "no number": (
        "y:a",
        ValueError,
        f"Fetch argument 'y:a' {NO_TENSOR}The name 'y:a' looks a like a Tensor name, "
        "but is not a valid one.",
    ),
    "type": (tf.float32, TypeError, "Fetch argument tf.float32 has invalid type"),
    "slices": (
        tf.IndexedSlices(1.0, [0, 1]),
        TypeError,
        "Fetch argument 1.0 " + INVALID.format("float"),
    ),
}


@pytest.mark.parametrize("name", FETCHES)
def test_wrong_fetches(it: Things, name: str) -> None:
    fetches, kind, words = FETCHES[name]
    with pytest.raises(kind) as caught:
        it.session.run(fetches)
    assert str(caught.value).startswith(words)


def test_fetches_of_this_graph(it: Things) -> None:
    run = it.session.run
    for fetch in ("c:0", b"c:0", "c:-1"):
        assert run(fetch) == 3.0
    with pytest.raises(TypeError, match=r"argument \[0, 1\] has .*'list'>, must"):
        run(tf.IndexedSlices(it.c, [0, 1]))
    with pytest.raises(ValueError, match="'no' has been marked as not fetchable"):
        run(it.unfetched)
    with pytest.raises(ValueError, match=r"Tensor Tensor\(.* is not an element"):
        run(it.foreign)
    with pytest.raises(ValueError, match=r"\(Operation name: \"foreign\"\nop: "):
        run(it.foreign.op)
    found = run(collections.defaultdict(list, a=it.c))
    assert (found, found.default_factory) == ({"a": 3.0}, None)
    assert type(run(collections.OrderedDict(a=it.c))) is collections.OrderedDict


def test_wrong_keys(it: Things) -> None:
    y, no_key = it.y, "Cannot interpret feed_dict key as Tensor: "
    for key, kind, words in [
        ("nope:0", TypeError, f"{no_key}The name 'nope:0' refers to a Tensor which"),
        ("x", TypeError, f"{no_key}The name 'x' refers to an Operation, not a Tensor."),
        (it.x.op, TypeError, f"{no_key}Can not convert a Operation into a Tensor."),
        (3, TypeError, f"{no_key}Can not convert a int into a Tensor."),
        (None, TypeError, f"{no_key}Can not convert a NoneType into a Tensor."),
        (it.foreign, TypeError, f"{no_key}Tensor Tensor(\"foreign:0\", shape=(), "),
        (it.unfed, ValueError, "Tensor Tensor(\"nofeed:0\", shape=(), dtype=float32) "),
        ((it.x, it.i), ValueError, "Could not flatten dictionary. Key had 2 elements, "
         "but value had 1 elements. Key: [<tf.Tensor 'x:0' shape=(2,) "),
    ]:  # fmt: skip
        with pytest.raises(kind) as caught:
            it.session.run(y, {key: 1})
        assert str(caught.value).startswith(words)
    with pytest.raises(ValueError, match="2 elements, but value had 3 elements"):
        it.session.run(y, {(it.x, it.i): ([1, 2], 3)})
    assert it.session.run(y, {(it.x, it.i): (np.ones(2), 3)}).tolist() == [2.0, 2.0]
    assert it.session.run(y, {b"x:0": [1, 2]}).tolist() == [2.0, 4.0]


def test_wrong_values(it: Things) -> None:
    for key, value, kind, words in [
        (it.x, it.c, TypeError, "The value of a feed cannot be a tf.Tensor object."),
        (it.x, [it.c, it.c], ValueError, "setting an array element with a sequence."),
        (it.x, [[1], [1, 2]], ValueError, "setting an array element with a sequence."),
        (it.x, "ab", ValueError, "could not convert string to float: 'ab'"),
        (it.x, {}, TypeError, "float() argument must be a string or a "),
        (it.x, 1.0, ValueError, "Cannot feed value of shape () for Tensor 'x:0',"),
        (it.i, 2**31, TypeError, "Type of feed value 2147483648 with type "),
        (it.i, 2**70, OverflowError, "Python int too large to convert to C long"),
        (it.i, float("nan"), ValueError, "cannot convert float NaN to integer"),
        (it.i, None, TypeError, "int() argument must be a string, a bytes-like "),
    ]:  # fmt: skip
        with pytest.raises(kind) as caught:
            it.session.run(it.y, {key: value})
        assert str(caught.value).startswith(words)


def test_a_fetched_uninitialized_variable_is_blamed_on_its_fetch(it: Things) -> None:
    v = tf.Variable([1.0], name="v")
    words = "Attempting to use uninitialized value v\n\t [[{{node _retval_v_0_%d}}]]"
    # In a step with branches, too; fetches are numbered by their names.
    branch = tf.cond(it.i > 0, lambda: it.c, lambda: -it.c, name="branch")
    for fetches, feeds, number in (
        (v, {}, 0),
        ("v:0", {}, 0),
        ([v, it.c], {}, 1),
        ([v, branch, it.c], {it.i: 1}, 2),
    ):
        with pytest.raises(tf.errors.FailedPreconditionError) as caught:
            it.session.run(fetches, feeds)
        assert caught.value.message == words % number
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"\[\[node v/read "):
        it.session.run(v + 1.0)
