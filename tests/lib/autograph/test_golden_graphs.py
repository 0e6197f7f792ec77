"""Converted functions have the graphs that TensorFlow 1.15 gives them."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly  # noqa: F401
from tests.golden import autograph
from tfteach.framework import nest

GOLDEN = json.loads(Path(autograph.__file__).with_suffix(".json").read_text())
FUNCTIONS = autograph.functions(tf)


class Described:
    """A GraphDef as lists, with functions numbered in the order of their use."""

    def __init__(self, graph: Any) -> None:
        self._library = {f.signature.name: f for f in graph.library.function}
        self._names: dict[str, str] = {}
        self.functions: dict[str, Any] = {}
        self.nodes = [self._node(node) for node in graph.node]

    def _node(self, node: Any) -> Any:
        attrs = {
            key: self._value(value)
            for key, value in sorted(node.attr.items())
            if key != "_user_specified_name"  # of arguments, in any traced function
        }
        return node.name, node.op, list(node.input), node.device, attrs

    def _value(self, value: Any) -> Any:
        if value.WhichOneof("value") == "func":
            return self._function(value.func.name)
        return str(value)

    def _function(self, name: str) -> str:
        if name in self._names:
            return self._names[name]
        function = self._library[name]
        number = self._names[name] = f"function {len(self._names)}"
        self.functions[number] = {
            "name": re.sub(r"_\d+$", "", name),
            "arguments": [(a.name, a.type) for a in function.signature.input_arg],
            "results": [(a.name, a.type) for a in function.signature.output_arg],
            "returned": dict(function.ret),
            "nodes": [self._node(node) for node in function.node_def],
        }
        return number


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_graph_and_results(name: str) -> None:
    values = autograph.ARGUMENTS[name]
    tensors = [tf.constant(value, autograph.types(tf, value)) for value in values]
    traced: Any = tf.function(FUNCTIONS[name])
    expected = tf.GraphDef()
    data = base64.b64decode(GOLDEN[name]["graph"])
    expected.ParseFromString(zlib.decompress(data))
    wanted = Described(expected)
    found = Described(traced.get_concrete_function(*tensors).graph.as_graph_def())
    assert found.nodes == wanted.nodes
    assert found.functions == wanted.functions
    results = nest.flatten(traced(*tensors))
    assert [r.numpy().tolist() for r in results] == GOLDEN[name]["results"]
