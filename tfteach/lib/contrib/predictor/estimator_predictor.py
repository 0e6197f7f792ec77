"""Predictors of Estimators: one graph and one session for all calls.

Source: contrib/predictor/{predictor_factories,core_estimator_predictor}.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.type_aliases import Proto
from tfteach.lib.contrib.predictor.saved_model_predictor import Predictor
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.estimator.serving_input import ServingInputReceiver
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)
from tfteach.lib.training.monitored_session import MonitoredSession
from tfteach.lib.training.session_creators import ChiefSessionCreator


class CoreEstimatorPredictor(Predictor):
    """The Predictor of an Estimator."""


@export("contrib.predictor.from_estimator")
def from_estimator(
    estimator: Estimator,
    serving_input_receiver_fn: Callable[[], ServingInputReceiver],
    output_key: str | None = None,
    graph: Graph | None = None,
    config: Proto | None = None,
) -> Predictor:
    """An Estimator as a function from a dict of arrays to a dict of arrays.

    The graph is built and the newest checkpoint restored once, so that calls cost no
    more than their computation.

    Args:
      estimator: the Estimator.
      serving_input_receiver_fn: returns a `tf.estimator.export.ServingInputReceiver`,
        whose Tensors are fed.
      output_key: the name of the model's export output ("serving_default").
      graph: the graph to build it in; a new one if None.
      config: a ConfigProto for its session.

    Returns:
      A Predictor.

    Raises:
      KeyError: there is no such output.
      ValueError: the output needs serialized examples, and the inputs are others.

    Example:
      >>> x = tf.placeholder(tf.float32, [None, 2])
      >>> receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
      >>> predict = tf.contrib.predictor.from_estimator(estimator, receiver, "predict")
      >>> predict({"x": [[1.0, 2.0]]})["logits"]

    Source: contrib/predictor/predictor_factories.py.
    """
    graph = graph or Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(
            receiver.features, None, ModeKeys.PREDICT, estimator.config
        )
        outputs: Mapping[str, Any] = spec.export_outputs
        key = output_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
        if key not in outputs:
            raise KeyError(
                f"output_key must be one of {outputs.keys()}; got {output_key}"
            )
        signature = outputs[key].as_signature_def(receiver.receiver_tensors)
        session: Any = MonitoredSession(
            ChiefSessionCreator(
                scaffold=spec.scaffold,
                config=config,
                checkpoint_dir=estimator.model_dir,
            )
        )
    return CoreEstimatorPredictor(
        graph,
        session,
        {k: graph.get_tensor_by_name(t.name) for k, t in signature.inputs.items()},
        {k: graph.get_tensor_by_name(t.name) for k, t in signature.outputs.items()},
    )


@export("contrib.predictor.from_contrib_estimator")
def from_contrib_estimator(
    estimator: object,
    prediction_input_fn: object,
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: Graph | None = None,
    config: Proto | None = None,
) -> NoReturn:
    """Raises NotImplementedError: only for Estimators of tf.contrib.learn."""
    if isinstance(estimator, Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but got type "
            "tf.python.estimator.Estimator. You likely want to call from_estimator."
        )
    raise NotImplementedError(
        "tf.contrib.predictor.from_contrib_estimator: use tf.estimator and "
        "from_estimator, or export a SavedModel and use from_saved_model"
    )
