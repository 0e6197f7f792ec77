"""Nested structures, flattened and mapped as far as a shallower one goes.

What is expected is what TensorFlow 1.15 answers.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

import tfteach as tf
from tfteach.framework import nest

P = namedtuple("P", "a b")
Q = namedtuple("P", "a b")
R = namedtuple("R", "a b")
TYPES = r"don't have the same sequence type. Input structure has type <class '{}"


@pytest.mark.parametrize(
    ("shallow", "deep", "options", "expected"),
    [
        (0, [0, 1, 2], {}, [[0, 1, 2]]),
        ([0, 1, 2], [0, (1, 2), 2], {}, [0, (1, 2), 2]),
        ((0, 1), [0, 1], {"check_types": False}, [0, 1]),
        ({"b": 1, "a": (1, 2)}, {"a": (3, [4]), "b": {"c": 5}}, {}, [3, [4], {"c": 5}]),
        ({"b": 1}, {"a": [1], "b": 2}, {"check_subtrees_length": False}, [2]),
        ([1, 2], ["c", ["d"], "f"], {"check_subtrees_length": False}, ["c", ["d"]]),
        (P(1, 2), Q([1], 2), {}, [[1], 2]),
        (P(1, 2), R(1, 2), {"check_types": False}, [1, 2]),
        ((1, 2), P(1, 2), {"check_types": False}, [1, 2]),
        ("ab", "cd", {}, ["cd"]),
    ],
)
def test_flatten_up_to(shallow: Any, deep: Any, options: Any, expected: Any) -> None:
    assert nest.flatten_up_to(shallow, deep, **options) == expected


@pytest.mark.parametrize(
    ("shallow", "deep", "options", "error", "words"),
    [
        ([0, 1], 0, {}, TypeError, "input must also be a sequence. Input has type: "),
        ((0, 1), [0, 1], {}, TypeError, TYPES.format("list")),
        (P(1, 2), R(1, 2), {}, TypeError, TYPES.format(".*R")),
        (P(1, 2), (1, 2), {}, TypeError, TYPES.format("tuple")),
        ([1, 2, 3], [1, 2], {}, ValueError,
         "has length 2, while shallow structure has length 3."),
        ([1, 2, 3], [1, 2], {"check_subtrees_length": False}, ValueError,
         "The input_tree has fewer elements than the shallow_tree."),
        ({"b": 1, "a": 1}, {"a": 1, "c": 2}, {}, ValueError,
         r"The shallow_tree has the following keys .* the input_tree: \['b'\]"),
        ([1], [[1, 2]], {"expand_composites": True}, NotImplementedError, "expand_com"),
    ],
)  # fmt: skip
def test_what_is_no_shallow_structure(
    shallow: Any, deep: Any, options: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        nest.flatten_up_to(shallow, deep, **options)


def test_map_structure_up_to() -> None:
    numbers, ops = P(2, 3), P(P(1, 2), P(2, 3))
    found = nest.map_structure_up_to(
        numbers, lambda n, o: (n + o.a) * o.b, P(2, 3), ops
    )
    assert found == P(6, 15)

    def names(name: str, many: list[int]) -> str:
        return f"{len(many)} {name}"

    tree, lists = ["even", ["odd"]], [[2, 4, 6], [[1, 3]]]
    assert nest.map_structure_up_to(tree, names, tree, lists) == ["3 even", ["2 odd"]]
    with pytest.raises(ValueError, match="Cannot map over no sequences"):
        nest.map_structure_up_to([1], abs)


def test_paths() -> None:
    tree = {"b": P(1, [2]), "a": 3}
    paths = [("a",), ("b", "a"), ("b", "b", 0)]
    assert list(nest.yield_flat_paths(tree)) == paths
    assert nest.flatten_with_tuple_paths(tree) == list(
        zip(paths, (3, 1, 2), strict=True)
    )
    joined = nest.flatten_with_joined_string_paths(tree, ".")
    assert joined == [("a", 3), ("b.a", 1), ("b.b.0", 2)]
    found = nest.map_structure_with_tuple_paths(
        lambda path, x, y: (path, x + y), [1, {"x": 2}], [3, {"x": 4}]
    )
    assert found == [((0,), 4), {"x": ((1, "x"), 6)}]


def test_views_of_dicts_and_ranges_are_walked_into() -> None:
    with tf.Graph().as_default():
        weights = {"w": tf.Variable([2.0]), "b": tf.Variable([3.0])}
        train = tf.train.GradientDescentOptimizer(1.0).minimize(
            tf.reduce_sum(weights["w"] * weights["b"]), var_list=weights.values()
        )
        group = tf.group(weights["w"].op, {train: 1}.keys())
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(group)
            values = sess.run(list(weights.values()))
            assert [float(v[0]) for v in values] == [-1.0, 1.0]
    assert nest.map_structure(lambda n: n + 1, range(2)) == [1, 2]
    assert nest.map_structure(lambda n: n + 1, {"b": 1, "a": 2}.values()) == [2, 3]


class Point:
    """As attrs makes classes: the constructor's name of `_x` is `x`."""

    Field = namedtuple("Field", "name")
    __attrs_attrs__ = (Field("_x"), Field("y"))

    def __init__(self, x: Any, y: Any) -> None:
        self._x, self.y = x, y


def test_attrs_classes_are_constructed_by_position() -> None:
    moved = nest.map_structure(lambda v: v + 1, Point(1, [2, 3]))
    assert (moved._x, moved.y) == (2, [3, 4])
    with tf.Session() as session:
        fetched = session.run([Point(tf.constant(1), {"z": tf.constant(2)})])[0]
    assert type(fetched) is Point
    assert (fetched._x, fetched.y) == (1, {"z": 2})
