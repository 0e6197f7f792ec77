"""Variables that begin with a checkpoint of another vocabulary."""

import json
import logging
import re
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import warm_starts
from tfteach.variables.scope.store import PartitionInfo

GOLDEN = json.loads(Path(warm_starts.__file__).with_suffix(".json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        warm_starts.write_files(tf, np)
    return path


@pytest.mark.parametrize("case", warm_starts.WARM_STARTS)
def test_warm_start(case, folder, monkeypatch):
    monkeypatch.chdir(folder)
    found = warm_starts.outcome(tf, warm_starts.warm_started, case)
    _compare(found, GOLDEN["warm_starts"][case])


@pytest.mark.parametrize("case", warm_starts.INITIALIZERS)
def test_initializers(case, folder, monkeypatch):
    monkeypatch.chdir(folder)
    found = warm_starts.outcome(tf, warm_starts.initialized, case)
    _compare(found, GOLDEN["initializers"][case])


def _compare(found, wanted):
    if "error" in wanted:
        assert found["error"].startswith(wanted["error"])
        return
    assert found["values"] == wanted["values"]
    assert found["nodes"] == wanted["nodes"]


def test_the_log_names_the_vocabularies(folder, monkeypatch, caplog):
    monkeypatch.chdir(folder)
    caplog.set_level(logging.DEBUG, "tensorflow")
    with tf.Graph().as_default():
        tf.get_variable("w", [6, 3])
        words = tf.train.VocabInfo("new", 5, 1, "old")
        tf.train.warm_start("ck", ".*", {"w": words}, {"w": "emb"})
    assert (
        "Warm-starting variable: w; current_vocab: new current_vocab_size: 5 "
        "prev_vocab: old prev_vocab_size: All current_oov: 1 prev_tensor: emb "
        "initializer: zero-initialized"
    ) in caplog.text
    assert "Warm-started 1 variables." in caplog.text


def test_a_changed_vocabulary_is_read_again(folder, monkeypatch):
    monkeypatch.chdir(folder)
    with tf.Graph().as_default(), tf.Session() as session:
        init = tf.contrib.framework.load_and_remap_matrix_initializer(
            "ck", "emb", 1, 3, -1, "old", "word"
        )
        v = tf.get_variable("v", [1, 3], initializer=init)
        for word, row in (("b", [3, 4, 5]), ("d", [9, 10, 11])):
            (folder / "word").write_text(word)
            session.run(v.initializer)
            assert session.run(v).tolist() == [row]


def test_settings():
    settings = tf.estimator.WarmStartSettings("logs")
    assert settings == ("logs", ".*", {}, {})
    assert repr(settings) == (
        "WarmStartSettings(ckpt_to_initialize_from='logs', vars_to_warm_start='.*', "
        "var_name_to_vocab_info={}, var_name_to_prev_var_name={})"
    )
    with pytest.raises(ValueError, match="`ckpt_to_initialize_from` MUST be set"):
        tf.estimator.WarmStartSettings("")
    assert tf.estimator.VocabInfo is tf.train.VocabInfo
    assert repr(tf.train.VocabInfo("a", 1, 1, "b")) == (
        "VocabInfo(new_vocab='a', new_vocab_size=1, num_oov_buckets=1, old_vocab='b', "
        "old_vocab_size=-1, backup_initializer=None, axis=0)"
    )


def test_offsets_of_partitions():
    info = PartitionInfo([6, 4], [2, 0])
    assert info.single_offset([2, 4]) == 2
    assert info.single_slice_dim([2, 4]) == 0
    assert PartitionInfo([6, 4], [0, 0]).single_offset([6, 4]) == 0
    for shape, message in (
        ([2], "Expected equal length, but received shape=[2] of length 1 while"),
        ([5, 4], "would exceed self.full_shape=[6, 4] in dimension 0."),
        ([2, 2], "slice dim could be either dimension 1 or 0."),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            info.single_slice_dim(shape)


def test_a_vocabulary_may_be_a_part_of_its_file(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "first").write_text("b\n\na\n")  # TensorFlow reads no further
    with tf.Graph().as_default(), tf.Session() as session:
        init = tf.lookup.TextFileInitializer("first", tf.string, -2, tf.int64, -1, 1)
        table = tf.lookup.StaticHashTable(init, -1)
        session.run(tf.tables_initializer())
        assert session.run(table.lookup(tf.constant(["b", "a"]))).tolist() == [0, -1]
