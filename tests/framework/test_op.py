"""What holds for the classes of all ops."""

from __future__ import annotations

import pytest

from tests.ops.case import import_families
from tfteach.framework.op import OPS, MultiOutputOp, NoOutputOp

import_families()


@pytest.mark.parametrize("op_type", OPS)
def test_the_base_of_an_op_says_what_a_call_returns(op_type: str) -> None:
    op = OPS[op_type]
    several = len(op.outputs) > 1 or any(arg.is_sequence for arg in op.outputs)
    assert issubclass(op, MultiOutputOp) == several
    assert issubclass(op, NoOutputOp) == (not op.outputs)
