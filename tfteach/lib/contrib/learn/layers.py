"""Parts that the canned models share: columns, summaries, optimizers.

Source: contrib/learn/python/learn/estimators/{dnn,linear,dnn_linear_combined}.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfteach.control.zero_fraction import zero_fraction
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import get_collection
from tfteach.lib.contrib.layers.embedding_columns import _EmbeddingColumn
from tfteach.lib.contrib.layers.feature_column import _FeatureColumn
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.ops.debug.summary_functions import histogram, scalar
from tfteach.ops.math.exponential import sigmoid, tanh
from tfteach.ops.nn.activations import relu
from tfteach.variables.base import Variable

# The layers' inputs are cut into parts of at least this size, if there are servers.
MIN_SLICE_BYTES = 64 << 20
ActivationFn = Callable[[Any], Tensor]
_ACTIVATIONS: dict[str, ActivationFn] = {"relu": relu, "tanh": tanh, "sigmoid": sigmoid}


def features_by_name(features: Any) -> dict[Any, Any]:
    """Features as a dictionary: a single Tensor is that of the name ""."""
    return dict(features) if isinstance(features, Mapping) else {"": features}


def server_count(config: RunConfig | None) -> int:
    """The number of parameter servers, over which variables are spread."""
    return config.num_ps_replicas if config is not None else 0


def summarize(value: Tensor, tag: str, link: str) -> None:
    """Summaries of a layer: how many of its values are zero, and their histogram."""
    scalar(f"{tag}{link}fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}{link}activation", value)


def optimizer_of(given: Any) -> Any:
    """An optimizer or its name: given, or made by a function; None for None."""
    return given() if callable(given) else given


def columns(given: Iterable[Any] | None) -> tuple[Any, ...]:
    """Columns as a tuple; none if None."""
    return tuple(given or ())


def are_older(given: Iterable[Any]) -> bool:
    """Whether all are columns of `tf.contrib.layers`, not of `tf.feature_column`."""
    return all(isinstance(column, _FeatureColumn) for column in given)


def embedding_variables(column: Any, collection: str, scope: str) -> list[Variable]:
    """The variables of a column: its embeddings.

    Args:
      column: a column.
      collection: the collection of the variables.
      scope: the name of the variable scope of the columns.
    """
    found: list[Variable] = get_collection(collection, f"{scope}/{column.name}")
    return found


def embedding_rate_multipliers(
    factors: Mapping[Any, float] | None, collection: str, scope: str
) -> dict[Variable, float] | None:
    """The factors of the gradients of embedding columns, by their variables.

    Args:
      factors: a dict of columns to factors, or None.
      collection: the collection of the variables.
      scope: the name of the variable scope of the columns.

    Raises:
      ValueError: a column is no embedding column.
    """
    if not factors:
        return None
    found: dict[Variable, float] = {}
    for column, factor in factors.items():
        if not isinstance(column, _EmbeddingColumn):
            raise ValueError(
                "learning rate multipler can only be defined for embedding columns. It "
                f"is defined for {column}"
            )
        (variable,) = embedding_variables(column, collection, scope)
        found[variable] = factor
    return found


def activation_of(given: ActivationFn | str | None) -> ActivationFn | None:
    """An activation function, or that of a name.

    Raises:
      ValueError: there is none of this name.
    """
    if not isinstance(given, str):
        return given
    if given not in _ACTIVATIONS:
        raise ValueError(
            f"Activation name should be one of [{', '.join(_ACTIVATIONS)}], you "
            f"provided {given}."
        )
    return _ACTIVATIONS[given]
