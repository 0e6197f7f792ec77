"""Heads and canned estimators beside those of real TensorFlow: calls and refusals."""

import json

import pytest

import tfteach as tf
from tests.golden.estimator_calls import PATH, answer

GOLDEN = json.loads(PATH.read_text())


@pytest.mark.parametrize("call", GOLDEN)
def test_call_answers_as_tensorflow_does(call):
    assert answer(tf, call) == GOLDEN[call]
