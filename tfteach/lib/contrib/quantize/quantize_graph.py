"""Graphs rewritten in place for simulated quantization.

Source: contrib/quantize/python/quantize_graph.py, quantize.py, common.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.branch import cond
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.quantize.batch_norms import fold_fused_batch_norms
from tfteach.lib.contrib.quantize.layers import (
    ACTIVATIONS,
    ADDS,
    RELUS,
    SKIPPED,
    Layer,
    is_one_of,
    layers,
)
from tfteach.lib.contrib.quantize.observed_ranges import Settings, quantized
from tfteach.lib.contrib.quantize.steps import quantization_step
from tfteach.lib.contrib.quantize.unfused_batch_norms import fold_unfused_batch_norms
from tfteach.ops.array.space_to_batch import BatchToSpaceND, SpaceToBatchND
from tfteach.ops.core.identity_reshape import Identity, Reshape
from tfteach.ops.math.compare import greater_equal
from tfteach.ops.math.multiply import Mul
from tfteach.ops.math.reduce_ops import Max
from tfteach.ops.quantization.fake_quant import (
    FakeQuantWithMinMaxArgs,
    FakeQuantWithMinMaxVars,
    FakeQuantWithMinMaxVarsPerChannel,
)
from tfteach.ops.windows.pool import MaxPool

_FAKE_QUANTS = (
    FakeQuantWithMinMaxArgs,
    FakeQuantWithMinMaxVars,
    FakeQuantWithMinMaxVarsPerChannel,
)
_SUMS = *ADDS, Mul
_PASSING = Reshape, Identity, BatchToSpaceND, SpaceToBatchND, MaxPool, Max


class _Rewriter:
    """Puts fake quantization between the ops of a graph.

    What each op feeds is looked up as it was before.
    """

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self.graph, self.settings = graph, settings
        self._record_consumers()

    def _record_consumers(self) -> None:
        self._consumers: dict[Tensor, list[Operation]] = {}
        for op in self.graph.get_operations():
            if not op.name.startswith(SKIPPED):
                for tensor in dict.fromkeys(op.inputs):
                    self._consumers.setdefault(tensor, []).append(op)

    def _consumers_of(self, op: Operation) -> list[Operation]:
        return [c for t in op.outputs for c in self._consumers.get(t, [])]

    def run(self) -> None:
        """Quantize weights and activations of layers, then sums and products."""
        done: set[Operation] = set()
        for layer in layers(self.graph):
            self._quantize_layer(layer, done)
        self._record_consumers()
        for op in self.graph.get_operations():
            if _is_quantizable(op, done):
                self._insert(op, op.name, f"activation_{op.type}_quant", plain=True)

    def _quantize_layer(self, layer: Layer, done: set[Operation]) -> None:
        context = _scope_of(layer.op)
        if layer.weights is not None:
            self._insert(
                layer.weights.op, context, "weights_quant", is_weight=True,
                all_in_scope=True,
            )  # fmt: skip
        outer = context
        if layer.bypass is not None:
            outer = context.rpartition("/")[0]
        self._insert(layer.activation, outer, "act_quant", init_min=0.0)
        done.add(layer.activation)
        if layer.bypass is not None and layer.bias is not None:
            self._insert(layer.bias, context, "conv_quant", all_in_scope=True)
            done.add(layer.bias)
            following = self._consumers_of(layer.bypass)
            if not any(is_one_of(op, ACTIVATIONS) for op in following):
                self._insert(layer.bypass, outer, "add_quant", all_in_scope=True)
                done.add(layer.bypass)
        late = layer.late_bypass
        if late is not None:
            following = self._consumers_of(late)
            if not any(is_one_of(op, RELUS) for op in following):
                name = "post_activation_bypass_quant"
                self._insert(late, _scope_of(late), name)
                done.add(late)

    def _insert(
        self,
        producer: Operation,
        context: str,
        name: str,
        is_weight: bool = False,
        all_in_scope: bool = False,
        init_min: float = -6.0,
        plain: bool = False,
    ) -> None:
        """Fake quantization of an op's output, unless there is one already.

        Args:
          producer: the op.
          context, name: the scope of the new ops, and its last part.
          is_weight: whether the output is a weight.
          all_in_scope: whether its consumers must be in the settings' scope, too.
          init_min: the first lower end of the range.
          plain: whether the range is not symmetric in any case.
        """
        settings = self.settings
        consumers = self._consumers_of(producer)
        checked = [] if is_weight else [producer]
        checked += consumers if all_in_scope else []
        if not all(op.name.startswith(settings.scope) for op in checked):
            return
        tensor = producer.outputs[0]
        if _is_fake_quantized(tensor):
            return
        prefix = f"{context}/{name}" if context else name
        current = self.graph.get_name_scope()
        if current:
            prefix = prefix.removeprefix(f"{current}/")
        bits = settings.weight_bits if is_weight else settings.activation_bits
        if plain:
            settings = settings._replace(symmetric=False)
        found = quantized(tensor, prefix, settings, bits, is_weight, init_min)
        delay = settings.quant_delay
        if delay and delay > 0:
            is_active = greater_equal(
                quantization_step(), delay, name=f"{prefix}/activate_quant"
            )
            now = found
            found = cond(
                is_active, lambda: now, lambda: tensor, name=f"{prefix}/delayed_quant"
            )
        for op in consumers:
            for i, each in enumerate(op.inputs):
                if each is tensor:
                    op._update_input(i, found)


def _scope_of(op: Operation) -> str:
    return op.name.rpartition("/")[0]


def _is_fake_quantized(tensor: Tensor) -> bool:
    todo = list(tensor.consumers())
    while todo:
        op = todo.pop()
        if is_one_of(op, _FAKE_QUANTS):
            return True
        if is_one_of(op, (Reshape, Identity)):
            todo += [c for output in op.outputs for c in output.consumers()]
    return False


def _is_quantizable(op: Operation, done: set[Operation]) -> bool:
    """Whether a sum or product has an input that is quantized."""
    if op in done or not is_one_of(op, _SUMS):
        return False
    consumers = op.outputs[0].consumers()
    if len(consumers) == 1 and is_one_of(consumers[0], RELUS):
        return False
    for tensor in op.inputs:
        source = tensor.op
        while is_one_of(source, _PASSING):
            source = source.inputs[0].op
        is_ranged = is_one_of(source, [FakeQuantWithMinMaxVars])
        if is_ranged or source.name.find("delayed_quant/Merge") > 0:
            return True
        if is_one_of(source, _SUMS) and any(
            _is_quantizable(each.op, done) for each in source.inputs
        ):
            return True
    return False


def _rewrite(input_graph: Graph | None, settings: Settings, freeze: Any) -> None:
    graph = get_default_graph() if input_graph is None else input_graph
    _check(graph)
    scope = settings.scope
    if scope and not scope.endswith("/"):
        settings = settings._replace(scope=f"{scope}/")
    with graph.as_default():
        fold_fused_batch_norms(graph, freeze)
        fold_unfused_batch_norms(graph, settings.is_training, freeze)
        _Rewriter(graph, settings).run()


def _check(graph: Graph) -> None:
    ops = graph.get_operations()
    updates = {
        op.type
        for op in ops
        if op.type.removeprefix("Resource").startswith(("Apply", "SparseApply"))
    }
    if updates:
        raise ValueError(
            f"Training op found in graph, exiting {updates}: quantize the graph "
            "before an optimizer adds its ops."
        )


@export("contrib.quantize.create_training_graph")
def create_training_graph(
    input_graph: Graph | None = None, quant_delay: int | None = 0
) -> None:
    """Rewrite a graph in place so that it trains with simulated quantization.

    Weights and activations are rounded as 8-bit integers would be; gradients ignore
    the rounding.  Each range is a pair of variables, which runs update.  Call it before
    `minimize`; batch normalization is folded into the weights before it.

    Args:
      input_graph: the graph; the default graph if None.
      quant_delay: the number of runs before the first that quantizes.

    Raises:
      ValueError: an optimizer has added its ops.
      KeyError: ops that normalize batches do not have the names that
        `tf.contrib.layers.batch_norm` gives.

    Example:
      >>> y = tf.layers.dense(tf.ones([1, 3]), 2, tf.nn.relu, name="layer")
      >>> tf.contrib.quantize.create_training_graph()
      >>> tf.get_default_graph().get_operation_by_name("layer/MatMul").inputs[1].op.name
      'layer/weights_quant/FakeQuantWithMinMaxVars'

    Source: create_training_graph in contrib/quantize/python/quantize_graph.py.
    """
    _rewrite(input_graph, Settings(True, 8, 8, False, quant_delay, ""), None)


@export("contrib.quantize.create_eval_graph")
def create_eval_graph(input_graph: Graph | None = None) -> None:
    """Rewrite a graph in place so that it computes with the ranges of training.

    The variables are those of `create_training_graph`: restore them from a checkpoint
    of the graph that was trained.

    Args:
      input_graph: the graph; the default graph if None.

    Raises:
      ValueError: an optimizer has added its ops.
      KeyError: ops that normalize batches do not have the names that
        `tf.contrib.layers.batch_norm` gives.

    Source: create_eval_graph in contrib/quantize/python/quantize_graph.py.
    """
    _rewrite(input_graph, Settings(False, 8, 8, False, None, ""), None)


@export("contrib.quantize.experimental_create_training_graph")
def experimental_create_training_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_training_graph` with other numbers of bits, for a part of a graph.

    Args:
      input_graph: the graph; the default graph if None.
      weight_bits, activation_bits: numbers of bits, 2 to 16.
      symmetric: whether the ranges of layers are symmetric about 0.
      quant_delay: the number of runs before the first that quantizes.
      freeze_bn_delay: the number of runs after which moving averages replace the
        statistics of batches; None for never.
      scope: the name scope of the ops to rewrite; None for all.

    Raises:
      ValueError: an optimizer has added its ops.
      KeyError: ops that normalize batches do not have the names that
        `tf.contrib.layers.batch_norm` gives.

    Source: contrib/quantize/python/quantize_graph.py.
    """
    settings = Settings(
        True, weight_bits, activation_bits, symmetric, quant_delay, scope or ""
    )
    _rewrite(input_graph, settings, freeze_bn_delay)


@export("contrib.quantize.experimental_create_eval_graph")
def experimental_create_eval_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_eval_graph` with other numbers of bits, for a part of a graph.

    Args:
      input_graph: the graph; the default graph if None.
      weight_bits, activation_bits: numbers of bits, 2 to 16.
      symmetric: as in training; the graph that evaluates is the same.
      quant_delay: the number of runs before the first that quantizes.
      scope: the name scope of the ops to rewrite; None for all.

    Raises:
      ValueError: an optimizer has added its ops.
      KeyError: ops that normalize batches do not have the names that
        `tf.contrib.layers.batch_norm` gives.

    Source: contrib/quantize/python/quantize_graph.py.
    """
    settings = Settings(
        False, weight_bits, activation_bits, symmetric, quant_delay, scope or ""
    )
    _rewrite(input_graph, settings, None)
