"""Saving and restoring in sessions: files, lists of checkpoints, errors."""

import logging
import os
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format

import tfteach as tf
from tests.golden import savers
from tfteach.framework.protos import pool
from tfteach.lib.files import saver_builder

SOFT = {"allow_soft_placement": True}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        yield tmp_path


@pytest.fixture
def session():
    with tf.Session(config=tf.ConfigProto(**SOFT)) as session:
        yield session


def files(folder="."):
    return sorted(os.listdir(folder))


def raises_error(kind, message):
    return pytest.raises(kind, match=re.escape(message))


@pytest.mark.parametrize("function", savers.GRAPHS[:-1], ids=lambda f: f.__name__)
def test_every_kind_restores_what_it_saved(function, monkeypatch):
    monkeypatch.setattr(savers, "_builders", lambda: saver_builder)
    config = tf.ConfigProto(**SOFT)
    found = function(tf)
    variables = tf.global_variables()
    tables = [
        s.op
        for s in tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
        if hasattr(s.op, "export")
    ]
    contents = [table.export() for table in tables]
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for table in tables:
            keys = ["3", "1"] if table.key_dtype == tf.string else [3, 1]
            width = table._default_value.shape.as_list()
            session.run(table.insert(keys, np.ones([2, *width])))
        before = session.run([variables, contents])
        paths = [s.save(session, f"model{i}") for i, s in enumerate(found)]
    for saver, path in zip(found, paths, strict=True):
        with tf.Session(config=config) as session:
            if function is savers.reshaped:  # an unknown shape is taken from the value
                session.run(tf.global_variables_initializer())
            saver.restore(session, path)
            has = [v for v in variables if session.run(tf.is_variable_initialized(v))]
            assert has
            ours = session.run(has)
            wanted = [before[0][variables.index(v)] for v in has]
            for got, value in zip(ours, wanted, strict=True):
                np.testing.assert_array_equal(got, value)
            for (keys, values), old in zip(
                session.run(contents), before[1], strict=True
            ):
                assert len(keys) == 2 or saver is not found[0]
                if len(keys):
                    order, other = np.argsort(keys), np.argsort(old[0])
                    np.testing.assert_array_equal(keys[order], old[0][other])
                    np.testing.assert_array_equal(values[order], old[1][other])


def test_files_names_and_the_list(session):
    step = tf.Variable(3, name="step")
    tf.Variable([1.0], name="v")
    session.run(tf.global_variables_initializer())
    saver = tf.train.Saver(max_to_keep=2, pad_step_number=True)
    for number, path in (
        (step, "model-00000003"),
        ("step:0", "model-00000003"),
        (np.int64(12), "model-00000012"),
        (123456789, "model-123456789"),
    ):
        assert saver.save(session, "model", global_step=number) == path
    assert saver.last_checkpoints == ["model-00000012", "model-123456789"]
    assert tf.train.latest_checkpoint(".") == "./model-123456789"
    assert files() == sorted(
        ["checkpoint"]
        + [
            f"{path}{end}"
            for path in saver.last_checkpoints
            for end in (".data-00000-of-00001", ".index", ".meta")
        ]
    )
    assert Path("checkpoint").read_text() == (
        'model_checkpoint_path: "model-123456789"\n'
        'all_model_checkpoint_paths: "model-00000012"\n'
        'all_model_checkpoint_paths: "model-123456789"\n'
    )


def test_choices_of_what_is_written(session, folder):
    tf.Variable([1.0], name="v")
    session.run(tf.global_variables_initializer())
    saver = tf.train.Saver(max_to_keep=0, save_relative_paths=True)
    quiet = {"write_meta_graph": False, "write_state": False}
    assert saver.save(session, folder / "a", **quiet) == str(folder / "a")
    assert files() == ["a.data-00000-of-00001", "a.index"]
    saver.save(
        session, str(folder / "b"), latest_filename="list", meta_graph_suffix="g"
    )
    assert {"b.g", "list"} <= set(files())
    assert 'model_checkpoint_path: "b"\n' in Path("list").read_text()
    assert tf.train.latest_checkpoint(".", "list") == "./b"
    assert tf.train.latest_checkpoint(folder) is None
    saver.save(session, "sub/c", strip_default_attrs=True)  # creates one directory
    graph = tf.MetaGraphDef.FromString(Path("sub/c.meta").read_bytes())
    assert graph.meta_info_def.stripped_default_attrs
    assert graph.saver_def == saver.as_saver_def()
    assert saver.last_checkpoints == []
    saver.save(session, "d.v1", 2, save_debug_info=True, write_state=False)
    info = pool.message("GraphDebugInfo").FromString(Path("d.v1-2.debug").read_bytes())
    assert info.traces.keys() == {op.name for op in session.graph.get_operations()}
    assert list(info.files) == [__file__]


def test_lines_that_created_the_nodes(tmp_path):
    """TensorFlow's frames, without those of its own files."""
    with tf.Graph().as_default() as graph:
        first, line = tf.constant(1.0, name="first"), _line()
        with tf.name_scope("inner"):
            tf.identity(first, name="second")
        tf.import_graph_def(graph.as_graph_def(), name="copy")
        found = tf.train.export_meta_graph(
            tmp_path / "m.x.meta", as_text=True, save_debug_info=True
        )
        assert found == tf.train.export_meta_graph(save_debug_info=True)  # no file
        text = (tmp_path / "m.x.debug").read_text()
        info = text_format.Parse(text, pool.message("GraphDebugInfo")())
        lines = {
            name: [(info.files[at.file_index], at.line) for at in trace.file_line_cols]
            for name, trace in info.traces.items()
        }
        assert lines["first"] == [(__file__, line)]
        assert lines["inner/second"] == [(__file__, line + 2)]
        assert lines["copy/inner/second"] == [(__file__, line + 3)]
        name = str(tmp_path / "inner.meta")
        tf.train.export_meta_graph(name, export_scope="inner", save_debug_info=True)
        data = (tmp_path / "inner.debug").read_bytes()
        info = pool.message("GraphDebugInfo").FromString(data)
        assert list(info.traces) == ["inner/second"]
    assert sorted(os.listdir(tmp_path)) == [
        "inner.debug",
        "inner.meta",
        "m.x.debug",
        "m.x.meta",
    ]


def _line():
    return sys._getframe(1).f_lineno


def test_checkpoints_are_kept_every_n_hours(session, monkeypatch):
    tf.Variable([1.0], name="v")
    session.run(tf.global_variables_initializer())
    clock = time.time()
    monkeypatch.setattr(time, "time", lambda: clock)
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1)
    for step in range(8):
        saver.save(session, "m", step, write_meta_graph=False)
        clock += 1201  # seconds: a third of an hour
    kept = {name.removesuffix(".index") for name in files() if "index" in name}
    # Those that were written more than an hour after the last one that was kept.
    assert kept == {"m-3", "m-6", "m-7"}


def test_the_list_survives_a_restart(session):
    tf.Variable([1.0], name="v")
    session.run(tf.global_variables_initializer())
    saver = tf.train.Saver(max_to_keep=2)
    for step in (1, 2):
        saver.save(session, "m", step)
    state = tf.train.get_checkpoint_state(".")
    saver = tf.train.Saver(max_to_keep=2)
    saver.recover_last_checkpoints([*state.all_model_checkpoint_paths, "./gone"])
    assert saver.last_checkpoints == ["./m-1", "./m-2"]
    times = tf.train.get_checkpoint_mtimes(["m-1", "gone", "m-2"])
    assert [t for _, t in saver._last_checkpoints] == times
    saver.save(session, "./m", 3)
    assert {"m-2.index", "m-3.index"} == {f for f in files() if "index" in f}
    saver.set_last_checkpoints(["./m-2", "./m-3"])
    saver.save(session, "./m", 4)  # without a time, the old ones are kept
    assert {f for f in files() if "index" in f} == {f"m-{i}.index" for i in (2, 3, 4)}
    for method in (saver.set_last_checkpoints, saver.set_last_checkpoints_with_time):
        with pytest.raises(AssertionError, match="expected a list"):
            method(("m",))


def test_deleting_may_fail(session, caplog):
    tf.Variable([1.0], name="v")
    session.run(tf.global_variables_initializer())
    saver = tf.train.Saver(max_to_keep=1)
    saver.save(session, "m", 1)
    os.unlink("m-1.index")
    os.mkdir("m-1.index")
    assert saver.save(session, "m", 2) == "m-2"
    assert "Ignoring: m-1.index; " in caplog.text


def test_version_1(session, caplog):
    v = tf.Variable([1.0], name="v")
    session.run(v.initializer)
    version = tf.train.SaverDef.V1
    saver = tf.train.Saver(write_version=version, max_to_keep=1)
    saver.save(session, "m", 1)
    assert "V1 checkpoint format has been deprecated" in caplog.text
    saver.save(session, "m", 2)
    assert files() == ["checkpoint", "m-2", "m-2.meta"]
    session.run(v.assign([5.0]))
    saver.restore(session, tf.train.latest_checkpoint("."))
    assert session.run(v) == [1.0]
    several = tf.train.Saver(write_version=version, sharded=True)
    path = several.save(session, "s")
    assert path == "s-?????-of-00001"
    assert {"s-00000-of-00001", "s.meta"} <= set(files())
    session.run(v.assign([5.0]))
    several.restore(session, tf.train.latest_checkpoint("."))
    assert session.run(v) == [1.0]
    tf.train.remove_checkpoint(path, version)
    assert not [name for name in files() if name.startswith("s")]


def test_arguments_of_save_that_are_refused(session):
    v = tf.Variable([1.0], name="v")
    saver = tf.train.Saver()
    with raises_error(tf.errors.FailedPreconditionError, "uninitialized value v"):
        saver.save(session, "m")
    session.run(v.initializer)
    for error, message, arguments in (
        (ValueError, "'latest_filename' must not contain", ("m", None, "a/b")),
        (ValueError, "'latest_filename' collides with 'save_path'", ("checkpoint",)),
        (ValueError, "Parent directory of a/b/m doesn't exist", ("a/b/m",)),
        (ValueError, "no path specified", ("",)),
    ):
        with raises_error(error, message):
            saver.save(session, *arguments)
    with raises_error(TypeError, "'sess' must be a Session; None"):
        saver.save(None, "m")
    deferred = tf.train.Saver(defer_build=True)
    with raises_error(RuntimeError, "should be called before save if defer_build"):
        deferred.save(session, "m")
    with raises_error(RuntimeError, "should be called before restore if defer"):
        saver.save(session, "m")
        deferred.restore(session, "m")


def test_restores_that_fail_say_why(session, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    v = tf.Variable([1.0, 2.0], name="layer/kernel")
    w = tf.Variable([1.0], name="w")
    session.run(tf.global_variables_initializer())
    saver = tf.train.Saver()
    saver.save(session, "m")
    for path, message in (
        (None, "Can't load save_path when it is None."),
        ("none", "The passed save_path is not a valid checkpoint: none"),
    ):
        with raises_error(ValueError, message):
            saver.restore(session, path)
    with pytest.raises(tf.errors.NotFoundError) as caught:
        tf.train.Saver({"layer/kernels": v}).restore(session, "m")
    message = str(caught.value)
    assert message.startswith(
        "Restoring from checkpoint failed. This is most likely due to a Variable name "
        "or other graph key that is missing from the checkpoint. Please ensure that "
        "you have not altered the graph expected based on the checkpoint. Original "
        "error:\n\nKey layer/kernels not found in checkpoint\n"
    )
    assert (
        "lacks layer/kernels.\nInstead of layer/kernels it has layer/kernel" in message
    )
    assert "The program does not use layer/kernel, w of it." in message
    with raises_error(
        tf.errors.InvalidArgumentError,
        "Restoring from checkpoint failed. This is most likely due to a mismatch "
        "between the current graph and the graph from the checkpoint. Please ensure "
        "that you have not altered the graph expected based on the checkpoint. "
        "Original error:\n\nAssign requires shapes of both tensors to match. lhs "
        "shape= [1] rhs shape= [2]",
    ):
        tf.train.Saver({"layer/kernel": w}).restore(session, "m")
    assert "Restoring parameters from m" in caplog.text
    data = bytearray(Path("m.data-00000-of-00001").read_bytes())
    data[5] ^= 1
    Path("m.data-00000-of-00001").write_bytes(data)
    session.run(w.assign([7.0]))
    with raises_error(tf.errors.DataLossError, "tensor layer/kernel"):
        saver.restore(session, "m")
    assert session.run(w) == [7.0]  # none is restored if one cannot be


def test_an_uninitialized_variable_takes_no_other_shape(session):
    v = tf.Variable(tf.zeros([3]), name="v")
    given = tf.placeholder(tf.float32)
    with raises_error(
        tf.errors.InvalidArgumentError,
        "Assign requires shapes of both tensors to match. lhs shape= [3] rhs shape= ",
    ):
        session.run(tf.assign(v, given), {given: [1.0, 2.0]})
    session.run(tf.assign(v, given), {given: [1.0, 2.0, 3.0]})


def test_empty(session):
    saver = tf.train.Saver(allow_empty=True)
    assert saver.save(session, "m") is None
    assert files() == ["m.meta"]
    saver.restore(session, "nothing")


def test_imported_savers(session):
    v = tf.Variable([1.0], name="v")
    session.run(v.initializer)
    tf.train.Saver().save(session, "m")
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph("m.meta", import_scope="deep")
        assert saver.saver_def.restore_op_name == "deep/save/restore_all"
        with tf.Session() as other:
            saver.restore(other, "m")
            assert other.run("deep/v:0") == [1.0]
            assert saver.save(other, "again") == "again"
        meta = saver.export_meta_graph("x.meta", collection_list=["variables"])
        assert meta.saver_def == saver.saver_def
        assert list(meta.collection_def) == ["variables"]
        scoped = tf.train.Saver(saver_def=saver.saver_def)
        assert scoped.to_proto("other") is None
        assert scoped.to_proto("deep").save_tensor_name == "save/control_dependency:0"


def test_states(folder, caplog):
    state = tf.train.generate_checkpoint_state_proto(
        "logs", "logs/m-2", ["logs/m-1"], [1.0, 2.0], 0.5
    )
    assert list(state.all_model_checkpoint_paths) == ["m-1", "m-2"]
    assert state.model_checkpoint_path == "m-2"
    assert list(state.all_model_checkpoint_timestamps) == [1.0, 2.0]
    assert state.last_preserved_timestamp == 0.5
    with raises_error(
        ValueError,
        "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
        "['/m'] and timestamps [1.0, 2.0])",
    ):
        tf.train.generate_checkpoint_state_proto("/", "/m", ["/m"], [1.0, 2.0])
    tf.train.update_checkpoint_state(".", "m-2", ["m-1", "m-2"])
    found = tf.train.get_checkpoint_state(".")
    assert list(found.all_model_checkpoint_paths) == ["./m-1", "./m-2"]
    assert tf.train.latest_checkpoint(".") is None
    assert "Couldn't match files for checkpoint ./m-2" in caplog.text
    with raises_error(RuntimeError, "Save path '/checkpoint' conflicts with path used"):
        tf.train.update_checkpoint_state("/", "/checkpoint")
    with raises_error(tf.errors.NotFoundError, "nowhere/checkpoint"):
        tf.train.update_checkpoint_state("nowhere", "nowhere/m")
    assert tf.train.get_checkpoint_state("nowhere") is None
    Path("checkpoint").write_text("nonsense: 3")
    assert tf.train.get_checkpoint_state(".") is None
    assert "ParseError: 1:1" in caplog.text
    assert "./checkpoint: Checkpoint ignored" in caplog.text
    Path("checkpoint").write_text("")
    with raises_error(ValueError, "Invalid checkpoint state loaded from ."):
        tf.train.get_checkpoint_state(".")
    assert not tf.train.checkpoint_exists("m-2")
    Path("m-2").touch()
    assert tf.train.checkpoint_exists("m-?")


def test_a_read_only_directory(session, folder):
    v = tf.Variable([1.0], name="v")
    session.run(v.initializer)
    saver = tf.train.Saver()
    saver.save(session, "m")
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write to a read-only directory")
        with pytest.raises(tf.errors.PermissionDeniedError):
            saver.save(session, "m")
    finally:
        folder.chmod(0o700)
    saver.restore(session, tf.train.latest_checkpoint("."))


def test_in_memory(session):
    pytest.importorskip("fsspec")
    v = tf.Variable([1.0], name="v")
    session.run(v.initializer)
    saver = tf.train.Saver(max_to_keep=1)
    for step in (1, 2):
        saver.save(session, "memory://savers/m", step)
    session.run(v.assign([2.0]))
    path = tf.train.latest_checkpoint("memory://savers")
    assert path == "memory://savers/m-2"
    saver.restore(session, path)
    assert session.run(v) == [1.0]
    assert not tf.train.checkpoint_exists("memory://savers/m-1")
    assert tf.train.list_variables("memory://savers") == [("v", [1])]
    assert not files()
