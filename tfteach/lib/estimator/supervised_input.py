"""The inputs of a model that is exported to be trained or evaluated.

Source: tensorflow_estimator/python/estimator/export/export.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Tensor
from tfteach.lib.estimator.input_fn import features_and_labels
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.estimator.serving_input import (
    SINGLE_RECEIVER,
    ServingInputReceiver,
    check_tensors,
    named_tensors,
    placeholder_like,
)

_SINGLE_LABEL = "label"


class _Receiver(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: dict[str, Tensor]


class SupervisedInputReceiver(_Receiver):
    """The features and labels of an exported model, and the tensors to feed.

    Args:
      features: a dict of names to Tensors, or one Tensor.
      labels: a dict of names to Tensors, or one Tensor.
      receiver_tensors: the tensors to feed, a dict or one, named "input".

    Raises:
      ValueError: something is missing, or no Tensor.

    Source: tensorflow_estimator/python/estimator/export/export.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensor | Mapping[Any, Tensor],
        labels: Tensor | Mapping[Any, Tensor],
        receiver_tensors: Tensor | Mapping[str, Tensor],
    ) -> SupervisedInputReceiver:
        for values, kind in ((features, "feature"), (labels, _SINGLE_LABEL)):
            check_tensors(values, kind, kind)
        receivers = named_tensors(receiver_tensors, SINGLE_RECEIVER, "receiver_tensor")
        return super().__new__(cls, features, labels, receivers)


class UnsupervisedInputReceiver(ServingInputReceiver):
    """As ServingInputReceiver, for models that are trained without labels.

    Source: tensorflow_estimator/python/estimator/export/export.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensor | Mapping[Any, Tensor],
        receiver_tensors: Tensor | Mapping[str, Tensor],
    ) -> UnsupervisedInputReceiver:
        made = super().__new__(cls, features, receiver_tensors)
        assert isinstance(made, UnsupervisedInputReceiver)
        return made


@export("estimator.experimental.build_raw_supervised_input_receiver_fn")
def build_raw_supervised_input_receiver_fn(
    features: Tensor | Mapping[Any, Tensor],
    labels: Tensor | Mapping[Any, Tensor],
    default_batch_size: int | None = None,
) -> Callable[[], SupervisedInputReceiver]:
    """A function that makes placeholders like some features and labels.

    Args:
      features: a dict of names to Tensors, or one: their types and shapes are used.
      labels: the same for labels.
      default_batch_size: the first size of the placeholders; None for any.

    Returns:
      A function without arguments that returns a receiver of features and labels.

    Raises:
      ValueError: features and labels have a name in common.

    Example:
      >>> fn = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(
      ...     {"x": tf.zeros([1, 2])}, tf.zeros([1]))
      >>> estimator.experimental_export_all_saved_models(
      ...     "exports", {tf.estimator.ModeKeys.EVAL: fn})

    Source: tensorflow_estimator/python/estimator/export/export.py.
    """
    if isinstance(features, Mapping) and isinstance(labels, Mapping):
        common = set(features) & set(labels)
        if common:
            raise ValueError(
                "Features and labels must have distinct keys. Found overlapping keys: "
                f"{common}"
            )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        own_features = _placeholders(features, default_batch_size)
        own_labels = _placeholders(labels, default_batch_size)
        receivers = named_tensors(own_features, SINGLE_RECEIVER, "feature")
        receivers |= named_tensors(own_labels, _SINGLE_LABEL, _SINGLE_LABEL)
        return SupervisedInputReceiver(own_features, own_labels, receivers)

    return supervised_input_receiver_fn


def _placeholders(values: Any, batch_size: int | None) -> Any:
    if isinstance(values, Mapping):
        return {
            name: placeholder_like(value, batch_size) for name, value in values.items()
        }
    return placeholder_like(values, batch_size)


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """A function that makes placeholders like what an input function returns.

    Args:
      input_fn: returns features and labels, or a `tf.data.Dataset` of both.
      **input_fn_args: its arguments.

    Source: tensorflow_estimator/python/estimator/export/export.py.
    """
    with Graph().as_default():
        result = input_fn(**input_fn_args)
        features, labels, _ = features_and_labels(result, ModeKeys.EVAL)
    return build_raw_supervised_input_receiver_fn(features, labels)
