"""Steps with several ops that may wait for each other, such as two dequeues.

The other ops are divided into parts, by the waiting ops that they depend on.  A part
runs, as compiled code with fused chains, once these have ended; an op that has to wait
does so on a thread, while the parts that do not need it run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from tfteach.engine.devices.array_module import IGNORED, float_errors
from tfteach.engine.execute.compile import (
    Compiled,
    Compiler,
    Fuse,
)
from tfteach.engine.execute.concurrent_calls import ConcurrentCalls, waiting_nodes
from tfteach.engine.execute.generated_source import generate
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.execute.program import (
    HOT_AFTER_RUNS,
    FedShapes,
    OftenFed,
    Program,
    StepObserver,
    fed_handles,
    shapes_of,
)
from tfteach.engine.plan.step import Node, Step, control_of, writes
from tfteach.framework.threads import own_threads
from tfteach.framework.transaction import atomically
from tfteach.framework.waiting import Deadline, WouldWait, trying


class Part(Program):
    """The instructions that depend on the same waiting ops.

    Attributes:
      needs: a bit for each of these ops.
      inputs, outputs: registers of the step that it reads and sets.
    """

    def __init__(self, needs: int, compiled: Compiled) -> None:
        super().__init__(compiled)
        self.needs = needs
        self.inputs = compiled.feeds
        self.outputs = tuple(slot for slot, _ in compiled.fetches)

    def compute(self, registers: list[Any]) -> None:
        """Run its instructions on the step's registers."""
        self._loops += 1
        if self._loops == HOT_AFTER_RUNS:
            self.hot_for_any = generate(self.compiled)
        values = [registers[slot] for slot in self.inputs]
        hot = self.hot_for_any
        if hot is None:
            found = self._run_loop(values)
        else:
            try:
                found = hot.function(*values)
            except Exception as error:
                raise_blaming(error, hot.origin_of(error))
        for slot, value in zip(self.outputs, found, strict=True):
            registers[slot] = value


class Call(NamedTuple):
    """An op that may wait.

    Attributes:
      needs: a bit for each waiting op that it depends on.
      bit: its own.
      instruction: its kernel, and the registers of its inputs and outputs.
    """

    needs: int
    bit: int
    instruction: Instruction


class Parts(NamedTuple):
    """A step compiled in parts; for the other attributes see `Compiled`."""

    parts: list[Part]
    calls: list[Call]
    registers: list[Any]
    feeds: tuple[int, ...]
    kept_feeds: tuple[int, ...]
    fetches: tuple[tuple[int, Callable[[Any], Any]], ...]
    commit: list[Instruction]
    is_heavy: bool
    is_transaction: bool


def compile_parts(step: Step, resources: Resources, session: Any, fuse: Fuse) -> Parts:
    """Compile a placed step without control flow in parts."""
    return _PartsCompiler(step, resources, session).compile_parts(fuse)


class _PartsCompiler(Compiler):
    def compile_parts(self, fuse: Fuse) -> Parts:
        feeds = self.add_feeds()
        self.add_nodes()
        fetched = self.fetch_all()
        bits = {node: 1 << i for i, node in enumerate(waiting_nodes(self.step))}
        needs = self.needs(bits)
        groups: dict[int, list[Instruction]] = {}
        calls = []
        for instruction in self.code:
            node = instruction.node
            if node in bits and not instruction.is_read:
                calls.append(Call(needs[node], bits[node], instruction))
            else:
                own = 0 if instruction.is_read else bits.get(node, 0)
                groups.setdefault(needs[node] | own, []).append(instruction)
        users: dict[int, set[int]] = {slot: {-1} for slot, _ in fetched}
        for mask, code in groups.items():
            for instruction in code:
                for slot in instruction.inputs:
                    users.setdefault(slot, set()).add(mask)
        for call in calls:
            for slot in call.instruction.inputs:
                users.setdefault(slot, set()).add(-1)
        ordered = sorted(groups, key=int.bit_count)  # what a part needs precedes it
        parts = [self.part(mask, groups[mask], users, fuse) for mask in ordered]
        # A call may fail after any write.
        is_transaction = any(
            (writes(i.node) and not i.is_read) or i.node.spec.writes_scratch_files
            for i in self.code
        )
        commit = self.allow_deferral(self.code) if is_transaction else []
        return Parts(
            parts,
            calls,
            self.registers,
            feeds,
            self.kept_feeds(),
            fetched,
            commit,
            self.is_heavy(),
            is_transaction,
        )

    def needs(self, bits: dict[Node, int]) -> dict[Node, int]:
        """For each node the bits of the waiting ops that it depends on."""
        found: dict[Node, int] = dict.fromkeys(self.step.feeds.values(), 0)
        present = {*found, *self.step.nodes}
        for node in self.step.nodes:
            mask = 0
            for other in (*(e.node for e in node.inputs), *control_of(node, present)):
                mask |= found.get(other, 0) | bits.get(other, 0)
            found[node] = mask
        return found

    def part(
        self,
        mask: int,
        code: list[Instruction],
        users: dict[int, set[int]],
        fuse: Fuse,
    ) -> Part:
        made = {slot for instruction in code for slot in instruction.outputs}
        read = {slot: None for instruction in code for slot in instruction.inputs}
        inputs = tuple(s for s in read if s not in made and s not in self.preset)
        outputs = [slot for slot in made if users.get(slot, set()) - {mask}]
        keep = {*outputs, *inputs}
        fused = self.with_frees(
            fuse(code, self.shapes.get, keep, self.new_register), keep
        )
        fetches = tuple((slot, _unchanged) for slot in outputs)
        compiled = Compiled(
            self.step, self.registers, inputs, (), code, fetches, fused, False, False
        )
        return Part(mask, compiled)


def _unchanged(value: Any) -> Any:
    return value


class _Observed(Protocol):
    """A program of the same step that runs op by op."""

    def run(
        self,
        fed: Sequence[Any],
        observers: Sequence[StepObserver] = (),
        deadline: Deadline | None = None,
    ) -> Any: ...


class ConcurrentProgram:
    """A runnable step with ops that may wait for each other; see `Program`.

    Args:
      step: the step.
      compile: compiles it in parts, for given shapes of the feeds or for any.
      observed: makes the program for runs with observers.
    """

    def __init__(
        self,
        step: Step,
        compile: Callable[[FedShapes | None], Parts],
        observed: Callable[[], _Observed],
    ) -> None:
        self.step = step
        self._parts = compile(None)
        self._often_fed = OftenFed(compile)
        self._observed = observed
        self._handles = fed_handles(step)

    @functools.cached_property
    def _slow(self) -> _Observed:
        return self._observed()

    def run(
        self,
        fed: Sequence[Any],
        observers: Sequence[StepObserver] = (),
        deadline: Deadline | None = None,
    ) -> Any:
        """Run once; see `Program.run`."""
        if observers:
            return self._slow.run(fed, observers, deadline)
        handles = self._handles or (False,) * len(fed)
        shapes = shapes_of(fed, handles)
        often = self._often_fed
        parts = often.made.get(shapes) or often.count(shapes) or self._parts
        if not parts.is_transaction and deadline is None:
            return _run_once(parts, fed, deadline)
        return atomically(_run_once, (parts, fed, deadline), True, deadline)


def _run_once(parts: Parts, fed: Sequence[Any], deadline: Deadline | None) -> list[Any]:
    registers = parts.registers.copy()
    for slot, value in zip(parts.feeds, fed, strict=True):
        registers[slot] = value
    for i in parts.kept_feeds:
        registers[parts.feeds[i]] = fed[i].copy()
    calls = ConcurrentCalls()
    mode = float_errors.set(IGNORED)
    try:
        with calls.limited(deadline):
            if parts.is_heavy:
                with own_threads():
                    return _run(parts, registers, calls, deadline)
            return _run(parts, registers, calls, deadline)
    finally:
        float_errors.reset(mode)


def _run(
    parts: Parts, registers: list[Any], calls: ConcurrentCalls, deadline: Any
) -> list[Any]:
    done = 0
    left, to_call = parts.parts, parts.calls
    while left or to_call or calls:
        later = []
        for part in left:
            if part.needs & ~done:
                later.append(part)
            else:
                part.compute(registers)
        left, begun = later, [call for call in to_call if not call.needs & ~done]
        to_call = [call for call in to_call if call.needs & ~done]
        ended = 0
        for call in begun:
            if _begin(call, registers, calls):
                ended |= call.bit
        if not ended and calls:
            ended = _end(registers, calls)
        assert ended or not left, "a part waits for an op that was never called"
        if deadline is not None:
            deadline.check()
        done |= ended
    for function, *_ in parts.commit:
        function()
    return [own(registers[slot]) for slot, own in parts.fetches]


def _begin(call: Call, registers: list[Any], calls: ConcurrentCalls) -> bool:
    """Start a call; returns whether it has ended, having nothing to wait for."""
    instruction = call.instruction
    arguments = [registers[slot] for slot in instruction.inputs]
    spec = instruction.node.spec
    if not spec.calls_python:
        try:
            with trying():
                result = instruction.function(*arguments)
        except WouldWait:
            pass
        except Exception as error:
            raise_blaming(error, instruction)
        else:
            _set(instruction, result, registers)
            return True
    calls.start(instruction.function, arguments, call, spec.may_wait)
    return False


def _end(registers: list[Any], calls: ConcurrentCalls) -> int:
    """The bit of the next call to end."""
    call, result, error = calls.wait()
    if isinstance(error, Exception):
        raise_blaming(error, call.instruction)
    if error is not None:
        raise error
    _set(call.instruction, result, registers)
    bit: int = call.bit
    return bit


def _set(instruction: Instruction, result: Any, registers: list[Any]) -> None:
    outputs = instruction.outputs
    if len(outputs) == 1:
        registers[outputs[0]] = result
    else:
        for slot, value in zip(outputs, result or (), strict=True):
            registers[slot] = value
