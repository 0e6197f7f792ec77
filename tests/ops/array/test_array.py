"""The functions of the array families: TF's nodes, shapes, errors and values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.ops.case import evaluate, import_families
from tfteach.framework.convert import convert_to_tensor
from tfteach.framework.dtypes import float32, int32
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.ops.array import padding, segment_functions, slicing
from tfteach.ops.array.bitcast import bitcast
from tfteach.ops.array.broadcast_to import broadcast_to, meshgrid
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.array.gather import batch_gather, boolean_mask, gather
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.one_hot import one_hot, sequence_mask
from tfteach.ops.array.scatter_nd import scatter_nd
from tfteach.ops.array.searchsorted import searchsorted
from tfteach.ops.array.space_to_batch import (
    required_space_to_batch_paddings,
    space_to_batch,
)
from tfteach.ops.array.tile import repeat, tile
from tfteach.ops.array.top_k import top_k
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.where_select import where
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import (
    prevent_gradient,
    reshape,
    squeeze,
)
from tfteach.ops.core.placeholder import placeholder
from tfteach.ops.core.sparse_tensor import sparse_placeholder
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.linalg.matrix_diag import eye

import_families()


@pytest.fixture(autouse=True)
def graph() -> Any:
    with Graph().as_default() as made:
        yield made


def hole(*shape: Any, dtype: Any = float32) -> Tensor:
    """A placeholder; `hole(None)` is a vector of unknown length."""
    return placeholder(dtype, list(shape))


def nodes() -> list[str]:
    """What was built, placeholders aside: "name type input input"."""
    return [
        " ".join([op.name, op.type, *(t.name.removesuffix(":0") for t in op.inputs)])
        for op in get_default_graph().get_operations()
        if op.type != "Placeholder"
    ]


# What TensorFlow 1.15 builds for the same call.
BUILDS: list[tuple[str, Callable[[], Any], list[str]]] = [
    ("zeros", lambda: fill.zeros([2, 3]), ["zeros Const"]),
    ("many zeros", lambda: fill.zeros([100, 30]), [
        "zeros/shape_as_tensor Const", "zeros/Const Const",
        "zeros Fill zeros/shape_as_tensor zeros/Const",
    ]),
    ("zeros of one size", lambda: fill.zeros(3), [
        "zeros/shape_as_tensor Const", "zeros/Const Const",
        "zeros Fill zeros/shape_as_tensor zeros/Const",
    ]),
    ("zeros of a list with a tensor",
     lambda: fill.zeros([hole(dtype=int32), 3]), [
        "zeros/mul/y Const", "zeros/mul Mul Placeholder zeros/mul/y",
        "zeros/Less/y Const", "zeros/Less Less zeros/mul zeros/Less/y",
        "zeros/packed/1 Const", "zeros/packed Pack Placeholder zeros/packed/1",
        "zeros/Const Const", "zeros Fill zeros/packed zeros/Const",
    ]),
    ("zeros like", lambda: fill.zeros_like(hole(None, 3)),
     ["zeros_like ZerosLike Placeholder"]),
    ("zeros like, known", lambda: fill.zeros_like(hole(2, 3)), ["zeros_like Const"]),
    ("zeros like of another type",
     lambda: fill.zeros_like(hole(None), dtype=int32), [
        "zeros_like/Shape Shape Placeholder", "zeros_like/Const Const",
        "zeros_like Fill zeros_like/Shape zeros_like/Const",
    ]),
    ("ones like", lambda: fill.ones_like(hole(2)), [
        "ones_like/Shape Const", "ones_like/Const Const",
        "ones_like Fill ones_like/Shape ones_like/Const",
    ]),
    ("shape", lambda: shape_ops.shape(hole(2, 3)), ["Shape Const"]),
    ("shape in part", lambda: shape_ops.shape(hole(None, 3)), [
        "Shape Shape Placeholder",
    ]),
    ("size", lambda: shape_ops.size(hole(None, 0)), ["Size Const"]),
    ("rank", lambda: shape_ops.rank(placeholder(float32)), ["Rank Rank Placeholder"]),
    ("reshape", lambda: reshape(hole(None, 6), [hole(dtype=int32), -1]), [
        "Reshape/shape/1 Const", "Reshape/shape Pack Placeholder_1 Reshape/shape/1",
        "Reshape Reshape Placeholder Reshape/shape",
    ]),
    ("transpose", lambda: transpose(hole(2, 3)),
     ["transpose/perm Const", "transpose Transpose Placeholder transpose/perm"]),
    ("stack of numbers", lambda: stack([1, 2]), ["stack Const"]),
    ("stack of both", lambda: stack([hole(), 2.0]),
     ["stack/1 Const", "stack Pack Placeholder stack/1"]),
    ("nested list", lambda: convert_to_tensor([[hole(), 1.0], [2.0, 3.0]]), [
        "packed/0/1 Const", "packed/0 Pack Placeholder packed/0/1",
        "packed/1_1 Const", "packed Pack packed/0 packed/1_1",
    ]),
    ("concat of one", lambda: concat([hole(2)], 0),
     ["concat/concat_dim Const", "concat/concat Identity Placeholder"]),
    ("split", lambda: split(hole(4, 6), 2, axis=1),
     ["Const Const", "split/split_dim Const",
      "split Split split/split_dim Placeholder"]),
    ("split by lengths", lambda: split(hole(4), [1, 3]),
     ["Const Const", "split/split_dim Const",
      "split SplitV Placeholder Const split/split_dim"]),
    ("index by a tensor", lambda: hole(4, 5)[hole(dtype=int32)], [
        "add/y Const", "add AddV2 Placeholder_1 add/y",
        "strided_slice/stack Pack Placeholder_1", "strided_slice/stack_1 Pack add",
        "strided_slice/stack_2 Const",
        "strided_slice StridedSlice Placeholder strided_slice/stack "
        "strided_slice/stack_1 strided_slice/stack_2",
    ]),
    ("no index", lambda: hole(4)[()], [
        "strided_slice/Const Const",
        "strided_slice StridedSlice Placeholder" + " strided_slice/Const" * 3,
    ]),
    ("gather", lambda: gather(hole(4, 5), [0, 2], name="g"),
     ["g/indices Const", "g/axis Const", "g GatherV2 Placeholder g/indices g/axis"]),
    ("one hot", lambda: one_hot(hole(None, dtype=int32), 10), [
        "one_hot/on_value Const", "one_hot/off_value Const", "one_hot/depth Const",
        "one_hot OneHot Placeholder one_hot/depth one_hot/on_value one_hot/off_value",
    ]),
    ("eye", lambda: eye(3, 2),
     ["eye/ones Const", "eye/zeros Const",
      "eye/set_diag MatrixSetDiag eye/zeros eye/ones"]),
    ("where", lambda: where(hole(3, dtype="bool"), hole(3), hole(3)),
     ["Select Select Placeholder Placeholder_1 Placeholder_2"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("build", "expected"), [row[1:] for row in BUILDS], ids=[row[0] for row in BUILDS]
)
def test_nodes_are_tensorflows(build: Any, expected: list[str]) -> None:
    build()
    assert nodes() == expected


SHAPES: list[tuple[Callable[[], Tensor], Any]] = [
    (lambda: reshape(hole(None, 4, 6), [-1, 24]), (None, 24)),
    (lambda: reshape(hole(2, 6), [-1, 4]), (3, 4)),
    (lambda: reshape(hole(2, 6), hole(None, dtype=int32)), None),
    (lambda: squeeze(hole(None, 1, 3)), None),
    (lambda: squeeze(hole(None, 1, 3), 1), (None, 3)),
    (lambda: fill.fill(shape_ops.shape(hole(None, 3)), 1.0), (None, 3)),
    (lambda: concat([hole(None, 3), hole(2, 4)], -1), (2, 7)),
    (lambda: split(hole(4, 6), [1, -1, 2], axis=1)[1], (4, 3)),
    (lambda: hole(4, 5, 6)[1:3, ..., None, ::-2], (2, 5, 1, 3)),
    (lambda: hole(4, 5)[hole(dtype=int32) : 3, 2], (None,)),
    (lambda: hole(None, 5)[:-1, 1:], (None, 4)),
    (lambda: slicing.slice(hole(None, 5), [0, 1], [-1, 2]), (None, 2)),
    (lambda: gather(hole(4, 5, 6), hole(2, 3, dtype=int32), axis=1),
     (4, 2, 3, 6)),
    (lambda: gather_nd(hole(4, 5, 6), hole(7, 2, dtype=int32)), (7, 6)),
    (lambda: boolean_mask(hole(3, 4), [True, False, True]), (None, 4)),
    (lambda: tile(hole(None, 5), [2, 3]), (None, 15)),
    (lambda: padding.pad(hole(4, None), [[1, 2], [0, 1]]), (7, None)),
    (lambda: broadcast_to(hole(3), [2, 3]), (2, 3)),
    (lambda: scatter_nd([[1], [3]], hole(2, 5), [4, 5]), (4, 5)),
    (lambda: bitcast(hole(3, dtype=int32), "uint8"), (3, 4)),
    (lambda: top_k(hole(None, 5), 2).indices, (None, 2)),
    (lambda: space_to_batch(hole(1, 4, 6, 3), [[0, 0], [0, 0]], 2),
     (4, 2, 3, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("build", "expected"), SHAPES)
def test_static_shapes(build: Any, expected: Any) -> None:
    assert build().static_shape == expected


X23 = np.arange(6, dtype=np.float32).reshape(2, 3)


def vector(*values: Any) -> Any:
    return np.array(values, np.int32)


# ---- values of what is composed of several ops


def value(tensor: Tensor) -> Any:
    return evaluate([tensor])[0].tolist()


def test_python_indexing_is_numpys() -> None:
    cube = np.arange(60).reshape(3, 4, 5).astype(np.int32)
    x = constant(cube)
    keys: list[Any] = [
        0, -1, (1, 2), (slice(None), 3), (Ellipsis, 0), (0, Ellipsis, slice(1, 3)),
        (None, 1), (slice(None, None, -1), None, slice(3, 0, -2)), slice(5, 9),
        (slice(-2, None), slice(None, -1), -1), (Ellipsis, None), np.int64(2),
    ]  # fmt: skip
    for key in keys:
        assert value(x[key]) == cube[key].tolist(), key


def test_masks_pick_rows() -> None:
    x = constant(X23)
    assert value(x[constant([False, True])]) == [[3, 4, 5]]
    assert value(boolean_mask(x, [True, False, True], axis=1)) == [[0, 2], [3, 5]]


def test_meshgrid_like_numpy() -> None:
    for indexing in ("xy", "ij"):
        got = meshgrid([1, 2], [3, 4, 5], indexing=indexing)
        right = np.meshgrid([1, 2], [3, 4, 5], indexing=indexing)  # type: ignore[call-overload]
        assert [value(t) for t in got] == [r.tolist() for r in right]


def test_repeat_like_numpy() -> None:
    x = constant(X23)
    assert value(repeat(x, 2)) == np.repeat(X23, 2).tolist()
    assert value(repeat(x, [1, 3], axis=0)) == np.repeat(X23, [1, 3], 0).tolist()
    each = repeat(x, [1, 0, 2], axis=1)
    assert value(each) == np.repeat(X23, [1, 0, 2], 1).tolist()


def test_sequence_mask() -> None:
    assert value(sequence_mask([1, 3], 4, int32)) == [[1, 0, 0, 0], [1, 1, 1, 0]]
    assert value(sequence_mask([2, 0])) == [[True, True], [False, False]]


def test_searchsorted_like_numpy() -> None:
    row, values = [1.0, 3.0, 3.0, 7.0], [3.0, 0.0, 9.0]
    for side in ("left", "right"):
        right = np.searchsorted(row, values, side).tolist()  # type: ignore[call-overload]
        assert value(searchsorted(row, values, side)) == right


def test_batch_gather() -> None:
    got = batch_gather(constant(X23), [[0, 2], [1, 1]])
    assert value(got) == [[0, 2], [4, 4]]


def test_gather_nd_of_batches() -> None:
    got = gather_nd(constant(X23), [[[2], [0]], [[1], [1]]], batch_dims=1)
    assert value(got) == [[2, 0], [4, 4]]
    cube = np.arange(24, dtype=np.float32).reshape(2, 2, 6)
    at = [[[5], [1]], [[0], [3]]]
    got = gather_nd(cube, at, batch_dims=2)
    assert value(got) == [[5, 7], [12, 21]]


def test_unsorted_segment_mean_counts_at_least_one() -> None:
    got = segment_functions.unsorted_segment_mean(X23, [2, 2], 3)
    assert value(got) == [[0, 0, 0], [0, 0, 0], [1.5, 2.5, 3.5]]


def test_eye_of_a_tensors_size() -> None:
    got = eye(shape_ops.shape(constant(X23))[0], 3, batch_shape=[1])
    assert value(got) == [[[1, 0, 0], [0, 1, 0]]]


def test_required_paddings_complete_the_blocks() -> None:
    paddings, crops = required_space_to_batch_paddings([4, 5], [2, 3])
    assert value(paddings) == [[0, 0], [0, 1]]
    assert value(crops) == [[0, 0], [0, 1]]


# ---- sparse


def test_sparse_placeholder_names_its_parts() -> None:
    x = sparse_placeholder(float32, [None, 3], name="x")
    assert [x.indices.name, x.values.name, x.dense_shape.name] == [
        "x/indices:0", "x/values:0", "x/shape:0"
    ]  # fmt: skip
    assert x.indices.static_shape == (None, 2)
    known = sparse_placeholder(float32, [5, 3])
    assert known.shape.as_list() == [5, 3]


def test_gather_gradient_is_slices_that_become_dense() -> None:
    params = constant(X23)
    node = gather(params, [1, 1]).op
    slices, *_ = node.spec.gradient(node, constant(X23 + 1))
    assert isinstance(slices, IndexedSlices)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the shape is known and small
        dense = convert_to_tensor(slices)
    assert value(dense) == [[0, 0, 0], [5, 7, 9]]
    assert dense.op.type == "UnsortedSegmentSum"


def test_slices_of_unknown_shape_warn_when_they_become_dense() -> None:
    rows = IndexedSlices(hole(2, 3), constant([0, 1]), hole(2, dtype=int32))
    with pytest.warns(UserWarning, match="to a dense Tensor of unknown shape"):
        convert_to_tensor(rows)
    node = reshape(hole(None, 3), [6]).op
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a rule that needs it does not warn
        node.spec.gradient(node, rows)


def test_prevented_gradient_says_why() -> None:
    node = prevent_gradient(constant(1.0), "not here").op
    with pytest.raises(LookupError, match="not here"):
        node.spec.gradient(node, constant(1.0))


def test_top_k_is_that_of_tensorflow_unsorted_and_with_nan() -> None:
    """Checked with TensorFlow 1.15.5 on a CPU: its heap's order, and NaN in it."""
    x = np.array([5, 4, 5, 0, 0, 3, 2, 4, 4, 0, 6, 6, 6, 4, 4, 6, 0], np.float32)
    y, nan = np.int32([7, 1, 5, 3, 7, 2, 7, 0, 4, 6, 1]), np.float32(np.nan)
    cases = [
        (np.float32([3, nan, 5, nan, 4]), 1, True, [2]),
        (np.float32([3, nan, 5, nan, 4]), 2, True, [1, 2]),
        (np.float32([3, nan, 5, nan, 4]), 4, True, [1, 2, 0, 3]),
        (np.float32([3, nan, 5, nan, 4]), 5, True, [2, 0, 1, 3, 4]),
        (np.float32([1, 2, nan]), 2, True, [1, 0]),
        (x, 2, False, [11, 10]),
        (x, 3, False, [12, 11, 10]),
        (x, 8, False, [7, 1, 2, 0, 15, 10, 11, 12]),
        (x, 16, False, [9, 4, 6, 3, 1, 5, 14, 7, 8, 0, 10, 11, 12, 13, 2, 15]),
        (y, 2, False, [4, 0]),
        (y, 5, False, [2, 6, 9, 0, 4]),
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        for row, count, is_sorted, places in cases:
            top = tf.nn.top_k(tf.placeholder_with_default(row, None), count, is_sorted)
            values, indices = session.run(top)
            assert indices.tolist() == places
            np.testing.assert_array_equal(values, row[places])


def test_extremes_of_segments_and_nan() -> None:
    """Checked with TensorFlow 1.15.5 on a CPU."""
    nan = np.nan
    ids = [0, 0, 0, 1]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([5.0, nan, 4.0, nan])
        found = session.run(
            [tf.segment_max(x, ids), tf.segment_min(x, ids),
             tf.unsorted_segment_max(x, ids, 2), tf.unsorted_segment_min(x, ids, 2)]
        )  # fmt: skip
    np.testing.assert_array_equal(found, [[5, nan], [4, nan], [4, nan], [4, nan]])


def test_vectors_of_a_slice_are_not_read_beyond_what_fits() -> None:
    huge = tf.constant(1, shape=[1 << 40])  # one number and a shape
    with pytest.raises(ValueError, match="Index out of range using input dim 2"):
        tf.strided_slice(tf.ones([2, 2]), huge, huge, huge)
