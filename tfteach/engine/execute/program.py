"""Runs a compiled step: interpreted at first, generated Python source once it is hot.

Source is generated for the shapes that are fed, so that values which depend only on
shapes are computed once (optimize/specialize.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from tfteach.engine.devices.array_module import IGNORED, float_errors
from tfteach.engine.execute.compile import Compiled
from tfteach.engine.execute.generated_source import StepFunction, generate
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.plan.step import Node, Step
from tfteach.framework.dtypes import resource, variant
from tfteach.framework.threads import own_threads
from tfteach.framework.transaction import atomically, commit
from tfteach.framework.waiting import Deadline

FedShapes = tuple[tuple[int, ...], ...]
# The loops that an op runs in, by frame name, and the iteration of each.
Iterations = tuple[tuple[str, int], ...]

HOT_AFTER_RUNS = 12
MANY_RUNS = 3 * HOT_AFTER_RUNS
# Programs fed with changing shapes stay interpreted.
MAX_HOT = 8
MAX_COUNTED = 64


Made = TypeVar("Made")


class OftenFed(Generic[Made]):
    """A cache of specializations for frequently fed shapes.

    Args:
      make: builds one for given shapes of the feeds.
    """

    def __init__(self, make: Callable[[FedShapes], Made]) -> None:
        self._make = make
        self.made: dict[FedShapes, Made] = {}
        self._runs: dict[FedShapes, int] = {}

    def count(self, shapes: FedShapes) -> Made | None:
        """Count a run with new shapes; specialize for them once they are frequent."""
        if len(self.made) == MAX_HOT:
            return None
        if len(self._runs) > MAX_COUNTED:
            self._runs.clear()
        runs = self._runs[shapes] = self._runs.get(shapes, 0) + 1
        if runs < HOT_AFTER_RUNS:
            return None
        made = self.made[shapes] = self._make(shapes)
        return made


def fed_handles(step: Step) -> tuple[bool, ...]:
    """For each feed whether it is a handle; empty if none is.

    Only functions are fed handles (of variables, iterators), which have no shape.
    """
    found = tuple(t.dtype.base_dtype in (resource, variant) for t in step.feeds)
    return found if any(found) else ()


def shapes_of(fed: Sequence[Any], handles: tuple[bool, ...]) -> FedShapes:
    """The shapes of fed values, some of which are handles."""
    pairs = zip(fed, handles, strict=True)
    return tuple(() if is_handle else value.shape for value, is_handle in pairs)


class HotStep(Protocol):
    """A function that runs a step; a `GeneratedFunction` is one."""

    source: str

    @property
    def function(self) -> Callable[..., Any]: ...

    @property
    def origin_of(self) -> Callable[[BaseException], Instruction | None]: ...


class StepObserver(Protocol):
    """Follows a run instruction by instruction (tracing, memory, deadlines)."""

    def before(self, instruction: Instruction) -> None: ...

    def after(self, instruction: Instruction, results: Sequence[Any]) -> None: ...

    def release(self, instruction: Instruction) -> None: ...


class FlowObserver:
    """An observer that also follows branches and loops.

    Attributes:
      follows_threads: whether threads may call it concurrently; a step on several
        devices runs in order otherwise.
    """

    follows_threads = False

    def passes(self, node: Node, values: Sequence[Any], iterations: Iterations) -> None:
        """A Switch, Merge or the like forwards values; None is a dead one."""


class ValueObserver(FlowObserver):
    """An observer that also receives inputs, and the iterations of loops.

    Steps with loops then run in order: an iteration ends before the next one begins,
    and a loop before other ready nodes.
    """

    def takes(self, node: Node, values: Sequence[Any], iterations: Iterations) -> None:
        """Called before `before`; a variable is its cell."""


class Program:
    """A runnable step.  Reentrant: each run has separate registers.

    Args:
      compiled: the step.
      specialize: compiles it for given shapes of the feeds, or None.
      hot_step: makes a faster function of what that returns.
    """

    def __init__(
        self,
        compiled: Compiled,
        specialize: Callable[[FedShapes], Compiled] | None = None,
        hot_step: Callable[[Compiled], HotStep] = generate,
    ) -> None:
        self.compiled = compiled
        self.step = compiled.step
        self._specialize = specialize
        self._hot_step = hot_step
        self._is_heavy = compiled.is_heavy
        self._is_transaction = compiled.is_transaction
        self._often_fed = OftenFed(self._for_shapes)
        self.hot: dict[FedShapes, HotStep] = self._often_fed.made
        # For programs fed with changing shapes: source valid for all shapes.
        self.hot_for_any: StepFunction | None = None
        self._loops = 0
        self._handles = fed_handles(compiled.step)

    def run(
        self,
        fed: Sequence[Any],
        observers: Sequence[StepObserver] = (),
        deadline: Deadline | None = None,
    ) -> Any:
        """Run once.

        Args:
          fed: the values of the feeds, as arrays of the right types.
          observers: follow the run instruction by instruction, which is slower.
          deadline: the time by which it must end.

        Returns:
          The fetched values, in the order of the fetches.

        Raises:
          OpError: a kernel failed; the error names the op and the user's line.
            Variables are as they were before the run.
        """
        if not self._is_transaction and deadline is None:
            return self._run_once(fed, observers)
        return atomically(self._run_once, (fed, observers), not observers, deadline)

    def _run_once(self, fed: Sequence[Any], observers: Sequence[StepObserver]) -> Any:
        if self.compiled.kept_feeds:
            fed = list(fed)
            for i in self.compiled.kept_feeds:
                fed[i] = fed[i].copy()
        mode = float_errors.set(IGNORED)
        try:
            if self._is_heavy:
                with own_threads():
                    return self._run(fed, observers)
            return self._run(fed, observers)
        finally:
            float_errors.reset(mode)

    def _run(self, fed: Sequence[Any], observers: Sequence[StepObserver]) -> Any:
        if observers:
            return self._run_observed(fed, observers)
        if self._handles:
            shapes = shapes_of(fed, self._handles)
        else:
            shapes = tuple([value.shape for value in fed])
        hot = self.hot.get(shapes) or self._count(shapes)
        if hot is None:
            return self._run_loop(fed)
        try:
            return hot.function(*fed)
        except Exception as error:
            raise_blaming(error, hot.origin_of(error))

    def _count(self, shapes: FedShapes) -> HotStep | None:
        """The source for these shapes, or for any; made after enough runs."""
        self._loops += 1
        if self._loops == MANY_RUNS:
            self.hot_for_any = generate(self.compiled)
        return self._often_fed.count(shapes) or self.hot_for_any

    def _for_shapes(self, shapes: FedShapes) -> HotStep:
        compiled = self.compiled
        if self._specialize is not None:
            compiled = self._specialize(shapes)
        self._is_heavy |= compiled.is_heavy
        return self._hot_step(compiled)

    def _run_loop(self, fed: Sequence[Any]) -> list[Any]:
        compiled = self.compiled
        registers = compiled.registers.copy()
        for slot, value in zip(compiled.feeds, fed, strict=True):
            registers[slot] = value
        instruction = None
        try:
            for instruction in compiled.fused:
                function, inputs, outputs, frees, *_ = instruction
                if len(inputs) == 1:
                    result = function(registers[inputs[0]])
                elif len(inputs) == 2:
                    result = function(registers[inputs[0]], registers[inputs[1]])
                else:
                    result = function(*[registers[i] for i in inputs])
                if len(outputs) == 1:
                    registers[outputs[0]] = result
                else:
                    for slot, value in zip(outputs, result or (), strict=True):
                        registers[slot] = value
                for slot in frees:
                    registers[slot] = None
        except Exception as error:
            # The traceback keeps this frame: it must not keep the arrays as well.
            registers.clear()
            result = None
            raise_blaming(error, instruction)
        return [own(registers[slot]) for slot, own in compiled.fetches]

    def _run_observed(
        self, fed: Sequence[Any], observers: Sequence[StepObserver]
    ) -> list[Any]:
        compiled = self.compiled
        registers = compiled.registers.copy()
        for slot, value in zip(compiled.feeds, fed, strict=True):
            registers[slot] = value
        instruction = None
        values: list[Any] = []
        try:
            for instruction in compiled.instructions:
                if instruction.is_commit:
                    commit()  # no op of the graph
                    continue
                values = [registers[i] for i in instruction.inputs]
                for observer in observers:
                    if isinstance(observer, ValueObserver):
                        observer.takes(instruction.node, values, ())
                for observer in observers:
                    observer.before(instruction)
                result = instruction.function(*values)
                values.clear()
                outputs = instruction.outputs
                results = (result,) if len(outputs) == 1 else tuple(result or ())
                for slot, value in zip(outputs, results, strict=True):
                    registers[slot] = value
                for observer in observers:
                    observer.after(instruction, results)
                for slot in instruction.frees:
                    registers[slot] = None
                for observer in observers:
                    observer.release(instruction)
        except Exception as error:
            registers.clear()
            values.clear()
            result = value = None
            results = ()
            raise_blaming(error, instruction)
        return [own(registers[slot]) for slot, own in compiled.fetches]
