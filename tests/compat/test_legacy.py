"""`import tensorflow` gives tfteach, in scripts and in processes that ask for it."""

from __future__ import annotations

import operator
import subprocess
import sys
from pathlib import Path

import pytest

import tfteach as tf
from tfteach.framework import deprecation

SCRIPT = """
import sys
import tensorflow as tf
import tensorflow.nn
from tensorflow.train import AdamOptimizer
from beside import TWO

assert tf.nn.relu is tensorflow.nn.relu
assert tf.train.AdamOptimizer is AdamOptimizer
total = tf.constant(3.0) + TWO
with tf.Session() as sess:
    print(tf.__version__, sys.argv[1:], sess.run(total), __name__)
"""


def python(*words: str, code: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", *words, *(["-c", code] if code else [])],
        capture_output=True,
        text=True,
    )


def test_a_script_is_run_as_it_is(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("TWO = 2.0\n")
    done = python("-m", "tfteach", "run", str(script), "--steps", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1.15.5 ['--steps', '3'] 5.0 __main__\n"


def test_no_script() -> None:
    done = python("-m", "tfteach", "run", "missing.py")
    assert done.returncode == 2
    assert "there is no file missing.py" in done.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "import tensorflow.no_such_thing",
            "ModuleNotFoundError: No module named 'tensorflow.no_such_thing': "
            "tfteach does not have it",
        ),
        (
            "from tensorflow import no_such_thing",
            "ImportError: cannot import name 'no_such_thing' from 'tensorflow'",
        ),
        (
            "import tensorflow; tensorflow.no_such_thing",
            "AttributeError: module 'tensorflow' has no attribute 'no_such_thing'",
        ),
    ],
)
def test_what_is_not_there(line: str, told: str) -> None:
    done = python(code=f"import tfteach; tfteach.install_as_tensorflow(); {line}")
    assert done.returncode == 1
    assert told in done.stderr.splitlines()[-1]


def test_another_tensorflow_is_not_replaced() -> None:
    done = python(
        code="import sys, types, tfteach\n"
        "sys.modules['tensorflow'] = types.ModuleType('tensorflow')\n"
        "tfteach.install_as_tensorflow()"
    )
    assert "RuntimeError: Another `tensorflow` is already imported" in done.stderr


def test_installing_twice_is_installing_once() -> None:
    done = python(
        code="import sys, tfteach\n"
        "finders = len(sys.meta_path)\n"
        "tfteach.install_as_tensorflow()\n"
        "import tensorflow as first\n"
        "tfteach.install_as_tensorflow()\n"
        "import tensorflow as second\n"
        "print(first is second, len(sys.meta_path) - finders)"
    )
    assert done.stdout == "True 1\n", done.stderr


# Each line works after install_as_tensorflow(); all run in one process.
WORKS = """
from tensorflow.python.ops import gen_math_ops; gen_math_ops.mat_mul
from tensorflow.python.ops import functional_ops; functional_ops.While
from tensorflow.python.framework.function import Defun, from_library
from tensorflow.python.framework import function_def_to_graph, graph_to_function_def
from tensorflow.python.ops import array_grad, math_grad, nn_grad
import tensorflow.compat.v1 as t1; assert t1.Session is tf.Session
import tensorflow.compat.v1 as t1; assert t1 is tf.compat.v1; t1.disable_v2_behavior()
import tensorflow.compat.v1 as t1; assert t1.__version__ == tf.__version__ == "1.15.5"
from tensorflow.compat.v1 import Session
import tensorflow.compat.v2 as t2; assert t2 is tf.compat.v2; t2.nn.relu, t2.reduce_sum
from tensorflow.compat import v2; assert v2.compat.v1 is tf.compat.v1; v2.raw_ops.Add
from tensorflow.compat.v2 import nn; from tensorflow.compat.v2.data import experimental
from tensorflow.compat import as_str
from tensorflow.python.framework import ops, dtypes, constant_op, errors, random_seed
from tensorflow.python.framework import ops; ops.reset_default_graph(); ops.GraphKeys
from tensorflow.python.framework import ops; ops.convert_to_tensor(1); ops.op_scope
from tensorflow.python.framework.tensor_shape import scalar, vector, unknown_shape
from tensorflow.python.framework.tensor_util import make_tensor_proto, MakeNdarray
from tensorflow.python.framework import graph_util, tensor_util
from tensorflow.python.framework.ops import register_proto_function
from tensorflow.python.compat import v2_compat; v2_compat.enable_v2_behavior
from tensorflow.python.ops import array_ops; array_ops.shape_v2, array_ops.where_v2
from tensorflow.python.ops import init_ops_v2 as i; i.GlorotUniform, i.zeros_initializer
from tensorflow.python.ops import summary_ops_v2 as s; s.create_file_writer_v2, s.write
from tensorflow.python.ops import summary_ops_v2 as s; s.scalar("", 1, family="x")
from tensorflow.python.tools import freeze_graph; freeze_graph.freeze_graph
from tensorflow.python.tools.inspect_checkpoint import print_tensors_in_checkpoint_file
from tensorflow.python.framework import graph_io; graph_io.write_graph
from tensorflow.python.tools import optimize_for_inference_lib as o; o.fold_batch_norms
from tensorflow.python.saved_model import builder, tag_constants, signature_constants
from tensorflow.python.saved_model import loader; loader.load, loader.SavedModelLoader
from tensorflow.python.saved_model.signature_def_utils import predict_signature_def
from tensorflow.python.saved_model.utils import build_tensor_info
from tensorflow.contrib import predictor; predictor.from_saved_model
from tensorflow.python.framework.meta_graph import export_scoped_meta_graph
from tensorflow.python.ops import array_ops, nn_ops, variable_scope, init_ops, rnn
from tensorflow.python.ops import math_ops; math_ops.reduce_sum, math_ops.floor
from tensorflow.python import control_flow_ops as c; assert c.cond is tf.cond
from tensorflow.python import ops, array_ops, tensor_util, file_io, gfile, nest
from tensorflow.python.ops import state_ops as s; assert s is tf.python.state_ops
from tensorflow.python.ops import control_flow_ops as c; c.with_dependencies, c.switch
from tensorflow.python.ops.nn import relu, softmax, sigmoid
from tensorflow.python.ops import nn; assert nn.relu is tf.nn.relu
from tensorflow.python.ops.init_ops import Constant, Zeros
from tensorflow.python.training import moving_averages, optimizer
from tensorflow.python.training.saver import Saver, BaseSaverBuilder as b; b.SaveSpec
from tensorflow.python.training.saving import saveable_object; saveable_object.SaveSpec
from tensorflow.python.training.adam import AdamOptimizer
from tensorflow.python.platform import app, flags, gfile, tf_logging; tf_logging.info
import tensorflow as tf; assert tf.logging.__dict__["WARN"] == 30
from tensorflow.python.platform import gfile; gfile.FastGFile, gfile.Exists, gfile.Walk
from tensorflow.python.client import session, device_lib, timeline; timeline.Timeline
from tensorflow.python.util import compat, nest; compat.as_bytes, nest.flatten
from tensorflow.python.lib.io import file_io; file_io.file_exists("x")
import tensorflow.python.platform.gfile
assert tf.python.ops.nn.relu is tf.nn.relu
from tensorflow.contrib.tensorboard.plugins import projector; projector.ProjectorConfig
from tensorflow.contrib.learn.python.learn.datasets import mnist; mnist.read_data_sets
from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets
from tensorflow.examples.tutorials.mnist import input_data; input_data.read_data_sets
import tensorflow.examples.tutorials.mnist.input_data as input_data
from tensorflow.examples.tutorials.mnist import mnist; mnist.inference
from tensorflow.core.framework import graph_pb2, node_def_pb2, summary_pb2, types_pb2
from tensorflow.core.protobuf import config_pb2; assert config_pb2.ConfigProto()
from tensorflow.core.protobuf.config_pb2 import RPCOptions; RPCOptions()
from tensorflow.core.framework.graph_pb2 import GraphDef; assert GraphDef is tf.GraphDef
from tensorflow.core.util import event_pb2
from tensorflow.python.eager import context; assert not context.executing_eagerly()
from tensorflow.python.layers import utils; utils.smart_cond, utils.constant_value
from tensorflow.python.framework.smart_cond import smart_cond, smart_constant_value
import tensorflow.train as t; assert t is tf.train and t.ClusterDef
from tensorflow.train import AdamOptimizer
import tensorflow.contrib.slim as slim; slim.conv2d, slim.arg_scope
from tensorflow.contrib import layers; layers.fully_connected
from tensorflow.contrib.layers.python.layers import batch_norm
from tensorflow.contrib.layers.python.layers import initializers, layers, regularizers
from tensorflow.contrib.layers.python.layers import utils; utils.two_element_tuple
from tensorflow.contrib.layers.python.layers.layers import conv2d
from tensorflow.contrib.framework.python.ops import add_arg_scope
from tensorflow.contrib.framework.python.ops import variables; variables.model_variable
from tensorflow.contrib.metrics.python.ops import set_ops, metric_ops; set_ops.set_size
from tensorflow.contrib.framework.python.ops import audio_ops; audio_ops.decode_wav
import tensorflow.contrib.slim as slim; slim.initializers.xavier_initializer_conv2d
import tensorflow.contrib.slim as slim; slim.regularizers.l2_regularizer
import tensorflow.contrib.slim as slim; assert slim.layers.conv2d is slim.conv2d
from tensorflow.contrib.lookup.lookup_ops import HashTable; HashTable
from tensorflow.python.framework import function; function.Defun
from tensorflow.python.data.ops import dataset_ops, iterator_ops; dataset_ops.DatasetV1
from tensorflow.python.data.ops.readers import TextLineDataset, TFRecordDataset
from tensorflow.python.data.experimental.ops import batching; batching.map_and_batch
from tensorflow.python.data.experimental.ops.grouping import group_by_window
from tensorflow.python.data.util.options import OptionsBase
from tensorflow.python.feature_column import feature_column; feature_column.input_layer
from tensorflow.python.feature_column import feature_column_v2 as c; c.NumericColumn
from tensorflow.python.feature_column import feature_column as c; c._NumericColumn
from tensorflow.python.feature_column.feature_column import _EmbeddingColumn
from tensorflow.python.feature_column.sequence_feature_column import *
from tensorflow.contrib.learn.python import learn; learn.LinearRegressor
from tensorflow.contrib.learn.python.learn import datasets, estimators, experiment
from tensorflow.contrib.learn.python.learn.datasets import base; base.maybe_download
from tensorflow.contrib.learn.python.learn.learn_io import *; data_feeder.DataFeeder
from tensorflow.contrib.learn.python.learn.estimators import test_data, run_config
from tensorflow.contrib.learn.python.learn.estimators.head import _multi_class_head
from tensorflow.python.util import tf_inspect; tf_inspect.isclass(int)
from tensorflow.python.training import queue_runner_impl; queue_runner_impl.QueueRunner
from tensorflow.python.training import coordinator, session_run_hook, monitored_session
from tensorflow.python.training import basic_session_run_hooks as h; h.NeverTriggerTimer
from tensorflow.python.training.checkpoint_utils import wait_for_new_checkpoint
from tensorflow.python.training.tracking import util; assert util.Checkpoint
from tensorflow.python.estimator.estimator import Estimator
from tensorflow.python.estimator.canned import dnn; assert dnn.DNNClassifier
from tensorflow_estimator.python.estimator.canned.dnn import dnn_logit_fn_builder
from tensorflow_estimator.python.estimator.model_fn import EstimatorSpec
from tensorflow_estimator import estimator; estimator.Estimator
import tensorflow_estimator as e; assert e.estimator.RunConfig is tf.estimator.RunConfig
from tensorflow.contrib.rnn.python.ops import core_rnn_cell, rnn_cell; rnn_cell.SRUCell
from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _linear, EmbeddingWrapper
from tensorflow.contrib.legacy_seq2seq.python.ops import seq2seq; seq2seq.rnn_decoder
from tensorflow.contrib.seq2seq.python.ops import attention_wrapper, helper, decoder
from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import _bahdanau_score
from tensorflow.contrib.seq2seq.python.ops.helper import TrainingHelper, _unstack_ta
from tensorflow.contrib.factorization.python.ops.kmeans import KMeansClustering
from tensorflow.contrib.factorization.python.ops.clustering_ops import KMC2_INIT, KMeans
from tensorflow.core.kernels.boosted_trees.boosted_trees_pb2 import DebugOutput
from tensorflow.python.ops import boosted_trees_ops as b; b.TreeEnsemble, b.predict
from tensorboard.compat import tf as stub; assert "stub" in stub.io.gfile.__name__
"""
# statement -> the error's class and the end of its text
REFUSED = {
    "from tensorflow import mul": "ImportError: No module or name 'tensorflow.mul'; "
    "TensorFlow 1.0 renamed it tf.multiply",
    "from tensorflow import ragged": "ImportError: No module or name "
    "'tensorflow.ragged'; TensorFlow 1.15 has it, tfteach does not",
    "tf.mul": "AttributeError: module 'tensorflow' has no attribute 'mul'; "
    "TensorFlow 1.0 renamed it tf.multiply",
    "import tensorflow.Session": "ModuleNotFoundError: No module named "
    "'tensorflow.Session': tfteach does not have it",
    "from tensorflow.models.rnn import rnn": "ImportError: No module or name "
    "'tensorflow.models'; TensorFlow's models are a repository of their own since 2016",
    "from tensorflow.python.ops import gen_user_ops": "ImportError: No module named "
    "'tensorflow.python.ops.gen_user_ops': TensorFlow generates it, tfteach has no "
    "such code. Use the public functions of the same names.",
    "from tensorflow.python.ops import mathops": "ImportError: No module or name "
    "'tensorflow.python.ops.mathops': of TensorFlow's inner modules tfteach has those "
    "that old code imports. Is it one of math_ops? The public names are those of tf.*.",
    "from tensorflow.python.ops import math_ops; math_ops.nosuch": "AttributeError: "
    "module 'tensorflow.python.ops.math_ops' has no attribute 'nosuch': tfteach has no "
    "such name in tf or tf.math",
    "from tensorflow.contrib.rnn.python.ops.core_rnn_cell import nosuch": "ImportError:"
    " cannot import name 'nosuch' from 'tensorflow.contrib.rnn.python.ops."
    "core_rnn_cell' (unknown location)",
    "from tensorflow.core.framework import nosuch_pb2": "ImportError: cannot import "
    "name 'nosuch_pb2' from 'tensorflow.core.framework' (unknown location)",
    "import tensorflow.compat.v2 as t2; t2.Session": "AttributeError: module "
    "'tensorflow.compat.v2' has no attribute 'Session'; TensorFlow 2 does not have it: "
    "tf.compat.v1.Session",
}
HARNESS = """
import sys, tfteach
tfteach.install_as_tensorflow()
import tensorflow as tf
for line in sys.stdin.read().splitlines():
    try:
        exec(line, {"tf": tf})
        print("ok")
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""


def answers(lines: list[str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HARNESS],
        input="\n".join(lines),
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def test_import_paths_of_old_code() -> None:
    lines = WORKS.strip().splitlines()
    told = answers(lines)
    assert len(told) == len(lines)
    assert {line: t for line, t in zip(lines, told, strict=True) if t != "ok"} == {}


def test_what_old_code_cannot_have_says_why() -> None:
    assert dict(zip(REFUSED, answers(list(REFUSED)), strict=True)) == REFUSED


@pytest.mark.parametrize(
    ("old", "told"),
    [
        ("sub", "renamed it tf.subtract"),
        ("scalar_summary", "renamed it tf.summary.scalar"),
        ("merge_all_summaries", "renamed it tf.summary.merge_all"),
        ("train.SummaryWriter", "renamed it tf.summary.FileWriter"),
        ("nn.rnn", "renamed it tf.nn.static_rnn"),
        ("nn.seq2seq", "moved it to tf.contrib.legacy_seq2seq"),
        ("summary.graph", "tf.summary.FileWriter takes a graph"),
        ("test.nosuch", "module 'tensorflow.test' has no attribute 'nosuch'"),
        ("nn.nosuch", "module 'tensorflow.nn' has no attribute 'nosuch'"),
        ("nn.reluu", "has no attribute 'reluu'; did you mean tf.nn.relu?"),
        ("Placeholder", "did you mean tf.placeholder?"),
        ("ragged", "'ragged'; TensorFlow 1.15 has it, tfteach does not"),
        ("nosuch", "module 'tfteach' has no attribute 'nosuch'"),
    ],
)
def test_names_that_are_gone(old: str, told: str) -> None:
    with pytest.raises(AttributeError) as caught:
        operator.attrgetter(old)(tf)
    assert told in str(caught.value)


def test_old_names_that_1_15_has_warn(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deprecation, "_warned", set())
    monkeypatch.setattr(deprecation, "_PRINT_DEPRECATION_WARNINGS", True)
    with tf.Graph().as_default():
        v = tf.Variable(1.0)
        assert tf.all_variables() == [v]
        assert tf.initialize_all_variables().name == "init"
        assert tf.initialize_variables([v]).name == "init_1"
        assert tf.initialize_local_variables().type == "NoOp"
        with tf.op_scope([v], None, "scope"):
            assert tf.no_op().name == "scope/NoOp"
    assert "use tf.name_scope(name, default_name, values)" in caplog.text
    for name in ("all_variables", "initialize_all_variables"):
        assert f"{name} (from tensorflow.python.ops.variables) is dep" in caplog.text


RENAMED = """
import tensorflow as tf
for _ in range(2):
    tf.Session, tf.train.Saver
tf.random_normal, tf.nn.relu, tf.layers.dense
tf.compat.v1.placeholder, tf.compat.v1.train.Optimizer
import tensorflow.compat.v1 as v1
v1.get_variable, v1.layers.conv2d
from tensorflow import placeholder  # asked for by importlib: silent, as in TF
import tensorflow.train
assert tensorflow.train is tf.train
assert tf.train.Saver is v1.train.Saver
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
tf.global_variables
"""


def test_renamed_names_of_tensorflow_warn_once(tmp_path: Path) -> None:
    script = tmp_path / "renamed.py"
    script.write_text(RENAMED)
    done = python("-m", "tfteach", "run", str(script))
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if line] == [
        f"WARNING:tensorflow:From {script}:{line}: The name tf.{old} is deprecated. "
        f"Please use tf.{new} instead."
        for line, old, new in [
            (4, "Session", "compat.v1.Session"),
            (4, "train.Saver", "compat.v1.train.Saver"),
            (5, "random_normal", "random.normal"),
        ]
    ]


def test_versions() -> None:
    assert tf.version.VERSION == tf.VERSION == "1.15.5"
    assert tf.version.GRAPH_DEF_VERSION == tf.GRAPH_DEF_VERSION
    assert tf.Graph().as_graph_def().versions.producer == tf.GRAPH_DEF_VERSION


def test_switches_between_behaviors() -> None:
    assert not tf.executing_eagerly()
    assert not tf.control_flow_v2_enabled()
    tf.disable_v2_behavior()
    tf.disable_eager_execution()


def test_projector(tmp_path: Path) -> None:
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    row = config.embeddings.add(tensor_name="a", metadata_path="words.tsv")
    row.sprite.image_path = "x.png"
    row.sprite.single_image_dim.extend([2, 3])
    with tf.summary.FileWriter(str(tmp_path / "logs")) as writer:
        projector.visualize_embeddings(writer, config)
    written = (tmp_path / "logs" / "projector_config.pbtxt").read_text()
    assert written == (
        'embeddings {\n  tensor_name: "a"\n  metadata_path: "words.tsv"\n  sprite {\n'
        '    image_path: "x.png"\n    single_image_dim: 2\n    single_image_dim: 3\n'
        "  }\n}\n"
    )
    projector.visualize_embeddings(str(tmp_path), config)
    assert (tmp_path / "projector_config.pbtxt").read_text() == written
    with pytest.raises(AttributeError, match="has no attribute 'nosuch'"):
        projector.nosuch  # noqa: B018


def test_tensor_protos() -> None:
    proto = tf.make_tensor_proto([[1.0, 2.0]])
    assert proto.tensor_content == b"\x00\x00\x80?\x00\x00\x00@"
    assert tf.contrib.util.make_ndarray(proto).tolist() == [[1.0, 2.0]]
    assert tf.make_tensor_proto([1, 2], shape=[3]).tensor_shape.dim[0].size == 3
    with pytest.raises(TypeError, match=r"shape: \(3,\), got \(2,\)"):
        tf.make_tensor_proto([1, 2], shape=[3], verify_shape=True)
    with tf.Graph().as_default():
        assert tf.get_static_value(tf.placeholder(tf.int32)) is None
        assert tf.contrib.util.constant_value(tf.constant(3)) == 3


def test_init_scope_waits_for_nothing() -> None:
    with tf.Graph().as_default():
        first = tf.no_op()
        with tf.name_scope("a"), tf.control_dependencies([first]):
            waits = tf.constant(1)
            with tf.init_scope():
                free = tf.constant(1, name="b")
    assert len(waits.op.control_inputs) == 1
    assert free.op.control_inputs == []
    assert free.name == "a/b:0"


def test_dimensions_of_any_shape() -> None:
    known, unknown = tf.TensorShape([2, None]), tf.TensorShape(None)
    assert tf.dimension_at_index(known, 0) == tf.Dimension(2)
    assert tf.compat.dimension_at_index(known, 1).value is None
    assert tf.dimension_at_index(unknown, 5).value is None
