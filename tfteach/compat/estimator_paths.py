"""Inner modules of estimators and feature columns, and their names here.

`inner_paths.py` includes these tables.
"""

from __future__ import annotations

_HEADS = " ".join(
    f"tfteach.lib.estimator.heads.{name}"
    for name in "head binary_head multi_class_head regression_head head_checks".split()
)
_EXPORT = (
    "estimator.export estimator.experimental tfteach.lib.estimator.serving_input "
    "tfteach.lib.estimator.saved_model tfteach.lib.estimator.supervised_input "
    "tfteach.lib.estimator.supervised_output"
)

_COLUMNS = "feature_column " + " ".join(
    f"tfteach.lib.feature_column.{name}"
    for name in "base_column categorical_columns crossed_column dense_columns "
    "dense_features first_version input_layer input_layer_object linear_model "
    "numeric_columns parse_spec sequence_columns serialization shared_embeddings "
    "transformation_cache".split()
)
_SEQUENCES = (
    "feature_column tfteach.lib.feature_column.sequence_columns "
    "tfteach.lib.feature_column.sequence_features "
    "tfteach.lib.feature_column.input_layer"
)

# Inner module below `tensorflow.python.` -> public packages, then modules of this
# package, in which its names are looked up.
ROWS: dict[str, str] = {
    "estimator.canned.boosted_trees": "estimator "
    "tfteach.lib.estimator.boosted_trees.estimators",
    "estimator.canned.boosted_trees_utils": "tfteach.lib.estimator.boosted_trees."
    "explanations",
    "estimator.canned.head": f"{_HEADS} estimator",
    "estimator.canned.kmeans": "estimator.experimental contrib.factorization",
    "estimator.canned.linear": "estimator tfteach.lib.estimator.canned.linear "
    "tfteach.lib.estimator.canned.logit_fns",
    "estimator.canned.optimizers": "tfteach.lib.estimator.canned.optimizers",
    "estimator.canned.rnn": "estimator.experimental tfteach.lib.estimator.canned.rnn",
    "estimator.canned.saved_model_estimator": "contrib.estimator",
    "estimator.early_stopping": "estimator.experimental "
    "tfteach.lib.estimator.early_stopping",
    "estimator.estimator": "estimator tfteach.lib.estimator.estimator "
    "tfteach.lib.estimator.training_session "
    "tfteach.lib.estimator.evaluation_summary",
    "estimator.export.export": _EXPORT,
    "estimator.export.export_lib": _EXPORT,
    "estimator.extenders": "estimator",
    "estimator.gc": "tfteach.lib.contrib.learn.gc",
    "estimator.head.head_utils": "estimator tfteach.compat.testing.head_asserts",
    "estimator.head.sequential_head": "estimator "
    "tfteach.lib.estimator.heads.sequential_head",
    "estimator.hooks.hooks": "estimator.experimental estimator "
    "tfteach.lib.estimator.early_stopping",
    "estimator.inputs.queues": "estimator.inputs",
    "estimator.inputs.queues.feeding_functions": "tfteach.lib.estimator."
    "feeding_functions",
    "estimator.inputs.queues.feeding_queue_runner": "tfteach.lib.estimator."
    "feeding_queue_runner",
    "estimator.model_fn": "estimator tfteach.lib.estimator.estimator_spec "
    "tfteach.lib.estimator.model_results tfteach.lib.estimator.canned.logit_fns",
    "estimator.run_config": "estimator tfteach.lib.estimator.cluster_settings "
    "tfteach.lib.estimator.run_config",
    "estimator.training": "estimator tfteach.lib.estimator.train_and_evaluate",
    "estimator.util": "tfteach.lib.estimator.input_fn",
    **{
        f"contrib.estimator.python.estimator.{name}": (
            f"contrib.estimator tfteach.lib.contrib.estimator.{name}"
        )
        for name in "boosted_trees dnn dnn_linear_combined dnn_with_layer_annotations "
        "exporter extenders head linear logit_fns multi_head rnn".split()
    },
    "feature_column.dense_features": _COLUMNS,
    "feature_column.dense_features_v2": _COLUMNS,
    "feature_column.feature_column": (
        f"tfteach.lib.feature_column.first_version_columns {_COLUMNS}"
    ),
    "feature_column.feature_column_v2": _COLUMNS,
    "feature_column.serialization": _COLUMNS,
    "feature_column.sequence_feature_column": _SEQUENCES,
    "contrib.feature_column.python.feature_column.sequence_feature_column": (
        f"contrib.feature_column {_SEQUENCES}"
    ),
    "keras.activations": "math nn",
    "keras.engine.base_layer": "layers",
    "keras.initializers": "initializers",
    "keras.utils.losses_utils": "tfteach.lib.losses.reduction_v2",
    "lib.io.python_io": "python_io",
    "training.checkpoint_state_pb2": "train",
    "util.function_utils": "tfteach.lib.estimator.input_fn",
}

# Names that have another name in the packages above.
ALIASES: dict[str, str] = {
    "ops.variables.VariableV1": "Variable",
    **{
        f"estimator.canned.boosted_trees._{name}": name
        for name in ("create_classification_head", "create_regression_head")
    },
    "estimator.canned.linear._compute_fraction_of_zero": "compute_fraction_of_zero",
    "estimator.canned.head._Head": "Head",
    "estimator.canned.head._binary_logistic_head_with_sigmoid_cross_entropy_loss": (
        "BinaryHead"
    ),
    "estimator.canned.head._multi_class_head_with_softmax_cross_entropy_loss": (
        "MultiClassHead"
    ),
    "estimator.canned.head._regression_head": "RegressionHead",
    "estimator.canned.optimizers.get_optimizer_instance": "optimizer_of",
    "estimator.estimator._load_global_step_from_checkpoint_dir": "global_step_of",
    "estimator.estimator._write_dict_to_summary": "write_results",
    "estimator.estimator.EstimatorV2": "Estimator",
    "estimator.estimator_lib.EstimatorV2": "Estimator",
    **{
        f"estimator.gc._{name}": name
        for name in "get_paths largest_export_versions mod_export_version negation "
        "one_of_every_n_export_versions union".split()
    },
    **{
        f"estimator.inputs.queues.feeding_functions._{name}": name
        for name in "ArrayFeedFn GeneratorFeedFn OrderedDictNumpyFeedFn PandasFeedFn "
        "enqueue_data fill_array pad_if_needed".split()
    },
    "estimator.inputs.queues.feeding_queue_runner._FeedingQueueRunner": (
        "FeedingQueueRunner"
    ),
    **{
        f"estimator.head.head_utils._{name}": name
        for name in "assert_no_hooks assert_simple_summaries initialize_variables "
        "DEFAULT_SERVING_KEY".split()
    },
    "estimator.head.sequential_head._SequentialHead": "SequentialHead",
    **{
        f"contrib.estimator.python.estimator.rnn._{name}": name
        for name in "make_rnn_cell_fn rnn_logit_fn_builder rnn_model_fn "
        "select_last_activations".split()
    },
    "estimator.util._DatasetInitializerHook": "DatasetInitializerHook",
    "feature_column.serialization._column_name_with_class_name": "name_with_class",
    "keras.initializers.Constant": "constant",
    "keras.initializers.Zeros": "zeros",
    "util.function_utils.fn_args": "argument_names",
    **{
        f"feature_column.feature_column._{name}": f"{name}V1"
        for name in "CategoricalColumn DenseColumn FeatureColumn "
        "SequenceDenseColumn".split()
    },
    "feature_column.feature_column._LazyBuilder": "LazyBuilder",
    "feature_column.feature_column._LinearModel": "ScopedLinearModel",
    "feature_column.feature_column._transform_features": "transform_features",
    "feature_column.feature_column_v2._StateManagerImpl": "StateManagerImpl",
    "feature_column.feature_column_v2._transform_features_v2": (
        "transform_features_v2"
    ),
}

# Modules of parts that tfteach lacks: importing one succeeds, since programs import
# more than they use; looking up a name in it raises.
ABSENT = {
    "distribute.collective_all_reduce_strategy": "distribution strategies",
    "distribute.distribute_coordinator": "distribution strategies",
    "eager.backprop": "eager execution",
    **{
        f"keras.{name}": "Keras"
        for name in "layers layers.recurrent layers.recurrent_v2 losses metrics "
        "optimizer_v2 optimizer_v2.adam optimizer_v2.gradient_descent "
        "optimizer_v2.optimizer_v2".split()
    },
}
