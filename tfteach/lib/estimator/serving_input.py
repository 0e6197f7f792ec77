"""The inputs of an exported model: what is fed, and the features made of it.

Source: tensorflow_estimator/python/estimator/export/export.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.lib.parsing.examples import parse_example
from tfteach.ops.core.placeholder import placeholder

SINGLE_FEATURE, SINGLE_RECEIVER = "feature", "input"


def check_tensors(values: Any, default: str, kind: str, ints: bool = True) -> None:
    """Check one Tensor, or a dict of names to Tensors.

    Args:
      values: the Tensors.
      default: the name of a single one.
      kind: what the messages call one.
      ints: whether names may be integers.

    Raises:
      ValueError: there are none, or a name or a value has another type.
    """
    if values is None:
        raise ValueError(f"{kind}s must be defined.")
    named = values if isinstance(values, Mapping) else {default: values}
    for key, value in named.items():
        if not isinstance(key, str | int if ints else str):
            kinds = "strings or ints" if ints else "strings"
            raise ValueError(f"{kind} keys must be {kinds}: {key}.")
        if not hasattr(value, "dtype"):
            raise ValueError(f"{kind} {key} must be a Tensor or SparseTensor.")


def named_tensors(values: Any, default: str, kind: str) -> dict[Any, Any]:
    """A checked dict of names to Tensors; a single Tensor has the name `default`."""
    check_tensors(values, default, kind, ints=kind != "receiver_tensor")
    return dict(values if isinstance(values, Mapping) else {default: values})


class _Receiver(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any


@export("estimator.export.ServingInputReceiver")
class ServingInputReceiver(_Receiver):
    """The features of an exported model, and the tensors to feed.

    Args:
      features: a dict of names to Tensors, or one, whose name becomes "feature".
      receiver_tensors: the tensors to feed, a dict or one, named "input".
      receiver_tensors_alternatives: a dict of names to further groups of tensors to
        feed in their place.

    Raises:
      ValueError: something is missing, or no Tensor.

    Source: tensorflow_estimator/python/estimator/export/export.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensor | Mapping[str, Tensor],
        receiver_tensors: Tensor | Mapping[str, Tensor],
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> ServingInputReceiver:
        return super().__new__(
            cls,
            named_tensors(features, SINGLE_FEATURE, "feature"),
            named_tensors(receiver_tensors, SINGLE_RECEIVER, "receiver_tensor"),
            receiver_tensors_alternatives,
        )


@export("estimator.export.TensorServingInputReceiver")
class TensorServingInputReceiver(_Receiver):
    """As ServingInputReceiver, for model functions whose features are one Tensor.

    Args:
      features: the Tensor.
      receiver_tensors, receiver_tensors_alternatives: as in ServingInputReceiver.

    Raises:
      ValueError: `features` is none.

    Source: tensorflow_estimator/python/estimator/export/export.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensor,
        receiver_tensors: Tensor | Mapping[str, Tensor],
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        if not hasattr(features, "dtype"):
            raise ValueError("feature must be a Tensor or SparseTensor.")
        named = named_tensors(receiver_tensors, SINGLE_RECEIVER, "receiver_tensor")
        return super().__new__(cls, features, named, receiver_tensors_alternatives)


def placeholder_like(tensor: Tensor, batch_size: int | None) -> Tensor:
    """A placeholder of a Tensor's name, type and shape, but with another first size."""
    shape = tensor.get_shape()
    if shape.ndims is None:
        return placeholder(tensor.dtype, name=tensor.op.name)
    sizes = [batch_size, *shape.as_list()[1:]]
    return placeholder(tensor.dtype, sizes, name=tensor.op.name)


@export("estimator.export.build_raw_serving_input_receiver_fn")
def build_raw_serving_input_receiver_fn(
    features: Tensor | Mapping[str, Tensor], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function that makes placeholders like some Tensors.

    Args:
      features: a dict of names to Tensors, or one: their types and shapes are used.
      default_batch_size: the first size of the placeholders; None for any.

    Returns:
      A function without arguments that returns a ServingInputReceiver.

    Example:
      >>> x = tf.placeholder(tf.float32, [None, 2])
      >>> fn = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
      >>> estimator.export_saved_model("exports", fn)

    Source: tensorflow_estimator/python/estimator/export/export.py.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        if isinstance(features, Mapping):
            held: Any = {
                name: placeholder_like(tensor, default_batch_size)
                for name, tensor in features.items()
            }
        else:
            held = placeholder_like(features, default_batch_size)
        return ServingInputReceiver(held, held)

    return serving_input_receiver_fn


@export("estimator.export.build_parsing_serving_input_receiver_fn")
def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function whose input are serialized Examples.

    Args:
      feature_spec: the features, as `tf.parse_example` accepts them.
      default_batch_size: the size of the placeholder; None for any.

    Returns:
      A function without arguments that returns a ServingInputReceiver.

    Source: tensorflow_estimator/python/estimator/export/export.py.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = placeholder(
            string, [default_batch_size], name="input_example_tensor"
        )
        features = parse_example(examples, dict(feature_spec))
        return ServingInputReceiver(features, {"examples": examples})

    return serving_input_receiver_fn
