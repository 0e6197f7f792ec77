"""`HParams` become TensorFlow's protos, and are read from them."""

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import hparams, training_loops

RECORDED = json.loads(Path(hparams.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize("program", hparams.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program):
    assert training_loops.run(tf, program) == RECORDED[program.__name__]
