"""tf.linalg.LinearOperatorLowerTriangular: TensorFlow's nodes, and NumPy's numbers."""

import numpy as np
import pytest

import tfteach as tf

FULL = np.array([[2.0, 9.0, 9.0], [1.0, -3.0, 9.0], [0.5, 2.0, 4.0]])
LOWER = np.tril(FULL)
RIGHT = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_numbers() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        matrix = tf.linalg.LinearOperatorLowerTriangular(tf.constant(FULL))
        cases = {
            matrix.to_dense(): LOWER,
            matrix.matmul(RIGHT): LOWER @ RIGHT,
            matrix.matmul(RIGHT, adjoint=True): LOWER.T @ RIGHT,
            matrix.matmul(RIGHT.T, adjoint_arg=True): LOWER @ RIGHT,
            matrix.matvec(RIGHT[:, 0]): LOWER @ RIGHT[:, 0],
            matrix.solve(RIGHT): np.linalg.solve(LOWER, RIGHT),
            matrix.solve(RIGHT.T, adjoint_arg=True): np.linalg.solve(LOWER, RIGHT),
            matrix.solvevec(RIGHT[:, 1], adjoint=True): np.linalg.solve(
                LOWER.T, RIGHT[:, 1]
            ),
            matrix.determinant(): -24.0,
            matrix.log_abs_determinant(): np.log(24.0),
            matrix.diag_part(): [2.0, -3.0, 4.0],
            matrix.trace(): 3.0,
            matrix.add_to_tensor(np.ones((3, 3))): LOWER + 1.0,
            matrix.shape_tensor(): [3, 3],
        }
        for found, expected in zip(session.run([*cases]), cases.values(), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_names() -> None:
    with tf.Graph().as_default() as graph:
        first = tf.linalg.LinearOperatorLowerTriangular(tf.zeros([2, 3, 3]))
        with tf.name_scope("s"):
            second = tf.linalg.LinearOperatorLowerTriangular(np.eye(2), name="tri")
        own = "LinearOperatorLowerTriangular"
        assert first.to_dense().name == f"{own}/to_dense/MatrixBandPart:0"
        assert first.to_dense("abc").name == f"{own}/abc/MatrixBandPart:0"
        nested = f"{own}/matvec/{own}/matmul/MatMul"
        assert first.matvec(tf.zeros([2, 3])).name == f"{own}/matvec/Squeeze:0"
        assert graph.get_operation_by_name(nested).type == "BatchMatMulV2"
        assert second.trace().name == "tri/trace/Sum:0"
        assert second.graph_parents[0].name == "s/tri/tril:0"
        assert (first.batch_shape, first.tensor_rank) == ([2], 3)
        assert first.domain_dimension == first.range_dimension == 3
        assert second.dtype == tf.float64
        assert first.is_square


def test_refused() -> None:
    kind = tf.linalg.LinearOperatorLowerTriangular
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="must have at least 2 dimensions"):
            kind(tf.zeros([3]))
        with pytest.raises(ValueError, match="Only square lower triangular"):
            kind(tf.zeros([3, 3]), is_square=False)
