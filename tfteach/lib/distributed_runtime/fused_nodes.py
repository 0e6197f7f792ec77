"""The fused nodes of TensorFlow's graph optimizer, replaced by public ops.

A master of TensorFlow optimizes a step before it cuts it into parts, so that a worker
gets ops which no Python API creates.
Source: core/grappler/optimizers/remapper.cc, core/ops/{nn,math}_ops.cc,
core/kernels/unary_ops_composition.cc.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework import errors, protos
from tfteach.framework.type_aliases import Proto

# Fused op type -> the op that computes first, and the attributes that it has.
_FIRST = {
    "_FusedMatMul": ("MatMul", ("T", "transpose_a", "transpose_b")),
    "_FusedConv2D": (
        "Conv2D",
        (
            "T",
            "strides",
            "padding",
            "explicit_paddings",
            "data_format",
            "dilations",
            "use_cudnn_on_gpu",
        ),
    ),
    "_FusedDepthwiseConv2dNative": (
        "DepthwiseConv2dNative",
        ("T", "strides", "padding", "data_format", "dilations"),
    ),
}
_NORMALIZES = "_FusedBatchNormEx"
_CHAIN = "_UnaryOpsComposition"
_ACTIVATIONS = ("Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid")
_PUBLIC = {"Snapshot": "Identity"}  # the same op under another name


def unfused(graph_def: Proto) -> list[Proto]:
    """The nodes of a GraphDef, with fused ones replaced.

    Raises:
      UnimplementedError: a node fuses an op that is not known here.
    """
    nodes: list[Proto] = []
    moved: dict[str, str] = {}  # an output of a fused node -> the same of another one
    for node in graph_def.node:
        if node.op in _FIRST:
            nodes += _computed(node).nodes
        elif node.op == _CHAIN:
            nodes += _chain(node).nodes
        elif node.op == _NORMALIZES:
            parts = _normalized(node)
            nodes += parts.nodes
            first = parts.nodes[0].name
            if first != node.name:
                moved |= {f"{node.name}:{i}": f"{first}:{i}" for i in range(1, 6)}
        else:
            copy = protos.NodeDef()
            copy.CopyFrom(node)
            copy.op = _PUBLIC.get(node.op, node.op)
            nodes.append(copy)
    if moved:
        for node in nodes:
            node.input[:] = [moved.get(name, name) for name in node.input]
    return nodes


class _Parts:
    """The nodes that replace a fused one; the last one inherits its name."""

    def __init__(self, fused: Proto) -> None:
        self.fused = fused
        self.nodes: list[Proto] = []
        self.left = [name for name in fused.input if name[0] != "^"]
        self.controls = [name for name in fused.input if name[0] == "^"]

    def take(self, count: int) -> list[str]:
        """The next inputs of the fused node."""
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def add(self, op: str, inputs: Iterable[str], attrs: Iterable[str]) -> Proto:
        """Append a node that consumes the previous one's output.

        Args:
          op: its type.
          inputs: its inputs after the first, which is the output of the node before.
          attrs: the attributes that it has in common with the fused one.
        """
        node = protos.NodeDef(op=op, device=self.fused.device, name=self.fused.name)
        if self.nodes:
            before = self.nodes[-1]
            before.name = f"{self.fused.name}/unfused_{len(self.nodes) - 1}"
            node.input.append(before.name)
        node.input.extend(inputs)
        if not self.nodes:
            node.input.extend(self.controls)
        for name in attrs:
            if name in self.fused.attr:
                node.attr[name].CopyFrom(self.fused.attr[name])
        self.nodes.append(node)
        return node

    def activate(self, kind: str) -> None:
        """Add an activation.

        Raises:
          UnimplementedError: it is not known here.
        """
        if kind not in _ACTIVATIONS:
            raise errors.UnimplementedError(
                None,
                None,
                f"{{{{node {self.fused.name}}}}} ({self.fused.op}) fuses {kind}",
            )
        node = self.add(kind, [], ["T"])
        if kind == "LeakyRelu":
            node.attr["alpha"].f = self.fused.attr["leakyrelu_alpha"].f


def _texts(value: Any) -> list[str]:
    return [text.decode() for text in value.list.s]


def _computed(fused: Proto) -> _Parts:
    """A product or convolution, followed by additions and an activation."""
    parts = _Parts(fused)
    op, attrs = _FIRST[fused.op]
    parts.add(op, parts.take(2), attrs)
    for kind in _texts(fused.attr["fused_ops"]):
        if kind == "BiasAdd":
            parts.add("BiasAdd", parts.take(1), ["T", "data_format"])
        elif kind == "FusedBatchNorm":
            node = parts.add("FusedBatchNorm", parts.take(4), ["T", "data_format"])
            node.attr["epsilon"].f = fused.attr["epsilon"].f
            node.attr["is_training"].b = False
        elif kind == "Add":
            parts.add("Add", parts.take(1), ["T"])
        else:
            parts.activate(kind)
    return parts


def _chain(fused: Proto) -> _Parts:
    """A chain of element-wise ops."""
    parts = _Parts(fused)
    for kind in _texts(fused.attr["op_names"]):
        parts.add(kind, [] if parts.nodes else parts.take(1), ["T"])
    return parts


def _normalized(fused: Proto) -> _Parts:
    """A batch normalization, followed by additions and an activation."""
    parts = _Parts(fused)
    attrs = "T", "U", "epsilon", "exponential_avg_factor", "data_format", "is_training"
    parts.add("FusedBatchNormV3", parts.take(5), attrs)
    for side in parts.left:
        parts.add("Add", [side], ["T"])
    kind = fused.attr["activation_mode"].s.decode()
    if kind not in ("", "Identity"):
        parts.activate(kind)
    return parts
