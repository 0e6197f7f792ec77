"""Calls of functions that make logits.

Source: tensorflow_estimator/python/estimator/model_fn.py, call_logit_fn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.lib.estimator.input_fn import argument_names
from tfteach.lib.estimator.run_config import RunConfig


@export("estimator.experimental.call_logit_fn", "contrib.estimator.call_logit_fn")
def call_logit_fn(
    logit_fn: Callable[..., Any],
    features: Mapping[str, Any],
    mode: str,
    params: object,
    config: RunConfig | None,
) -> Tensor | dict[str, Tensor]:
    """Call a logit function with those of the arguments that it has.

    Args:
      logit_fn: a function of `features` and, as it likes, `mode`, `params`, `config`.
      features: the features of a batch.
      mode: a `tf.estimator.ModeKeys`.
      params: hyperparameters for the function.
      config: a `tf.estimator.RunConfig`.

    Returns:
      The logits: a Tensor, or a dictionary of them.

    Raises:
      ValueError: the function returns something else.

    Source: tensorflow_estimator/python/estimator/model_fn.py, call_logit_fn.
    """
    wanted = argument_names(logit_fn)
    offered = {"mode": mode, "params": params, "config": config}
    arguments = {key: value for key, value in offered.items() if key in wanted}
    logits: Any = logit_fn(features=features, **arguments)
    is_dict = isinstance(logits, dict) and all(
        isinstance(value, Tensor) for value in logits.values()
    )
    if not is_dict and not isinstance(logits, Tensor):
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to "
            f"Tensors.  logit_fn returned: {logits}"
        )
    return logits  # type: ignore[no-any-return]
