"""`tf.train.Checkpoint` and its manager, and checkpoints to and from TensorFlow."""

import json
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import objects
from tfteach.framework import protos

FOLDER = Path(objects.__file__).with_suffix("")
GOLDEN = str(FOLDER / "objects-1")
RECORDED = json.loads((FOLDER / "recorded.json").read_text())
KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        yield tmp_path


@pytest.fixture
def session(folder):
    with tf.Session() as session:
        yield session


def raises_error(kind, message):
    return pytest.raises(kind, match=re.escape(message))


def graph_in(path):
    data = tf.train.load_variable(path, KEY)
    return protos.TrackableObjectGraph.FromString(data)


def assert_restored(session, but=()):
    found = objects.values(tf, session)
    assert found.keys() - but == RECORDED["values"].keys()
    for name, value in RECORDED["values"].items():
        np.testing.assert_array_equal(np.float32(found[name]), np.float32(value), name)
    assert session.run("content:0").tolist() == [7]
    np.testing.assert_allclose(session.run("loss:0"), RECORDED["loss"], rtol=1e-5)


def test_tensorflows_checkpoint(session):
    checkpoint = objects.build(tf)
    status = checkpoint.restore(GOLDEN)
    assert status.assert_consumed().assert_nontrivial_match() is status
    assert status.assert_existing_objects_matched().expect_partial() is status
    status.run_restore_ops()
    assert_restored(session)
    path = checkpoint.save("objects", session)
    assert path == "objects-2"
    assert str(graph_in(path)) == str(graph_in(GOLDEN))
    ours, theirs = tf.train.list_variables(path), tf.train.list_variables(GOLDEN)
    assert ours == theirs
    count = len(session.graph.get_operations())
    checkpoint.save("objects", session)
    status.run_restore_ops(session)
    assert len(session.graph.get_operations()) == count


def test_a_saver_restores_it_by_names(session, caplog):
    objects.build(tf)
    variables = list(tf.global_variables())
    saver = tf.train.Saver(variables)
    for _ in range(2):
        saver.restore(session, GOLDEN)
    assert (
        "Restoring an object-based checkpoint using a name-based saver" in caplog.text
    )
    found = objects.values(tf, session)
    wanted = RECORDED["values"]
    assert {n: np.float32(v).tolist() for n, v in found.items()} == {
        n: np.float32(wanted[n]).tolist() for n in found
    }
    other = tf.Variable(1.0, name="other")
    with raises_error(
        tf.errors.NotFoundError,
        "\n\nExisting variables not in the checkpoint: other\n\nVariables names when "
        "this checkpoint was written which don't exist now: ",
    ):
        tf.train.Saver([other, variables[0]]).restore(session, GOLDEN)
    tf.train.warm_start(GOLDEN, "den/kernel")
    with raises_error(ValueError, "following variables were missing: {'other'}"):
        tf.train.warm_start(GOLDEN, "other")


TAKE_UP = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import objects
import tensorflow as tf

checkpoint = objects.build(tf)
with tf.Session() as session:
    status = checkpoint.restore(tf.train.latest_checkpoint("."))
    status.assert_consumed().run_restore_ops()
    found = {"values": objects.values(tf, session)}
    found["loss"] = float(session.run("loss:0"))
    found["content"] = session.run("content:0").tolist()
    checkpoint.save("./theirs")
print(json.dumps(found))
"""


@pytest.mark.oracle
def test_real_tensorflow_takes_up_ours(tensorflow, session, tmp_path):
    checkpoint = objects.build(tf)
    objects.trained(tf, session)
    checkpoint.save("./ours")
    printed = tensorflow.run(TAKE_UP, str(FOLDER.parent), folder=tmp_path)
    found = json.loads(printed.splitlines()[-1])
    assert found["values"] == objects.values(tf, session)
    np.testing.assert_allclose(found["loss"], session.run("loss:0"), rtol=1e-5)
    assert found["content"] == [7]
    checkpoint.restore("./theirs-2").assert_consumed().run_restore_ops()
    found["values"]["save_counter"] = 2
    assert found["values"] == objects.values(tf, session)


def variables():
    return tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="w")


def test_parts_that_do_not_match(session):
    v, w = variables()
    session.run([v.initializer, w.initializer])
    path = tf.train.Checkpoint(v=v).save("m")
    session.run([v.assign([5.0, 5.0]), w.assign(5.0)])
    more = tf.train.Checkpoint(v=v, w=w)
    status = more.restore(path)
    unbound = (
        "Some Python objects were not bound to checkpointed values, likely due to "
    )
    for check in (status.assert_consumed, status.assert_existing_objects_matched):
        with raises_error(AssertionError, f"{unbound}changes in the Python program: ["):
            check()
    status.assert_nontrivial_match()
    status.initialize_or_restore()
    assert session.run(v).tolist() == [1.0, 2.0]
    assert session.run(w) == 3.0  # its initial value
    assert more.save("m") == "m-2"  # the counter was restored, too
    empty = tf.train.Checkpoint()
    status = empty.restore(more.save("m"))
    status.assert_existing_objects_matched()
    with raises_error(AssertionError, "Unresolved object in checkpoint (root).v: "):
        status.assert_consumed()
    # What is created later is found, too.
    empty.v, empty.w = v, w
    session.run([v.assign([5.0, 5.0])])
    status.assert_consumed().run_restore_ops()
    assert session.run(v).tolist() == [1.0, 2.0]
    wrong = tf.train.Checkpoint(v=tf.train.Checkpoint(v=v))
    status = wrong.restore(path)
    with raises_error(AssertionError, "Unused attributes in these objects (the attrib"):
        status._unmatched = lambda matches: []
        status.assert_consumed()
    other = tf.train.Checkpoint(v=w).restore(path)
    with raises_error(tf.errors.InvalidArgumentError, "Assign requires shapes of both"):
        other.run_restore_ops()


def test_no_checkpoint_yet(session):
    v, w = variables()
    checkpoint = tf.train.Checkpoint(v=v, w=w)
    status = checkpoint.restore(tf.train.latest_checkpoint("."))
    nothing = "No checkpoint specified (save_path=None); nothing is being restored."
    for check in (
        status.assert_consumed,
        status.assert_existing_objects_matched,
        status.assert_nontrivial_match,
    ):
        with raises_error(AssertionError, nothing):
            check()
    with raises_error(AssertionError, "so no restore ops are available ("):
        status.run_restore_ops()
    status.initialize_or_restore()
    assert session.run(w) == 3.0
    with raises_error(tf.errors.NotFoundError, "find any matching files for x"):
        checkpoint.restore("x")


def test_a_savers_checkpoint(session, caplog):
    v, w = variables()
    session.run([v.initializer, w.initializer])
    tf.train.Saver([v]).save(session, "named")
    session.run(v.assign([5.0, 5.0]))
    checkpoint = tf.train.Checkpoint(q=v)
    status = checkpoint.restore("named")
    assert "named is a checkpoint of tf.train.Saver" in caplog.text
    assert status.assert_consumed().assert_nontrivial_match() is status
    status.assert_existing_objects_matched().initialize_or_restore()
    assert session.run(v).tolist() == [1.0, 2.0]
    assert checkpoint.save("m") == "m-1"
    status = tf.train.Checkpoint(q=v, w=w).restore("named")
    with raises_error(AssertionError, "Object not restored: w"):
        status.assert_consumed()
    with raises_error(tf.errors.NotFoundError, "Key w not found in checkpoint"):
        status.run_restore_ops()


def test_refused(session):
    v, _ = variables()
    parts = tf.get_variable("p", [4], partitioner=tf.fixed_size_partitioner(2))
    for item in (3, [v], tf.constant(1), parts):
        with raises_error(
            ValueError,
            "`Checkpoint` was expecting a trackable object (an object derived from "
            f"`TrackableBase`), got {item}",
        ):
            tf.train.Checkpoint(a=item)
    with raises_error(tf.errors.FailedPreconditionError, "uninitialized value v"):
        tf.train.Checkpoint(v=v).save("m")
    assert os.listdir() == []


def test_without_a_session():
    checkpoint = tf.train.Checkpoint(v=variables()[0])
    with raises_error(ValueError, "No session: pass one, or call this inside"):
        checkpoint.save("m")
    with raises_error(ValueError, "No session: call this inside"):
        tf.train.CheckpointManager(checkpoint, ".", 1).save()


def test_manager(session, monkeypatch):
    clock = time.time()
    monkeypatch.setattr(time, "time", lambda: clock)
    v, w = variables()
    step = tf.Variable(40, name="step")
    session.run([v.initializer, w.initializer, step.initializer])
    checkpoint = tf.train.Checkpoint(v=v)
    make = tf.train.CheckpointManager
    manager = make(checkpoint, "logs", max_to_keep=2, keep_checkpoint_every_n_hours=1)
    assert manager.latest_checkpoint is None
    assert manager.checkpoints == []
    for number in range(1, 6):
        assert manager.save() == f"logs/ckpt-{number}"
        clock += 1801  # half an hour
    assert manager.checkpoints == ["logs/ckpt-4", "logs/ckpt-5"]
    kept = {f for f in os.listdir("logs") if f.endswith(".index")}
    assert kept == {f"ckpt-{i}.index" for i in (3, 4, 5)}
    assert manager.latest_checkpoint == tf.train.latest_checkpoint("logs")
    state = tf.train.get_checkpoint_state("logs")
    assert list(state.all_model_checkpoint_paths) == manager.checkpoints
    assert len(state.all_model_checkpoint_timestamps) == 2
    again = make(checkpoint, "logs", max_to_keep=1, checkpoint_name="m")
    assert again.checkpoints == manager.checkpoints
    assert again.latest_checkpoint == manager.latest_checkpoint
    assert again.save(step) == "logs/m-40"
    assert again.save(np.int64(40)) == "logs/m-40"
    assert again.checkpoints == ["logs/m-40"]
    clock -= 10**6
    assert make(checkpoint, "logs", 1).checkpoints == []
    for count in (0, -1):
        with raises_error(ValueError, "Expected a positive integer or `None` for"):
            make(checkpoint, "logs", count)
