"""Reading checkpoints without a graph, and initial values from them."""

import itertools
import logging
import os
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf

GOLDEN = Path(__file__).parents[2] / "golden" / "checkpoints"
ALL, VERSION_1 = str(GOLDEN / "all"), str(GOLDEN / "version_1")
PART = np.repeat(np.arange(3, dtype=np.float32), 4).reshape(6, 2)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        yield tmp_path


def raises_error(kind, message):
    return pytest.raises(kind, match=re.escape(message))


@pytest.mark.parametrize("path", [ALL, VERSION_1])
def test_reader(path):
    reader = tf.train.NewCheckpointReader(path)
    shapes, dtypes = (
        reader.get_variable_to_shape_map(),
        reader.get_variable_to_dtype_map(),
    )
    assert shapes["part"] == [6, 2]
    assert dtypes["part"] is tf.float32
    assert shapes["scalar"] == []
    assert dtypes["bytes"] is tf.string
    assert reader.has_tensor("part")
    assert reader.has_tensor(b"part")
    assert not reader.has_tensor("part:0")
    np.testing.assert_array_equal(reader.get_tensor("part"), PART)
    assert reader.get_tensor("scalar") == 2.5
    assert isinstance(reader.get_tensor("scalar"), np.float64)
    assert reader.get_tensor("bytes")[0, 0] == b"a"
    with raises_error(tf.errors.NotFoundError, "not found in checkpoint"):
        reader.get_tensor("x")
    lines = reader.debug_string().decode().splitlines()
    assert "bytes (DT_STRING) [2,2]" in lines
    assert "part (DT_FLOAT) [6,2], 3 slices" in lines
    assert "scalar (DT_DOUBLE) []" in lines


def test_by_directory(folder):
    with raises_error(ValueError, "Couldn't find 'checkpoint' file or checkpoints in"):
        tf.train.list_variables(folder)
    for path in ("none", "no/where"):
        with raises_error(
            tf.errors.NotFoundError,
            "Unsuccessful TensorSliceReader constructor: Failed to find any matching "
            f"files for {path}",
        ):
            tf.train.load_checkpoint(path)
    tf.train.update_checkpoint_state(folder, ALL)
    found = tf.train.list_variables(folder)
    assert found[:2] == [("bool", [3]), ("bytes", [2, 2])]
    assert found == tf.contrib.framework.list_variables(ALL)
    assert tf.train.load_variable(folder, "scalar:0") == 2.5
    assert tf.contrib.framework.load_variable(ALL, "scalar") == 2.5
    assert tf.contrib.framework.load_checkpoint(ALL).has_tensor("bool")


def test_a_checkpoint_replaced_while_it_is_read():
    v = tf.Variable(tf.zeros([1000]), name="v")
    saver = tf.train.Saver(max_to_keep=0)
    with tf.Session() as session:
        session.run(v.initializer)
        saver.save(session, "m", write_meta_graph=False)
        reader = tf.train.NewCheckpointReader("m")
        for value in (1.0, 2.0):
            session.run(v.assign([value] * 1000))
            saver.save(session, "m", write_meta_graph=False)
            assert len(set(reader.get_tensor("v"))) == 1
    assert tf.train.load_variable("m", "v")[0] == 2.0


def test_waiting(caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    assert list(tf.train.checkpoints_iterator(".", timeout=0)) == []
    assert "Timed-out waiting for a checkpoint." in caplog.text
    asked = itertools.count()
    assert not [*tf.train.checkpoints_iterator(".", 0, 0, lambda: next(asked) == 2)]
    assert next(asked) == 3
    tf.train.update_checkpoint_state(".", ALL)
    found = tf.train.checkpoints_iterator(".", timeout=0)
    assert next(found) == ALL
    with pytest.raises(StopIteration):
        next(found)
    wait = tf.contrib.training.wait_for_new_checkpoint
    write = threading.Timer(
        0.05, lambda: tf.train.update_checkpoint_state(".", VERSION_1)
    )
    write.start()
    assert wait(".", ALL, seconds_to_sleep=0.01) == VERSION_1
    write.join()


def initialized():
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return {v.op.name: session.run(v) for v in tf.global_variables()}


def test_initial_values():
    parts = tf.fixed_size_partitioner(2)
    with tf.variable_scope("mine"):
        tf.get_variable("part", [6, 2], partitioner=parts)
        whole = tf.get_variable("whole", [6, 2], use_resource=True)
        scalar = tf.get_variable("scalar", [], tf.float64)
        parted = tf.get_variable("x", [6, 2], partitioner=parts, use_resource=True)
    with tf.variable_scope("all/scope"):
        tf.get_variable("int", [2, 1], tf.int64)
        tf.get_variable("part", [6, 2], partitioner=parts)
    load = tf.train.init_from_checkpoint
    load(ALL, {"part": "mine/part", "scalar": scalar})
    tf.contrib.framework.init_from_checkpoint(ALL, {"/": "all/scope/", "part": whole})
    load(ALL, {"part": parted})
    found = initialized()
    for name in ("mine/part", "mine/x", "all/scope/part"):
        both = np.concatenate([found[f"{name}/part_{i}"] for i in range(2)])
        np.testing.assert_array_equal(both, PART)
    np.testing.assert_array_equal(found["mine/whole"], PART)
    assert found["mine/scalar"] == 2.5
    assert found["all/scope/int"].tolist() == [[-5], [7]]


def test_initial_values_that_are_refused():
    v = tf.get_variable("v", [3])
    with tf.variable_scope("s"):
        tf.get_variable("nix", [3])
    load = tf.train.init_from_checkpoint
    for error, message, assignment in (
        (
            ValueError,
            f"Tensor nix is not found in {ALL} checkpoint {{'bool'",
            {"nix": v},
        ),
        (
            ValueError,
            "Shape of variable v:0 ((3,)) doesn't match with shape of tensor part "
            "([6, 2]) from checkpoint reader.",
            {"part": v},
        ),
        (
            ValueError,
            "Assignment map with scope only name s should map to scope only part. "
            "Should be 'scope/': 'other_scope/'.",
            {"part": "s/"},
        ),
        (
            ValueError,
            f"Tensor a/nix (nix in a/) is not found in {ALL} checkpoint",
            {"a/": "s/"},
        ),
        (TypeError, "assignment_map maps names to variables", {"part": 3}),
    ):
        with raises_error(error, message):
            load(ALL, assignment)


def test_warm_start(caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    int_ = tf.get_variable("int", [2, 1], tf.int64, trainable=False)
    tf.get_variable("zeros", [3000], initializer=tf.ones_initializer())
    parts = tf.fixed_size_partitioner(2)
    tf.get_variable("renamed", [6, 2], partitioner=parts)
    tf.train.warm_start(ALL, ".*", None, {"renamed": "part"})
    assert "Warm-started 2 variables." in caplog.text
    found = initialized()
    assert found["zeros"].max() == 0
    np.testing.assert_array_equal(found["renamed/part_1"], PART[3:])
    assert found["int"][0, 0] != -5
    tf.train.warm_start(ALL, [int_])
    assert initialized()["int"][0, 0] == -5
    tf.train.warm_start(ALL, ["zer", "int"])
    tf.train.warm_start(ALL, None)
    with raises_error(ValueError, "in var_name_to_prev_var_name that were not used"):
        tf.train.warm_start(ALL, "zeros", None, {"zero": "part"})
    with raises_error(ValueError, "it must be all `Variable` or all `str`"):
        tf.train.warm_start(ALL, [3])
    with raises_error(ValueError, "must be a `list` or `str`"):
        tf.train.warm_start(ALL, 3)


def test_assignments(caplog):
    part = tf.get_variable("part", [6, 2], partitioner=tf.fixed_size_partitioner(2))
    zeros = tf.get_variable("zeros", [3000], initializer=tf.ones_initializer())
    int_ = tf.get_variable("mine", [2, 1], tf.int64)
    missing = tf.get_variable("missing", [1])
    framework = tf.contrib.framework
    with tf.Session() as session:
        assign, feeds = framework.assign_from_checkpoint(ALL, [*part, zeros])
        session.run(assign, feeds)
        np.testing.assert_array_equal(session.run(tf.identity(part)), PART)
        assert session.run(zeros).max() == 0
        assign, feeds = framework.assign_from_checkpoint(ALL, {"int": int_})
        session.run(assign, feeds)
        assert session.run(int_).tolist() == [[-5], [7]]
        with raises_error(ValueError, "Checkpoint is missing variable [missing]"):
            framework.assign_from_checkpoint(ALL, [missing])
        framework.assign_from_checkpoint(ALL, [missing], ignore_missing_vars=True)
        assert "Checkpoint is missing variable [missing]" in caplog.text
        with raises_error(ValueError, "Total size of new array must be unchanged for"):
            framework.assign_from_checkpoint(ALL, {"int": zeros})
    flat = tf.get_variable("flat", [2], tf.int64)
    with tf.Session() as session:
        load = framework.assign_from_checkpoint_fn
        load(ALL, {"int": flat}, reshape_variables=True)(session)
        assert session.run(flat).tolist() == [-5, 7]
        load(ALL, [zeros, missing], ignore_missing_vars=True)(session)
        assert f"Variable missing missing in checkpoint {ALL}" in caplog.text
        assert session.run(zeros).max() == 0
        assert load(ALL, [missing], ignore_missing_vars=True) is None
        with raises_error(ValueError, "var_list cannot be empty"):
            load(ALL, [])


def test_a_directory_is_no_checkpoint(folder):
    os.mkdir("m.index")
    with pytest.raises(tf.errors.OpError):
        tf.train.NewCheckpointReader("m")
    Path("text").write_text("This is not a checkpoint." * 10)
    with pytest.raises(tf.errors.DataLossError, match="different file format"):
        tf.train.NewCheckpointReader("text")
