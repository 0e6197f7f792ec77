"""Names of layers that have none: the class's name and a number.

Source: python/keras/backend.py, python/keras/engine/base_layer_utils.py.
"""

from __future__ import annotations

import re
from collections.abc import Container
from weakref import WeakKeyDictionary

from tfteach.framework.defaults import public_default_graph
from tfteach.framework.graph import Graph

# How many layers have a name, by namespace and name.
Counts = dict[tuple[str, str], int]

_counts: WeakKeyDictionary[Graph, Counts] = WeakKeyDictionary()


def unique_layer_name(
    kind: str,
    counts: Counts | None = None,
    avoid: Container[str] = (),
    namespace: str = "",
    zero_based: bool = True,
) -> str:
    """`kind`, `kind_1` and so on: a name that no layer has.

    Args:
      kind: the class's name in snake case, or another beginning.
      counts: the names until now; those of the current graph if None.
      avoid: further names that are taken.
      namespace: where the name is unique.
      zero_based: whether the first name has no number.
    """
    if counts is None:
        counts = _counts.setdefault(public_default_graph(), {})
    key = namespace, kind
    while True:
        count = counts.get(key, 0)
        counts[key] = count + 1
        number = count if zero_based else count + 1
        name = f"{kind}_{number}" if number else kind
        if name not in avoid:
            return name


def snake_case(name: str) -> str:
    """ "Conv2DTranspose" -> "conv2d_transpose", as Keras names layers."""
    parted = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    lower = re.sub("([a-z])([A-Z])", r"\1_\2", parted).lower()
    return "private" + lower if lower.startswith("_") else lower
