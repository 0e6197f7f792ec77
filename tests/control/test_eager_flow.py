"""Branches and loops in eager programs; what TensorFlow 1.15 answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf

pytestmark = pytest.mark.usefixtures("eagerly")


def test_a_branch_is_a_call() -> None:
    called: list[int] = []
    result = tf.cond(
        tf.constant(True), lambda: tf.constant(1), lambda: called.append(1)
    )
    assert int(result) == 1
    assert not called


@pytest.mark.parametrize("predicate", [True, np.array(True), 1, [0]])
def test_a_branch_accepts_what_python_accepts(predicate: Any) -> None:
    assert tf.cond(predicate, lambda: 5, lambda: None) == 5


def test_results_of_branches_are_unpacked_unless_strict() -> None:
    def one() -> list[int]:
        return [1]

    assert tf.cond(True, one, one) == 1
    assert tf.cond(True, one, one, strict=True) == [1]
    assert tf.cond(False, lambda: 3, lambda: ()) == ()


def test_case_chooses_the_first() -> None:
    pairs = [(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)]
    assert tf.case(pairs) == 2
    never = [(tf.constant(False), lambda: 1), (tf.constant(False), lambda: 2)]
    assert tf.case(never, default=lambda: 7) == 7
    with pytest.raises(tf.errors.InvalidArgumentError) as failed:
        tf.case(never)
    assert failed.value.message == (
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized "
        "data: b'Input error: None of conditions evaluated as True:'\nFalse, False"
    )
    with pytest.raises(ValueError, match="Unordered dictionaries are not supported"):
        tf.case({tf.constant(False): lambda: 1})


def test_switch_case_by_index() -> None:
    branches = {0: lambda: 1, 1: lambda: 5}
    assert tf.switch_case(tf.constant(0), branches) == 1
    assert tf.switch_case(tf.constant(7), branches) == 5
    assert tf.switch_case(tf.constant(-1), branches) == 5
    assert tf.switch_case(tf.constant(2), branches, default=lambda: 9) == 9


def below_ten(i: Any, *_: Any) -> Any:
    return i < 10


def test_loops_return_what_the_body_returns() -> None:
    assert int(tf.while_loop(below_ten, lambda i: i + 1, [0])) == 10
    [listed] = tf.while_loop(below_ten, lambda i: [i + 1], [0])
    assert int(listed) == 10
    [never] = tf.while_loop(below_ten, lambda i: i + 1, [20])
    assert isinstance(never, tf.Tensor)
    pair = tf.while_loop(below_ten, lambda i, j: (i + 1, j * 2), [0, 1])
    assert isinstance(pair, tuple)
    assert [int(x) for x in pair] == [10, 1024]
    with pytest.raises(TypeError, match="not iterable"):
        tf.while_loop(below_ten, lambda i: i + 1, [0], return_same_structure=True)


def test_loops_end_at_the_limit() -> None:
    limited = tf.while_loop(below_ten, lambda i: i + 1, [0], maximum_iterations=3)
    assert int(limited) == 3
    none = tf.while_loop(below_ten, lambda i: i + 1, [0], maximum_iterations=0)
    assert int(none) == 0
    with pytest.raises(ValueError, match=r"must be a scalar, saw shape: \(1,\)"):
        tf.while_loop(below_ten, lambda i: i + 1, [0], maximum_iterations=[3])


def test_loops_check_the_structure() -> None:
    with pytest.raises(ValueError, match="same nested structure"):
        tf.while_loop(below_ten, lambda i, j: [i, [2]], [0, 1])


def test_nothing_waits_or_groups() -> None:
    one = tf.constant(1.0)
    assert tf.group(one, tf.no_op()) is None
    assert tf.tuple([one, None])[0] is one
    called: list[int] = []
    with tf.control_dependencies([one, lambda: called.append(1)]):
        assert tf.contrib.util.constant_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert called == [1]
    with tf.name_scope(None, None, [one]) as scope:
        assert scope == ""


def test_map_and_scan() -> None:
    x = tf.constant([1, 2, 3])
    assert tf.map_fn(lambda e: e * 2, x).numpy().tolist() == [2, 4, 6]
    both = tf.map_fn(lambda e: (e * 2, e + 1), x, dtype=(tf.int32, tf.int32))
    assert [t.numpy().tolist() for t in both] == [[2, 4, 6], [2, 3, 4]]
    assert tf.scan(lambda a, e: a + e, x).numpy().tolist() == [1, 3, 6]
    down = tf.scan(lambda a, e: a + e, x, initializer=10, reverse=True)
    assert down.numpy().tolist() == [16, 15, 13]
    assert int(tf.foldl(lambda a, e: 10 * a + e, x)) == 123
    assert int(tf.foldr(lambda a, e: 10 * a + e, x)) == 321
    assert tf.map_fn(lambda e: e, tf.zeros([0])).shape == (0,)
    with pytest.raises(tf.errors.InvalidArgumentError) as failed:
        tf.map_fn(lambda e: tf.cast(e, tf.float32), x)
    assert failed.value.message == (
        "TensorArray dtype is int32 but Op is trying to write dtype float32"
    )


def test_assertions_fail_at_once() -> None:
    assert tf.Assert(tf.constant(True), [1]) is None
    with pytest.raises(tf.errors.InvalidArgumentError) as failed:
        tf.Assert(tf.constant(False), [1, tf.constant([2, 3, 4, 5])])
    assert failed.value.message == (
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized "
        "data: 1\n2, 3, 4, ..."
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"data: 2, 3\Z"):
        tf.Assert(False, [[2, 3]], summarize=-1)


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (
            lambda a: a.read(-1),
            tf.errors.OutOfRangeError,
            "Reading from negative indices (index -1) is not allowed.",
        ),
        (
            lambda a: a.read(5),
            tf.errors.OutOfRangeError,
            "Tried to read from index 5 but array size is: 3",
        ),
        (
            lambda a: a.write(3, 1.0),
            tf.errors.OutOfRangeError,
            "Tried to write to index 3 but array is not resizeable and size is: 3",
        ),
        (
            lambda a: (a.read(0), a.read(0)),
            tf.errors.InvalidArgumentError,
            "Could not read index 0 twice because it was cleared after a previous read "
            "(perhaps try setting clear_after_read = false?)",
        ),
        (
            lambda a: a.unstack([1.0, 2.0, 3.0, 4.0]),
            ValueError,
            "Cannot unstack 4 tensors into a TensorArray of static size 3",
        ),
        (
            lambda a: a.split([1.0, 2.0], [1, 1]),
            tf.errors.InvalidArgumentError,
            "TensorArray's size is not equal to the size of lengths (3 vs. 2), and the "
            "TensorArray is not marked as dynamically resizeable",
        ),
    ],
)
def test_errors_of_arrays(use: Any, error: type[Exception], message: str) -> None:
    array = tf.TensorArray(tf.float32, 3).write(0, 1.0)
    with pytest.raises(error) as failed:
        use(array)
    assert getattr(failed.value, "message", str(failed.value)) == message


def test_arrays_are_lists() -> None:
    array = tf.TensorArray(tf.float32, 2, dynamic_size=True)
    assert array.write(3, [1.0, 2.0]) is array
    assert int(array.size()) == 4
    assert array.read(0).numpy().tolist() == [0.0, 0.0]
    assert array.gather([3, 1]).numpy().tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert array.concat().shape == (8,)
    array.scatter([1, 0], [[3.0, 4.0], [5.0, 6.0]])
    assert array.stack().numpy().tolist()[:2] == [[5.0, 6.0], [3.0, 4.0]]
    parts = tf.TensorArray(tf.int32, 2, infer_shape=False).split([1, 2, 3], [1, 2])
    assert [parts.read(i).numpy().tolist() for i in (0, 1)] == [[1], [2, 3]]
