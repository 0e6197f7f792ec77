"""Makes a frozen GraphDef smaller: batch normalization becomes part of the weights.

Source: python/tools/optimize_for_inference_lib.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework import protos
from tfteach.framework.dtypes import int32
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

    Unused and training nodes are removed, batch normalization after a convolution is
    folded into its weights, and resizes and mirror pads before one become part of it.

    Args:
      input_graph_def: a frozen GraphDef (see
        `tf.graph_util.convert_variables_to_constants`).
      input_node_names: the names of the fed nodes.
      output_node_names: the names of the nodes that are fetched.
      placeholder_type_enum: the inputs' type as an enum, or a list of types.
      toco_compatible: whether resizes and pads stay as they are.

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
    if not toco_compatible:
        found = fuse_resize_and_conv(found, output_node_names)
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
    """Convolutions of resized or mirror-padded images as single ops.

    As in TensorFlow, `half_pixel_centers` of the resize is lost: such a graph computes
    something else afterwards.

    Args:
      input_graph_def: a frozen GraphDef.
      output_node_names: the names of the nodes that are fetched.

    Returns:
      A GraphDef: the nodes that are still used, then FusedResizeAndPadConv2D or
      FusedPadConv2D nodes with the names of the convolutions.

    Raises:
      ValueError: two nodes have the same name.

    Source: python/tools/optimize_for_inference_lib.py.
    """
    graph_def: Any = input_graph_def
    nodes = _by_name(graph_def)
    users = Counter(source_node(name) for node in graph_def.node for name in node.input)
    users.update(output_node_names)
    made = protos.GraphDef()
    for node in graph_def.node:
        if node.op != "Conv2D":
            continue
        before = nodes[source_node(node.input[0])]
        pad = before if before.op == "MirrorPad" else None
        source = before if pad is None else nodes[source_node(pad.input[0])]
        resize = source if source.op == "ResizeBilinear" else None
        if pad is None and resize is None:
            continue
        users[node.name] = 0
        for fused in (pad, resize):
            if fused is not None:
                users[fused.name] -= 1
        _add_fused(made, node, pad, resize)
    kept = protos.GraphDef()
    kept.node.extend(node for node in graph_def.node if users[node.name] > 0)
    kept.node.extend(made.node)
    return kept


def _add_fused(graph_def: Any, convolution: Any, pad: Any, resize: Any) -> None:
    """Add a convolution that pads or resizes itself; without a pad, it pads by 0."""
    name = f"{convolution.name}_dummy_paddings"
    if pad is None:
        dtype = protos.AttrValue(type=int32.as_datatype_enum)
        add_constant(graph_def, name, dtype, np.zeros((4, 2), np.int32))
    else:
        name = pad.input[1]
    fused = graph_def.node.add(op="FusedPadConv2D", name=convolution.name)
    if resize is None:
        fused.input.append(pad.input[0])
    else:
        fused.op = "FusedResizeAndPadConv2D"
        fused.input.extend(resize.input[:2])
        fused.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    fused.input.extend([name, convolution.input[1]])
    if pad is None:
        fused.attr["mode"].s = b"REFLECT"
    else:
        fused.attr["mode"].CopyFrom(pad.attr["mode"])
    for key in ("T", "strides", "padding"):
        fused.attr[key].CopyFrom(convolution.attr[key])
