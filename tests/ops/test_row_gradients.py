"""Which inputs have a gradient, and of which static shape: as in TensorFlow."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.golden import op_rows
from tests.golden.op_rows import CONSTANT, CRASH, REFUSED, UNREGISTERED, VALUE, text
from tests.ops.case import Case
from tests.ops.test_partial_shapes import CASES, graph_of
from tfteach.autodiff.gradient_registry import gradient_rule
from tfteach.ops.core.placeholder import Placeholder

GOLDEN: dict[str, str] = {
    name: gradients
    for name, _, gradients in json.loads(
        Path(op_rows.__file__).with_suffix(".json").read_text()
    )
}
# TensorFlow's static shapes are wrong: those of the outputs ignore the dilations, or a
# gradient's are computed from a number of rows that it does not know.
WRONG_SHAPES = {
    "Conv3DBackpropFilterV2-dilations",
    "Conv3DBackpropInputV2-dilations",
    "DepthwiseConv2dNativeBackpropFilter-dilations",
    "DepthwiseConv2dNativeBackpropInput-dilations",
    "MatrixDiagPartV2",
    "MatrixDiagPartV2-one",
    "MatrixDiagV2",
    "MatrixDiagV2-band",
    "MatrixDiagV2-rows",
}


def gradients_of(case: Case) -> str:
    """The static shapes of the gradients, as the golden file has them."""
    graph = graph_of(case, [VALUE] * len(case.named))
    with graph.as_default():
        node = graph.get_operation_by_name("it")
        try:
            rule = gradient_rule(node)
        except LookupError:
            return UNREGISTERED
        if rule is None:
            return CONSTANT
        seeds = [Placeholder(t.dtype, t._shape)(name="seed") for t in node.outputs]
        found = rule(node, *seeds)
    found = found if isinstance(found, list | tuple) else [found]
    return ";".join(map(gradient_text, found))


def gradient_text(grad: Any) -> str:
    if grad is None:
        return "-"
    return text(grad._shape) if hasattr(grad, "_shape") else "slices"


def is_between(case: Case) -> bool:
    """Whether a gradient can come to the op from a float output, and go on."""
    node = graph_of(case, [VALUE] * len(case.named)).get_operation_by_name("it")
    ends = [
        any(t.dtype.is_floating or t.dtype.is_complex for t in tensors)
        for tensors in (node.inputs, node.outputs)
    ]
    return all(ends)


def is_compared(case: Case) -> bool:
    # TensorFlow takes no axes for none: its own gradient then does not fit.
    is_wrong = str(case) == "SparseReduceSum-all"
    return not is_wrong and GOLDEN.get(str(case)) not in (None, REFUSED, CRASH)


COMPARED = list(filter(is_compared, CASES))


@pytest.mark.parametrize("case", COMPARED, ids=map(str, COMPARED))
def test_gradients_are_where_tensorflows_are(case: Case) -> None:
    found, right = gradients_of(case), GOLDEN[str(case)]
    if str(case) in WRONG_SHAPES:
        found, right = (
            re.sub("[^-;]+", "x", gradients) for gradients in (found, right)
        )
    nothing = {CONSTANT, ";".join("-" for _ in case.flat)}
    if found == right or (found in nothing and right in nothing):
        return
    assert found in nothing, (found, right)
    assert right == UNREGISTERED, (found, right)
    assert not is_between(case)


def test_most_rows_have_a_gradient() -> None:
    assert len(COMPARED) > 0.95 * len(CASES)
    assert sum("-" not in right for right in GOLDEN.values()) > 400
