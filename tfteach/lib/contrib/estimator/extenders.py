"""Optimizers and Estimators that wrap others.

Source: tensorflow_estimator/contrib/estimator/python/estimator/extenders.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.export_outputs import PredictOutput
from tfteach.lib.estimator.heads.head import PREDICT
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)
from tfteach.lib.training.optimizer import Optimizer
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.nn.clip_by_norm import clip_by_global_norm
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_to_dense


class _ClippedGradients(Optimizer):
    """Another optimizer, whose gradients are clipped."""

    def __init__(self, optimizer: Optimizer, clip_norm: Any) -> None:
        super().__init__(False, "ClipByNorm" + optimizer.get_name())
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Operation:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = clip_by_global_norm(gradients, self._clip_norm)
        pairs = list(zip(clipped, variables, strict=True))
        return self._optimizer.apply_gradients(pairs, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()


@export("contrib.estimator.clip_gradients_by_norm")
def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: TensorLike) -> Optimizer:
    """An optimizer that scales gradients down to a global norm.

    Args:
      optimizer: the optimizer that applies them.
      clip_norm: the maximum of `tf.global_norm(gradients)`.

    Returns:
      A `tf.train.Optimizer`.

    Example:
      >>> tf.contrib.estimator.clip_gradients_by_norm(
      ...     tf.train.AdagradOptimizer(0.05), clip_norm=1.0
      ... )

    Source: tensorflow_estimator/contrib/estimator/python/estimator/extenders.py.
    """
    return _ClippedGradients(optimizer, clip_norm)


@export("contrib.estimator.forward_features")
def forward_features(
    estimator: Estimator,
    keys: str | Sequence[str] | None = None,
    sparse_default_values: Mapping[str, TensorLike] | None = None,
) -> Estimator:
    """An Estimator whose predictions also hold features, such as examples' ids.

    Args:
      estimator: the Estimator; it stays as it is.
      keys: the features' keys; None for all.
      sparse_default_values: what stands for missing values of a SparseTensor, by key.

    Returns:
      An Estimator with the same directory and configuration.

    Raises:
      TypeError: `keys` are no strings.
      ValueError: (when the model is built) a feature is missing or sparse, or a
        prediction has its key, or predictions are no dictionary.

    Example:
      >>> with_id = tf.contrib.estimator.forward_features(estimator, "id")
      >>> next(with_id.predict(input_fn))["id"]

    Source: tensorflow_estimator/contrib/estimator/python/estimator/extenders.py.
    """
    wanted: list[str] | None = _checked_keys(keys)
    defaults = dict(sparse_default_values or {})

    def model_fn(
        features: Any, labels: Any, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if not isinstance(spec.predictions, Mapping):
            raise ValueError(
                "Predictions should be a dict to be able to forward features. Given: "
                f"{type(spec.predictions)}"
            )
        added = _forwarded(features, wanted, spec.predictions, defaults)
        outputs = _with_outputs(spec.export_outputs, added)
        return spec._replace(
            predictions={**spec.predictions, **added}, export_outputs=outputs
        )

    return Estimator(model_fn, estimator.model_dir, estimator.config)


def _checked_keys(keys: Any) -> list[str] | None:
    if keys is None:
        return None
    if isinstance(keys, str):
        return [keys]
    if not isinstance(keys, list | tuple):
        raise TypeError(
            f"keys should be either a string or a list of strings. Given: {type(keys)}"
        )
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                "All items in the given keys list should be a string. There exist an "
                f"item with type: {type(key)}"
            )
    return list(keys)


def _forwarded(
    features: Mapping[str, Any],
    keys: Iterable[str] | None,
    predictions: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> dict[str, Any]:
    """The features to add to predictions."""
    found: dict[str, Any] = {}
    for key in features.keys() if keys is None else keys:
        if key not in features:
            raise ValueError(
                f'keys should be exist in features. Key "{key}" is not in features '
                f"dict. features dict has following keys: {features.keys()}. Please "
                "check arguments of forward_features."
            )
        if key in predictions:
            raise ValueError(
                f"Cannot forward feature key ({key}). Since it does exist in "
                f"predictions. Existing prediction keys: {predictions.keys()}. Please "
                "check arguments of forward_features."
            )
        feature = features[key]
        if key in defaults and isinstance(feature, SparseTensor):
            feature = sparse_tensor_to_dense(feature, default_value=defaults[key])
        if not isinstance(feature, Tensor):
            raise ValueError(
                f"Feature ({key}) should be a Tensor. Please use `keys` argument of "
                "forward_features to filter unwanted features, oradd key to argument "
                f"`sparse_default_values`.Type of features[{key}] is {type(feature)}."
            )
        found[key] = feature
    return found


def _with_outputs(outputs: Any, added: Mapping[str, Any]) -> Any:
    """Export outputs, of which those of predictions have the features, too."""
    found = dict(outputs or {})
    for key in (PREDICT, DEFAULT_SERVING_SIGNATURE_DEF_KEY):
        if isinstance(found.get(key), PredictOutput):
            found[key] = PredictOutput({**found[key].outputs, **added})
    return found if outputs else outputs
