"""Names of training loops below `tensorflow.python` do what TensorFlow's do."""

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import training_inner, training_loops

RECORDED = json.loads(Path(training_inner.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize("program", training_inner.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program):
    assert training_loops.run(tf, program) == RECORDED[program.__name__]
