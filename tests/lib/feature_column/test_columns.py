"""Feature columns as they print and refuse, beside those of real TensorFlow."""

import json

import pytest

import tfteach as tf
from tests.golden.feature_column_calls import PATH, answer

GOLDEN = json.loads(PATH.read_text())


@pytest.mark.parametrize("call", GOLDEN)
def test_call_answers_as_tensorflow_does(call):
    if "Feature(" in GOLDEN[call] or "Parse config" in GOLDEN[call]:
        pytest.importorskip("tfteach.lib.parsing", reason="no tf.FixedLenFeature yet")
    assert answer(tf, call) == GOLDEN[call]
