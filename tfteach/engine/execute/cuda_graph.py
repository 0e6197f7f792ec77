"""Hot steps on a card, replayed as CUDA graphs.

Launching a kernel takes longer than most kernels of a small model.  A step that runs
for the same shapes again and again is therefore captured: its kernels are recorded, not
run, and from then on the card receives all of them with one call.

A graph reads and writes fixed addresses.  What the host feeds is copied into buffers of
the graph.  All else that it computes is in a pool of memory that nothing else uses.
Updates of variables are a second graph, launched when nothing can fail any more: it
writes into the variables' own arrays (captured_variables.py).

What the host computes in the middle of a step cannot be captured; the reason is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.engine.execute.captured_variables import CapturedVariable, copied_back
from tfteach.engine.execute.compile import Compiled
from tfteach.engine.execute.divided_step import DividedStep, UncapturableError, divided
from tfteach.engine.execute.generated_source import StepFunction, generate
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.plan.step import Change
from tfteach.framework.errors import FailedPreconditionError
from tfteach.framework.transaction import Transaction, commit, running

# Runs before a hot step is captured: its kernels are compiled in the first.
CAPTURE_AFTER = 3
# Captures of one step, because others hold its variables' arrays, or after an error.
MAX_CAPTURES = 3


class _StaleError(Exception):
    """The graph cannot run on what it is given."""


class GraphedStep:
    """A step for given shapes, as a CUDA graph once it has run a few times.

    Args:
      compiled: the step.
      card: the device of its kernels.

    Attributes:
      source: of the function that runs until then, and where the graph cannot.
      reason: why the step is not captured; "" if it is, or will be.
      graph: the graph, or None.
    """

    def __init__(self, compiled: Compiled, card: Any) -> None:
        self._compiled = compiled
        self._card = card
        self._generated: StepFunction = generate(compiled)
        self.source = self._generated.source
        self.origin_of = self._generated.origin_of
        self.reason = ""
        self.graph: CapturedGraph | None = None
        self._runs = self._captures = 0
        self._lock = threading.Lock()
        try:
            self._divided = divided(compiled, card)
        except UncapturableError as error:
            self._give_up(str(error))

    def function(self, *fed: Any) -> list[Any]:
        """Run once; returns the fetched values."""
        if self.reason:
            return self._generated.function(*fed)  # type: ignore[no-any-return]
        self._runs += 1
        # A graph has one set of buffers: what runs at the same time takes the function.
        if self._runs <= CAPTURE_AFTER or not self._lock.acquire(blocking=False):
            return self._generated.function(*fed)  # type: ignore[no-any-return]
        try:
            with self._card.card:
                return self._run_graph(fed)
        finally:
            self._lock.release()

    def _run_graph(self, fed: Sequence[Any]) -> list[Any]:
        parts, graph = self._divided, self.graph
        try:
            if graph is not None and not graph.holds_variables():
                graph = self.graph = None
        except FailedPreconditionError:  # the function says which op reads it
            return self._generated.function(*fed)  # type: ignore[no-any-return]
        registers = self._compiled.registers.copy()
        for slot, value in zip(self._compiled.feeds, fed, strict=True):
            registers[slot] = value
        if graph is None:
            run_instructions(parts.before, registers)
            graph = self._capture(registers)
            if graph is None:
                return self._run_rest(registers)
            graph.fill(registers)
        elif not graph.take_feeds(registers):
            return self._run_rest(registers)
        graph.work.launch()
        registers[:] = graph.results(registers)
        if not parts.may_fail_after:
            graph.update()
        graph.download(registers)
        run_instructions(parts.after, registers)
        if parts.may_fail_after:
            graph.update()
        return self._fetched(registers)

    def _run_rest(self, registers: list[Any]) -> list[Any]:
        """Run, without the graph, what comes after the host's part."""
        run_instructions((*self._divided.on_card, *self._divided.rest), registers)
        if any(instruction.is_commit for instruction in self._compiled.fused[-1:]):
            commit()
        return self._fetched(registers)

    def _fetched(self, registers: Sequence[Any]) -> list[Any]:
        return [own(registers[slot]) for slot, own in self._compiled.fetches]

    def _capture(self, registers: Sequence[Any]) -> CapturedGraph | None:
        self._captures += 1
        if self._captures > MAX_CAPTURES:
            self._give_up("other steps hold the arrays of its variables")
            return None
        try:
            self.graph = CapturedGraph(self._divided, self._card, registers)
        except FailedPreconditionError:
            return None  # the kernel that reads the variable raises it again
        except Exception as error:
            self._give_up(str(error))
        return self.graph

    def _give_up(self, reason: str) -> None:
        self.reason = reason
        step = self._compiled.step
        step.log.append(Change("capture", "", f"not as a CUDA graph: {reason}"))


class CapturedGraph:
    """The kernels of a step, recorded.

    Args:
      parts: the step's instructions.
      card: its device, which is the current one.
      registers: after the part of the host.

    Attributes:
      work: the graph of everything but updates of variables.
    """

    def __init__(self, parts: DividedStep, card: Any, registers: Sequence[Any]) -> None:
        self._parts, self._card = parts, card
        cuda = card.xp.cuda
        self._pool = _pool_within(card.xp.get_default_memory_pool(), cuda)
        self._stream = cuda.Stream(non_blocking=True)
        self._reads_pinned = False  # the card may still, on behalf of an earlier run
        registers = list(registers)
        self._variables = [
            CapturedVariable(registers[slot], is_written)
            for slot, is_written in parts.cells.items()
        ]
        with cuda.using_allocator(self._pool.malloc):
            self._buffers = {
                slot: self._buffer(registers, slot) for slot in parts.entering
            }
            self._taken = _HandedOver(card.xp, parts.taken, registers)
            registers_of = {**self._buffers, **self._taken.views}
            for slot, buffer in registers_of.items():
                registers[slot] = buffer
            for slot, variable in zip(parts.cells, self._variables, strict=True):
                registers[slot] = variable.captured
            self.work, self._updates = self._record(registers)
        self._results = {slot: registers[slot] for slot in parts.leaving}
        self._staging = {
            upload.outputs[0]: _pinned(self._buffers[upload.outputs[0]])
            for upload in parts.uploads
        }
        self._downloads = {
            i.outputs[0]: _pinned(registers[i.inputs[0]]) for i in parts.downloads
        }

    def _buffer(self, registers: Sequence[Any], slot: int) -> Any:
        xp, value = self._card.xp, registers[slot]
        if not isinstance(value, xp.ndarray):
            takes = next(i for i in self._parts.on_card if slot in i.inputs)
            raise UncapturableError(f"{takes.node.name} takes a value of the host")
        return xp.empty(value.shape, value.dtype)

    def _record(self, registers: list[Any]) -> tuple[Any, Any]:
        """The graph of the kernels, and that of the updates, or None."""
        outer, transaction = running.transaction, Transaction()
        running.transaction = transaction
        has_updates = any(variable.is_written for variable in self._variables)
        try:
            work = self._recorded(lambda: self._work(registers))
            if not has_updates:
                return work, None

            def update() -> None:
                transaction.perform_deferred()
                for variable in self._variables:
                    variable.copy_back()

            return work, self._recorded(update)
        finally:
            running.transaction = outer

    def _recorded(self, launch: Callable[[], None]) -> Any:
        stream = self._stream
        with stream:
            stream.begin_capture()
            try:
                launch()
            except BaseException:
                _discard(stream)
                raise
            return stream.end_capture()

    def _work(self, registers: list[Any]) -> None:
        run_instructions(self._parts.on_card, registers)
        for slot in self._parts.leaving:
            value = registers[slot]
            if not isinstance(value, self._card.xp.ndarray):
                raise UncapturableError("the host takes a variable")
            registers[slot] = copied_back(value, self._variables)
        for variable in self._variables:
            variable.keep_apart(self._variables)

    # ---- a run

    def holds_variables(self) -> bool:
        """Whether the graph can still write where it did."""
        return all(variable.is_current() for variable in self._variables)

    def fill(self, registers: list[Any]) -> None:
        """Copy what the card has received into the graph's buffers."""
        for slot, buffer in self._buffers.items():
            buffer[...] = registers[slot]
        self._reads_pinned = bool(self._parts.taken)
        self._taken.send(registers)

    def take_feeds(self, registers: list[Any]) -> bool:
        """Run the host's part, and copy what it hands over.

        Returns:
          Whether the graph can run: an array may have another shape than before.
        """
        fits = True
        if self._reads_pinned:
            self._wait()
        self._reads_pinned = bool(self._staging or self._parts.taken)
        for instruction in self._parts.before:
            slot = instruction.outputs[0] if instruction.outputs else -1
            staging = self._staging.get(slot)
            value = registers[instruction.inputs[0]] if instruction.inputs else None
            # What a TensorHandle keeps may be on the card already.
            is_of_host = isinstance(value, np.ndarray | np.generic)
            if staging is None or not fits or not is_of_host:
                run_instructions((instruction,), registers)
                continue
            if not _fits(value, staging):
                fits = False
                run_instructions((instruction,), registers)
                continue
            instruction.node.spec.record(value)  # type: ignore[attr-defined]
            staging[...] = value
            self._buffers[slot].set(staging)
            registers[slot] = self._buffers[slot]
        for slot, buffer in self._buffers.items():
            value = registers[slot]
            if value is not buffer:
                if not fits or not _fits(value, buffer):
                    fits = False
                    continue
                buffer[...] = value
        self._taken.send(registers)
        if not fits:  # the kernels may keep what they are given
            for slot in self._staging:
                if registers[slot] is self._buffers[slot]:
                    registers[slot] = self._buffers[slot].copy()
        return fits

    def _wait(self) -> None:
        self._card.synchronize()
        self._reads_pinned = False

    def results(self, registers: Sequence[Any]) -> list[Any]:
        """The registers, with the values that leave the card."""
        found = list(registers)
        for slot, value in self._results.items():
            found[slot] = value
        return found

    def update(self) -> None:
        """Commit the run: its variables have their new values."""
        if running.transaction is not None:
            commit()
        if self._updates is not None:
            self._updates.launch()
            for variable in self._variables:
                variable.was_updated()

    def download(self, registers: list[Any]) -> None:
        """Copy what the host takes, for which it waits once."""
        downloads = self._parts.downloads
        for instruction in downloads:
            value = registers[instruction.inputs[0]]
            instruction.node.spec.record(value)  # type: ignore[attr-defined]
            value.get(out=self._downloads[instruction.outputs[0]], blocking=False)
        if downloads:
            self._wait()
        for instruction in downloads:
            [slot] = instruction.outputs
            registers[slot] = self._downloads[slot].copy()


class _HandedOver:
    """What halves of kernels on the host return to those on the card, in one copy.

    Args:
      xp: the card's array module.
      slots: the registers.
      registers: with what the first run has returned.

    Attributes:
      views: what the card reads of it, by register.
    """

    def __init__(self, xp: Any, slots: Sequence[int], registers: Sequence[Any]) -> None:
        self.views: dict[int, Any] = {}
        self._places: dict[int, slice] = {}
        size = 0
        for slot in slots:
            self._places[slot] = slice(size, size + registers[slot].size)
            size = self._places[slot].stop
        if size:
            self._buffer = xp.empty(size, np.uint64)
            self._staging = _pinned(self._buffer)
            self.views = {s: self._buffer[place] for s, place in self._places.items()}

    def send(self, registers: list[Any]) -> None:
        """Copy it to the card; the registers then hold the card's arrays."""
        for slot, place in self._places.items():
            self._staging[place] = registers[slot]
            registers[slot] = self.views[slot]
        if self._places:
            self._buffer.set(self._staging)


def _fits(value: Any, buffer: Any) -> bool:
    return bool(value.shape == buffer.shape and value.dtype == buffer.dtype)


def _pinned(like: Any) -> Any:
    """An array of the host that the card copies without waiting."""
    import cupyx

    return cupyx.empty_pinned(like.shape, like.dtype)


def _pool_within(shared: Any, cuda: Any) -> Any:
    """A pool that takes no more than the limit of the shared one leaves."""
    shared.free_all_blocks()
    pool = cuda.MemoryPool()
    limit = shared.get_limit()
    if limit:
        pool.set_limit(size=max(limit - shared.total_bytes(), 1))
    return pool


def _discard(stream: Any) -> None:
    try:
        stream.end_capture()
    except Exception:  # the error has ended the capture
        return


def run_instructions(code: Sequence[Instruction], registers: list[Any]) -> None:
    """Run instructions in order."""
    instruction = None
    try:
        for instruction in code:
            result = instruction.function(*[registers[i] for i in instruction.inputs])
            outputs = instruction.outputs
            results = (result,) if len(outputs) == 1 else tuple(result or ())
            for slot, value in zip(outputs, results, strict=True):
                registers[slot] = value
            for slot in instruction.frees:
                registers[slot] = None
    except Exception as error:
        raise_blaming(error, instruction)
