"""`tf.contrib.estimator.RNNClassifier` and `RNNEstimator`."""

import json
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import recurrent_estimators
from tfteach.lib.contrib.estimator import rnn
from tfteach.lib.estimator.heads.sequential_head import SequentialHead

RECORDED = json.loads(
    Path(recurrent_estimators.__file__).with_suffix(".json").read_text()
)


@pytest.mark.parametrize(
    "program", recurrent_estimators.PROGRAMS, ids=lambda program: program.__name__
)
def test_as_in_tensorflow(program):
    found = recurrent_estimators.run(tf, program)
    for key, value in RECORDED[program.__name__].items():
        assert found[key] == value, key


class _Sequential(SequentialHead, tf.estimator.RegressionHead):
    """Returns the features that it got, and the logits."""

    @property
    def input_sequence_mask_key(self):
        return "mask"

    def create_estimator_spec(self, features, mode, logits, *arguments, **options):
        return features["mask"], logits


def test_heads_of_sequences_get_the_mask_and_the_logits_of_each_step():
    price = tf.contrib.feature_column.sequence_numeric_column("price")
    for given in (None, [[True, True], [True, True]]):
        with tf.Graph().as_default(), tf.Session() as session:
            features, _ = recurrent_estimators.rows(tf)
            if given is not None:
                features["mask"] = tf.constant(given)
            mask, logits = rnn.rnn_model_fn(
                features, None, "infer", _Sequential(), rnn.make_rnn_cell_fn([2]),
                [price], None, return_sequences=True,
            )  # fmt: skip
            session.run(tf.global_variables_initializer())
            expected = given or [[True, True], [True, False]]
            assert session.run(mask).tolist() == expected
            assert session.run(logits).shape == (2, 2, 1)


def test_the_last_step_of_each_sequence():
    values = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32, [None, None, 2])
        lengths = tf.placeholder(tf.int64, [None])
        last = rnn.select_last_activations(given, lengths)
        assert last.shape.as_list() == [None, 2]
        found = session.run(last, {given: values, lengths: [3, 1]})
    assert found.tolist() == [[4.0, 5.0], [6.0, 7.0]]
