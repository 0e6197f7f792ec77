"""The inner modules of `tensorflow.contrib.learn`, which its programs import.

Most programs of TensorFlow 1.0 to 1.4 import estimators from here, such as
`from tensorflow.contrib.learn.python.learn.estimators import run_config`.
"""

from __future__ import annotations

# Path below `contrib.learn.python.learn` -> public packages below `tf.contrib.learn`,
# ("." is the package itself), then modules of lib/contrib/learn, which begin with "/",
# or of tfteach, which begin with "//".
_ROWS = """
datasets: datasets
datasets.base: /datasets/base //compat/examples/tutorials/mnist/download
datasets.mnist: datasets.mnist
datasets.synthetic: /datasets/synthetic
estimators: . /head_functions /keys /run_config
estimators._sklearn: . /sklearn_interface /sklearn_functions
estimators.test_data: //compat/testing/iris_inputs
estimators.debug: /debug
estimators.constants: /keys
estimators.dnn: . /dnn
estimators.dnn_linear_combined: . /dnn_linear_combined /layers
estimators.estimator: . /estimator
estimators.head: head . /single_heads /multi_head
estimators.kmeans: . /kmeans
estimators.linear: . /linear
estimators.logistic_regressor: . /logistic_regressor
estimators.metric_key: /keys
estimators.model_fn: .
estimators.prediction_key: .
estimators.rnn_common: /rnn_common
estimators.run_config: . /run_config
estimators.tensor_signature: /tensor_signature
evaluable: .
experiment: . /experiment
export_strategy: .
graph_actions: graph_actions /graph_fetches
learn_io: io
learn_io.generator_io: io
learn_io.graph_io: io /graph_io /queued_features
learn_io.numpy_io: io
learn_io.pandas_io: io
learn_io.data_feeder: io.data_feeder /data_feeder
learn_runner: learn_runner
learn_runner_lib: learn_runner
metric_spec: . /metric_spec
monitors: monitors
models: models
ops: ops
ops.embeddings_ops: ops
ops.losses_ops: ops
ops.seq2seq_ops: ops
preprocessing: preprocessing
preprocessing.categorical: preprocessing.categorical
preprocessing.categorical_vocabulary: preprocessing.categorical_vocabulary
preprocessing.text: preprocessing.text
trainable: .
utils: utils
utils.gc: /gc
utils.input_fn_utils: /serving_input_fns
utils.saved_model_export_utils: /saved_model_exports /export_strategies
"""
_SDCA = "contrib.linear_optimizer.python"
_ROOT = "contrib.learn.python.learn"
# The names that these had before they were public.
ALIASES = {
    f"{_ROOT}.estimators.head._{name}": name
    for name in "Head binary_svm_head multi_class_head multi_head multi_label_head "
    "poisson_regression_head regression_head".split()
} | {
    f"{_ROOT}.estimators.dnn_linear_combined._get_embedding_variable": (
        "embedding_variables"
    )
}


def _place(name: str) -> str:
    """The module's name: below `tf.`, or with its path in this package."""
    if name.startswith("//"):
        return "tfteach" + name[1:].replace("/", ".")
    if name.startswith("/"):
        return "tfteach.lib.contrib.learn" + name.replace("/", ".")
    return "contrib.learn" if name == "." else f"contrib.learn.{name}"


def rows() -> dict[str, tuple[str, ...]]:
    """Path below `tensorflow.` -> the modules that define its names."""
    table = {
        "contrib.learn.python": ("contrib.learn",),
        _ROOT: ("contrib.learn", "contrib.learn.io", "contrib.learn.utils"),
    }
    for name in (_SDCA, f"{_SDCA}.sdca_optimizer"):
        table[name] = ("contrib.linear_optimizer",)
    for line in _ROWS.strip().splitlines():
        path, names = line.split(": ")
        table[f"{_ROOT}.{path}"] = tuple(map(_place, names.split()))
    return table
