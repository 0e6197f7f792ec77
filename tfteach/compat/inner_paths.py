"""The paths below `tensorflow.python`, and where their names are here.

`internals.py` looks names up with these tables.
"""

from __future__ import annotations

from tfteach.compat import (
    autograph_paths,
    contrib_learn_paths,
    contrib_paths,
    data_paths,
    estimator_paths,
    function_paths,
    generated_ops,
    training_paths,
    version_2_paths,
)

# Inner module below `tensorflow.python.` -> public packages ("." is tf itself), then
# modules of this package.  `x.*` means x and the modules of _INSIDE below it.
_ROWS = """
client.device_lib: client.device_lib
client.session: . tfteach.engine.session.session
client.timeline: client.timeline
compat.compat: compat
eager.backprop: . tfteach.autodiff.gradient_functions
eager.context: . contrib.eager tfteach.engine.eager.context
eager.execution_callbacks: tfteach.lib.contrib.eager.execution_callbacks
estimator.*: estimator
estimator.canned.*: estimator
estimator.export.*: estimator.export
estimator.head.*: estimator tfteach.lib.estimator.heads.head
estimator.hooks.*: estimator train
estimator.inputs.*: estimator.inputs
feature_column.*: feature_column
framework.combinations: tfteach.compat.testing.combinations
framework.common_shapes: tfteach.framework.shape
framework.config: config config.experimental config.threading config.optimizer
framework.constant_op: .
framework.device: . tfteach.framework.device
framework.device_spec: tfteach.framework.device
framework.dtypes: dtypes . tfteach.compat.dtype_refs
framework.errors: errors
framework.errors_impl: errors
framework.function: tfteach.lib.functions.defun
framework.function_def_to_graph: tfteach.lib.functions.graph_to_function_def
framework.graph_io: train
framework.graph_to_function_def: tfteach.lib.functions.graph_to_function_def
framework.graph_util: graph_util
framework.graph_util_impl: graph_util
framework.importer: graph_util .
framework.indexed_slices: .
framework.meta_graph: train tfteach.lib.files.meta_graph tfteach.compat.inner_names
framework.ops: . graph_util tfteach.framework.convert
framework.random_seed: . random tfteach.ops.random.random_ops
framework.smart_cond: contrib.framework
framework.sparse_tensor: . sparse tfteach.ops.core.sparse_tensor
framework.tensor_shape: . tfteach.compat.inner_names tfteach.framework.dimension
framework.tensor_spec: . tfteach.framework.tensor_spec
framework.tensor_util: . contrib.util tfteach.ops.array.static_values
framework.test_combinations: tfteach.compat.testing.combinations
framework.test_util: test tfteach.compat.testing.graph_asserts
framework.type_spec: . tfteach.framework.type_spec
framework.versions: . version
layers.*: layers
layers.utils: layers contrib.framework
lib.io.file_io: tfteach.compat.platform.gfile_io tfteach.compat.platform.gfile
lib.io.python_io: python_io
lib.io.tf_record: python_io io
ops.array_ops: . manip image nn
ops.bitwise_ops: bitwise
ops.boosted_trees_ops: tfteach.compat.boosted_trees_ops
ops.candidate_sampling_ops: nn random
ops.check_ops: . debugging
ops.clip_ops: .
ops.cond_v2: tfteach.control.cond_v2
ops.confusion_matrix: . math tfteach.control.checks.weights
ops.control_flow_ops: . tfteach.compat.control_flow_names
ops.control_flow_util: tfteach.control.control_flow_nodes
ops.control_flow_v2_toggles: tfteach.control.control_flow_v2_toggles
ops.ctc_ops: nn
ops.custom_gradient: .
ops.data_flow_ops: . io queue tfteach.compat.data_flow_ops
ops.distributions.*: distributions
ops.embedding_ops: nn
ops.functional_ops: . tfteach.lib.functions.functional_ops
ops.gradient_checker: test
ops.gradients: .
ops.gradients_impl: .
ops.histogram_ops: .
ops.image_ops: image
ops.image_ops_impl: image
ops.init_ops: . initializers
ops.io_ops: . io
ops.linalg.*: linalg
ops.linalg_ops: . linalg
ops.list_ops: tfteach.control.list_ops
ops.logging_ops: . summary
ops.lookup_ops: . contrib.lookup lookup
ops.losses.*: losses
ops.map_fn: .
ops.math_ops: . math
ops.metrics: metrics
ops.metrics_impl: metrics
ops.nn: nn
ops.nn_impl: nn
ops.nn_ops: nn
ops.numerics: . debugging
ops.parsing_ops: . io tfteach.ops.io.decode_raw
ops.partitioned_variables: .
ops.ragged.*: tfteach.compat.inner_names .
ops.random_ops: . random
ops.resource_variable_ops: . tfteach.variables.resource
ops.resources: tfteach.lib.training.resources
ops.rnn: nn
ops.rnn_cell: nn.rnn_cell contrib.rnn
ops.rnn_cell_impl: nn.rnn_cell contrib.rnn tfteach.lib.contrib.rnn.linear
ops.script_ops: .
ops.session_ops: .
ops.sets: sets
ops.signal.*: signal
ops.sparse_ops: . sparse tfteach.ops.sparse.sparse_serialize
ops.special_math_ops: . math
ops.standard_ops: .
ops.state_ops: .
ops.string_ops: . strings
ops.summary_ops: summary
ops.template: .
ops.tensor_array_ops: . tfteach.control.tensor_array_spec
ops.variable_scope: . tfteach.variables.scope.get_variable contrib.eager
ops.variables: . tfteach.variables.ref tfteach.variables.partitioned
platform.app: app
platform.benchmark: test
platform.flags: flags
platform.gfile: gfile
platform.googletest: test
platform.resource_loader: resource_loader
platform.sysconfig: sysconfig
platform.test: test
platform.tf_logging: logging .
pywrap_tensorflow: train errors
saved_model.*: saved_model
summary.*: summary
summary.summary_iterator: train
summary.writer.*: summary
tf2: tfteach.framework.tf2
tools.freeze_graph: tfteach.lib.inference.freeze_graph
tools.inspect_checkpoint: tfteach.lib.files.inspect_checkpoint
tools.optimize_for_inference: tfteach.lib.inference.optimize_for_inference
tools.optimize_for_inference_lib: tfteach.lib.inference.optimize_for_inference_lib
tools.strip_unused_lib: tfteach.lib.inference.strip_unused
training.*: train
training.saver: train tfteach.lib.files.saver tfteach.lib.files.saver_builder
training.saving.saveable_object: tfteach.lib.files.saveable_object
training.saving.saveable_object_util: tfteach.lib.files.saveable_variables
util.compat: compat
util.deprecation: tfteach.framework.deprecation
util.tf_inspect: tfteach.compat.tf_inspect
util.nest: nest tfteach.framework.nest tfteach.framework.shallow_nest
"""
_INSIDE = {
    "estimator": "estimator estimator_lib exporter keras mode_keys model_fn run_config "
    "training util",
    "estimator.canned": "baseline boosted_trees dnn dnn_linear_combined linear "
    "metric_keys optimizers parsing_utils prediction_keys",
    "estimator.export": "export_output",
    "estimator.head": "base_head binary_class_head head_utils multi_class_head "
    "multi_head multi_label_head regression_head sequential_head",
    "estimator.hooks": "basic_session_run_hooks hooks session_run_hook",
    "estimator.inputs": "inputs numpy_io pandas_io",
    "feature_column": "dense_features feature_column feature_column_lib "
    "feature_column_v2 sequence_feature_column serialization",
    "layers": "base convolutional core layers normalization pooling utils",
    "ops.distributions": "bernoulli beta categorical dirichlet distribution "
    "distributions exponential gamma kullback_leibler laplace multinomial normal "
    "student_t uniform util",
    "ops.linalg": "linalg linalg_impl",
    "ops.signal": "dct_ops fft_ops mel_ops mfcc_ops reconstruction_ops shape_ops "
    "signal spectral_ops window_ops",
    "ops.ragged": "ragged_array_ops ragged_concat_ops ragged_conversion_ops "
    "ragged_factory_ops ragged_math_ops ragged_tensor ragged_tensor_value",
    "ops.losses": "losses losses_impl loss_reduction util",
    "saved_model": "builder builder_impl constants loader loader_impl main_op "
    "saved_model signature_constants signature_def_utils signature_def_utils_impl "
    "simple_save tag_constants utils utils_impl",
    "summary": "summary summary_iterator",
    "summary.writer": "event_file_writer writer writer_cache",
    "training": "adadelta adagrad adagrad_da adam basic_loops "
    "basic_session_run_hooks checkpoint_management checkpoint_utils coordinator "
    "device_setter ftrl gradient_descent input learning_rate_decay momentum "
    "monitored_session moving_averages optimizer proximal_adagrad "
    "proximal_gradient_descent queue_runner queue_runner_impl rmsprop saver server_lib "
    "session_manager session_run_hook slot_creator summary_io supervisor "
    "sync_replicas_optimizer training training_util warm_starting_util",
}


def _table() -> dict[str, tuple[str, ...]]:
    table = {}
    for line in _ROWS.strip().splitlines():
        path, packages = line.split(": ")
        row = tuple(packages.split())
        table[path.removesuffix(".*")] = row
        if path.endswith(".*"):
            outer = path.removesuffix(".*")
            for name in _INSIDE[outer].split():
                # saved_model.loader is tf.saved_model.loader where that exists.  Some
                # names of training.moving_averages have no public name.
                ours = f"tfteach.lib.{outer}.{name}"
                table[f"{outer}.{name}"] = (f"{row[0]}.{name}", *row, ours)
    return table


TABLE = _table() | data_paths.rows() | autograph_paths.ROWS
# Modules of this package with further names of an inner module.
_MORE = {
    "framework.ops": "tfteach.framework.graphdef.meta_graph",
    "ops.control_flow_ops": "tfteach.ops.core.control_flow_ops tfteach.control.branch "
    "tfteach.control.loop tfteach.framework.control_flow_context",
    "ops.control_flow_util": "tfteach.control.control_flow_v2_toggles",
    "ops.sparse_ops": "tfteach.ops.sparse.sparse_cross",
    **training_paths.MORE,
    **function_paths.MORE,
    **version_2_paths.MORE,
}
for _path, _modules in _MORE.items():
    TABLE[_path] = TABLE.get(_path, ()) + tuple(_modules.split())

TABLE |= {path: tuple(row.split()) for path, row in estimator_paths.ROWS.items()}
TABLE |= {path: () for path in estimator_paths.ABSENT if path not in TABLE}

# Names that have another name in the public packages.
ALIASES = {
    **data_paths.ALIASES,
    **estimator_paths.ALIASES,
    "framework.function._DefinedFunction": "PythonFunction",
    "framework.function._from_definition": "from_definition",
    "framework.config.get_optimizer_experimental_options": "get_experimental_options",
    "framework.config.get_optimizer_jit": "get_jit",
    "framework.config.set_optimizer_experimental_options": "set_experimental_options",
    "framework.config.set_optimizer_jit": "set_jit",
    "framework.tensor_shape.as_shape": "TensorShape",
    "framework.tensor_util.MakeNdarray": "make_ndarray",
    "framework.tensor_util.constant_value": "get_static_value",
    "framework.test_util.TensorFlowTestCase": "TestCase",
    "layers.utils.constant_value": "smart_constant_value",
    "ops.array_ops.squeeze_v2": "squeeze",
    **{
        f"ops.control_flow_ops.{theirs}": ours
        for theirs, ours in (
            ("_Enter", "enter"),
            ("_Identity", "identity_or_ref"),
            ("_NextIteration", "next_iteration"),
            ("_SwitchRefOrTensor", "switch_ref_or_tensor"),
        )
    },
    "ops.list_ops._build_element_shape": "build_element_shape",
    "ops.sparse_ops._DEFAULT_HASH_KEY": "_DEFAULT_KEY",
    **{
        f"ops.init_ops.{name}": f"{generated_ops.function_name(name)}_initializer"
        for name in "Zeros Ones Constant RandomUniform RandomNormal TruncatedNormal "
        "VarianceScaling UniformUnitScaling Orthogonal GlorotUniform "
        "GlorotNormal".split()
    },
    # The functions of `tf.gfile`; those of `tf.io.gfile` have names that end in _v2.
    **{
        f"lib.io.file_io.{name}": f"{name}_v1"
        for name in "copy rename stat walk".split()
    },
    **{
        f"lib.io.file_io.{old}_v2": new
        for old, new in (
            ("copy", "copy"),
            ("create_dir", "mkdir"),
            ("delete_file", "remove"),
            ("delete_recursively", "rmtree"),
            ("file_exists", "exists"),
            ("get_matching_files", "glob"),
            ("is_directory", "isdir"),
            ("list_directory", "listdir"),
            ("recursive_create_dir", "makedirs"),
            ("rename", "rename"),
            ("stat", "stat"),
            ("walk", "walk"),
        )
    },
    "ops.parsing_ops.decode_raw": "decode_raw_v2",
    "ops.parsing_ops.decode_raw_v1": "decode_raw",
    "ops.string_ops.string_format": "format",
    "ops.string_ops.string_length": "length",
    "pywrap_tensorflow.NewCheckpointReader": "NewCheckpointReader",
}
ALIASES |= contrib_paths.ALIASES | training_paths.ALIASES
ALIASES |= autograph_paths.ALIASES | function_paths.ALIASES
ALIASES |= version_2_paths.ALIASES
# Programs import these modules for the gradients that they register; here the classes
# of the ops know them.
FOR_GRADIENTS = {
    f"ops.{family}_grad"
    for family in "array control_flow cudnn_rnn data_flow image linalg manip math nn "
    "optional random rnn sparse state tensor_array".split()
}

PARENTS = {
    ".".join(parts[:depth])
    for parts in (path.split(".") for path in TABLE)
    for depth in range(len(parts))
}

TABLE |= contrib_paths.rows() | contrib_learn_paths.rows()
ALIASES |= contrib_learn_paths.ALIASES
