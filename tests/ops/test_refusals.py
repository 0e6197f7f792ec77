"""Bad input of linear algebra, counts and Fourier transforms: TensorFlow's words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf

A = np.float32([[1, 2], [2, 4]])  # singular
SLIM = np.ones((3, 2), np.float32)
NAN = np.float32([[np.nan, 1], [1, 1]])
NO_FACTOR = "Cholesky decomposition was not successful. The input might not be valid."
ROWS = np.ones((4, 2), np.float32)


def ids(*numbers: int) -> Any:
    return np.array(numbers, np.int32)


AT_RUN = [
    (tf.matrix_inverse, (A,), "Input is not invertible."),
    (tf.matrix_inverse, (NAN,), "Input is not invertible."),
    (tf.linalg.lu, (A,), "Input is not invertible."),
    (tf.matrix_inverse, (SLIM,), "Input matrix must be square."),
    (tf.matrix_inverse, (A[0],), "Input tensor 0 must have rank >= 2, got 1"),
    (tf.matrix_solve, (A, SLIM[:2]), "Input matrix is not invertible."),
    (tf.matrix_solve, (SLIM, SLIM), "First input (lhs) must be a square matrix."),
    (tf.matrix_solve, (A, SLIM), "Input matrix and rhs are incompatible."),
    (tf.matrix_solve, (A[None], A[None].repeat(2, 0)),
     "All input tensors must have the same outer dimensions."),
    (tf.matrix_triangular_solve, (A * 0, A), "Input matrix is not invertible."),
    (tf.cholesky, (-A,), NO_FACTOR),
    (lambda x: tf.self_adjoint_eig(x)[0], (NAN,),
     "Self-adjoint eigen decomposition was not successful. The input might not be"),
    (tf.matmul, (A[0], A), "In[0] ndims must be >= 2: 1"),
    (tf.gather_nd, (A, np.int32(0)), "indices must be at least a vector"),
    (tf.cross, (SLIM[:, :1].T.copy(), SLIM[:2, :1].repeat(3, 1)),
     "Both inputs must be of same shape: [1,3] vs. [2,3]"),
    (lambda x, k: tf.matrix_diag_part(x, k=k), (SLIM, np.int32(7)),
     "lower_diag_index is out of bound: 7. It must be between -3 and 2"),
    (lambda x, k: tf.matrix_diag_part(x, k=k), (SLIM, ids(1, 0)),
     "lower_diag_index must not be larger than upper_diag_index: 1 > 0"),
    (tf.bincount, (ids(1, -1),), "Input arr must be non-negative!"),
    (lambda x, r: tf.histogram_fixed_width(x, r), (A, np.float32([5, 1])),
     "value_range should satisfy value_range[0] < value_range[1], but got '[5, 1]'"),
    (tf.sparse_segment_sum, (ROWS, ids(0, 7), ids(0, 0)),
     "Bad: indices[1] == 7 out of range [0, 4)"),
    (tf.sparse_segment_sum, (ROWS, ids(0, 1), ids(1, 0)),
     "segment ids are not increasing"),
    (tf.sparse_segment_sum, (ROWS, ids(0, 1), ids(-1, 0)),
     "Segment id -1 out of range [0, 1), possibly because 'segment_ids' input is not"),
    (lambda x, i, s: tf.sparse_segment_mean(x, i, s, num_segments=2),
     (ROWS, ids(0, 1), ids(0, 4)), "segment ids must be < num_segments"),
    (tf.signal.fft2d, (np.complex64([1, 2]),),
     "Input must have rank of at least 2 but got: [2]"),
    (lambda x: tf.confusion_matrix(x, x, num_classes=2), (np.int64([0, 2]),),
     "`labels` out of bound"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "values", "words"), AT_RUN)
def test_kernels_refuse_in_tensorflows_words(build, values, words) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder_with_default(value, None) for value in values]
        tensor = build(*fed)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(tensor)
    assert words in caught.value.message


BUILDING = [
    (lambda: tf.matrix_inverse(SLIM), ValueError, "Dimensions must be equal, but are"),
    (lambda: tf.cholesky(A[0]), ValueError, "must be at least rank 2 but is rank 1"),
    (lambda: tf.matrix_solve(A, SLIM), ValueError, "must be equal, but are 2 and 3"),
    (lambda: tf.cross(A, A), ValueError, "Dimension must be 3 but is 2"),
    (lambda: tf.sort([1], direction="UP"), ValueError,
     "UP should be one of ASCENDING, DESCENDING"),
    (lambda: tf.sort([1], axis=tf.placeholder(tf.int32)), ValueError,
     "axis must be a constant scalar"),
    (lambda: tf.linalg.expm([[1]]), ValueError, "does not support matrices of type"),
    (lambda: tf.linalg.pinv([[1]]), TypeError, "must have `float`-like `dtype`"),
    (lambda: tf.range(tf.constant(1, tf.int16)), AssertionError, "int16"),
    (lambda: tf.bitwise.bitwise_and(1.0, 2.0), TypeError, "not in list of allowed"),
    (lambda: tf.random.stateless_uniform([2], [1, 2, 3]), ValueError,
     "Dimension must be 2 but is 3"),
    (lambda: tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32), ValueError,
     "Must specify maxval for integer dtype"),
    (lambda: tf.dynamic_stitch([tf.constant([0], tf.int64)], [[1.0]]), TypeError,
     "Tensors in list passed to 'indices' of 'DynamicStitch' Op have types [int64] "
     "that do not match expected type int32."),
    (lambda: tf.concat([tf.constant([1]), tf.constant([1.0])], 0), TypeError,
     "Tensors in list passed to 'values' of 'ConcatV2' Op have types [int32, float32] "
     "that don't all match."),
]  # fmt: skip


@pytest.mark.parametrize(("build", "kind", "words"), BUILDING)
def test_building_refuses_in_tensorflows_words(build, kind, words) -> None:
    with tf.Graph().as_default(), pytest.raises(kind) as caught:
        build()
    assert words in str(caught.value)


def test_singular_matrices_of_three_diagonals() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder_with_default(np.zeros((3, 2), np.float32), [3, None])
        for pivoting, words in ((True, "is not invertible"), (False, "requires piv")):
            y = tf.linalg.tridiagonal_solve(x, x[0], partial_pivoting=pivoting)
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(y)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Expected 3 diag"):
        tf.linalg.tridiagonal_solve(tf.ones([2, 4]), tf.ones([4]))


def test_numerics_are_checked_in_the_order_of_the_ops() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder_with_default([0.0, 1.0], [2], name="x")
        y = tf.log(x, name="y")
        tf.sqrt(-x, name="z")
        check = tf.add_check_numerics_ops()
        with pytest.raises(tf.errors.InvalidArgumentError, match="y:0"):
            session.run([y, check])
        with pytest.raises(tf.errors.InvalidArgumentError, match="z:0"):
            session.run(check, {x: [2.0, 1.0]})
    with tf.Graph().as_default():
        tf.cond(tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
        with pytest.raises(ValueError, match="not compatible with TensorFlow control"):
            tf.add_check_numerics_ops()


def test_least_squares_know_the_shapes_that_tensorflow_knows() -> None:
    with tf.Graph().as_default():
        a, b = tf.placeholder(tf.float32, [5, 3, 2]), tf.placeholder(tf.float32)
        c = tf.placeholder(tf.float32, [None, 3, 4])
        assert str(tf.matrix_solve_ls(a, b, fast=False).shape) == "(5, 2, ?)"
        assert str(tf.matrix_solve_ls(a, c).shape) == "(5, 2, 4)"
        assert str(tf.tile(a, tf.placeholder(tf.int32, [3])).shape) == "(?, ?, ?)"
        rank = tf.tile(b, tf.placeholder(tf.int32, [2])).shape.rank
        assert rank == 2


def test_random_shapes_are_refused_before_numbers_are_drawn() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        shape = tf.placeholder(tf.int32, [None])
        for build in (
            tf.random_uniform,
            tf.random_normal,
            lambda size: tf.random_poisson([2.0], size),
            lambda size: tf.random.stateless_uniform(size, [1, 2]),
        ):
            numbers = build(shape)
            with pytest.raises(tf.errors.InvalidArgumentError, match="must be >= 0"):
                session.run(numbers, {shape: [-1]})
            for huge in ([2**31 - 1] * 3, [2**31 - 1] * 2):
                with pytest.raises(
                    (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)
                ):
                    session.run(numbers, {shape: huge})


def test_blocks_that_do_not_fit() -> None:
    """Checked with TensorFlow 1.15.5."""
    image, crops = np.zeros((1, 2, 3, 1), np.float32), np.zeros((2, 2), np.int32)
    rows = [
        (
            tf.space_to_batch_nd,
            image,
            [2, 0],
            crops,
            "Product of block sizes must be p",
        ),
        (
            tf.space_to_batch_nd,
            image,
            [2, 3],
            crops - 1,
            "Paddings must be non-negative",
        ),
        (tf.space_to_batch_nd, image[0, 0], [2, 3], crops, "input rank should be >= 3"),
        (tf.batch_to_space_nd, image, [1, 1], crops - 1, "Crops must be non-negative"),
        (tf.batch_to_space_nd, image, [1, 1], crops + 2, "must be non-negative"),
        (tf.batch_to_space_nd, image, [-2, 2], crops, "Product of block sizes must be"),
    ]
    for build, x, blocks, margins, words in rows:
        with tf.Graph().as_default(), tf.Session() as session:
            fed = tf.placeholder(tf.float32)
            sizes = tf.placeholder(tf.int32, [2])
            around = tf.placeholder(tf.int32, [2, 2])
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(
                    build(fed, sizes, around), {fed: x, sizes: blocks, around: margins}
                )


def test_rows_of_variables_that_do_not_fit() -> None:
    """Checked with TensorFlow 1.15.5: numbers of rows, where a matrix is usual."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(np.zeros((4, 3), np.float32))
        ids, rows = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
        update = tf.scatter_nd_update(v, ids, rows)
        step = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(rows, v)])
        session.run(tf.global_variables_initializer())
        session.run(update, {ids: [2], rows: np.ones((1, 3))})
        assert session.run(v).sum(axis=1).tolist() == [0, 0, 3, 0]
        words = "outermost dimension of updates and indices must match. Got indices.sh"
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(update, {ids: [2], rows: np.ones(3)})
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="var and delta do not"
        ):
            session.run(step, {rows: np.ones((2, 3))})
