"""`tf.contrib.learn.InputFnOps`: the input of a model that is served.

Source: contrib/learn/python/learn/utils/input_fn_utils.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.lib.estimator.serving_input import (
    build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
)


@export("contrib.learn.InputFnOps", "contrib.learn.utils.InputFnOps")
class InputFnOps(NamedTuple):
    """What a serving input function returns.

    Attributes:
      features: a dict of names to the Tensors that the model is called with.
      labels: None, as there are none where a model is served.
      default_inputs: a dict of names to the Tensors that a request feeds.

    Source: contrib/learn/python/learn/utils/input_fn_utils.py.
    """

    features: Any
    labels: Any
    default_inputs: Any


@export(
    "contrib.learn.build_parsing_serving_input_fn",
    "contrib.learn.utils.build_parsing_serving_input_fn",
)
def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function whose input are serialized Examples.

    Args:
      feature_spec: the features, as `tf.parse_example` accepts them.
      default_batch_size: the size of the placeholder; None for any.

    Returns:
      A function without arguments that returns an InputFnOps.

    Example:
      >>> spec = {"x": tf.FixedLenFeature([1], tf.float32)}
      >>> fn = tf.contrib.learn.build_parsing_serving_input_fn(spec)
      >>> estimator.export_savedmodel("exports", fn)

    Source: contrib/learn/python/learn/utils/input_fn_utils.py.
    """
    receiver_fn = build_parsing_serving_input_receiver_fn(
        feature_spec, default_batch_size
    )

    def input_fn() -> InputFnOps:
        receiver = receiver_fn()
        return InputFnOps(receiver.features, None, receiver.receiver_tensors)

    return input_fn


def build_default_serving_input_fn(
    features: Mapping[str, Tensor], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function that makes placeholders like some Tensors.

    Args:
      features: a dict of names to Tensors: their types and shapes are used.
      default_batch_size: the first size of the placeholders; None for any.

    Returns:
      A function without arguments that returns an InputFnOps.

    Source: contrib/learn/python/learn/utils/input_fn_utils.py.
    """
    receiver_fn = build_raw_serving_input_receiver_fn(features, default_batch_size)

    def input_fn() -> InputFnOps:
        receiver = receiver_fn()
        return InputFnOps(receiver.features, None, receiver.receiver_tensors)

    return input_fn
