"""The layers of a graph: convolutions and matrix products, with what follows them.

Source: contrib/quantize/python/quantize.py (which patterns are found, and in what
order).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tfteach.framework.graph import Graph
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.array.concat_split import ConcatV2
from tfteach.ops.array.space_to_batch import BatchToSpaceND
from tfteach.ops.core.identity_reshape import Identity
from tfteach.ops.linalg.matmul import MatMul
from tfteach.ops.math.binary import Add, AddV2
from tfteach.ops.math.multiply import Mul
from tfteach.ops.nn.activations import Relu, Relu6
from tfteach.ops.nn.bias_add import BiasAdd
from tfteach.ops.nn.fused_batch_norm import FusedBatchNorm, FusedBatchNormV3
from tfteach.ops.state.ref_variables import Variable, VariableV2
from tfteach.ops.state.resource_variables import ReadVariableOp
from tfteach.ops.windows.conv_2d import Conv2D
from tfteach.ops.windows.depthwise_conv import DepthwiseConv2dNative

LAYERS = Conv2D, MatMul, DepthwiseConv2dNative
ADDS = Add, AddV2
RELUS = Relu, Relu6
ACTIVATIONS = *RELUS, Identity
# Ops with these names consume nothing that is quantized.
SKIPPED = (
    "gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary"
)  # fmt: skip
_VARIABLES = Variable, VariableV2
_BATCH_NORMS = FusedBatchNorm, FusedBatchNormV3


class Layer(NamedTuple):
    """A layer and the ops after it, as far as the patterns have them.

    Attributes:
      op: the convolution or product.
      weights: its weights.
      activation: the op whose output is quantized.
      bias: the addition of a bias.
      bypass: the addition of another layer's output, before the activation.
      late_bypass: the same after it.
    """

    op: Operation
    weights: Tensor | None
    activation: Operation
    bias: Operation | None = None
    bypass: Operation | None = None
    late_bypass: Operation | None = None


def is_one_of(op: Operation, kinds: Iterable[type[Op]]) -> bool:
    """Whether the op is of one of these types; subclasses are others."""
    return type(op.spec) in kinds


def layers(graph: Graph) -> list[Layer]:
    """The layers of a graph, in the order in which TensorFlow quantizes them."""
    ops = graph.get_operations()
    found: dict[Operation, Layer] = {}
    for pattern in (_with_late_bypass, _with_activation, _with_bias, _separable):
        for op in ops:
            for layer in pattern(op):
                found.setdefault(layer.op, layer)
    return list(found.values())


def weights_of(op: Operation) -> Tensor | None:
    """The weights of a convolution or product; None for other ops, and others' inputs.

    They are a variable's value, or a product.
    """
    if not is_one_of(op, LAYERS):
        return None
    return next((t for t in reversed(op.inputs) if _is_weight(t.op)), None)


def _is_weight(op: Operation) -> bool:
    if is_one_of(op, (ReadVariableOp, Mul)):
        return True
    if not is_one_of(op, [Identity]):
        return False
    source = op.inputs[0].op
    if is_one_of(source, [ConcatV2]) and len(source.inputs) == 3:  # of two parts
        source = source.inputs[0].op
        if not is_one_of(source, [Identity]):
            return False
    if is_one_of(source, [Identity]):
        source = source.inputs[0].op
    return is_one_of(source, _VARIABLES)


def _layer(op: Operation) -> Operation | None:
    return op if weights_of(op) is not None else None


def _layer_output(op: Operation) -> Operation | None:
    """The layer whose output, maybe put together from a batch, this is."""
    return _layer(op.inputs[0].op) if is_one_of(op, [BatchToSpaceND]) else _layer(op)


def _biased(op: Operation) -> Operation | None:
    """The layer to whose output this op adds something."""
    if not is_one_of(op, (BiasAdd, *ADDS)):
        return None
    return next(filter(None, (_layer_output(t.op) for t in op.inputs)), None)


def _folded(op: Operation) -> Operation | None:
    """The layer with folded batch normalization that ends here: (x * a + b) + c."""
    if not is_one_of(op, ADDS):
        return None
    for correction in (t.op for t in op.inputs):
        if is_one_of(correction, ADDS):
            for product in (t.op for t in correction.inputs):
                if is_one_of(product, [Mul]):
                    found = (_layer_output(t.op) for t in product.inputs)
                    layer = next(filter(None, found), None)
                    if layer is not None:
                        return layer
    return None


def _summed(op: Operation) -> tuple[Operation, Operation] | None:
    """The layer whose output and bias this adds, or passes on, and the addition."""
    layer = _biased(op) or _folded(op)
    if layer is None and is_one_of(op, [Identity]):
        op = op.inputs[0].op
        layer = _folded(op)
    return None if layer is None else (layer, op)


def _bypassed(op: Operation) -> tuple[Operation, Operation] | None:
    """The layer and the op that adds a bias, to whose output this one adds another."""
    if not is_one_of(op, ADDS):
        return None
    return next(filter(None, (_summed(t.op) for t in op.inputs)), None)


def _activated(op: Operation) -> Layer | None:
    if not is_one_of(op, ACTIVATIONS):
        return None
    before = op.inputs[0].op
    bias = bypass = None
    layer: Operation | None
    if (found := _summed(before)) is not None:
        layer, bias = found
    elif (found := _bypassed(before)) is not None:
        (layer, bias), bypass = found, before
    else:
        layer = _layer(before)
    return None if layer is None else Layer(layer, weights_of(layer), op, bias, bypass)


def _with_late_bypass(op: Operation) -> Iterator[Layer]:
    if is_one_of(op, ADDS):
        for tensor in reversed(op.inputs):
            found = _activated(tensor.op)
            if found is not None:
                yield found._replace(late_bypass=op)
                return


def _with_activation(op: Operation) -> Iterator[Layer]:
    found = _activated(op)
    if found is not None and not _feeds_batch_norm(op):
        yield found


def _feeds_batch_norm(op: Operation) -> bool:
    consumers = op.outputs[0].consumers() if is_one_of(op, [Identity]) else []
    return len(consumers) == 1 and is_one_of(consumers[0], _BATCH_NORMS)


def _with_bias(op: Operation) -> Iterator[Layer]:
    layer = _biased(op) or _folded(op)
    if layer is not None:
        yield Layer(layer, weights_of(layer), op)


def _separable(op: Operation) -> Iterator[Layer]:
    """A layer that feeds another directly."""
    if is_one_of(op, LAYERS):
        for tensor in op.inputs:
            layer = _layer_output(tensor.op)
            if layer is not None:
                yield Layer(layer, weights_of(layer), layer)
                return
