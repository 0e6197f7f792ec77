"""What holds for the classes of all ops."""

from __future__ import annotations

from tests.ops.case import import_families
from tfteach.framework.op import OPS, MultiOutputOp, NoOutputOp

import_families()


def test_the_base_of_an_op_says_what_a_call_returns() -> None:
    for op in OPS.values():
        several = len(op.outputs) > 1 or any(arg.is_sequence for arg in op.outputs)
        assert issubclass(op, MultiOutputOp) == several
        assert issubclass(op, NoOutputOp) == (not op.outputs)
