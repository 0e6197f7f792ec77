"""Linear algebra, arrays, sets, random ops, convolution against real TensorFlow 1.15.

golden/mathematics.py and golden/convolution.py build the graphs (their docstrings say
how to make the files anew).
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import convolution, mathematics
from tests.test_golden_graphs import assert_same_nodes

GRAPHS = [*mathematics.GRAPHS, *convolution.GRAPHS]
GOLDEN = {
    name: golden
    for module in (mathematics, convolution)
    for name, golden in json.loads(
        Path(module.__file__).with_suffix(".json").read_text()
    ).items()
}

each_graph = pytest.mark.parametrize("function", GRAPHS, ids=lambda f: f.__name__)


@each_graph
def test_graph_equals_the_golden_one(function: Any) -> None:
    packed = base64.b64decode(GOLDEN[function.__name__]["graph"])
    wanted = tf.GraphDef.FromString(zlib.decompress(packed))
    assert_same_nodes(mathematics.built(tf, function)[0].as_graph_def(), wanted)


@each_graph
def test_values_equal_the_golden_ones(function: Any) -> None:
    wanted = GOLDEN[function.__name__]["values"]
    found = mathematics.values(tf, *mathematics.built(tf, function))
    assert len(found) == len(wanted)
    for i, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=str(i))


def test_every_graph_is_in_the_file() -> None:
    assert {f.__name__ for f in GRAPHS} == set(GOLDEN)
