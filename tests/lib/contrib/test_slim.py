"""`tf.contrib.slim.learning.train` runs as TensorFlow's."""

import json
import re
import threading
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import slim_training, training_loops
from tests.lib.contrib.learn.test_contrib_learn import alike

RECORDED = json.loads(Path(slim_training.__file__).with_suffix(".json").read_text())


def shown(value):
    """Without the lines of threads that wake by time, and times."""
    if value and all(isinstance(item, str) for item in value):
        value = [re.sub(r"\(.*sec/step\)", "", line) for line in value]
        return [x for x in value if not re.search("global_step/sec|Recording", x)]
    return value


@pytest.mark.parametrize("program", slim_training.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program):
    before = threading.active_count()
    found = training_loops.run(tf, program)
    for key, value in RECORDED[program.__name__].items():
        if not alike(shown(found[key]), shown(value)):
            assert shown(found[key]) == shown(value), key
    assert threading.active_count() <= before


def test_what_is_not_implemented_says_so(tmp_path):
    with tf.Graph().as_default():
        loss = tf.constant(1.0)
        with pytest.raises(NotImplementedError, match="startup_delay_steps"):
            tf.contrib.slim.learning.train(loss, tmp_path, startup_delay_steps=2)
