"""Sums of lists; the answers are written out."""

from __future__ import annotations

from tests.ops.case import Case
from tests.ops.element_wise import X
from tfteach.ops.math.add_n import AccumulateNV2, AddN

CASES = [
    Case(AddN(), ([X, X + 1, -X],), lambda arrays: arrays[0] + 1),
    Case(AddN(), ([X],), X, id="one"),
    Case(AccumulateNV2((2, 3)), ([X, X + 1, -X],), lambda arrays: arrays[0] + 1),
]  # fmt: skip
