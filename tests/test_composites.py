"""Losses, layers, metrics and contrib against real TensorFlow 1.15.

The scripts in golden/ build the graphs; composites.py there says how to record anew.
"""

import base64
import importlib
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import composites
from tests.test_golden_graphs import assert_same_nodes

FOLDER = Path(composites.__file__).parent
MODULES = ["losses", "layers", "convolution_layers", "metrics"]
MODULES += ["contrib_layers", "recurrent", "sequence_losses", "image_colors"]
MODULES += [
    "image_geometry",
    "input_queues",
    "legacy_sequences",
    "decoders",
    "recurrent_extras",
]
MODULES += ["feature_columns", "contrib_columns", "heads"]
MODULES += ["canned_estimators"]
SCRIPTS = {m: importlib.import_module(f"tests.golden.{m}") for m in MODULES}
GOLDEN = {m: json.loads((FOLDER / f"{m}.json").read_text()) for m in MODULES}

each_graph = pytest.mark.parametrize(
    ("module", "function"),
    [(m, f) for m in MODULES for f in SCRIPTS[m].GRAPHS],
    ids=lambda x: x if isinstance(x, str) else x.__name__,
)


@each_graph
def test_graph_values_and_collections_equal_the_golden_ones(module, function):
    golden = GOLDEN[module][function.__name__]
    packed = base64.b64decode(golden["graph"])
    wanted = tf.GraphDef.FromString(zlib.decompress(packed))
    graph, fetches = composites.build(tf, function)
    assert_same_nodes(graph.as_graph_def(), wanted)
    at_once = getattr(SCRIPTS[module], "AT_ONCE", False)
    found = json.loads(json.dumps(composites.results(tf, graph, fetches, at_once)))
    assert found["collections"] == golden["collections"]
    assert list(found["variables"]) == list(golden["variables"])
    for ours, theirs in zip(found["values"], golden["values"], strict=True):
        assert_same(ours, theirs)
    for name, value in golden["variables"].items():
        assert_same(found["variables"][name], value)


def assert_same(ours, theirs):
    if theirs is None or _is_text(theirs):
        assert ours == theirs
    elif _is_ragged(theirs):
        for mine, other in zip(ours, theirs, strict=True):
            assert_same(mine, other)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


def _is_text(value):
    return isinstance(value, list) and bool(value) and isinstance(value[0], str)


def _is_ragged(value):
    """Whether this is a list of several fetches instead of one array."""
    if not isinstance(value, list):
        return False
    try:
        return np.array(value).dtype == object
    except ValueError:
        return True


@pytest.mark.parametrize("module", MODULES)
def test_every_graph_is_in_the_file(module):
    assert {f.__name__ for f in SCRIPTS[module].GRAPHS} == set(GOLDEN[module])
