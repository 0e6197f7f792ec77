"""Tensor lists: values, sharing of storage, gradients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import tensor_list_shapes
from tfteach.framework.dtypes import float32, variant
from tfteach.lib.functions.defun import Defun
from tfteach.ops.data.optionals import (
    OptionalFromValue,
    OptionalGetValue,
    OptionalHasValue,
    OptionalNone,
)
from tfteach.ops.state.tensor_list import TensorList
from tfteach.ops.state.tensor_list_gather_scatter import (
    TensorListConcat,
    TensorListConcatLists,
    TensorListConcatV2,
    TensorListGather,
    TensorListScatter,
    TensorListScatterIntoExistingList,
    TensorListScatterV2,
    TensorListSplit,
)
from tfteach.ops.state.tensor_list_ops import (
    EmptyTensorList,
    TensorListElementShape,
    TensorListFromTensor,
    TensorListGetItem,
    TensorListLength,
    TensorListPopBack,
    TensorListPushBack,
    TensorListPushBackBatch,
    TensorListReserve,
    TensorListResize,
    TensorListSetItem,
    TensorListStack,
)

ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def rows() -> Any:
    return TensorListFromTensor()(tf.constant(ROWS, name="rows"), [2])


def stacked(handle: Any) -> Any:
    return TensorListStack(float32)(handle, [2])


def test_lists_from_rows(session: tf.Session) -> None:
    handle = rows()
    assert (handle.dtype, handle.shape.as_list()) == (tf.variant, [])
    stack = TensorListStack(float32, 3)(handle, [2])
    assert stack.shape.as_list() == [3, 2]
    found = session.run(
        [stack, TensorListLength()(handle), TensorListElementShape(tf.int64)(handle)]
    )
    assert found[0].tolist() == ROWS.tolist()
    assert found[1] == 3
    assert (found[2].tolist(), found[2].dtype) == ([2], np.int64)


def test_a_list_keeps_its_elements_when_others_are_made_of_it(
    session: tf.Session,
) -> None:
    first = TensorListPushBack()(EmptyTensorList(float32)([2], -1), [1.0, 1.0])
    second = TensorListPushBack()(first, [2.0, 2.0])
    third = TensorListPushBack()(first, [3.0, 3.0])
    popped, last = TensorListPopBack(float32)(second, [2])
    after = TensorListPushBack()(popped, [4.0, 4.0])
    changed = TensorListSetItem()(second, 0, [9.0, 9.0])
    found = session.run([*map(stacked, (first, second, third, after, changed)), last])
    expected = [[1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0], [9.0, 2.0]]
    assert [value[:, 0].tolist() for value in found[:5]] == expected
    assert found[5].tolist() == [2.0, 2.0]


def test_elements_that_were_never_set_are_zeros(session: tf.Session) -> None:
    reserved = TensorListReserve(float32)([2], 3)
    one = TensorListSetItem()(reserved, 1, [7.0, 7.0])
    item = TensorListGetItem(float32)(one, 0, [2])
    unknown = TensorListSetItem()(TensorListReserve(float32)(-1, 2), 1, [5.0])
    other = TensorListGetItem(float32)(unknown, 0, -1)
    longer = TensorListResize()(one, 4)
    shorter = TensorListResize()(one, 2)
    assert (item.shape.as_list(), other.shape.ndims) == ([2], None)
    found = session.run([stacked(one), item, other, stacked(longer), stacked(shorter)])
    assert found[0].tolist() == [[0.0, 0.0], [7.0, 7.0], [0.0, 0.0]]
    assert (found[1].tolist(), found[2].tolist()) == ([0.0, 0.0], [0.0])
    assert (len(found[3]), len(found[4])) == (4, 2)


def test_strings(session: tf.Session) -> None:
    made = TensorListFromTensor()(tf.constant(["a", "b"]), tf.constant([], tf.int32))
    more = TensorListPushBack()(made, "c")
    gap = TensorListResize()(more, 4)
    found = TensorListStack(tf.string)(gap, tf.constant([], tf.int32))
    assert session.run(found).tolist() == [b"a", b"b", b"c", b""]


def test_gather_scatter_concat_split(session: tf.Session) -> None:
    two = TensorListGather(float32)(rows(), [2, 0], [2])
    places = TensorListScatter()(tf.constant(ROWS[:2]), [3, 1], [2])
    sized = TensorListScatterV2()(tf.constant(ROWS[:1]), [0], [2], 2)
    into = TensorListScatterIntoExistingList()(rows(), tf.constant(ROWS[:1]), [4])
    join, sizes = TensorListConcat(float32)(rows())
    parts = TensorListSplit()(tf.constant(ROWS), [-1, 2], np.int64([2, 0, 1]))
    again, lengths = TensorListConcatV2(float32)(parts, [-1, 2], np.int64([]))
    lists = TensorListConcatLists(float32)(rows(), rows())
    assert two.shape.as_list() == [2, 2]
    assert again.shape.as_list() == [None, 2]
    found = session.run(
        [two, *map(stacked, (places, sized, into)), join, sizes, again, lengths]
    )
    assert found[0].tolist() == ROWS[[2, 0]].tolist()
    assert found[1][:, 0].tolist() == [0.0, 3.0, 0.0, 1.0]
    assert found[2][:, 0].tolist() == [1.0, 0.0]
    assert found[3][:, 0].tolist() == [1.0, 3.0, 5.0, 0.0, 1.0]
    assert (found[4].tolist(), found[5].tolist()) == (
        ROWS.reshape(-1).tolist(),
        [2] * 3,
    )
    assert (found[6].tolist(), found[7].tolist()) == (ROWS.tolist(), [2, 0, 1])
    assert session.run(TensorListLength()(lists)) == 6


def test_a_batch_of_lists() -> None:
    batch = np.empty(2, object)
    batch[:] = [TensorList(float32, (), []), TensorList(float32, (), [np.float32(1)])]
    found = TensorListPushBackBatch().compute(np, batch, np.float32([5.0, 6.0]))
    assert [one.elements() for one in found] == [[5.0], [1.0, 6.0]]


def test_gradients(session: tf.Session) -> None:
    x = tf.constant(ROWS)
    handle = TensorListFromTensor()(x, [2])
    pushed = TensorListPushBack()(handle, x[0] * 2.0)
    popped, last = TensorListPopBack(float32)(pushed, [2])
    item = TensorListGetItem(float32)(popped, 1, [2])
    changed = stacked(TensorListSetItem()(popped, 2, x[0]))
    weights = tf.constant([[1.0, 1.0], [10.0, 10.0], [100.0, 100.0]])
    gathered = TensorListGather(float32)(handle, [0, 0], [2])
    resized = stacked(TensorListResize()(handle, 2))
    joined = TensorListConcat(float32)(handle)[0]
    ys = [last, item, changed * weights, gathered, resized, joined]
    found = [session.run(tf.gradients(y, x)[0])[:, 0].tolist() for y in ys[:3]]
    assert found == [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [101.0, 10.0, 0.0]]
    assert session.run(tf.gradients(resized, x)[0])[:, 0].tolist() == [1.0, 1.0, 0.0]
    assert session.run(tf.gradients(joined, x)[0])[:, 0].tolist() == [1.0, 1.0, 1.0]
    split = TensorListSplit()(x, [-1, 2], np.int64([1, 2]))
    y = TensorListConcat(float32)(split)[0] * weights
    assert session.run(tf.gradients(y, x)[0])[:, 0].tolist() == [1.0, 10.0, 100.0]
    scattered = stacked(TensorListScatter()(x, [2, 0, 1], [2])) * weights
    assert session.run(tf.gradients(scattered, x)[0])[:, 0].tolist() == [
        100.0,
        1.0,
        10.0,
    ]


def test_sums_and_zeros_of_lists(session: tf.Session) -> None:
    total = tf.add_n([rows(), rows(), TensorListReserve(float32)([2], 3)])
    zeros = tf.zeros_like(rows())
    found = session.run([stacked(total), stacked(zeros)])
    assert found[0].tolist() == (2 * ROWS).tolist()
    assert found[1].tolist() == (0 * ROWS).tolist()


def test_optionals(session: tf.Session) -> None:
    x = tf.constant(3.0)
    full, empty = OptionalFromValue()([x * 2.0, tf.constant(["a"])]), OptionalNone()()
    kinds = (float32, tf.string), ((), (1,))
    value = OptionalGetValue(*kinds)(full)
    assert [t.shape.as_list() for t in value] == [[], [1]]
    found = session.run([*value, OptionalHasValue()(full), OptionalHasValue()(empty)])
    assert (found[0], found[1].tolist(), *found[2:]) == (6.0, [b"a"], True, False)
    one = OptionalFromValue()([x])
    total = OptionalGetValue((float32,), ((),))(tf.add_n([one, one]))
    assert session.run(total) == [6.0]
    assert session.run(OptionalHasValue()(tf.add_n([empty, empty]))) == False  # noqa: E712
    assert session.run(tf.gradients(total, x)) == [2.0]
    zero = OptionalGetValue((float32,), ((),))(tf.zeros_like(one))
    assert session.run(zero) == [0.0]


def test_a_long_list_is_pushed_and_popped_in_linear_time(session: tf.Session) -> None:
    empty = EmptyTensorList(float32)(tf.constant([], tf.int32), -1)
    _, full = tf.while_loop(
        lambda i, _: i < 5000,
        lambda i, handle: (i + 1, TensorListPushBack()(handle, tf.cast(i, float32))),
        [0, empty],
    )

    def popped(handle: Any, total: Any) -> Any:
        # As in TensorFlow, `element_shape` says nothing about the static shape.
        rest, last = TensorListPopBack(float32)(handle, tf.constant([], tf.int32))
        last.set_shape([])
        return rest, total + last

    _, total = tf.while_loop(
        lambda handle, _: TensorListLength()(handle) > 0, popped, [full, 0.0]
    )
    assert session.run(total) == sum(range(5000))


def test_static_shapes_of_elements() -> None:
    path = Path(tensor_list_shapes.__file__).with_suffix(".json")
    assert tensor_list_shapes.answers(tf) == json.loads(path.read_text())


def test_static_shapes_of_lists_of_a_thousand_elements() -> None:
    with tf.Graph().as_default():
        handle = EmptyTensorList(float32)([2], -1)
        for _ in range(1500):
            handle = TensorListPushBack()(handle, [1.0, 2.0])
        assert TensorListStack(float32)(tf.identity(handle), -1).shape.as_list() == [
            None,
            2,
        ]


def test_a_captured_list_has_its_elements_shape() -> None:
    with tf.Graph().as_default():
        handle = rows()
        found = []

        @Defun()
        def read() -> Any:
            found.append(TensorListStack(float32)(handle, -1))
            return found[0]

        read()
        assert found[0].shape.as_list() == [None, 2]


def test_zeros_of_nested_lists(session: tf.Session) -> None:
    outer = EmptyTensorList(variant)(tf.constant([], tf.int32), -1)
    outer = TensorListPushBack()(outer, rows())
    _, inner = TensorListPopBack(variant)(tf.zeros_like(outer), -1)
    np.testing.assert_array_equal(session.run(stacked(inner)), np.zeros((3, 2)))


def test_lists_in_vectors_are_concatenated_by_pairs(session: tf.Session) -> None:
    pair = tf.stack([rows(), TensorListFromTensor()([[7.0, 8.0]], [2])])
    joined = tf.unstack(TensorListConcatLists(float32)(pair, pair))
    lengths = session.run([TensorListLength()(handle) for handle in joined])
    assert lengths == [6, 2]
