"""A model with variables of every kind goes from TensorFlow to us, and back."""

import json
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import trained

FOLDER = Path(trained.__file__).with_suffix("")
RECORDED = json.loads((FOLDER / "recorded.json").read_text())
LOSSES, VALUES = RECORDED["losses"], RECORDED["values"]
V1 = ["float64", "int64", "scalar", "string"]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph):
    with tf.Session() as session:
        yield session


def assert_goes_on(session):
    """The variables, Adam's slots too, are TensorFlow's, and so are the next steps."""
    assert trained.values(tf, session) == VALUES
    found = trained.train(session, trained.STEPS_AFTER)
    np.testing.assert_allclose(found, LOSSES, rtol=1e-5)


@pytest.mark.parametrize("name", ["model", "sharded"])
def test_training_goes_on_from_tensorflows_checkpoint(session, name):
    _, _, saver = trained.build(tf)
    saver.restore(session, FOLDER / name)
    assert_goes_on(session)


def test_tensorflows_metagraph_saves_and_restores_here(session, tmp_path):
    saver = tf.train.import_meta_graph(FOLDER / "model.meta")
    saver.restore(session, FOLDER / "model")
    assert trained.values(tf, session) == VALUES
    prefix = saver.save(session, tmp_path / "again")
    assert_goes_on(session)
    saver.restore(session, prefix)
    assert_goes_on(session)


def test_tensorflows_files_of_version_1(session):
    trained.build(tf)
    known = {v.op.name: v for v in tf.global_variables() if v.op.name in V1}
    tf.train.Saver(known).restore(session, FOLDER / "version_1")
    for name, variable in known.items():
        value = session.run(variable)
        raw = [v.hex() for v in value.flat] if value.dtype == object else None
        assert (raw or value.tobytes().hex()) == VALUES[name]


# Takes up our checkpoints, in TensorFlow; with our MetaGraph's nodes and its own.
TAKE_UP = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import trained
import tensorflow as tf

found = {}
quiet = {"write_meta_graph": False, "write_state": False}
saver = tf.train.import_meta_graph("ours.meta")
with tf.Session() as session:
    saver.restore(session, tf.train.latest_checkpoint("."))
    found["values"] = trained.values(tf, session)
    saver.save(session, "./theirs", **quiet)
    found["losses"] = trained.train(session, trained.STEPS_AFTER)
tf.reset_default_graph()
_, _, saver = trained.build(tf)
v1 = {v.op.name: v for v in tf.global_variables() if v.op.name in sys.argv[2:]}
old = tf.train.Saver(v1)
with tf.Session() as session:
    saver.restore(session, "./sharded")
    found["sharded"] = trained.values(tf, session)
    session.run("init")
    old.restore(session, "./version_1")
    values = trained.values(tf, session)
    found["version_1"] = {name: values[name] for name in v1}
print(json.dumps(found))
"""


@pytest.mark.oracle
def test_real_tensorflow_takes_up_ours(tensorflow, session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, _, saver = trained.build(tf)
    session.run("init")
    trained.train(session, trained.STEPS_BEFORE)
    saver.save(session, "./ours")
    quiet = {"write_meta_graph": False, "write_state": False}
    tf.train.Saver(sharded=True).save(session, "./sharded", **quiet)
    known = {v.op.name: v for v in tf.global_variables() if v.op.name in V1}
    old = tf.train.Saver(known, write_version=tf.train.SaverDef.V1)
    old.save(session, "./version_1", **quiet)
    values = trained.values(tf, session)
    losses = trained.train(session, trained.STEPS_AFTER)
    folder = str(FOLDER.parent)
    printed = tensorflow.run(TAKE_UP, folder, *V1, folder=tmp_path)
    found = json.loads(printed.splitlines()[-1])
    assert found["values"] == found["sharded"] == values
    assert found["version_1"] == {name: values[name] for name in V1}
    np.testing.assert_allclose(found["losses"], losses, rtol=1e-5)
    saver.restore(session, "./theirs")
    assert trained.values(tf, session) == values


def test_constants_of_equal_bytes_keep_their_types(session):
    trained.build(tf)
    session.run("init")  # the optimizer merges equal constants
    for variable in tf.global_variables():
        wanted = np.dtype(variable.dtype.base_dtype.as_numpy_dtype)
        if variable.dtype.is_quantized:  # fetches are of the integers' type
            wanted = wanted[0]
        assert session.run(variable).dtype == wanted, variable
