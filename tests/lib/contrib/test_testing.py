"""`tf.contrib.testing` keeps, reads and asserts as TensorFlow's."""

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import contrib_testing, training_loops

RECORDED = json.loads(Path(contrib_testing.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize("program", contrib_testing.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program):
    assert training_loops.run(tf, program) == RECORDED[program.__name__]
