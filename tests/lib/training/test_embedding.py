"""Look-ups, samplers, sampled losses: arguments and errors, as TensorFlow 1.15 answers.

Graphs and numbers are held against TensorFlow in test_golden.py.
"""

import numpy as np
import pytest

import tfteach as tf

TABLE = np.arange(10, dtype=np.float32).reshape(5, 2)
ONE = np.array([[1]])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as sess:
        return sess.run(fetches)


def sampler(classes=ONE, *args, kind="uniform", **kwargs):
    make = getattr(tf.nn, f"{kind}_candidate_sampler")
    return make(tf.placeholder_with_default(classes, None), *args, **kwargs)


# ---- look-ups


@pytest.mark.parametrize(
    ("words", "params", "strategy"),
    [
        ("params must be specified", None, "mod"),
        ("Need at least one param", [], "mod"),
        ("Unrecognized partition strategy: x", [TABLE, TABLE], "x"),
    ],
)
def test_wrong_tables(words, params, strategy):
    with pytest.raises(ValueError, match=words):
        tf.nn.embedding_lookup(params, [1], strategy)


def test_ids_that_are_not_in_the_table():
    rows = tf.nn.embedding_lookup(TABLE, [0, 5])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices\[1\] = 5 is not in \[0, 5\)"
    ):
        run(rows)


def test_sparse_ids_are_wanted(caplog):
    ids = tf.SparseTensor([[0, 0]], [1], [1, 1])
    lookup = tf.nn.embedding_lookup_sparse
    with pytest.raises(TypeError, match="sp_ids must be SparseTensor"):
        lookup(TABLE, [1], None, combiner="sum")
    with pytest.raises(TypeError, match="sp_weights must be either None or Sparse"):
        lookup(TABLE, ids, [1.0], combiner="sum")
    with pytest.raises(ValueError, match="combiner must be one of 'mean', 'sqrtn' or"):
        lookup(TABLE, ids, None, combiner="max")
    with pytest.raises(ValueError, match="Missing embedding_weights None"):
        tf.nn.safe_embedding_lookup_sparse(None, ids)
    np.testing.assert_array_equal(run(lookup(TABLE, ids, None)), TABLE[1:2])
    assert "default value of combiner will change" in caplog.text


# ---- samplers


def test_outputs_have_names():
    drawn = sampler(ONE, 1, 3, True, 5)
    assert type(drawn).__name__ == "UniformCandidateSampler"
    assert drawn.sampled_candidates is drawn[0]
    assert drawn.true_expected_count.shape.as_list() == [None, 1]
    assert drawn.sampled_expected_count.shape.as_list() == [3]
    found = run(drawn.sampled_candidates)
    assert len(set(found.tolist())) == 3
    assert set(found.tolist()) <= set(range(5))


def test_sessions_draw_different_numbers_without_a_seed():
    drawn = sampler(ONE, 1, 20, False, 10**6)[0]
    assert run(drawn).tolist() != run(drawn).tolist()


@pytest.mark.parametrize(
    ("words", "classes", "arguments"),
    [
        ("Sampler's range is too small", ONE, (1, 9, True, 5)),
        ("true_classes must be a matrix", ONE[0], (1, 2, True, 5)),
        ("num_true columns, expected: 2 was: 1", np.ones((1, 2), int), (1, 2, True, 5)),
    ],
)
def test_wrong_classes(words, classes, arguments):
    drawn = sampler(classes, *arguments)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(drawn)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("num_true", (0, 2, True, 5)), ("num_sampled", (1, 0, True, 5)),
     ("range_max", (1, 2, True, -5))],
)  # fmt: skip
def test_wrong_numbers(name, arguments):
    value = min(a for a in arguments if a is not True)
    with pytest.raises(
        ValueError,
        match=f"Attr '{name}' of 'UniformCandidateSampler' Op passed {value} less than",
    ):
        sampler(ONE, *arguments)


def test_weights_of_a_fixed_distribution(tmp_path):
    file = tmp_path / "vocabulary.csv"
    file.write_text("a,0\nb,1\nc,2.5\nd,0\n")
    drawn = sampler(ONE, 1, 50, False, 4, str(file), kind="fixed_unigram")
    found, true_expected, _ = run(drawn)
    assert set(found.tolist()) == {1, 2}
    np.testing.assert_allclose(true_expected, [[50 / 3.5]], 1e-6)
    file.write_text("a,b\n")
    bad = tf.errors.InvalidArgumentError
    for error, words, options in (
        (bad, r"vocab_file or unigrams\.", {}),
        (bad, "Must only provide one of", {"vocab_file": str(file), "unigrams": [1.0]}),
        (bad, "Wrong vocabulary format at line: a,b", {"vocab_file": str(file)}),
        (
            bad,
            "2 weights with the 0 reserved ones, but range_max",
            {"unigrams": [1, 2]},
        ),
        (tf.errors.NotFoundError, "missing; No such file", {"vocab_file": "missing"}),
    ):
        drawn = sampler(ONE, 1, 2, False, 4, kind="fixed_unigram", **options)
        with pytest.raises(error, match=words):
            run(drawn)


def test_a_rare_rejection_draws_again():
    # 3 * 2**61 classes: a quarter of all 64-bit numbers is refused.
    drawn = sampler(ONE, 1, 40, False, 3 << 61, seed=1)[0]
    found = run(drawn)
    assert found.dtype == np.int64
    assert (found >= 0).all()


def test_hits_want_a_matrix_and_a_vector():
    free = tf.placeholder_with_default
    hits = tf.nn.compute_accidental_hits
    for words, arguments in (
        ("batch_size [*] num_true matrix", (free(ONE[0], None), [1], 1)),
        ("must be a vector, which is typically", (ONE, free(ONE, None), 1)),
    ):
        found = hits(*arguments)
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            run(list(found))
    with pytest.raises(ValueError, match="Dimension must be 2 but is 1"):
        hits(ONE, [1], 2)


# ---- from sparse to dense


@pytest.mark.parametrize(
    ("words", "indices", "values"),
    [
        (r"indices\[1\] = \[5\] is out of bounds: need 0 <= ind", [1, 5], 1.0),
        (r"indices\[1\] = \[0\] is out of order", [1, 0], 1.0),
        (r"indices\[1\] = \[1\] is repeated", [1, 1], 1.0),
        (r"sparse_values has incorrect shape \[3\], should be \[\] or \[2\]", [0, 1],
         [1.0, 2.0, 3.0]),
    ],
)  # fmt: skip
def test_wrong_positions(words, indices, values):
    free = tf.placeholder_with_default
    dense = tf.sparse_to_dense(free(indices, None), [4], free(values, None), 0.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(dense)
