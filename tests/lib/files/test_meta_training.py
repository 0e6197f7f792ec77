"""Training goes on from MetaGraphs and checkpoints of real TensorFlow, and back."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import meta_training

GOLDEN = json.loads(Path(meta_training.__file__).with_suffix(".json").read_text())


@pytest.fixture
def model(tmp_path):
    """The prefix of real TensorFlow's checkpoint and MetaGraph."""
    for name, data in GOLDEN["files"].items():
        (tmp_path / name).write_bytes(zlib.decompress(base64.b64decode(data)))
    return str(tmp_path / "model")


@pytest.mark.parametrize("scope", [None, "inside"])
def test_training_goes_on_here(model, scope):
    """A loop with a branch, their gradients, Adam's slots, a decaying rate."""
    with tf.Graph().as_default() as graph:
        saver = tf.train.import_meta_graph(model + ".meta", import_scope=scope)
        prefix = f"{scope}/" if scope else ""
        with tf.Session() as session:
            saver.restore(session, model)
            [step], [loss] = (
                tf.get_collection(key) for key in ("train", "losses of mine")
            )
            found = []
            for i in range(meta_training.STEPS_AFTER):
                feeds = meta_training.batch(meta_training.STEPS_BEFORE + i)
                feeds = {prefix + name: value for name, value in feeds.items()}
                found.append(session.run([loss, step], feeds)[0])
            np.testing.assert_allclose(found, GOLDEN["losses"], rtol=1e-5)
            # Gradients of the imported loop itself, as a program that adds to it asks.
            slope = tf.gradients(loss, graph.get_tensor_by_name(f"{prefix}x:0"))[0]
            assert np.abs(session.run(slope, feeds)).sum() > 0


def test_the_same_program_gives_the_same_losses_here():
    with tf.Graph().as_default():
        meta_training.build(tf)
        with tf.Session() as session:
            session.run("init")
            meta_training.train(tf, session, 0, meta_training.STEPS_BEFORE)
            found = meta_training.train(
                tf, session, meta_training.STEPS_BEFORE, meta_training.STEPS_AFTER
            )
    np.testing.assert_allclose(found, GOLDEN["losses"], rtol=1e-5)


RESTORE = """
import json, sys
sys.path.insert(0, sys.argv[2])
import meta_training
import tensorflow as tf
print(json.dumps(meta_training.restore_and_train(tf, sys.argv[1])))
"""


@pytest.mark.oracle
def test_training_goes_on_in_real_tensorflow(tensorflow, tmp_path):
    prefix = str(tmp_path / "ours")
    with tf.Graph().as_default():
        saver = meta_training.build(tf)
        with tf.Session() as session:
            session.run("init")
            meta_training.train(tf, session, 0, meta_training.STEPS_BEFORE)
            saver.save(session, prefix)
    folder = str(Path(meta_training.__file__).parent)
    found = json.loads(tensorflow.run(RESTORE, prefix, folder).splitlines()[-1])
    np.testing.assert_allclose(found, GOLDEN["losses"], rtol=1e-5)
