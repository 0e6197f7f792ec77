"""Makes a frozen GraphDef smaller: batch normalization becomes part of the weights.

Source: python/tools/optimize_for_inference_lib.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework import protos
from tfteach.framework.logger import get_logger
from tfteach.framework.protos.tensor_proto import make_ndarray
from tfteach.framework.type_aliases import Proto
from tfteach.lib.inference.graph_util import (
    add_constant,
    remove_training_nodes,
    source_node,
)
from tfteach.lib.inference.strip_unused import strip_unused

_FUSED = ("x", "gamma", "beta", "mean", "var")
# Batch normalization -> the order of its inputs.  TensorFlow 1.15 folds the first two.
_INPUTS = {
    "BatchNormWithGlobalNormalization": ("x", "mean", "var", "beta", "gamma"),
    "FusedBatchNorm": _FUSED,
    "FusedBatchNormV2": _FUSED,
    "FusedBatchNormV3": _FUSED,
}
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")


def optimize_for_inference(
    input_graph_def: Proto,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: int | Sequence[int],
    toco_compatible: bool = False,
) -> Any:
    """A GraphDef with the same outputs and fewer nodes.

    Unused and training nodes are removed, and batch normalization after a convolution
    is folded into its weights.

    Args:
      input_graph_def: a frozen GraphDef (see
        `tf.graph_util.convert_variables_to_constants`).
      input_node_names: the names of the nodes that are fed.
      output_node_names: the names of the nodes that are fetched.
      placeholder_type_enum: the inputs' type as an enum, or a list of types.
      toco_compatible: do not look for resizes to fuse with convolutions.  Here they
        stay as they are in any case, with a warning if there are some.

    Returns:
      A GraphDef.

    Raises:
      ValueError: two nodes have the same name, or a node's input does not exist.
      KeyError: an input node is not in the graph.

    Source: python/tools/optimize_for_inference_lib.py.
    """
    ensure_graph_is_valid(input_graph_def)
    found = strip_unused(
        input_graph_def, input_node_names, output_node_names, placeholder_type_enum
    )
    found = remove_training_nodes(found, output_node_names)
    found = fold_batch_norms(found)
    if not toco_compatible and _resized_convolution(found) is not None:
        get_logger().warning(
            "Resizes and pads are not fused into convolutions: the result is the same, "
            "but for the speed."
        )
    ensure_graph_is_valid(found)
    return found


def ensure_graph_is_valid(graph_def: Proto) -> None:
    """Check names and inputs.

    Raises:
      ValueError: two nodes have the same name, or a node's input does not exist.
    """
    nodes = _by_name(graph_def)
    for node in nodes.values():
        for name in node.input:
            if source_node(name) not in nodes:
                raise ValueError("Input for ", node.name, " not found: ", name)


def _by_name(graph_def: Any) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    return nodes


class _Folding(NamedTuple):
    """A convolution followed by batch normalization, and its parameters' values."""

    norm: Any
    convolution: Any
    weights: Any
    values: dict[str, np.ndarray[Any, Any]]
    epsilon: float

    def scale(self) -> np.ndarray[Any, Any]:
        """The factor of each channel; in float64, as TensorFlow computes it."""
        variance = self.values["var"] + np.float32(self.epsilon)
        found = 1.0 / np.sqrt(variance.astype(np.float64))
        name = "scale_after_normalization"
        if name in self.norm.attr and not self.norm.attr[name].b:
            return found
        scaled: np.ndarray[Any, Any] = found * self.values["gamma"]
        return scaled


def fold_batch_norms(input_graph_def: Proto) -> Any:
    """Fold batch normalization with constant parameters into convolutions.

    `gamma (conv(x, w) - mean) / sqrt(var + epsilon) + beta` becomes
    `conv(x, w scale) + offset` with `scale = gamma / sqrt(var + epsilon)` for each
    channel and `offset = beta - mean scale`.  Batch normalization whose convolution or
    weights have other users is left as it is, as is that of other ops.

    Args:
      input_graph_def: a frozen GraphDef.

    Returns:
      A GraphDef.  A BiasAdd has the normalization's name.

    Raises:
      ValueError: two nodes have the same name.

    Source: python/tools/optimize_for_inference_lib.py.
    """
    graph_def: Any = input_graph_def
    nodes = _by_name(graph_def)
    users = Counter(source_node(name) for node in graph_def.node for name in node.input)
    others = Counter(name for node in graph_def.node for name in node.input)
    made = protos.GraphDef()
    removed: set[str] = set()
    for node in graph_def.node:
        if node.op not in _INPUTS:
            continue
        found = _foldable(node, nodes)
        if found is None:
            continue
        shared = [
            name
            for name in (found.convolution.name, found.weights.name)
            if users[name] > 1
        ]
        if shared or users[node.name] > others[node.name]:
            _warn(f"'{node.name}': {shared or 'its statistics'} have other users")
            continue
        removed |= {node.name, found.convolution.name, found.weights.name}
        names = [source_node(name) for name in node.input[1:]]
        removed |= {name for name in names if users[name] == 1}
        _add_folded(made, found)
    kept = protos.GraphDef()
    kept.node.extend(node for node in graph_def.node if node.name not in removed)
    kept.node.extend(made.node)
    return kept


def _warn(message: str) -> None:
    get_logger().warning(f"Batch normalization not folded: {message}")


def _foldable(norm: Any, nodes: dict[str, Any]) -> _Folding | None:
    """The convolution before a batch normalization, if both have constant values."""
    inputs = dict(zip(_INPUTS[norm.op], norm.input, strict=False))
    convolution = nodes[source_node(inputs.pop("x"))]
    if convolution.op not in _CONVOLUTIONS:
        _warn(
            "Didn't find expected Conv2D or DepthwiseConv2dNative input to "
            f"'{norm.name}'"
        )
        return None
    parameters = {name: nodes[source_node(source)] for name, source in inputs.items()}
    weights = nodes[source_node(convolution.input[1])]
    for name, node in {"conv": weights, **parameters}.items():
        if node.op != "Const":
            _warn(
                f"Didn't find expected {name} Constant input to '{norm.name}', found "
                f"the {node.op} '{node.name}' instead. Maybe because freeze_graph "
                "wasn't run first?"
            )
            return None
    shape = make_ndarray(weights.attr["value"].tensor).shape
    channels = shape[3] if convolution.op == "Conv2D" else shape[2] * shape[3]
    values = {
        name: make_ndarray(node.attr["value"].tensor)
        for name, node in parameters.items()
    }
    for name, value in values.items():
        if value.shape != (channels,):
            _warn(
                f"Incorrect shape for {name}, found {value.shape}, expected "
                f"{(channels,)}, for node {norm.name}"
            )
            return None
    is_fused = norm.op != "BatchNormWithGlobalNormalization"
    epsilon = norm.attr["epsilon" if is_fused else "variance_epsilon"].f
    return _Folding(norm, convolution, weights, values, epsilon)


def _add_folded(graph_def: Any, found: _Folding) -> None:
    convolution, scale = found.convolution, found.scale()
    array = make_ndarray(found.weights.attr["value"].tensor)
    factors = scale if convolution.op == "Conv2D" else scale.reshape(array.shape[2:])
    scaled = (array.astype(np.float64) * factors).astype(array.dtype)
    add_constant(graph_def, found.weights.name, found.weights.attr["dtype"], scaled)
    graph_def.node.add().CopyFrom(convolution)
    offset = convolution.name + "_bn_offset"
    values = -found.values["mean"] * scale + found.values["beta"]
    add_constant(graph_def, offset, found.weights.attr["dtype"], values)
    bias = graph_def.node.add(
        op="BiasAdd", name=found.norm.name, input=[convolution.name, offset]
    )
    for name in ("T", "data_format"):
        bias.attr[name].CopyFrom(convolution.attr[name])


def fuse_resize_and_conv(
    input_graph_def: Proto, output_node_names: Sequence[str]
) -> Any:
    """The graph itself, if it has no resize or mirror pad before a convolution.

    Raises:
      NotImplementedError: it has one.  TensorFlow fuses both into one op.
    """
    node = _resized_convolution(input_graph_def)
    if node is not None:
        raise NotImplementedError(
            f"fuse_resize_and_conv: the convolution '{node.name}' and what comes "
            "before it would become FusedResizeAndPadConv2D or FusedPadConv2D, which "
            "tfteach does not have. Use the graph as it is: it computes the same."
        )
    return input_graph_def


def _resized_convolution(graph_def: Any) -> Any:
    """A convolution whose input is a resize or a mirror pad, or None."""
    nodes = _by_name(graph_def)
    for node in nodes.values():
        if node.op == "Conv2D":
            source = nodes[source_node(node.input[0])]
            if source.op in ("MirrorPad", "ResizeBilinear"):
                return node
    return None
