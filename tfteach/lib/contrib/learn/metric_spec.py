"""`tf.contrib.learn.MetricSpec`: which tensors a metric compares.

Source: contrib/learn/python/learn/metric_spec.py.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import FetchedValues
from tfteach.lib.contrib.learn.type_aliases import Tensors

# What metrics call their arguments.
_PREDICTIONS = ("predictions", "prediction", "logits", "logit")
_LABELS = ("labels", "label", "targets", "target")
_WEIGHTS = ("weights", "weight")


def _arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that a caller may still pass, without stars."""
    bound: set[str] = set()
    while isinstance(function, functools.partial):
        bound |= function.keywords.keys()
        function = function.func
    parameters = inspect.signature(function).parameters.values()
    return tuple(
        p.name
        for p in parameters
        if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name not in bound
    )


def _matching(
    function: Callable[..., Any], candidates: tuple[str, ...], required: bool
) -> str | None:
    """The argument of a function that has one of several names.

    Raises:
      ValueError: two have, or none has that is required.
    """
    known = _arguments(function)
    found = [name for name in candidates if name in known]
    if len(found) > 1:
        raise ValueError(
            f"Ambiguous arguments {_set(found)}, must provide only one of "
            f"{_set(candidates)}."
        )
    if required and not found:
        raise ValueError(
            f"{_set(candidates)} missing from {_name_of(function)}({known})."
        )
    if found and found[0] != candidates[0]:
        get_logger().warning(
            "Canonical arg %s missing from %s(%s), using %s.",
            *(candidates[0], _name_of(function), known, found[0]),
        )
    return found[0] if found else None


def _set(names: Iterable[str]) -> str:
    return "{" + ", ".join(map(repr, names)) + "}"


@export("contrib.learn.MetricSpec")
class MetricSpec:
    """A metric, and the keys of the tensors that it compares.

    Args:
      metric_fn: a function such as `tf.contrib.metrics.streaming_accuracy` of
        predictions and maybe labels and weights that returns (value, update op).
      prediction_key: the key of the predictions, if these are a dict.
      label_key: the key of the labels, if these are a dict.
      weight_key: the key of the weights among the features; None for no weights.

    Raises:
      ValueError: the function has no argument for the labels or weights of a key, or
        two that may be it.

    Example:
      >>> metrics = {
      ...     "accuracy": tf.contrib.learn.MetricSpec(
      ...         tf.contrib.metrics.streaming_accuracy, prediction_key="classes"
      ...     )
      ... }
      >>> classifier.evaluate(x, y, metrics=metrics)

    Source: contrib/learn/python/learn/metric_spec.py.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self._metric_fn = metric_fn
        self._prediction_key = prediction_key
        self._label_key = label_key
        self._weight_key = weight_key
        self._label_name = _matching(metric_fn, _LABELS, required=bool(label_key))
        self._prediction_name = _matching(metric_fn, _PREDICTIONS, required=False)
        self._weight_name = _matching(metric_fn, _WEIGHTS, required=bool(weight_key))

    @property
    def metric_fn(self) -> Callable[..., Any]:
        """The function."""
        return self._metric_fn

    @property
    def prediction_key(self) -> str | None:
        """The key of the predictions."""
        return self._prediction_key

    @property
    def label_key(self) -> str | None:
        """The key of the labels."""
        return self._label_key

    @property
    def weight_key(self) -> str | None:
        """The key of the weights."""
        return self._weight_key

    def __str__(self) -> str:
        return (
            f"MetricSpec(metric_fn={_name_of(self._metric_fn)}, "
            f"prediction_key={self.prediction_key}, "
            f"label_key={self.label_key}, weight_key={self.weight_key})"
        )

    def create_metric_ops(
        self, inputs: Tensors, labels: Tensors, predictions: Tensors
    ) -> FetchedValues:
        """Call the function with the tensors of the keys.

        Args:
          inputs: the features, a Tensor or a dict.
          labels: the labels, a Tensor or a dict.
          predictions: the predictions, a Tensor or a dict.

        Returns:
          What the function returns: (value, update op).

        Raises:
          ValueError: a key is given for a Tensor, or missing for a dict.
          KeyError: a dict lacks the key.
        """
        try:
            return self._call(inputs, labels, predictions)
        except Exception as err:
            get_logger().error("Could not create metric ops for %s, %s.", self, err)
            raise

    def _call(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        positional, named = [], {}
        chosen = _selected("label", "labels", labels, self.label_key)
        if self._label_name is not None:
            named[self._label_name] = chosen
        chosen = _selected(
            "prediction", "predictions", predictions, self.prediction_key
        )
        if self._prediction_name is not None:
            named[self._prediction_name] = chosen
        else:
            # It is the first argument, or the second after the labels.
            if _arguments(self._metric_fn)[:1] == (self._label_name,):
                positional.append(named.pop(str(self._label_name)))
            positional.append(chosen)
        if self.weight_key:
            named[str(self._weight_name)] = inputs[self.weight_key]
        return self._metric_fn(*positional, **named)


def _name_of(function: Any) -> str:
    if isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", str(function))


def _selected(kind: str, plural: str, tensors: Any, key: str | None) -> Any:
    """The tensor of a key, or the only one."""
    if not isinstance(tensors, Mapping):
        if key:
            raise ValueError(
                f"MetricSpec with {kind}_key specified requires {plural} dict, got "
                f"{tensors}.\nYou must not provide a {kind}_key if you only have a "
                f"single Tensor as {plural}."
            )
        return tensors
    if not key:
        if len(tensors) > 1:
            raise ValueError(
                f"MetricSpec without specified {kind}_key requires {plural} tensor or "
                f"single element dict, got {tensors}"
            )
        return next(iter(tensors.values()))
    if key not in tensors:
        raise KeyError(f"Key '{key}' missing from {tensors.keys()}.")
    return tensors[key]
