"""Operators on values: logic, built-in functions, assertions, lists and indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.control.list_ops import tensor_list_get_item, tensor_list_stack
from tfteach.lib.autograph.operators import lists, logical, py_builtins
from tfteach.lib.autograph.operators.assertions import assert_stmt
from tfteach.lib.autograph.operators.slices import GetItemOpts, get_item, set_item
from tfteach.lib.autograph.operators.tensors import (
    is_dense_tensor,
    is_range_tensor,
    is_tensor,
    is_tensor_array,
    is_tensor_list,
)


def run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


UNKNOWN: Any = GetItemOpts(None)


# ---- logic


def fails() -> Any:
    raise AssertionError("not evaluated")


def test_logic_of_python_values() -> None:
    assert logical.and_(lambda: 0, fails) == 0
    assert logical.and_(lambda: 1, lambda: 2) == 2
    assert logical.or_(lambda: 3, fails) == 3
    assert logical.or_(lambda: [], lambda: "x") == "x"
    assert logical.not_([]) is True
    assert logical.eq(1, 1.0) is True
    assert logical.not_eq("a", "b") is True


@pytest.mark.parametrize("a", [True, False])
@pytest.mark.parametrize("b", [True, False])
def test_logic_of_tensors(a: bool, b: bool) -> None:
    x, y = tf.constant(a), tf.constant(b)
    found = (
        logical.and_(lambda: x, lambda: y),
        logical.or_(lambda: x, lambda: y),
        logical.not_(x),
        logical.eq(x, b),
        logical.not_eq(a, y),
    )
    assert run(found) == (a and b, a or b, not a, a == b, a != b)


def test_the_second_operand_is_built_in_a_branch() -> None:
    wrong = tf.Assert(tf.constant(False), ["evaluated"])

    def second() -> Any:
        with tf.control_dependencies([wrong]):
            return tf.constant(True)

    # `wrong` was built outside of the branch, so that it is evaluated in any case.
    with pytest.raises(tf.errors.InvalidArgumentError, match="evaluated"):
        run(logical.and_(lambda: tf.constant(True), second))

    def inside() -> Any:
        with tf.control_dependencies([tf.Assert(tf.constant(False), ["inside"])]):
            return tf.constant(True)

    assert run(logical.and_(lambda: tf.constant(False), inside)) == np.False_
    assert run(logical.or_(lambda: tf.constant(True), inside)) == np.True_


# ---- built-in functions


def test_numbers() -> None:
    assert py_builtins.abs_(-2) == 2
    assert py_builtins.float_("1.5") == 1.5
    assert py_builtins.float_() == 0.0
    assert py_builtins.int_() == 0
    assert py_builtins.int_("12", 8) == 10
    found = (
        py_builtins.abs_(tf.constant(-2)),
        py_builtins.float_(tf.constant(2)),
        py_builtins.float_(tf.constant("1.5")),
        py_builtins.int_(tf.constant(2.7)),
        py_builtins.int_(tf.constant("12")),
        py_builtins.int_(tf.constant("13"), 10),
    )
    assert run(found) == (2, 2.0, 1.5, 2, 12, 13)
    assert [t.dtype.name for t in found[1:]] == ["float32"] * 2 + ["int32"] * 3
    with pytest.raises(NotImplementedError, match="base 2 not supported for int"):
        py_builtins.int_(tf.constant("1"), 2)


def test_lengths() -> None:
    assert py_builtins.len_("abc") == 3
    assert py_builtins.len_(tf.zeros([4, 2])) == 4
    some = tf.placeholder_with_default(tf.zeros([3, 2]), [None, 2])
    unknown = tf.placeholder_with_default(tf.zeros([5]), None)
    array = tf.TensorArray(tf.int32, size=6)
    listed = lists.tensor_list([1, 2])
    found = tuple(map(py_builtins.len_, (some, unknown, array, listed)))
    assert run(found) == (3, 5, 6, 2)
    with pytest.raises(ValueError, match="len requires a non-scalar tensor, got one"):
        py_builtins.len_(tf.constant(1))
    scalar = tf.placeholder_with_default(1.0, None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-zero rank, got 0"):
        run(py_builtins.len_(scalar))


def test_ranges() -> None:
    assert [*py_builtins.range_(3)] == [0, 1, 2]
    assert [*py_builtins.range_(1, 7, 2)] == [1, 3, 5]
    c = tf.constant
    for arguments in (c(3),), (c(-3),), (1, c(3)), (5, c(2)), (c(5), 0, -2):
        numbers = [n if isinstance(n, int) else run(n) for n in arguments]
        found = run(py_builtins.range_(*arguments))
        assert found.tolist() == [*range(*numbers)]


def test_enumerate_and_zip() -> None:
    assert [*py_builtins.enumerate_("ab", 5)] == [(5, "a"), (6, "b")]
    assert [*py_builtins.zip_("ab", "cd")] == [("a", "c"), ("b", "d")]
    assert [*py_builtins.zip_()] == []
    with pytest.raises(ValueError, match="argument 2 is longer"):
        [*py_builtins.zip_("a", "bc", strict=True)]
    letters = tf.data.Dataset.from_tensor_slices(["a", "b"])
    both = py_builtins.zip_(py_builtins.enumerate_(letters, 20), letters)
    element = both.make_one_shot_iterator().get_next()
    assert run(element) == ((20, b"a"), b"a")


def test_print_with_and_without_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    py_builtins.print_("a", 1, sep="-")
    printed = py_builtins.print_(tf.constant("text"), [1], tf.constant(2.5), end="!\n")
    assert capsys.readouterr().out == "a-1\n"
    run(printed)
    run(printed)
    assert capsys.readouterr().out == "text [1] 2.5!\n" * 2
    with pytest.raises(ValueError, match=r"invalid keyword arguments: \('color',\)"):
        py_builtins.print_("a", color=1)


def test_functions_that_have_no_other_meaning() -> None:
    assert py_builtins.overload_of(sorted) is sorted
    assert py_builtins.overload_of(len) is py_builtins.len_
    unhashable = [].append
    assert py_builtins.overload_of(unhashable) is unhashable


# ---- assertions


def test_assertions() -> None:
    assert assert_stmt(True, fails) is None
    with pytest.raises(AssertionError, match="a message"):
        assert_stmt(False, lambda: "a message")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[one\] \[2\]"):
        run(assert_stmt(tf.constant(False), lambda: ["one", tf.constant(2)]))
    with pytest.raises(ValueError, match="a message must be a callable"):
        assert_stmt(True, "a message")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="may not have any arguments"):
        assert_stmt(True, lambda x: x)  # type: ignore[misc]


# ---- lists


def stacked(tensor_list: Any, dtype: Any = tf.int32) -> Any:
    return run(tensor_list_stack(tensor_list, dtype)).tolist()


def test_new_lists() -> None:
    assert lists.new_list([1, 2]) == [1, 2]
    empty = lists.new_list()
    assert is_tensor_list(empty)
    assert run(py_builtins.len_(empty)) == 0
    assert stacked(lists.tensor_list(tf.constant([[1, 2], [3, 4]]))) == [[1, 2], [3, 4]]
    assert stacked(lists.tensor_list([3, 4])) == [3, 4]
    array = lists.tensor_list([5, 6], use_tensor_array=True)
    assert run(array.stack()).tolist() == [5, 6]
    ragged = lists.tensor_list([1, [2]])
    assert run(tensor_list_get_item(ragged, 1, tf.int32)).tolist() == [2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("abc",), "unknown type for elements"),
        (([],), "element_dtype and element_shape are required when elements are empty"),
        ((tf.zeros, None, None), "unknown type for elements"),
        (([1], tf.float32), "incompatible dtype; specified: .*float32"),
        (([1, 2.0], tf.float32, []), "specified dtype .* is inconsistent"),
        (([1, [2]], tf.int32, []), "specified shape .* is inconsistent"),
        (([1.0], tf.float32, [2]), "incompatible shape; specified"),
        (([1, 2.0], None, None, True), "all elements to have the same dtype"),
        (([1, [2]], None, None, True), "all elements to have the same shape"),
        (([1], tf.float32, None, True), "incompatible dtype"),
        (([1], None, (2,), True), "incompatible shape"),
    ],
)
def test_lists_that_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lists.tensor_list(*arguments)


def test_refused_rows_and_arrays() -> None:
    with pytest.raises(
        ValueError, match="may not be specified when creating list from"
    ):
        lists.tf_tensor_list_new(tf.constant([1]), element_shape=[])
    with pytest.raises(ValueError, match="dtype is required to create an empty"):
        lists.tf_tensor_array_new([])


def test_append_and_pop() -> None:
    python: Any = [1]
    assert lists.list_append(python, 2) is python
    assert python == [1, 2]
    assert lists.list_pop(python, 0, lists.ListPopOpts(None, None)) == ([2], 1)
    assert lists.list_pop(python, None, lists.ListPopOpts(None, None)) == ([], 2)

    empty = lists.new_list()
    filled = lists.list_append(lists.list_append(empty, 3), 4)
    assert stacked(filled) == [3, 4]
    rest, last = lists.list_pop(filled, None, lists.ListPopOpts(tf.int32, ()))
    assert last.shape == ()
    assert run(last) == 4
    assert stacked(rest) == [3]

    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    array = lists.list_append(lists.list_append(array, 5), 6)
    assert run(array.stack()).tolist() == [5, 6]


def test_what_cannot_be_appended_or_popped() -> None:
    opts = lists.ListPopOpts(tf.int32, ())
    filled = lists.tensor_list([1])
    array = tf.TensorArray(tf.int32, size=1)
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: lists.list_append(tf.constant(1), 2), ValueError, "instead found"),
        (lambda: lists.list_pop(tf.constant(1), 2, opts), ValueError, "instead found"),
        (lambda: lists.list_pop(array, None, opts), ValueError, "not support item rem"),
        (lambda: lists.list_pop(filled, 0, opts), NotImplementedError, "from the end"),
        (
            lambda: lists.list_pop(filled, None, lists.ListPopOpts(None, ())),
            ValueError,
            "cannot pop from a list without knowing its element type",
        ),
        (
            lambda: lists.list_pop(filled, None, lists.ListPopOpts(tf.int32, None)),
            ValueError,
            "cannot pop from a list without knowing its element shape",
        ),
        (lambda: lists.stack(filled), ValueError, "cannot stack a list without"),
        (lambda: lists.stack([1]), ValueError, "must be stackable when strict=True"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_stacks() -> None:
    assert run(lists.stack(lists.tensor_list([1, 2]), tf.int32)).tolist() == [1, 2]
    array = tf.TensorArray(tf.int32, size=1).write(0, 7)
    assert run(lists.stack(array)).tolist() == [7]
    tensor = tf.constant([1])
    assert lists.stack(tensor) is tensor
    assert lists.stack([1], strict=False) == [1]
    assert lists.match_staging_level(1, 2) == 1
    assert run(lists.match_staging_level(1, tensor)) == 1


# ---- items


def test_items() -> None:
    assert get_item([1, 2], 1, UNKNOWN) == 2
    assert set_item([1, 2], 1, 3) == [1, 3]
    assert run(get_item(tf.constant([4, 5]), 1, UNKNOWN)) == 5
    assert run(get_item(tf.constant("text"), 2, UNKNOWN)) == b"x"
    assert run(get_item(tf.constant(["a", "b"]), 1, UNKNOWN)) == b"b"
    assert run(set_item(tf.constant([4, 5]), 1, 6)).tolist() == [4, 6]
    listed = set_item(lists.tensor_list([4, 5]), 0, 6)
    assert run(get_item(listed, 0, GetItemOpts(tf.int32))) == 6
    array = set_item(tf.TensorArray(tf.int32, size=1), 0, 8)
    assert run(get_item(array, 0, UNKNOWN)) == 8
    with pytest.raises(ValueError, match="cannot retrieve from a list without knowing"):
        get_item(listed, 0, UNKNOWN)


def test_kinds_of_tensors() -> None:
    v = tf.Variable(1)
    sparse = tf.SparseTensor([[0]], [1], [1])
    array = tf.TensorArray(tf.int32, size=1)
    listed = lists.tensor_list([1])
    assert [is_tensor(x) for x in (v, sparse, v.value(), array, 1, np.zeros(1))] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
    assert [is_dense_tensor(x) for x in (v, sparse, listed)] == [True, False, True]
    assert [is_tensor_array(x) for x in (array, listed)] == [True, False]
    assert [is_tensor_list(x) for x in (listed, v, array)] == [True, False, False]
    assert [is_range_tensor(x) for x in (tf.range(3), tf.constant([1]), 1)] == [
        True,
        False,
        False,
    ]


@pytest.mark.usefixtures("eagerly")
def test_an_eager_range_is_a_tensor_like_others() -> None:
    assert not is_range_tensor(tf.range(3))
