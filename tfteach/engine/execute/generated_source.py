"""A compiled step as straight-line Python source, a line per instruction.

Interpreting costs about 0.2 us an instruction; source costs a quarter of that for
scalars but 20 us an instruction to compile, so program.py asks for it when a step is
hot.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.engine.execute.compile import Compiled
from tfteach.engine.execute.instruction import Instruction

_numbers = itertools.count()


class Hot(NamedTuple):
    """The generated function of a step, and what it was made from."""

    function: Callable[..., Sequence[Any]]
    compiled: Compiled
    file: str

    def instruction_of(self, error: BaseException) -> Instruction | None:
        """The instruction whose line of source raised `error`."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file:
                number = trace.tb_lineno - 2  # line 1 is the def
                code = self.compiled.fused
                return code[number] if 0 <= number < len(code) else None
            trace = trace.tb_next
        return None


def generate(compiled: Compiled) -> Hot:
    """Compile the step's source."""
    namespace: dict[str, Any] = {
        f"c{slot}": value
        for slot, value in enumerate(compiled.registers)
        if value is not None
    }
    for number, instruction in enumerate(compiled.fused):
        namespace[f"f{number}"] = instruction.function
    for i, (_, own) in enumerate(compiled.fetches):
        namespace[f"own{i}"] = own
    file = f"<tfteach step {next(_numbers)}>"
    exec(compile(source_of(compiled), file, "exec"), namespace)
    return Hot(namespace["step"], compiled, file)


def source_of(compiled: Compiled) -> str:
    """The source of a function from the fed values to the list of fetched ones.

    A variable whose value is used up lends its name to the next result, so that memory
    is given back as early as in the loop.
    """
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
    for number, instruction in enumerate(compiled.fused):
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
    fetched = [f"own{i}({names[slot]})" for i, (slot, _) in enumerate(compiled.fetches)]
    lines.append(f" return [{', '.join(fetched)}]")
    return "\n".join(lines)


def _last_uses(compiled: Compiled) -> dict[int, int]:
    """For each register that is read: the number of the last instruction to do so."""
    last: dict[int, int] = {}
    for number, instruction in enumerate(compiled.fused):
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
