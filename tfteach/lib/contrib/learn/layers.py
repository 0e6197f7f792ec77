"""Parts that the canned models share: columns, summaries, optimizers.

Source: contrib/learn/python/learn/estimators/{dnn,linear,dnn_linear_combined}.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfteach.control.zero_fraction import zero_fraction
from tfteach.framework.operation import Tensor
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.ops.debug.summary_functions import histogram, scalar

# The layers' inputs are cut into parts of at least this size, if there are servers.
MIN_SLICE_BYTES = 64 << 20
ActivationFn = Callable[[Any], Tensor]


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


def embedding_rate_multipliers(
    factors: Mapping[Any, float] | None, scope: str
) -> dict[str, float] | None:
    """The factors of the gradients of embedding columns, by their variables' names."""
    if not factors:
        return None
    raise NotImplementedError(
        "embedding_lr_multipliers: not implemented; use an optimizer with a rate that "
        "fits the embeddings"
    )
