"""The number of runs of a quantized graph.

Source: contrib/quantize/python/common.py.
"""

from __future__ import annotations

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import int64
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.state.ref_variables import assign_add
from tfteach.variables.base import VariableAggregation
from tfteach.variables.initializers import Zeros
from tfteach.variables.scope.get_variable import get_variable

_STEP = "fake_quantization_step"


def quantization_step() -> Tensor:
    """The number of runs of the graph, counted by a variable."""
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_STEP}/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        step = get_variable(
            _STEP,
            shape=[],
            dtype=int64,
            initializer=Zeros(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )
        with graph.name_scope(f"{step.op.name}/"):
            return identity(assign_add(step, 1))
