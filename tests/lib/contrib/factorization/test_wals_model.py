"""`tf.contrib.factorization.WALSModel`: TensorFlow's graphs, factors and losses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import matrix_factorization, training_loops

FILE = Path(matrix_factorization.__file__).with_suffix(".json")
RECORDED = json.loads(FILE.read_text())
WALSModel = tf.contrib.factorization.WALSModel


def numbers(value: Any) -> list[float]:
    """All numbers of nested lists."""
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [float(value)]


def test_graphs_as_in_tensorflow() -> None:
    found = training_loops.run(tf, matrix_factorization.graphs)
    for name, expected in RECORDED["graphs"].items():
        assert found[name] == expected, name


def test_sweeps_as_in_tensorflow() -> None:
    found = training_loops.run(tf, matrix_factorization.sweeps)
    for name, expected in RECORDED["sweeps"].items():
        # Solutions of ill-conditioned systems in float32.
        close = pytest.approx(numbers(expected), rel=2e-4, abs=2e-4)
        assert numbers(found[name]) == close, name


def test_a_matrix_of_rank_three_is_found_again() -> None:
    random = np.random.RandomState(0)
    data = np.float32(random.rand(15, 3) @ random.rand(3, 11) / 3)
    with tf.Graph().as_default(), tf.Session() as session:
        places = [[i, j] for i in range(15) for j in range(11)]
        entries = tf.SparseTensor(places, data.ravel(), [15, 11])
        model = WALSModel(15, 11, 3, regularization=1e-5, row_weights=0, col_weights=0)
        row = model.update_row_factors(entries)[1]
        col = model.update_col_factors(entries)[1]
        session.run(model.initialize_op)
        session.run(model.worker_init)
        for _ in range(25):
            session.run(model.row_update_prep_gramian_op)
            session.run(model.initialize_row_update_op)
            session.run(row)
            session.run(model.col_update_prep_gramian_op)
            session.run(model.initialize_col_update_op)
            session.run(col)
        rows, cols = session.run([model.row_factors[0], model.col_factors[0]])
    np.testing.assert_allclose(rows @ cols.T, data, atol=0.01)


def test_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="must both be None"):
            WALSModel(5, 7, 3, row_weights=None)
        with pytest.raises(ValueError, match="col_factors must be a list of 2 arrays"):
            WALSModel(5, 7, 3, num_col_shards=2, col_init=np.ones([7, 3]))
        with pytest.raises(NotImplementedError, match="use_scoped_vars"):
            WALSModel(5, 7, 3, use_scoped_vars=True)


def test_a_tensor_times_a_sparse_one_is_sparse() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [2, 0]], [2.0, 3.0], [3, 2])
        column = tf.constant([[1.0], [2.0], [4.0]])
        product = column * sparse
        assert product.values.op.name == "mul"
        assert product.values.op.type == "SparseDenseCwiseMul"
        assert session.run(product.values).tolist() == [2.0, 12.0]
        with pytest.raises(TypeError):
            column + sparse


A = np.float32([[0, 1], [2, 3], [4, 5]])
PRODUCT = {
    "a": A, "b": A.T, "mask_indices": [[0, 1], [2, 2]], "transpose_a": False,
    "transpose_b": False,
}  # fmt: skip
EQUATIONS = {
    "factors": A, "factor_weights": [1.0, 2, 3], "unobserved_weights": 0.1,
    "input_weights": [1.0, 2], "input_indices": [[0, 1], [1, 2], [1, 0]],
    "input_values": [1.0, 2, 3], "entry_weights": [], "input_block_size": 2,
    "input_is_transpose": False,
}  # fmt: skip
WEIGHTS = "either [(]1[)] entry_weights must be set or [(]2[)] input_weights and"
# TensorFlow's messages; it ends the program where an index is out of range.
REFUSED = [
    ("MaskedMatmul", {"b": A}, r"a has shape \[3,2\], while b has shape \[3,2\]."),
    ("MaskedMatmul", {"a": [1.0]}, "Input a should be a matrix."),
    ("MaskedMatmul", {"b": [1.0]}, "Input b should be a matrix."),
    ("MaskedMatmul", {"mask_indices": [0, 1]}, "mask_indices should be a matrix."),
    ("MaskedMatmul", {"mask_indices": [[0, 1, 2]]}, r"of shape \[nnz 2\], where nnz"),
    ("MaskedMatmul", {"transpose_a": [True]}, "Input transpose_a should be a scalar."),
    ("MaskedMatmul", {"transpose_b": [True]}, "Input transpose_b should be a scalar."),
    ("MaskedMatmul", {"mask_indices": [[0, -1]]}, r"mask_indices must be in \[0, "),
    ("WALSCompute", {"factors": [1.0]}, "Input factors should be a matrix."),
    ("WALSCompute", {"factor_weights": [[1.0]]}, "factor_weights should be a vector."),
    ("WALSCompute", {"unobserved_weights": [1.0]}, "unobserved_weights should be a sc"),
    ("WALSCompute", {"input_values": [1.0]}, "input_values' length should match the"),
    ("WALSCompute", {"input_indices": [0, 1]}, "input_indices should be a matrix."),
    ("WALSCompute", {"entry_weights": [1.0, 2, 3]}, WEIGHTS),
    ("WALSCompute", {"input_weights": []}, WEIGHTS),
    ("WALSCompute", {"input_weights": [], "factor_weights": []}, WEIGHTS),
    ("WALSCompute", {"input_block_size": [2]}, "input_block_size should be a scalar."),
    ("WALSCompute", {"input_is_transpose": [True]}, "input_is_transpose should be a s"),
    ("WALSCompute", {"input_values": [[1.0]]}, "Input input_values should be a vector"),
    ("WALSCompute", {"input_weights": [[1.0]]}, "Input input_weights should be a vec"),
    ("WALSCompute", {"entry_weights": [[1.0]]}, "Input entry_weights should be a vec"),
    ("WALSCompute", {"input_block_size": 1}, r"input_indices must be in \[0, \[1, 3"),
    ("WALSCompute", {"input_weights": [1.0]}, "a weight for each row: 1 weights, 2"),
    ("WALSCompute", {"factor_weights": [1.0]}, WEIGHTS),
    (
        "WALSCompute",
        {"input_weights": [], "factor_weights": [], "entry_weights": [1.0]},
        "a weight for each entry: 1 weights, 3 needed",
    ),
]


@pytest.mark.parametrize(("name", "other", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused_by_ops(name: str, other: dict[str, Any], message: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        if name == "MaskedMatmul":
            found = tf.raw_ops.MaskedMatmul(**{**PRODUCT, **other})
        else:
            op = tf.raw_ops.WALSComputePartialLhsAndRhs
            found = op(**{**EQUATIONS, **other}).partial_rhs
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(found)
