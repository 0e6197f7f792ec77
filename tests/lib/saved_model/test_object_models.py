"""SavedModels of objects with functions: TensorFlow's run here, ours in TensorFlow."""

import inspect
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eager_program, eagerly
from tests.golden import object_models, saved_models
from tests.golden.object_models import unpacked
from tfteach.framework.protos import pool
from tfteach.lib.files.trackable import TrackableAsset
from tfteach.lib.saved_model.function_library import load_function_def_library
from tfteach.lib.saved_model.loader import parse_saved_model

__all__ = ["eagerly"]

GOLDEN = json.loads(Path(object_models.__file__).with_suffix(".json").read_text())
ANSWERS, SERVED = GOLDEN["1.15.5"]["answers"], GOLDEN["1.15.5"]["served"]


# ---- theirs, here


@pytest.mark.parametrize("version", GOLDEN)
def test_tensorflows_model_runs_here(eagerly, version, tmp_path):
    """Functions with state, control flow, tables and nested results; its gradient."""
    folder = unpacked(GOLDEN[version]["files"], tmp_path / "model")
    assert object_models.answers(tf, folder) == ANSWERS
    model = tf.saved_model.load_v2(folder)
    assert model.tensorflow_version == version
    assert [model.w.name, model.w.trainable, model.count.trainable] == [
        "w:0", True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("version", GOLDEN)
def test_sessions_serve_tensorflows_model(version, tmp_path):
    assert (
        object_models.served(tf, unpacked(GOLDEN[version]["files"], tmp_path / "model"))
        == SERVED
    )


# ---- ours


def test_our_model_is_loaded_and_saved_again(eagerly, tmp_path):
    first, second = str(tmp_path / "1" / "model"), str(tmp_path / "2" / "model")
    (tmp_path / "1").mkdir()
    object_models.save(tf, first)
    assert object_models.answers(tf, first) == ANSWERS
    loaded = tf.saved_model.load_v2(first)
    tf.saved_model.save(loaded, second, loaded.signatures)
    (tmp_path / "1").rename(tmp_path / "gone")
    assert object_models.answers(tf, second) == ANSWERS
    assert object_models.served(tf, second) == SERVED


# ---- SavedModels of graphs, as objects


@pytest.mark.parametrize("name", ["trained", "text", "simple", "later", "functions"])
def test_signatures_of_graphs_are_functions(eagerly, name, tmp_path):
    """With variables of either kind, tables of assets, and functions of TF 2."""
    path = Path(saved_models.__file__).with_suffix(".json")
    golden = json.loads(path.read_text())[name]
    folder = unpacked(golden["files"], tmp_path / "model")
    model = tf.saved_model.load_v2(folder, "serve")
    serve = model.signatures["serving_default"]
    [key] = serve._arg_keywords
    given = saved_models.WORDS if key == "words" else saved_models.NUMBERS
    [found] = serve(tf.constant(given)).values()
    np.testing.assert_allclose(found.numpy(), golden["result"], rtol=1e-5)


# ---- in real TensorFlow


@pytest.mark.oracle
def test_our_model_runs_in_real_tensorflow(eagerly, tensorflow, tmp_path):
    assert_answers(tensorflow.run(asking_ours(tmp_path)))


@pytest.mark.skipif(
    "TFTEACH_TENSORFLOW_2" not in os.environ,
    reason="no TensorFlow 2: set TFTEACH_TENSORFLOW_2 to its Python",
)
def test_our_model_runs_in_tensorflow_2(eagerly, tmp_path):
    python = os.environ["TFTEACH_TENSORFLOW_2"]
    command = [python, "-c", asking_ours(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_answers(done.stdout)


def asking_ours(tmp_path):
    """A program that prints the answers of a model that we save."""
    folder = str(tmp_path / "model")
    object_models.save(tf, folder)
    return f"""
import json, sys
sys.path.insert(0, {str(Path(object_models.__file__).parent)!r})
import object_models, tensorflow as tf
tf.compat.v1.enable_v2_behavior()
found = object_models.answers(tf, {folder!r}), object_models.served(tf, {folder!r})
print(json.dumps(found))
"""


def assert_answers(printed):
    assert json.loads(printed.splitlines()[-1]) == [ANSWERS, SERVED]


# ---- objects


def doubled(**attributes):
    """A module with a variable and a function that uses it."""
    module = tf.Module()
    module.v = tf.Variable(2.0, name="v")
    scalar = tf.TensorSpec([], tf.float32)
    module.f = tf.function(lambda x: module.v * x, input_signature=[scalar])
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def test_a_loaded_model_can_be_trained(eagerly, tmp_path):
    tf.saved_model.save(doubled(), str(tmp_path))
    model = tf.saved_model.load_v2(str(tmp_path))
    optimizer = tf.train.GradientDescentOptimizer(0.25)
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = (model.f(3.0) - 3.0) ** 2
        optimizer.apply_gradients([(tape.gradient(loss, model.v), model.v)])
    assert model.v.numpy() == pytest.approx(13.25)
    other = tf.saved_model.load_v2(str(tmp_path))
    assert [other.f(3.0).numpy(), other.v.numpy()] == [6.0, 2.0]


def test_attributes_lists_and_dicts_come_back(eagerly, tmp_path):
    on_read = tf.VariableSynchronization.ON_READ
    made = doubled(
        parts=[tf.Variable(1, name="one"), {"k": tf.Variable([2.0])}],
        calls={"f": tf.function(lambda x, *, k=1: x * k)},
        other=tf.Variable(0, synchronization=on_read, trainable=False),
    )
    made.calls["f"](tf.constant(2), k=4)
    made.traced = made.f.get_concrete_function()
    tf.saved_model.save(made, str(tmp_path))
    model = tf.saved_model.load_v2(str(tmp_path))
    assert [model.parts[0].numpy(), model.parts[1]["k"].numpy()] == [1, 2.0]
    assert model.calls["f"](3, k=4).numpy() == 12
    assert str(inspect.signature(model.calls["f"])) == "(x, *, k=1)"
    assert model.traced(x=tf.constant(4.0)).numpy() == 8.0
    assert model.other.synchronization is on_read
    assert not model.other.trainable
    assert model.parts[0].name == "one:0"


def test_static_shapes_are_those_of_the_traces(eagerly, tmp_path):
    made = tf.Module()
    made.w = tf.Variable(tf.ones([2, 3]))
    rows = tf.TensorSpec([None, 2], tf.float32, "x")
    inner = tf.function(lambda x: tf.matmul(x, made.w))
    made.f = tf.function(lambda x: inner(x) + 1.0, input_signature=[rows])
    tf.saved_model.save(made, str(tmp_path))
    model = tf.saved_model.load_v2(str(tmp_path))
    assert model.w.shape == [2, 3]
    [body] = model.f.concrete_functions
    shapes = [op.outputs[0].shape for op in body.graph.get_operations()]
    assert list(map(str, shapes)) == [
        "(?, 2)", "<unknown>", "(?, 3)", "()", "(?, 3)", "(?, 3)",
    ]  # fmt: skip
    [spec] = model.signatures["serving_default"].structured_outputs.values()
    assert spec.shape.as_list() == [None, 3]
    # With these TensorFlow 1.15 differentiates calls in calls.
    library = parse_saved_model(str(tmp_path)).meta_graphs[0].graph_def.library
    calls = [
        node.attr["_gradient_op_type"].s
        for function in library.function
        for node in function.node_def
        if node.op == "StatefulPartitionedCall"
    ]
    assert calls == [b"StatefulPartitionedCall-0"] * 2


def test_a_trace_for_the_very_value_is_preferred(eagerly, tmp_path):
    made = tf.Module()
    made.f = tf.function(
        lambda x: x if isinstance(x, tf.Tensor) else 10 * tf.constant(x)
    )
    made.f(tf.constant(1))
    made.f(1)
    tf.saved_model.save(made, str(tmp_path))
    model = tf.saved_model.load_v2(str(tmp_path))
    assert [model.f(1).numpy(), model.f(2).numpy()] == [10, 2]


def test_defaults_of_keyword_only_parameters_are_added(eagerly, tmp_path):
    """As traces that TensorFlow 2 saved need: they spell these defaults out."""

    class Scale(tf.Module):
        @tf.function
        def __call__(self, x, *, double=True):
            return x * 2.0 if double else x

    model = Scale()
    model(tf.constant(3.0), double=True)
    model(tf.constant(3.0), double=False)
    tf.saved_model.save(model, str(tmp_path / "m"))
    loaded = tf.saved_model.load_v2(str(tmp_path / "m"))
    assert float(loaded(tf.constant(4.0))) == 8.0
    assert float(loaded(tf.constant(4.0), double=False)) == 4.0


def test_each_load_has_its_tables(eagerly, tmp_path):
    made = tf.Module()
    made.t = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    word = tf.TensorSpec([], tf.string)
    made.learn = tf.function(
        lambda k: made.t.insert(k, 3) and None, input_signature=[word]
    )
    made.find = tf.function(lambda k: made.t.lookup(k), input_signature=[word])
    tf.saved_model.save(made, str(tmp_path))
    models = [tf.saved_model.load_v2(str(tmp_path)) for _ in range(2)]
    models[0].learn("a")
    assert [model.find("a").numpy() for model in models] == [3, -1]


def test_files_are_found_where_the_model_is(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("here")
    with eager_program():
        made = tf.Module()
        made.file = TrackableAsset(str(path))
        made.read = tf.function(
            lambda: tf.io.read_file(made.file.asset_path), input_signature=[]
        )
        tf.saved_model.save(made, str(tmp_path / "model"))
        path.unlink()
        (tmp_path / "model").rename(tmp_path / "moved")
        assert tf.saved_model.load_v2(tmp_path / "moved").read().numpy() == b"here"
    with tf.Graph().as_default(), tf.Session() as session:
        load = tf.saved_model.loader.load
        signatures = load(session, ["serve"], str(tmp_path / "moved")).signature_def
        name = signatures["serving_default"].outputs["output_0"].name
        assert session.run(name) == b"here"


def test_a_graph_initializes_what_it_loads(tmp_path):
    with eager_program():
        table = tf.lookup.KeyValueTensorInitializer(["a"], [5.0])
        made = doubled(table=tf.lookup.StaticHashTable(table, -1.0))
        made.g = tf.function(lambda k: made.table.lookup(k) * made.v)
        made.g(tf.constant("a"))
        tf.saved_model.save(made, str(tmp_path))
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.load_v2(str(tmp_path))
        y = model.f(tf.constant(3.0)), model.g(tf.constant("a"))
        grad = tf.gradients(y[0], model.v.handle)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        assert session.run([*y, *grad]) == [6.0, 10.0, 3.0]


def test_a_graph_saves_the_values_of_its_session(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.Module()
        made.v = tf.Variable(2.0, use_resource=True)
        session.run(made.v.initializer)
        session.run(made.v.assign(7.0))
        tf.saved_model.save(made, str(tmp_path))
    with eager_program():
        assert tf.saved_model.load_v2(str(tmp_path)).v.numpy() == 7.0


# ---- what is refused


def test_what_cannot_be_saved_is_refused(eagerly, tmp_path):
    def refused(kind, message, item, signatures=None):
        with pytest.raises(kind, match=message):
            tf.saved_model.save(item, str(tmp_path / "model"), signatures)

    scalar = [tf.TensorSpec([], tf.float32)]
    refused(ValueError, "Expected a Trackable object for export, got 3", 3)
    elsewhere = tf.Variable(2.0)
    lost = tf.Module()
    lost.f = tf.function(lambda x: elsewhere * x, input_signature=scalar)
    refused(AssertionError, "references untracked object", lost)
    lost.f = tf.function(lambda x: elsewhere * x)
    lost.f(tf.constant(1.0))
    refused(KeyError, "unsupported or not reachable from root", lost)
    model = doubled()
    any_trace = tf.function(lambda x: x)
    refused(ValueError, "Expected a TensorFlow function to", model, any_trace)
    nested = tf.function(lambda x: [[x]], input_signature=scalar)
    refused(ValueError, "Got non-flat outputs", model, nested)
    in_dict = tf.function(lambda x: {"a": [x]}, input_signature=scalar)
    refused(ValueError, "dictionary containing non-Tensor value", model, in_dict)
    refused(ValueError, "reserved attribute", doubled(signatures=tf.Variable(1)))
    with pytest.raises(AssertionError, match="not supported inside a traced"):
        tf.function(lambda: tf.saved_model.save(model, "x"))()
    assert not (tmp_path / "model" / "saved_model.pb").exists()


def test_calls_that_no_trace_accepts_are_refused(eagerly, tmp_path):
    made = tf.Module()
    made.f = tf.function(lambda x, k=1: x * k)
    made.f(tf.constant([1.0, 2.0]))
    made.f(tf.constant(1), k=2)
    made.g = tf.function(
        lambda x, y: x + y, input_signature=[tf.TensorSpec([], tf.float32)] * 2
    )
    tf.saved_model.save(made, str(tmp_path))
    model = tf.saved_model.load_v2(str(tmp_path))
    with pytest.raises(ValueError, match="Could not find matching") as caught:
        model.f(tf.constant(1.0))
    assert str(caught.value) == NO_MATCH
    assert model.f([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]
    serve = model.signatures["serving_default"]
    with pytest.raises(TypeError, match="Expected at most 0 positional arguments"):
        serve(tf.constant(1.0), tf.constant(2.0))
    with pytest.raises(TypeError, match="object does not support item assignment"):
        model.signatures["serving_default"] = serve
    with pytest.raises(ValueError, match=r"incompatible argument tags=\['train'\]"):
        tf.saved_model.load_v2(str(tmp_path), "train")
    assert tf.saved_model.load_v2(str(tmp_path), {"serve"}).g(1.0, 2.0).numpy() == 3.0


def test_functions_that_call_each_other_in_a_circle_are_refused():
    library = pool.message("FunctionDefLibrary")()
    for name, other in ("f", "g"), ("g", "f"):
        node = library.function.add(signature={"name": name}).node_def.add()
        node.name, node.op = "call", "PartitionedCall"
        node.attr["f"].func.name = other
    with pytest.raises(ValueError, match=r"cyclic-dependency .* \['f', 'g'\]"):
        load_function_def_library(library, "", {})


NO_MATCH = """\
Could not find matching function to call loaded from the SavedModel. Got:
  Positional arguments (2 total):
    * Tensor("x:0", shape=(), dtype=float32)
    * 1
  Keyword arguments: {}

Expected these arguments to match one of the following 2 option(s):

Option 1:
  Positional arguments (2 total):
    * TensorSpec(shape=(2,), dtype=tf.float32, name='x')
    * 1
  Keyword arguments: {}

Option 2:
  Positional arguments (2 total):
    * TensorSpec(shape=(), dtype=tf.int32, name='x')
    * 2
  Keyword arguments: {}"""
