"""Steps on several devices, whose executors run beside each other where that is faster.

Handing a value to another thread costs more than a small kernel.  So the first runs of
a step are timed both ways, in order on one thread and in parallel, and the later ones
take the faster way.  A step of less than a millisecond stays on one thread.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from tfteach.engine.execute.block_kernel import parts_of
from tfteach.engine.execute.compile import Compiled
from tfteach.engine.execute.executor_plan import (
    ExecutorPlan,
    executor_plan,
    has_large_kernels,
    may_overlap,
)
from tfteach.engine.execute.executors import Executors
from tfteach.engine.execute.inter_op_pool import InterOpPool, chosen_pool
from tfteach.engine.execute.program import (
    MAX_COUNTED,
    FedShapes,
    FlowObserver,
    Program,
    StepObserver,
    shapes_of,
)
from tfteach.engine.plan.step import writes
from tfteach.framework.transaction import commit

# A faster run in order is not worth several threads.
SHORT_S = 1e-3
TRIALS = 3
_ALONE = InterOpPool(1)


class Race:
    """Which way is faster for some shapes of the feeds: in order, or in parallel.

    Args:
      guess: whether it is parallel, for runs before this is known.

    Attributes:
      is_over: whether it is known.
      is_parallel: the way to take in the next run.
    """

    def __init__(self, guess: bool) -> None:
        self.is_over = False
        self.is_parallel = guess
        self._guess = guess
        self._warm_ups = 1
        self._times_s: dict[bool, list[float]] = {False: [], True: []}

    def record(self, elapsed_s: float) -> None:
        """Count a run that took so long on the way that `is_parallel` told."""
        if self.is_over:  # threads may have run at once
            return
        if self._warm_ups:  # kernels were compiled, memory was got
            self._warm_ups -= 1
            self.is_parallel = False
            return
        times_s = self._times_s
        times_s[self.is_parallel].append(elapsed_s)
        if len(times_s[True]) >= TRIALS:
            self._decide(min(times_s[True]) < min(times_s[False]))
        elif not times_s[True] and elapsed_s < SHORT_S:
            if len(times_s[False]) == TRIALS:
                self._decide(False)
        else:
            self.is_parallel = not self.is_parallel

    def _decide(self, is_parallel: bool) -> None:
        self.is_parallel = is_parallel
        self.is_over = True


class ParallelProgram(Program):
    """A program for several devices; see `Program`.

    Args:
      compiled: the step.
      pool_of: the session's pool of a number, or None for one thread.
      is_concurrent: whether ops may wait for each other; its executors then run also
        where the caller is the only thread.
    """

    def __init__(
        self,
        compiled: Compiled,
        pool_of: Callable[[int], InterOpPool | None],
        is_concurrent: bool = False,
    ) -> None:
        super().__init__(compiled)
        # Whatever is the last in order, others may fail after it.
        self._is_transaction |= any(
            writes(part.node) and not part.is_read
            for instruction in compiled.instructions
            for part in parts_of(instruction)
        )
        self._pool_of = pool_of
        self._is_concurrent = is_concurrent
        self._races: dict[FedShapes, Race] = {}

    @functools.cached_property
    def plan(self) -> ExecutorPlan:
        """The executors' parts of the step."""
        return executor_plan(self.compiled, self._is_concurrent)

    @functools.cached_property
    def may_overlap(self) -> bool:
        """Whether parallel runs may be faster, before any were timed."""
        return has_large_kernels(self.compiled) and may_overlap(self.plan)

    def _run(self, fed: Sequence[Any], observers: Sequence[StepObserver]) -> Any:
        pool = self._pool_of(chosen_pool.get())
        if pool is None:
            return self._run_in_order(fed, observers)
        race = self._race(fed)
        if observers:
            if self._traces_in_parallel(race, observers):
                return self.run_parallel(fed, pool, observers)
            return self._run_in_order(fed, observers)
        if race.is_over:
            if race.is_parallel:
                return self.run_parallel(fed, pool)
            return self._run_in_order(fed, observers)
        began_s = perf_counter()
        if race.is_parallel:
            found = self.run_parallel(fed, pool)
        else:
            found = self._run_in_order(fed, observers)
        race.record(perf_counter() - began_s)
        return found

    def _run_in_order(
        self, fed: Sequence[Any], observers: Sequence[StepObserver]
    ) -> Any:
        if self._is_concurrent:  # in which nothing waits for an op that waits
            return self.run_parallel(fed, _ALONE, observers)
        return super()._run(fed, observers)

    def _race(self, fed: Sequence[Any]) -> Race:
        shapes = shapes_of(fed, self._handles or (False,) * len(fed))
        race = self._races.get(shapes)
        if race is None:
            if len(self._races) == MAX_COUNTED:
                self._races.clear()
            race = self._races[shapes] = Race(self.may_overlap)
        return race

    def shows_threads(
        self, fed: Sequence[Any], observers: Sequence[StepObserver]
    ) -> bool:
        """Whether an observed run is one in parallel."""
        is_possible = self._pool_of(chosen_pool.get()) is not None
        return is_possible and self._traces_in_parallel(self._race(fed), observers)

    def _traces_in_parallel(
        self, race: Race, observers: Sequence[StepObserver]
    ) -> bool:
        is_parallel = race.is_parallel if race.is_over else self.may_overlap
        return is_parallel and all(map(_follows_threads, observers))

    def run_parallel(
        self,
        fed: Sequence[Any],
        pool: InterOpPool,
        observers: Sequence[StepObserver] = (),
    ) -> list[Any]:
        """Run the executors on several threads."""
        compiled = self.compiled
        registers = compiled.registers.copy()
        for slot, value in zip(compiled.feeds, fed, strict=True):
            registers[slot] = value
        Executors(self.plan, registers, observers).run(pool)
        if any(instruction.is_commit for instruction in compiled.instructions[-1:]):
            commit()
        return [own(registers[slot]) for slot, own in compiled.fetches]


def _follows_threads(observer: StepObserver) -> bool:
    return isinstance(observer, FlowObserver) and observer.follows_threads
