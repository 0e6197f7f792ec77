"""Runs the executors of a step beside each other, on the caller's thread and others.

An executor runs one instruction at a time.  Threads belong to no executor: one that has
ended an instruction goes on with the same executor, or with another one that is ready,
so that a value that is handed over wakes a thread only where there is more than one
thing to do.
"""

from __future__ import annotations

import contextvars
import heapq
import itertools
import threading
from collections.abc import Sequence
from typing import Any

from tfteach.engine.devices.array_module import IGNORED, float_errors
from tfteach.engine.execute.block_kernel import BlockKernel
from tfteach.engine.execute.executor_plan import Channel, ExecutorPlan
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.inter_op_pool import InterOpPool
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.execute.program import StepObserver
from tfteach.engine.execute.rendezvous import Rendezvous
from tfteach.framework.errors import CancelledError
from tfteach.framework.transaction import running
from tfteach.framework.waiting import (
    Cancellation,
    WouldWait,
    limited_by,
    slice_s,
    trying,
)

_step_ids = itertools.count(1)


class Executors:
    """One run of a step.

    Args:
      plan: the step.
      registers: with the values of feeds and constants; filled in.
      observers: follow the run.
    """

    def __init__(
        self,
        plan: ExecutorPlan,
        registers: list[Any],
        observers: Sequence[StepObserver] = (),
    ) -> None:
        self._plan = plan
        self._registers = registers
        self._observers = observers
        self.rendezvous = Rendezvous(next(_step_ids))
        self._cancellation = Cancellation()
        # Held while the state below is read or changed; never while a kernel runs.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._pending = list(plan.pending)
        self._uses = list(plan.uses)
        self._left = len(plan.code)
        # The ranks of what each executor can run; then those for the caller's thread.
        self._ready: list[list[int]] = [[] for _ in (*plan.devices, None)]
        self._is_busy = [False] * len(self._ready)
        self._idle = 0  # threads that wait for an instruction
        self._helpers = 0
        self._calls = self._cancellable = 0  # ops that have a thread while they wait
        self._failed: tuple[int, BaseException] | None = None
        self._is_over = False
        self._context = contextvars.copy_context()  # the run's limits
        self._transaction = running.transaction

    def run(self, pool: InterOpPool) -> None:
        """Run all instructions; `pool` helps.

        Raises:
          OpError: a kernel failed.
          BaseException: an interrupt.
        """
        plan = self._plan
        if self._transaction is not None:
            self._transaction.expect_threads()
        for channels in plan.channels:
            for channel in channels:
                self._receive(channel)
        for number, count in enumerate(plan.pending):
            if not count:
                self._make_ready(number)
        helpers = min(len(plan.devices), pool.count) - 1
        interrupt = None
        try:
            with limited_by(self._cancellation):
                pool.offer(self, helpers)
                self._work(is_caller=True)
        except BaseException as error:
            interrupt = error
        self._is_over = True
        if interrupt is None and self._failed is None:
            return
        number, reason = self._end_all(interrupt)
        self._failed = None
        self._registers.clear()  # a traceback keeps frames, which must not keep arrays
        if number < len(plan.code) and isinstance(reason, Exception):
            raise_blaming(reason, plan.code[number])
        raise reason

    def help(self) -> None:
        """Run instructions on another thread than the caller's."""
        self._context.copy().run(self._help)

    def _help(self) -> None:
        with self._lock:
            if self._is_over or self._failed is not None or not self._left:
                return
            self._helpers += 1
        mode = float_errors.set(IGNORED)
        running.transaction = self._transaction
        try:
            with limited_by(self._cancellation):
                self._work(is_caller=False)
        except BaseException as error:
            self._fail(len(self._plan.code), error)
        finally:
            running.transaction = None
            float_errors.reset(mode)
            with self._lock:
                self._helpers -= 1
                if not self._helpers:
                    self._changed.notify_all()

    # ---- working

    def _work(self, is_caller: bool) -> None:
        code, waits = self._plan.code, self._plan.waits
        number = self._first(is_caller)
        while number is not None:
            try:
                if waits[number]:
                    has_ended = self._begin_call(number, code[number])
                else:
                    has_ended = True
                    self._compute(number, code[number])
            except BaseException as error:
                self._fail(number, error)
                return
            executor = self._executor_for(number)
            if has_ended:
                self._end(number, executor)
            else:
                with self._lock:
                    self._is_busy[executor] = False
            with self._lock:
                number = self._take(executor, is_caller)

    def _compute(self, number: int, instruction: Instruction) -> None:
        registers = self._registers
        values = [registers[slot] for slot in instruction.inputs]
        kernel, observers = instruction.function, self._observers
        if observers and isinstance(kernel, BlockKernel):  # they follow its parts
            result = kernel.run_observed(values, observers)
            observers = ()
        else:
            for observer in observers:
                observer.before(instruction)
            result = kernel(*values)
        values.clear()
        self._set(number, instruction, result, observers)

    def _set(
        self,
        number: int,
        instruction: Instruction,
        result: Any,
        observers: Sequence[StepObserver],
    ) -> None:
        """Hand over what a kernel returned."""
        outputs, registers = instruction.outputs, self._registers
        results = (result,) if len(outputs) == 1 else tuple(result or ())
        for slot, value in zip(outputs, results, strict=True):
            registers[slot] = value
        for observer in observers:
            observer.after(instruction, results)
        for channel in self._plan.channels[number]:
            value = registers[channel.slot] if channel.slot >= 0 else None
            self.rendezvous.send(channel.key, value)

    # ---- ops that may wait for others of the step

    def _begin_call(self, number: int, instruction: Instruction) -> bool:
        """Run an op that may wait; returns whether it has ended, without waiting."""
        spec = instruction.node.spec
        if not spec.calls_python and not self._observers:  # they follow one attempt
            try:
                with trying():
                    self._compute(number, instruction)
            except WouldWait:
                pass
            else:
                return True
        with self._lock:
            self._calls += 1
            self._cancellable += spec.may_wait
        context = contextvars.copy_context()
        # A daemon: a function that never returns must not keep the process alive.
        thread = threading.Thread(
            target=context.run,
            args=(self._call, number, instruction),
            daemon=True,
            name="tfteach-waiting-op" if spec.may_wait else "tfteach-py_func",
        )
        try:
            thread.start()
        except RuntimeError:  # there are too many
            self._call_ended(instruction)
            raise
        return False

    def _call(self, number: int, instruction: Instruction) -> None:
        try:
            self._compute(number, instruction)
            self._end(number, None)
        except BaseException as error:  # also since the run has failed meanwhile
            self._fail(number, error)
        finally:
            self._call_ended(instruction)

    def _call_ended(self, instruction: Instruction) -> None:
        with self._lock:
            self._calls -= 1
            self._cancellable -= instruction.node.spec.may_wait
            self._changed.notify_all()

    # ---- the next instruction

    def _first(self, is_caller: bool) -> int | None:
        with self._lock:
            return self._take(0, is_caller)

    def _end(self, number: int, executor: int | None) -> None:
        """End an instruction, of an executor or of none."""
        plan = self._plan
        freed = []
        with self._lock:
            for slot in plan.reads[number]:
                self._uses[slot] -= 1
                if not self._uses[slot]:
                    freed.append(slot)
            for user in plan.users[number]:
                self._arrived(user)
            if executor is not None:
                self._is_busy[executor] = False
            self._left -= 1
            if not self._left or (self._idle and (self._ready[-1] or executor is None)):
                self._changed.notify_all()
        for slot in freed:  # it may call back: not while holding the lock
            self._registers[slot] = None
        if not isinstance(plan.code[number].function, BlockKernel):
            for observer in self._observers:
                observer.release(plan.code[number])

    def _take(self, preferred: int, is_caller: bool) -> int | None:
        """The next instruction for this thread, once there is one."""
        while self._left and self._failed is None:
            executor = self._startable(preferred, is_caller)
            if executor is not None:
                self._is_busy[executor] = True
                number = self._plan.by_rank[heapq.heappop(self._ready[executor])]
                if self._idle and self._startable(preferred, False) is not None:
                    self._changed.notify()
                return number
            if not any(self._is_busy) and not self._calls:
                assert any(self._ready), f"{self.rendezvous}: all executors wait"
            self._idle += 1
            try:
                self._changed.wait(slice_s(None))
            finally:
                self._idle -= 1
        return None

    def _startable(self, preferred: int, is_caller: bool) -> int | None:
        """An executor that this thread can continue, or None."""
        last = len(self._ready) - 1  # for the caller only
        found, first = None, len(self._plan.code)
        for executor, ready in enumerate(self._ready):
            if not ready or self._is_busy[executor]:
                continue
            if executor == last and not is_caller:
                continue
            if executor == preferred and not is_caller:
                return executor
            if ready[0] < first:
                found, first = executor, ready[0]
        return found

    def _executor_for(self, number: int) -> int:
        plan = self._plan
        return len(plan.devices) if plan.on_caller[number] else plan.executor_of[number]

    def _arrived(self, number: int) -> None:
        """One of the things that an instruction waits for is there; holds the lock."""
        self._pending[number] -= 1
        if not self._pending[number]:
            self._make_ready(number)

    def _make_ready(self, number: int) -> None:
        executor = self._executor_for(number)
        heapq.heappush(self._ready[executor], self._plan.ranks[number])

    def _receive(self, channel: Channel) -> None:
        def done(value: Any, error: BaseException | None) -> None:
            if error is not None:
                return  # all end
            if channel.slot >= 0:
                self._registers[channel.slot] = value
            with self._lock:
                for user in channel.users:
                    self._arrived(user)
                if self._idle:
                    self._changed.notify_all()

        self.rendezvous.recv_async(channel.key, done)

    # ---- failing

    def _fail(self, number: int, error: BaseException) -> None:
        """End the run; the error of the instruction that comes first is reported."""
        with self._lock:
            known = self._failed
            if known is None or _replaces((number, error), known):
                self._failed = number, error
            self._changed.notify_all()
        self.rendezvous.start_abort(error)
        self._cancellation.cancel()

    def _end_all(self, interrupt: BaseException | None) -> _Failure:
        """Wait until no kernel runs any more; returns the run's error.

        Args:
          interrupt: what ended this thread's work, unless a kernel failed.
        """
        while True:
            try:
                if interrupt is not None:
                    self._fail(len(self._plan.code), interrupt)
                with self._lock:
                    while self._helpers or self._cancellable:
                        self._changed.wait(slice_s(None))
                    assert self._failed is not None
                    return self._failed
            except BaseException as error:
                interrupt = error


# The number of an instruction, and its error.
_Failure = tuple[int, BaseException]


def _replaces(new: _Failure, known: _Failure) -> bool:
    """Whether an error, rather than one that came before it, is the run's."""
    if not isinstance(known[1], Exception):
        return False  # an interrupt
    if not isinstance(new[1], Exception):
        return True
    is_own = new[1] is not known[1] and not isinstance(new[1], CancelledError)
    return is_own and new[0] < known[0]
