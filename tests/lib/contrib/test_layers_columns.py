"""The columns of tf.contrib.layers: checkpoints, programs' own columns, the log."""

import logging

import pytest

import tfteach as tf
from tests.golden.composites import inner

layers = tf.contrib.layers
columns = inner(tf, "contrib.layers.python.layers.feature_column")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def _saved(path):
    """A checkpoint with embeddings and weights, all different."""
    with tf.Graph().as_default(), tf.Session() as sess:
        table = tf.Variable([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], name="table")
        weights = tf.Variable([[1.5], [2.5], [3.5]], name="weights")
        sess.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(sess, str(path / "saved"))
        return prefix, *sess.run([table, weights])


@pytest.mark.parametrize("parts", [None, 1, 2])
def test_tables_begin_as_those_of_a_checkpoint(tmp_path, parts):
    prefix, table, weights = _saved(tmp_path)
    ids = layers.sparse_column_with_integerized_feature("a", 3)
    embedding = layers.embedding_column(
        ids, 2, tf.ones_initializer(), ckpt_to_load_from=prefix,
        tensor_name_in_ckpt="table",
    )  # fmt: skip
    embedding = embedding._replace(combiner="sum")
    other = layers.sparse_column_with_hash_bucket("b", 3)
    crossed = layers.crossed_column([ids, other], 3, "sum", prefix, "weights")
    features = {"a": tf.constant([[0], [1], [2]]), "b": tf.constant([["x"]] * 3)}
    cut = parts and tf.fixed_size_partitioner(parts)
    with tf.variable_scope("scope", partitioner=cut):
        found = layers.input_from_feature_columns(features, [embedding])
        _, variables, _ = layers.weighted_sum_from_feature_columns(
            features, [crossed], 1
        )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(found).tolist() == table.tolist()
        assert sess.run(tf.concat(variables[crossed], 0)).tolist() == weights.tolist()


def test_programs_define_columns_of_their_own():
    class Doubled(columns._FeatureColumn):
        name, key, config = "doubled", "doubled", {}

        def insert_transformed_feature(self, columns_to_tensors):
            columns_to_tensors[self] = columns_to_tensors["a"] * 2.0

        def _to_dnn_input_layer(
            self, input_tensor, weight_collections=None, trainable=True, output_rank=2
        ):
            return input_tensor + float(output_rank)

    doubled = layers.input_from_feature_columns({"a": tf.ones([1, 1])}, [Doubled()])
    with tf.Session() as sess:
        assert sess.run(doubled).tolist() == [[4.0]]
    with pytest.raises(NotImplementedError, match="No dense tensor representation"):
        layers.weighted_sum_from_feature_columns({"a": tf.ones([1, 1])}, [Doubled()], 1)
    with pytest.raises(TypeError, match="abstract"):
        columns._FeatureColumn()


@pytest.fixture
def lines():
    """What TensorFlow's logger receives."""
    found = []

    class Lines(logging.Handler):
        def emit(self, record):
            found.append(f"{record.levelname} {record.getMessage()}")

    logger, handler = tf.get_logger(), Lines()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel("DEBUG")
    yield found
    logger.setLevel(level)
    logger.removeHandler(handler)


def test_the_log_has_tensorflows_lines(lines):
    age = layers.real_valued_column("age")
    features = {"age": tf.ones([4])}
    transforming = f"DEBUG Transforming feature_column {age}"
    layers.input_from_feature_columns(features, [age])
    assert lines == [
        transforming,
        "WARNING Rank of input Tensor (1) should be the same as output_rank (2) for "
        "column. Will attempt to expand dims. It is highly recommended that you "
        "resize your input, as this behavior may change.",
    ]
    del lines[:]
    layers.weighted_sum_from_feature_columns(features, [age], 1)
    name = "weighted_sum_from_feature_columns/bias_weight:0"
    assert lines == [transforming, f"INFO Created variable {name}, with device="]
    del lines[:]
    features = {"age": tf.ones([4, 3])}
    layers.sequence_input_from_feature_columns(features, [age])
    assert lines == [
        "WARNING sequence_input_from_feature_columns (from tensorflow.contrib.layers."
        "python.layers.feature_column_ops) is experimental and may change or be "
        "removed at any time, and without warning.",
        transforming,
    ]
    del lines[:]
    words = layers.sparse_column_with_hash_bucket("words", 4)
    layers.shared_embedding_columns([words, words], 2, initializer=abs)
    assert lines == ["WARNING Column words and words may not have the same vocabulary."]
