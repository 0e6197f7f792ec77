"""Ways to run the executors of a step: in parallel at once, or in a random order."""

from __future__ import annotations

import random
from typing import Any

from tfteach.engine.execute.executors import Executors
from tfteach.engine.execute.inter_op_pool import InterOpPool


class Parallel:
    """A `Race` that is won before it begins."""

    is_over = True
    is_parallel = True

    def __init__(self, guess: bool) -> None:
        pass


class AnyOrder(Executors):
    """One thread, which continues any executor that is ready.

    Attributes:
      chance: chooses.
      ran: the names of the ops that ran.
    """

    chance = random.Random(0)
    ran: list[str] = []  # noqa: RUF012  # of all runs

    def run(self, pool: InterOpPool) -> None:
        super().run(InterOpPool(1))

    def _startable(self, preferred: int, is_caller: bool) -> int | None:
        ready = [i for i, queue in enumerate(self._ready) if queue]
        return self.chance.choice(ready) if ready else None

    def _compute(self, number: int, instruction: Any) -> None:
        self.ran.append(instruction.node.name)
        super()._compute(number, instruction)
