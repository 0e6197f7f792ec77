"""Broadcasts; the answers are written out."""

from __future__ import annotations

from tests.ops.case import Case
from tests.ops.sample_arrays import Y, i32
from tfteach.ops.array.broadcast_to import BroadcastArgs, BroadcastTo

CASES = [
    Case(BroadcastTo(), (Y, i32(3, 2, 2)), [[[0.5, 0.5], [1.5, 1.5]]] * 3),
    Case(BroadcastArgs(), (i32(3, 1), i32(2, 1, 4)), [2, 3, 4]),
]
