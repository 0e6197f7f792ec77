"""SavedModels: real TensorFlow's run here, ours in real TensorFlow."""

import base64
import json
import os
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import model_files, saved_models
from tfteach.lib.saved_model import builder
from tfteach.lib.saved_model.loader import (
    SavedModelLoader,
    get_asset_tensors,
    get_init_op,
    get_train_op,
)

GOLDEN = json.loads(Path(saved_models.__file__).with_suffix(".json").read_text())
WORDS, NUMBERS = {"words": saved_models.WORDS}, {"x": saved_models.NUMBERS}


def unpacked(name, folder):
    for path, data in GOLDEN[name]["files"].items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(zlib.decompress(base64.b64decode(data)))
    return str(folder)


# ---- theirs, here


@pytest.mark.parametrize("name", ["trained", "text"])
def test_tensorflows_trained_model_runs_here(name, tmp_path):
    """From an asset: the words are read in the SavedModel's folder."""
    folder = unpacked(name, tmp_path / "model")
    assert tf.saved_model.contains_saved_model(folder)
    found = saved_models.predict(tf, folder, WORDS)
    np.testing.assert_allclose(found, GOLDEN[name]["result"], rtol=1e-5)
    doubled = saved_models.predict(tf, folder, WORDS, "double")
    np.testing.assert_allclose(doubled, 2 * np.array(found), rtol=1e-6)


@pytest.mark.parametrize("name", ["simple", "later"])
def test_tensorflows_simple_model_runs_here(name, tmp_path):
    """Also that of TensorFlow 2.21's `compat.v1`, which TensorFlow 1.15 refuses."""
    folder = unpacked(name, tmp_path)
    found = saved_models.predict(tf, folder, NUMBERS)
    np.testing.assert_allclose(found, GOLDEN[name]["result"], rtol=1e-6)


def test_a_later_model_with_its_optimizer_is_trained_on_here(tmp_path):
    """It has ops and static shapes that TensorFlow 1.15 does not know."""
    folder = unpacked("normalized", tmp_path / "theirs")
    meta_graph = SavedModelLoader(folder).get_meta_graph_def_from_tags({"serve"})
    hints = [n for n in meta_graph.graph_def.node if n.op == "DisableCopyOnRead"]
    assert len(hints) == 6  # each part of the variable, and of its slots
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.saved_model.load(session, ["serve"], folder)
        read = graph.get_operation_by_name(hints[0].name)
        assert read.type == "NoOp"
        assert [op.name for op in read.control_inputs] == list(hints[0].input)
        found = saved_models.train_on(session)
        np.testing.assert_allclose(found, GOLDEN["normalized"]["result"], rtol=1e-5)
        saver = tf.train.Saver()
        saver.save(session, str(tmp_path / "m"))
        after = saved_models.train_on(session)
    types = {node.op for node in graph.as_graph_def().node}
    assert "DisableCopyOnRead" not in types  # TensorFlow 1.15 does not have it
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(str(tmp_path / "m.meta"))
        saver.restore(session, str(tmp_path / "m"))
        np.testing.assert_allclose(saved_models.train_on(session), after, rtol=1e-5)


def test_hints_of_later_versions_are_dropped_only_if_the_file_defines_them(tmp_path):
    folder = unpacked("later", tmp_path)
    meta_graph = SavedModelLoader(folder).saved_model.meta_graphs[0]
    for op in meta_graph.meta_info_def.stripped_op_list.op:
        kept = [a for a in op.attr if a.name != "debug_name"]
        del op.attr[:]
        op.attr.extend(kept)
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="mentions attr 'debug_name' not in Op"),
    ):
        tf.train.import_meta_graph(meta_graph)


def test_training_goes_on_in_a_loaded_model(tmp_path):
    folder = unpacked("trained", tmp_path)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["train"], folder, import_scope="m")
        feeds = {"m/words:0": saved_models.WORDS}
        before = session.run("m/loss:0", feeds)
        session.run("m/train", feeds)
        assert session.run("m/loss:0", feeds) < before
        assert [v.name for v in tf.trainable_variables()] == ["m/rows:0", "m/scale:0"]


# ---- ours, here and there


@pytest.mark.parametrize("as_text", [False, True])
def test_our_trained_model_comes_back(as_text, tmp_path):
    vocabulary = saved_models.write_vocabulary(str(tmp_path))
    folder = str(tmp_path / "model")
    wanted = saved_models.save_trained(tf, folder, vocabulary, as_text)
    np.testing.assert_allclose(wanted, GOLDEN["trained"]["result"], rtol=1e-5)
    os.unlink(vocabulary)  # the copy counts
    assert saved_models.predict(tf, folder, WORDS) == wanted
    written = {
        os.path.relpath(os.path.join(place, name), folder)
        for place, _, names in os.walk(folder)
        for name in names
    }
    assert written == set(GOLDEN["text" if as_text else "trained"]["files"])


def test_our_models_are_made_as_tensorflows(tmp_path):
    vocabulary = saved_models.write_vocabulary(str(tmp_path))
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    saved_models.save_trained(tf, str(ours), vocabulary)
    unpacked("trained", theirs)
    for tags in (["serve"], ["train"]):
        made, wanted = (
            SavedModelLoader(str(f)).get_meta_graph_def_from_tags(tags)
            for f in (ours, theirs)
        )
        assert made.signature_def == wanted.signature_def
        assert made.saver_def == wanted.saver_def
        assert sorted(made.collection_def) == sorted(wanted.collection_def)
        key = "saved_model_assets"
        assert made.collection_def[key] == wanted.collection_def[key]
        nodes = [
            {n.name: (n.op, list(n.input), n.device, sorted(n.attr)) for n in g.node}
            for g in (made.graph_def, wanted.graph_def)
        ]
        assert nodes[0] == nodes[1]
    assert made.graph_def.versions.producer == wanted.graph_def.versions.producer


@pytest.mark.oracle
def test_our_models_run_in_real_tensorflow(tensorflow, tmp_path):
    vocabulary = saved_models.write_vocabulary(str(tmp_path))
    trained, simple = str(tmp_path / "trained"), str(tmp_path / "simple")
    wanted = [
        saved_models.save_trained(tf, trained, vocabulary),
        saved_models.save_simply(tf, simple),
    ]
    os.unlink(vocabulary)
    script = f"""
import json, sys
sys.path.insert(0, {str(Path(saved_models.__file__).parent)!r})
import saved_models, tensorflow as tf
print(json.dumps([
    saved_models.predict(tf, {trained!r}, {WORDS!r}),
    saved_models.predict(tf, {simple!r}, {NUMBERS!r}),
]))
"""
    answers = json.loads(tensorflow.run(script).splitlines()[-1])
    for found, expected in zip(answers, wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.skipif(
    "TFTEACH_TENSORFLOW_2" not in os.environ,
    reason="no TensorFlow 2: set TFTEACH_TENSORFLOW_2 to its Python",
)
def test_our_models_run_in_tensorflow_2(tmp_path):
    vocabulary = saved_models.write_vocabulary(str(tmp_path))
    trained, simple = str(tmp_path / "trained"), str(tmp_path / "simple")
    wanted = [
        saved_models.save_trained(tf, trained, vocabulary),
        saved_models.save_simply(tf, simple),
    ]
    os.unlink(vocabulary)
    script = f"""
import json, tensorflow as tf
first = tf.saved_model.load({trained!r}, tags=["serve"]).signatures["serving_default"]
second = tf.saved_model.load({simple!r}).signatures["serving_default"]
print(json.dumps([
    first(words=tf.constant({saved_models.WORDS!r}))["result"].numpy().tolist(),
    second(x=tf.constant({saved_models.NUMBERS!r}))["y"].numpy().tolist(),
]))
"""
    found = answer(os.environ["TFTEACH_TENSORFLOW_2"], script)
    for ours, theirs in zip(wanted, found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def answer(python, script):
    done = subprocess.run([python, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


# ---- models with functions


def test_a_model_of_tensorflow_2_runs(tmp_path):
    folder = unpacked("functions", tmp_path)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        meta_graph = tf.saved_model.load(session, ["serve"], folder)
        signature = meta_graph.signature_def["serving_default"]
        feeds = {signature.inputs["x"].name: saved_models.NUMBERS}
        found = session.run(signature.outputs["y"].name, feeds)
        assert found.tolist() == GOLDEN["functions"]["result"]
        assert any("predict" in name for name in graph.functions)


def test_a_model_of_tensorflow_2_with_tables_loops_and_branches_runs():
    folder = Path(model_files.__file__).parent / "model_files" / "tf2_calls"
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.load(session, ["serve"], str(folder))
        signature = meta_graph.signature_def["serving_default"]
        (words,), (rows,) = signature.inputs.values(), signature.outputs.values()
        found = session.run(rows.name, {words.name: ["b", "x", "c"]})
        expected = np.ones([3, 2], np.float32)
        for _ in range(5):
            expected = np.tanh(expected)
        np.testing.assert_allclose(found, 2 * expected, rtol=1e-6)


# ---- parts


def test_assets_are_copied_once_and_renamed_if_they_differ(tmp_path):
    paths = []
    for name, text in (("one", "a"), ("two", "b"), ("three", "a")):
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / "words.txt")
        paths[-1].write_text(text)
    folder = tmp_path / "model"
    with tf.Graph().as_default(), tf.Session() as session:
        assets = [tf.constant(str(path)) for path in paths]
        read = [tf.identity(asset) for asset in assets]
        v = tf.Variable(["x"] * 3, name="v", collections=["mine"])
        init = tf.group(v.assign(tf.stack(read)), name="init")
        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(
            session, ["t"], assets_collection=assets, main_op=init
        )
        assert builder.save() == os.fsencode(folder / "saved_model.pb")
    written = {p.name: p.read_text() for p in (folder / "assets").iterdir()}
    assert written == {"words.txt": "a", "words.txt_1": "b"}
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.load(session, {"t"}, folder, import_scope="s")
        names = [os.fsdecode(name) for name in session.run("s/v:0")]
        assets = folder / "assets"
        wanted = [str(assets / n) for n in ("words.txt", "words.txt_1", "words.txt")]
        assert names == wanted
        assert sorted(get_asset_tensors(folder, meta_graph, "s").values()) == sorted(
            wanted
        )
        assert get_init_op(meta_graph, "s").name == "s/init"
        assert get_train_op(meta_graph, "s") is None


def test_a_missing_asset_is_named(tmp_path):
    folder = unpacked("trained", tmp_path)
    (tmp_path / "assets" / "words.txt").unlink()
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match=r"words\.txt") as error:
            tf.saved_model.load(session, ["serve"], folder)
        assert "lacks its asset" in error.value.__notes__[0]


def test_models_without_variables(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": x + 1})
    assert saved_models.predict(tf, str(tmp_path / "m"), {"x": 2.0}) == 3.0


def test_main_ops_restore_after_initializing(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=1.0)
        w = tf.Variable(2.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
        session.run(tf.saved_model.main_op_with_restore(v.assign(5.0)))
        assert session.run([v, w]) == [5.0, 2.0]
        session.run(tf.saved_model.main_op.main_op())
        assert session.run(v) == 1.0
        with pytest.raises(KeyError, match="nothing"):
            tf.saved_model.main_op_with_restore("nothing")


# ---- errors


def test_directories_that_are_no_models(tmp_path):
    where = str(tmp_path)
    with tf.Session() as session:
        for folder in (where, str(tmp_path / "none")):
            assert not tf.saved_model.maybe_saved_model_directory(folder)
            with pytest.raises(
                OSError, match=r"SavedModel file does not exist at: .*/"
            ):
                tf.saved_model.load(session, ["serve"], folder)
        (tmp_path / "saved_model.pbtxt").write_text("meta_graphs { no_such: 3 }")
        with pytest.raises(OSError, match=r"Cannot parse file .*pbtxt: .*no_such"):
            tf.saved_model.load(session, ["serve"], where)
        (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff")
        with pytest.raises(OSError, match=r"Cannot parse file .*saved_model\.pb"):
            tf.saved_model.load(session, ["serve"], where)
        with (tmp_path / "saved_model.pb").open("wb") as file:
            file.truncate(3 << 30)
        with pytest.raises(OSError, match="a SavedModel at most 2 GB"):
            tf.saved_model.load(session, ["serve"], where)


def test_missing_tags_signatures_and_variables(tmp_path):
    folder = unpacked("trained", tmp_path)
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(RuntimeError, match=r"tags 'gpu' could not.*\n?.*'serve'"):
            tf.saved_model.load(session, ["gpu"], folder)
        with pytest.raises(RuntimeError, match=r"tags: \[{'train'}, {'serve'"):
            tf.saved_model.load(session, {"serve", "train"}, folder)
    for path in (tmp_path / "variables").iterdir():
        path.unlink()
    with (
        tf.Graph().as_default(),
        tf.Session() as session,
        pytest.raises(ValueError, match=r"not a valid checkpoint: .*variables"),
    ):
        tf.saved_model.load(session, ["serve"], folder)


def test_more_than_two_gigabytes(tmp_path, monkeypatch):
    monkeypatch.setattr(builder, "MAX_GRAPH_BYTES", 1000)
    made = tf.saved_model.Builder(str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.constant(np.arange(300))
        made.add_meta_graph_and_variables(session, ["t"])
    with pytest.raises(ValueError, match="SavedModel cannot be larger than 2GB"):
        made.save()
    assert not tf.saved_model.contains_saved_model(str(tmp_path / "m"))


def test_refused_by_the_builder(tmp_path):
    full = unpacked("simple", tmp_path / "full")
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        tf.saved_model.Builder(full)
    model = tf.saved_model
    with tf.Graph().as_default() as graph, tf.Session() as session:
        made = model.Builder(str(tmp_path / "new"))
        with pytest.raises(AssertionError, match="has not been saved yet"):
            made.add_meta_graph(["t"])

        def refused(error, message, *args, **kwargs):
            with pytest.raises(error, match=message):
                made.add_meta_graph_and_variables(session, ["t"], *args, **kwargs)

        empty = model.build_signature_def({"x": tf.TensorInfo()})
        refused(AssertionError, "one of the 'encoding' fields", {"s": empty})
        untyped = model.build_signature_def({"x": tf.TensorInfo(name="x:0")})
        refused(AssertionError, "must have the dtype field", {"s": untyped})
        key = "__saved_model_init_op"
        refused(KeyError, "is reserved for initialization", {key: empty.__class__()})
        refused(TypeError, "main_op needs to be an Operation: 3", main_op=3)
        x = tf.placeholder(tf.string)
        number, two = tf.constant(1), tf.constant(["a", "b"])
        for asset, what in (
            ("a", "be a Tensor"),
            (x, "be of type constant"),
            (number, "be of dtype string"),
            (two, "be a scalar"),
        ):
            refused(TypeError, f"Asset path tensor must {what}", {}, [asset])
        refused(ValueError, "Invalid asset filepath", {}, [tf.constant("")])
        absent = tf.constant(str(tmp_path / "absent"))
        refused(tf.errors.NotFoundError, "absent; No such file", {}, [absent])
        graph.clear_collection("saved_model_assets")
        op = tf.no_op()
        made.add_meta_graph_and_variables(session, ["t"], main_op=op)
        refused(AssertionError, "has already been saved")
        with pytest.raises(ValueError, match="already contains one or more main ops"):
            made.add_meta_graph(["u"], main_op=op)
