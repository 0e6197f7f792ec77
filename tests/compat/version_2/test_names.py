"""`tf.compat.v2` has the names and signatures that TensorFlow 1.15's has."""

import json
import operator

import pytest

import tfteach as tf
from tests.golden.version_2 import HERE, NAMES, signature

SIGNATURES = json.loads(HERE.with_suffix(".json").read_text())

# Names that tfteach doesn't have, of those that aren't also in tf.compat.v1.
MISSING = """
    test.Benchmark test.benchmark_config test.is_built_with_gpu_support
    keras losses metrics optimizers initializers.deserialize initializers.get
    initializers.serialize nn.RNNCellDeviceWrapper nn.RNNCellDropoutWrapper
    nn.RNNCellResidualWrapper
    estimator.BaselineClassifier estimator.BaselineEstimator estimator.BaselineRegressor
    estimator.DNNClassifier estimator.DNNEstimator estimator.DNNRegressor
    estimator.DNNLinearCombinedClassifier estimator.DNNLinearCombinedEstimator
    estimator.DNNLinearCombinedRegressor estimator.LinearClassifier
    estimator.LinearEstimator estimator.LinearRegressor
    estimator.experimental.RNNClassifier estimator.experimental.RNNEstimator
    distribute.MirroredStrategy distribute.OneDeviceStrategy distribute.Strategy
    distribute.StrategyExtended distribute.experimental.CentralStorageStrategy
    distribute.experimental.MultiWorkerMirroredStrategy
    distribute.experimental.ParameterServerStrategy distribute.experimental.TPUStrategy
    train.experimental.disable_mixed_precision_graph_rewrite
    train.experimental.enable_mixed_precision_graph_rewrite
    lite.TFLiteConverter
    data.experimental.StatsAggregator feature_column.shared_embeddings strings.split

"""
# Names whose signatures differ: a dataset's constructor is for subclasses, a variable's
# in its subclasses, and the class of files of records has another name here.
OTHER_SIGNATURES = {
    "Variable",
    "data.Dataset",
    "data.experimental.make_batched_features_dataset",
}


def listed(marked):
    """The names of the list with an asterisk, or those without."""
    for line in NAMES.read_text().splitlines():
        package, _, names = line.partition(": ")
        for name in names.split():
            if name.endswith("*") == marked:
                yield f"{package}.{name}".removeprefix("..").removesuffix("*")


def found(module, name):
    try:
        return operator.attrgetter(name)(module)
    except AttributeError:
        return "missing"


def test_unmarked_names_are_those_of_version_1():
    v2, names = tf.compat.v2, list(listed(marked=False))
    assert len(names) > 900
    assert [n for n in names if found(v2, n) is not found(tf, n)] == []


def test_marked_names_exist_with_their_signatures():
    found_names = {name: found(tf.compat.v2, name) for name in listed(marked=True)}
    missing = {name for name, item in found_names.items() if item == "missing"}
    assert missing == set(MISSING.split())
    compared = SIGNATURES.keys() - missing - OTHER_SIGNATURES
    assert len(compared) > 160
    signatures = {name: signature(found_names[name]) for name in compared}
    assert signatures == {name: SIGNATURES[name] for name in compared}


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("placeholder", "; TensorFlow 2 does not have it: tf.compat.v1.placeholder"),
        ("train.Saver", "; TensorFlow 2 does not have it: tf.compat.v1.train.Saver"),
        ("keras", "; TensorFlow 1.15 has it, tfteach does not"),
        ("lite", "; TensorFlow 1.15 has it, tfteach does not"),
        ("nn.conv2", "; did you mean tf.compat.v2.nn.conv2d?"),
        ("_repr_html_", ""),
    ],
)
def test_the_error_for_a_missing_name(name, advice):
    package, _, last = name.rpartition(".")
    where = f"tensorflow.compat.v2.{package}".rstrip(".")
    with pytest.raises(AttributeError) as caught:
        operator.attrgetter(name)(tf.compat.v2)
    assert str(caught.value) == f"module {where!r} has no attribute {last!r}{advice}"


def test_the_namespace_is_one_module():
    v2 = tf.compat.v2
    assert v2.compat.v2 is v2
    assert v2.compat.v1 is tf.compat.v1
    assert v2.__version__ == v2.version.VERSION == "1.15.5"
    assert v2.newaxis is None
    assert v2.raw_ops is tf.raw_ops
    assert {"reduce_sum", "nn", "newaxis"} <= set(dir(v2))
