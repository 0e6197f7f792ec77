"""Beams, against following each from its end, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.array.gather_tree import GatherTree

RNG = np.random.default_rng(8)
STEPS = RNG.integers(0, 5, (6, 4, 3)).astype(np.int32)
PARENTS = RNG.integers(0, 3, (6, 4, 3)).astype(np.int32)
LENGTHS = np.array([6, 2, 0, 9], np.int32)


def beams(steps: Any, parents: Any, lengths: Any, end: Any) -> Any:
    found = np.full_like(steps, end)
    for batch in range(steps.shape[1]):
        for beam in range(steps.shape[2]):
            place, said = beam, []
            for time in reversed(range(min(lengths[batch], len(steps)))):
                said.append(steps[time, batch, place])
                place = parents[time, batch, place]
            said.reverse()
            if end in said:
                said = said[: said.index(end)]
            found[: len(said), batch, beam] = said
    return found


CASES = [
    Case(GatherTree(), (STEPS, PARENTS, LENGTHS, np.int32(9)), beams),
    Case(GatherTree(), (STEPS, PARENTS, LENGTHS, np.int32(2)), beams, "ends"),
]
