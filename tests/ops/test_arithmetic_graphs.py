"""Operators, functions and gradients build TensorFlow's very nodes."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden.arithmetic import GRAPHS
from tfteach.framework.protos import GraphDef

GOLDEN = Path(__file__).parent.parent / "golden" / "arithmetic.json"
STORED = json.loads(GOLDEN.read_text())


def rows(graph_def: Any) -> list[Any]:
    # As text: a NaN, in a node of clip_by_global_norm, equals no other as a number.
    return [
        (
            n.name,
            n.op,
            [*n.input],
            n.device,
            {k: str(n.attr[k]) for k in sorted(n.attr)},
        )
        for n in graph_def.node
    ]


@pytest.mark.filterwarnings("ignore")  # deprecated functions, complex to real
@pytest.mark.parametrize("build", GRAPHS, ids=[g.__name__ for g in GRAPHS])
def test_graph_equals_tensorflows(build: Any) -> None:
    with tf.Graph().as_default() as graph:
        build(tf)
    ours = rows(graph.as_graph_def(add_shapes=True))
    data = zlib.decompress(base64.b64decode(STORED[build.__name__]))
    theirs = rows(GraphDef.FromString(data))
    for i, (here, there) in enumerate(zip(ours, theirs, strict=False)):
        assert here == there, f"node {i}"
    assert len(ours) == len(theirs)
