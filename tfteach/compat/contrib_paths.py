"""Paths of modules in `tensorflow.contrib` that programs import from.

As in `inner_paths.py`: a path, and the public packages and modules of this package that
have its names.

Source: contrib/factorization/python/ops/*.py (API).
"""

from __future__ import annotations

_FOREST = "tfteach.lib.contrib.tensor_forest"
_FACTORIZATION = "tfteach.lib.contrib.factorization"
_LAYERS = "tfteach.lib.contrib.layers"
_TRAINING = "tfteach.lib.contrib.training"
# Folder -> modules, whose names are those of the package.
_MODULES = {
    "crf.python.ops": "crf",
    "eager.python": "datasets network saver tfe",
    "image.python.ops": "image_ops",
    "framework.python.framework": "checkpoint_utils tensor_util",
    "framework.python.ops": "arg_scope audio_ops ops variables",
    "layers.python.layers": "embedding_ops encoders initializers layers normalization "
    "optimizers regularizers summaries utils",
    "legacy_seq2seq.python.ops": "seq2seq",
    "losses.python.losses": "loss_ops",
    "metrics.python.ops": "metric_ops set_ops",
    "rnn.python.ops": "core_rnn_cell fused_rnn_cell gru_ops lstm_ops rnn rnn_cell",
    "training.python.training": "device_setter evaluation hparam training",
    "seq2seq.python.ops": "attention_wrapper basic_decoder beam_search_decoder decoder "
    "helper loss",
}
# Package -> its modules, each with further modules of this package.
_ROWS = {
    "contrib.factorization.python.ops": {
        "clustering_ops": f"{_FACTORIZATION}.kmeans {_FACTORIZATION}.kmeans_start",
        "factorization_ops": "",
        "gmm": "",
        "gmm_ops": f"{_FACTORIZATION}.gmm_ops",
        "wals": f"{_FACTORIZATION}.wals",
        "kmeans": f"{_FACTORIZATION}.kmeans_clustering {_FACTORIZATION}.features",
    },
    "contrib.training.python.training": {
        "sequence_queueing_state_saver": f"{_TRAINING}.sequence_inputs",
        "bucket_ops": "",
        "resample": f"{_TRAINING}.resample",
        "sampling_ops": f"{_TRAINING}.sampling_ops",
    },
    "contrib.layers.python.layers": {
        "feature_column": " ".join(
            f"{_LAYERS}.{name}"
            for name in "feature_column real_valued_columns sparse_columns "
            "crossed_column embedding_columns parse_feature_columns".split()
        ),
        "feature_column_ops": f"{_LAYERS}.feature_column_ops {_LAYERS}.weighted_sums",
    },
}
# Names that have another name here.
ALIASES = {
    "contrib.factorization.python.ops.wals._SweepHook": "SweepHook",
    "contrib.factorization.python.ops.wals._StopAtSweepHook": "StopAtSweepHook",
    "contrib.factorization.python.ops.kmeans._parse_features_if_necessary": "points_of",
    "contrib.layers.python.layers.feature_column."
    "_create_sequence_feature_spec_for_parsing": (
        "create_sequence_feature_spec_for_parsing"
    ),
    "contrib.layers.python.layers.feature_column_ops._Transformer": "Transformer",
    "contrib.training.python.training.sequence_queueing_state_saver."
    "_SequenceInputWrapper": "SequenceInputWrapper",
}


def rows() -> dict[str, tuple[str, ...]]:
    """Path below `tensorflow.` -> where its names are."""
    found: dict[str, tuple[str, ...]] = {}
    for path, modules_of in _MODULES.items():
        folder = f"contrib.{path}"
        found[folder] = ("contrib." + path.partition(".")[0],)
        for name in modules_of.split():
            found[f"{folder}.{name}"] = found[folder]
    for name in _MODULES["seq2seq.python.ops"].split():
        path = f"contrib.seq2seq.python.ops.{name}"
        found[path] += ("tfteach.lib.contrib.seq2seq.inner",)
    found["contrib.rnn.python.ops.core_rnn_cell"] += ("tfteach.lib.contrib.rnn.linear",)
    found |= {
        "contrib.framework.python.ops.audio_ops": ("audio",),
        "contrib.eager.python.evaluator": ("tfteach.lib.contrib.eager.evaluator",),
        "contrib.eager.python.metrics": ("contrib.eager.metrics",),
        "contrib.eager.python.metrics_impl": ("contrib.eager.metrics",),
        "contrib.decision_trees": (),
        "contrib.decision_trees.proto": (),
        "contrib.layers.python.layers.utils": ("contrib.slim.utils",),
        "contrib.lookup.lookup_ops": ("contrib.lookup",),
        "contrib.metrics.python.ops.set_ops": ("sets",),
        "contrib.tensor_forest.client": (),
        "contrib.tensor_forest.client.eval_metrics": (f"{_FOREST}.eval_metrics",),
        "contrib.tensor_forest.client.random_forest": (
            "contrib.tensor_forest.random_forest",
            f"{_FOREST}.random_forest",
        ),
        "contrib.tensor_forest.proto": (),
    }
    for folder, modules in _ROWS.items():
        package = ".".join(folder.split(".")[:2])
        found[folder] = ()  # a function may have the name of a module: gmm
        for name, places in modules.items():
            found[f"{folder}.{name}"] = (package, *places.split())
    return found
