"""Why boosted trees predict what they do: importances and contributions of columns.

Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py; A. Palczewska et
al., "Interpreting random forest classification models using a feature contribution
method", 2013, for contributions.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.framework.protos.pool import proto_module


def _by_size(sums: dict[str, Any]) -> OrderedDict[str, Any]:
    pairs = sorted(sums.items(), key=lambda pair: abs(pair[1]), reverse=True)
    return OrderedDict(pairs)


def importances(
    serialized: bytes, names: Sequence[str], normalize: bool
) -> OrderedDict[str, Any]:
    """Column -> the sum of the gains of its splits, the largest first.

    Args:
      serialized: a TreeEnsemble message.
      names: for each feature the name of its column.
      normalize: whether to divide the sums by their total.

    Raises:
      ValueError: the ensemble has no splits, or one of a negative gain.
    """
    ensemble = proto_module("boosted_trees").TreeEnsemble.FromString(serialized)
    sums = dict.fromkeys(names, 0.0)
    is_split = False
    for tree, weight in zip(ensemble.trees, ensemble.tree_weights, strict=True):
        for node in tree.nodes:
            kind = node.WhichOneof("node")
            if kind in (None, "leaf"):
                continue
            is_split = True
            split = getattr(node, kind)
            sums[names[split.feature_id]] += node.metadata.gain * weight
    if not is_split:
        raise ValueError(
            "The ensemble has no splits yet: train the estimator before asking for the "
            "importances of its features."
        )
    if normalize:
        if min(sums.values()) < 0:
            raise ValueError(
                "feature_importances must be all non-negative to be normalized."
            )
        total = sum(sums.values())
        sums = {name: gain / total for name, gain in sums.items()}
    return _by_size(sums)


def contributions(
    serialized: bytes, names: Sequence[str], activation: Callable[[Any], Any]
) -> tuple[float, OrderedDict[str, Any]]:
    """The bias of all predictions, and what each column adds to that of an example.

    Args:
      serialized: a DebugOutput message: the features that splits read on the example's
        way, and the logits before and after each.
      names: for each feature the name of its column.
      activation: from logits to predictions.
    """
    output = proto_module("boosted_trees").DebugOutput.FromString(serialized)
    path = activation(np.array(output.logits_path, np.float64))
    sums: dict[str, Any] = {name: np.float64(0) for name in names}
    for feature, step in zip(output.feature_ids, np.diff(path), strict=True):
        sums[names[feature]] += step
    return float(path[0]) if len(path) else 0.0, _by_size(sums)
