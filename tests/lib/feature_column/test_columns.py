"""Feature columns as they print and refuse, beside those of real TensorFlow."""

import json

import pytest

import tfteach as tf
from tests.golden.composites import inner
from tests.golden.feature_column_calls import PATH, answer

GOLDEN = json.loads(PATH.read_text())


@pytest.mark.parametrize("call", GOLDEN)
def test_call_answers_as_tensorflow_does(call):
    assert answer(tf, call) == GOLDEN[call]


def test_variables_of_columns_are_among_those_of_their_layer():
    columns = inner(tf, "feature_column.feature_column_v2")
    with tf.Graph().as_default():
        layer = tf.layers.Layer()
        state = columns._StateManagerImpl(layer, trainable=True)
        ids = tf.feature_column.categorical_column_with_identity("a", 3)
        column = tf.feature_column.embedding_column(ids, 2)
        with pytest.raises(ValueError, match="Variable does not exist"):
            state.get_variable(column, "embedding_weights")
        column.create_state(state)
        table = state.get_variable(column, "embedding_weights")
        assert table.name == "embedding_weights:0"
        assert layer.trainable_variables == tf.trainable_variables() == [table]
        with pytest.raises(ValueError, match="Variable already exists"):
            column.create_state(state)


def test_columns_that_override_the_first_versions_methods_are_called_by_these():
    base = inner(tf, "feature_column.feature_column_v2").DenseColumn

    class Doubled(base):
        name, variable_shape, parents = "doubled", tf.TensorShape([1]), ("a",)

        def transform_feature(self, transformation_cache, state_manager):
            raise AssertionError("functions call the first version's method")

        def _transform_feature(self, inputs):
            return inputs.get("a") * 2.0

        def get_dense_tensor(self, transformation_cache, state_manager):
            return transformation_cache.get(self, state_manager)

    with tf.Graph().as_default(), tf.Session() as sess:
        values = tf.feature_column.input_layer({"a": [[1.5]]}, Doubled())
        weighted = tf.feature_column.linear_model({"a": [[1.5]]}, Doubled())
        sess.run(tf.global_variables_initializer())
        assert sess.run([values, weighted]) == [[[3.0]], [[0.0]]]
