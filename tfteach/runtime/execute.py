"""Running a compiled step: a loop at first, generated Python source once it is hot.

Interpreting costs about 0.2 us an instruction; straight-line source costs a quarter of
that for scalars but 20 us an instruction to compile, so it must be earned.
"""

from __future__ import annotations

import itertools
import re
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tfteach.framework import errors
from tfteach.runtime.compile import Compiled, Instruction

HOT_AFTER_RUNS = 12
_numbers = itertools.count()


class StepObserver(Protocol):
    """Follows a run instruction by instruction (tracing, memory, deadlines)."""

    def before(self, instruction: Instruction) -> None: ...

    def after(self, instruction: Instruction, results: Sequence[Any]) -> None: ...

    def release(self, instruction: Instruction) -> None: ...


class Program:
    """A runnable step.  Reentrant: each run has registers of its own."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self._runs = 0
        self._hot: Callable[..., Sequence[Any]] | None = None
        self._file = ""

    def run(self, fed: Sequence[Any], observers: Sequence[StepObserver] = ()) -> Any:
        """Run once.

        Args:
          fed: the values of the feeds, as arrays of the right types.
          observers: what follows the run; slower if there are any.

        Returns:
          The fetched values, in the order of the fetches.

        Raises:
          OpError: a kernel failed; the error names the op and the user's line.
        """
        hot = self._hot
        if self.compiled.kept_feeds:
            fed = list(fed)
            for i in self.compiled.kept_feeds:
                fed[i] = fed[i].copy()
        with np.errstate(all="ignore"):
            if observers:
                return self._run_observed(fed, observers)
            if hot is not None:
                try:
                    return hot(*fed)
                except Exception as error:
                    self._blame_line(error)
            return self._run_loop(fed)

    # ---- the loop

    def _run_loop(self, fed: Sequence[Any]) -> list[Any]:
        self._runs += 1
        if self._runs >= HOT_AFTER_RUNS and self._hot is None:
            self._hot = self._generate()
        compiled = self.compiled
        registers = compiled.registers.copy()
        for slot, value in zip(compiled.feeds, fed, strict=True):
            registers[slot] = value
        instruction = None
        try:
            for instruction in compiled.instructions:
                function, inputs, outputs, frees, _, _ = instruction
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
        try:
            for instruction in compiled.instructions:
                for observer in observers:
                    observer.before(instruction)
                result = instruction.function(
                    *[registers[i] for i in instruction.inputs]
                )
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
            result = results = None
            raise_blaming(error, instruction)
        return [own(registers[slot]) for slot, own in compiled.fetches]

    # ---- generated source

    def source(self) -> str:
        """The step as one straight-line Python function, a line per instruction.

        A variable whose value is used up lends its name to the next result, so that
        memory is given back as early as in the loop.
        """
        compiled = self.compiled
        keep = {slot for slot, _ in compiled.fetches}
        last_use = _last_uses(compiled)
        names = {
            slot: f"c{slot}"
            for slot, value in enumerate(compiled.registers)
            if value is not None
        }
        names.update((slot, f"a{i}") for i, slot in enumerate(compiled.feeds))
        lines = [f"def step({', '.join(names[slot] for slot in compiled.feeds)}):"]
        free: list[str] = []
        made = itertools.count()
        for number, instruction in enumerate(compiled.instructions):
            inputs = [names[i] for i in instruction.inputs]
            ending = [
                names[slot]
                for slot in dict.fromkeys(instruction.inputs)
                if last_use[slot] == number
                and slot not in keep
                and not names[slot].startswith("c")
            ]
            free += ending
            for slot in instruction.outputs:
                names[slot] = free.pop() if free else f"v{next(made)}"
            lines.append(" " + _statement(instruction, number, inputs, names))
            taken = {names[slot] for slot in instruction.outputs}
            unused = [
                names[slot]
                for slot in instruction.outputs
                if slot not in last_use and slot not in keep
            ]
            stale = [n for n in ending if n not in taken and instruction.frees]
            if stale or unused:
                lines[-1] += f"; {' = '.join([*stale, *unused])} = None"
            free += unused
        fetched = [
            f"own{i}({names[slot]})" for i, (slot, _) in enumerate(compiled.fetches)
        ]
        lines.append(f" return [{', '.join(fetched)}]")
        return "\n".join(lines)

    def _generate(self) -> Callable[..., Sequence[Any]]:
        compiled = self.compiled
        namespace: dict[str, Any] = {
            f"c{slot}": value
            for slot, value in enumerate(compiled.registers)
            if value is not None
        }
        for number, instruction in enumerate(compiled.instructions):
            namespace[f"f{number}"] = instruction.function
        for i, (_, own) in enumerate(compiled.fetches):
            namespace[f"own{i}"] = own
        self._file = f"<tfteach step {next(_numbers)}>"
        exec(compile(self.source(), self._file, "exec"), namespace)
        return namespace["step"]  # type: ignore[no-any-return]

    def _blame_line(self, error: Exception) -> None:
        """Raise the error with the op whose line of generated source failed."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._file:
                number = trace.tb_lineno - 2  # line 1 is the def
                code = self.compiled.instructions
                raise_blaming(error, code[number] if 0 <= number < len(code) else None)
            trace = trace.tb_next
        raise error


def _last_uses(compiled: Compiled) -> dict[int, int]:
    """For each register that is read: the number of the last instruction to do so."""
    last: dict[int, int] = {}
    for number, instruction in enumerate(compiled.instructions):
        last.update(dict.fromkeys(instruction.inputs, number))
    return last


def _statement(
    instruction: Instruction, number: int, inputs: list[str], names: dict[int, str]
) -> str:
    if instruction.is_read:
        value = f"{inputs[0]}.value"
    elif instruction.expression is not None:
        value = instruction.expression.format(*inputs)
    else:
        value = f"f{number}({', '.join(inputs)})"
    outputs = ", ".join(names[slot] for slot in instruction.outputs)
    return f"{outputs} = {value}" if outputs else value


# NumPy's words for shapes that do not broadcast; TF's are short.
_UNFIT = re.compile(
    r"operands could not be broadcast together with shapes \((.*?)\) \((.*?)\)"
)


def raise_blaming(error: Exception, instruction: Instruction | None) -> None:
    """Raise `error` as an OpError that names the op.

    Exceptions of NumPy and Python become InvalidArgumentError with their words.
    """
    if isinstance(error, MemoryError | errors.ResourceExhaustedError):
        # What the failed run held must be free before the caller tries something else.
        traceback.clear_frames(error.__traceback__)
    if instruction is None:
        raise error
    op = instruction.node.op
    if isinstance(error, errors.OpError):
        if error.op is None:
            error._message = error._message.replace("{name}", op.name)
            raise error.at(op)
        raise error
    if isinstance(error, NotImplementedError):
        raise errors.UnimplementedError(None, None, str(error)).at(op) from error
    if isinstance(error, MemoryError):
        raise errors.ResourceExhaustedError(
            None, None, f"OOM when computing {op.name}: {error}"
        ).at(op) from error
    unfit = _UNFIT.match(str(error))
    if unfit is not None:
        first, second = (shape.strip(",") for shape in unfit.groups())
        raise errors.InvalidArgumentError(
            None, None, f"Incompatible shapes: [{first}] vs. [{second}]"
        ).at(op) from error
    raise errors.InvalidArgumentError(
        None, None, f"{op.type} '{op.name}': {type(error).__name__}: {error}"
    ).at(op) from error
