"""Names of `tensorflow.python.ops.boosted_trees_ops`, which has no public module.

Source: python/ops/boosted_trees_ops.py (API).
"""

from __future__ import annotations

from typing import Any

from tfteach.compat import generated_ops
from tfteach.lib.estimator.boosted_trees.ensemble_resources import (
    PruningMode,
    QuantileAccumulator,
    TreeEnsemble,
)

__all__ = ["PruningMode", "QuantileAccumulator", "TreeEnsemble"]

_STREAM = "boosted_trees_quantile_stream_resource"
# Name there -> generated function.
_FUNCTIONS = {
    **{
        name: f"boosted_trees_{name}"
        for name in "calculate_best_feature_split calculate_best_gains_per_feature "
        "center_bias create_quantile_stream_resource example_debug_outputs "
        "make_quantile_summaries make_stats_summary predict "
        "sparse_calculate_best_feature_split training_predict update_ensemble "
        "update_ensemble_v2".split()
    },
    **{
        name: name
        for name in "boosted_trees_aggregate_stats boosted_trees_bucketize "
        "boosted_trees_sparse_aggregate_stats".split()
    },
    "get_bucket_boundaries": f"{_STREAM}_get_bucket_boundaries",
    "is_quantile_resource_initialized": f"is_{_STREAM}_initialized",
    "quantile_add_summaries": f"{_STREAM}_add_summaries",
    "quantile_flush": f"{_STREAM}_flush",
    "quantile_resource_deserialize": f"{_STREAM}_deserialize",
    "quantile_resource_handle_op": f"{_STREAM}_handle_op",
}


def __getattr__(name: str) -> Any:
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(generated_ops.module("ops.gen_boosted_trees_ops"), _FUNCTIONS[name])
