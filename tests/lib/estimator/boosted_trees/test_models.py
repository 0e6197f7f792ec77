"""Models of boosted trees against real TensorFlow: golden/boosted_trees_models.py."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.control.test_control_flow_v2 import function_text, nodes
from tests.golden import boosted_trees_models as models
from tests.golden import composites
from tests.test_composites import assert_same

GOLDEN = json.loads(Path(models.__file__).with_suffix(".json").read_text())
# The loss is differentiated outside of the condition on boundaries, in TensorFlow
# inside: the numbers are the same.
DIFFERENTIATED_OUTSIDE = {"classifier_of_names", "regressor_in_memory"}


@pytest.fixture(autouse=True)
def resource_variables() -> Iterator[None]:
    """The estimators of boosted trees enable resource variables."""
    yield
    tf.disable_resource_variables()


def functions(graph_def: Any) -> list[str]:
    """The functions; TensorFlow sorts the control inputs of their nodes."""
    found = []
    for function in graph_def.library.function:
        text = function_text(function)
        sort = lambda m: ", ".join(sorted(m[0].split(", ")))  # noqa: E731
        found.append(re.sub(r"\^[\w/]+(?:, \^[\w/]+)+", sort, text))
    return sorted(found)


def filled(collections: dict[str, list[str]]) -> dict[str, list[str]]:
    """The collections with members, without the text of resources."""
    return {k: v for k, v in collections.items() if v and k != "resources"}


@pytest.mark.parametrize("name", models.GRAPHS)
def test_graph_and_values_are_those_of_tensorflow(name: str) -> None:
    golden = GOLDEN[name]
    graph, fetches = composites.build(tf, models.GRAPHS[name])
    if name not in DIFFERENTIATED_OUTSIDE:
        data = zlib.decompress(base64.b64decode(golden["graph"]))
        wanted, made = tf.GraphDef.FromString(data), graph.as_graph_def()
        assert nodes(made.node) == nodes(wanted.node)
        assert functions(made) == functions(wanted)
    found = json.loads(json.dumps(composites.results(tf, graph, fetches)))
    assert filled(found["collections"]) == filled(golden["collections"])
    for ours, theirs in zip(found["values"], golden["values"], strict=True):
        assert_same(ours, theirs)
    assert found["variables"].keys() == golden["variables"].keys()
    for variable, value in golden["variables"].items():
        assert_same(found["variables"][variable], value)


def test_every_graph_is_in_the_file() -> None:
    assert models.GRAPHS.keys() == GOLDEN.keys()
