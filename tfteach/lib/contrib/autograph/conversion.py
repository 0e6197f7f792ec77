"""`to_graph` and `to_code` with the parameters that they have in TensorFlow 2.

Source: python/autograph/impl/api.py (API).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.lib.autograph import api
from tfteach.lib.autograph.options import Features


@export("contrib.autograph.to_graph")
def to_graph(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: Features = None,
) -> Callable[..., Any]:
    """See `tf.autograph.to_graph`."""
    return api.to_graph(
        entity,
        recursive,
        experimental_optional_features=experimental_optional_features,
    )


@export("contrib.autograph.to_code")
def to_code(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: Features = None,
) -> str:
    """See `tf.autograph.to_code`."""
    return api.to_code(
        entity,
        recursive,
        experimental_optional_features=experimental_optional_features,
    )
