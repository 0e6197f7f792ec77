"""Structures, flattened and mapped as far as a shallower one goes.

What is expected is what TensorFlow 1.15 answers.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

from tfteach.framework import shallow_nest

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
    assert shallow_nest.flatten_up_to(shallow, deep, **options) == expected


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
        shallow_nest.flatten_up_to(shallow, deep, **options)


def test_map_structure_up_to() -> None:
    numbers, ops = P(2, 3), P(P(1, 2), P(2, 3))
    found = shallow_nest.map_structure_up_to(
        numbers, lambda n, o: (n + o.a) * o.b, P(2, 3), ops
    )
    assert found == P(6, 15)

    def names(name: str, many: list[int]) -> str:
        return f"{len(many)} {name}"

    tree, lists = ["even", ["odd"]], [[2, 4, 6], [[1, 3]]]
    assert shallow_nest.map_structure_up_to(tree, names, tree, lists) == [
        "3 even",
        ["2 odd"],
    ]
    with pytest.raises(ValueError, match="Cannot map over no sequences"):
        shallow_nest.map_structure_up_to([1], abs)


def test_paths() -> None:
    tree = {"b": P(1, [2]), "a": 3}
    paths = [("a",), ("b", "a"), ("b", "b", 0)]
    assert list(shallow_nest.yield_flat_paths(tree)) == paths
    assert shallow_nest.flatten_with_tuple_paths(tree) == list(
        zip(paths, (3, 1, 2), strict=True)
    )
    joined = shallow_nest.flatten_with_joined_string_paths(tree, ".")
    assert joined == [("a", 3), ("b.a", 1), ("b.b.0", 2)]
    found = shallow_nest.map_structure_with_tuple_paths(
        lambda path, x, y: (path, x + y), [1, {"x": 2}], [3, {"x": 4}]
    )
    assert found == [((0,), 4), {"x": ((1, "x"), 6)}]
