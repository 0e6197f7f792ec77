"""A training that begins here continues in TensorFlow, and the other way round."""

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import training_loops

# Trains to a global step in a directory: prints the steps seen and the value.
PROGRAM = """
import json, sys
import tensorflow as tf
import training_loops

_, train, step = training_loops.model(tf)
hooks = [tf.train.StopAtStepHook(last_step=int(sys.argv[2]))]
with tf.train.MonitoredTrainingSession(
    checkpoint_dir=sys.argv[1], hooks=hooks, save_checkpoint_steps=3
) as session:
    first = int(session._tf_sess().run(step))
    while not session.should_stop():
        session.run(train)
print(json.dumps([first, float(tf.train.load_variable(sys.argv[1], "model/w"))]))
"""


def ours(folder, last):
    tf.reset_default_graph()
    _, train, step = training_loops.model(tf)
    hooks = [tf.train.StopAtStepHook(last_step=last)]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=3
    ) as session:
        first = int(session._tf_sess().run(step))
        while not session.should_stop():
            session.run(train)
    tf.summary.FileWriterCache.clear()
    tf.reset_default_graph()
    return first, float(tf.train.load_variable(folder, "model/w"))


@pytest.mark.oracle
def test_a_training_goes_on(tmp_path, tensorflow):
    folder = str(tmp_path / "logs")

    def theirs(last):
        place = Path(training_loops.__file__).parent
        printed = tensorflow.run(PROGRAM, folder, str(last), folder=place)
        return tuple(json.loads(printed.splitlines()[-1]))

    assert ours(folder, 4) == (0, pytest.approx(0.75**4))
    assert theirs(8) == (4, pytest.approx(0.75**8))
    assert ours(folder, 10) == (8, pytest.approx(0.75**10))
