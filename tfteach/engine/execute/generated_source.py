"""A compiled step as straight-line Python source, a line per instruction.

Interpreting costs about 0.2 us an instruction; source costs a quarter of that for
scalars but 20 us an instruction to compile, so program.py generates it only for hot
steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfteach.engine.execute.compile import Compiled
from tfteach.engine.execute.instruction import Instruction
from tfteach.framework.codegen import GeneratedFunction, SourceWriter

StepFunction = GeneratedFunction[Instruction]


def generate(compiled: Compiled) -> StepFunction:
    """Compile a function from the fed values to the list of fetched ones.

    A local variable is reused for the next result after the last use of its value,
    so that memory is freed as early as in the loop over instructions.
    """
    keep = {slot for slot, _ in compiled.fetches}
    last_use = _last_uses(compiled)
    names = {slot: f"a{i}" for i, slot in enumerate(compiled.feeds)}
    writer = SourceWriter[Instruction]("step", list(names.values()))
    constants = {
        slot: writer.bind(f"c{slot}", value)
        for slot, value in enumerate(compiled.registers)
        if value is not None
    }
    names = constants | names
    for number, instruction in enumerate(compiled.fused):
        inputs = [names[i] for i in instruction.inputs]
        ending = [
            names[slot]
            for slot in dict.fromkeys(instruction.inputs)
            if last_use[slot] == number and slot not in keep and slot not in constants
        ]
        writer.release(*ending)
        for slot in instruction.outputs:
            names[slot] = writer.temporary()
        text = assignment(instruction, inputs, names.__getitem__, writer, f"f{number}")
        assigned = {names[slot] for slot in instruction.outputs}
        unused = [
            names[slot]
            for slot in instruction.outputs
            if slot not in last_use and slot not in keep
        ]
        stale = [n for n in ending if n not in assigned and instruction.frees]
        if stale or unused:
            text += f"; {' = '.join([*stale, *unused])} = None"
        writer.line(text, instruction)
        writer.release(*unused)
    write_fetches(compiled.fetches, names.__getitem__, writer)
    return writer.compile("step")


def _last_uses(compiled: Compiled) -> dict[int, int]:
    """The number of the last instruction that reads each register."""
    last: dict[int, int] = {}
    for number, instruction in enumerate(compiled.fused):
        last.update(dict.fromkeys(instruction.inputs, number))
    return last


def assignment(
    instruction: Instruction,
    inputs: Sequence[str],
    name_of: Callable[[int], str],
    writer: SourceWriter[Instruction],
    kernel: str,
) -> str:
    """The assignment statement of an instruction.

    Args:
      instruction: the instruction.
      inputs: the names of its inputs.
      name_of: maps a register to its name.
      writer: its namespace receives the kernel, if the instruction calls it.
      kernel: the kernel's name in that namespace.
    """
    if instruction.is_read:
        value = f"{inputs[0]}.value"
    elif instruction.expression is not None:
        value = instruction.expression.format(*inputs)
    else:
        value = f"{writer.bind(kernel, instruction.function)}({', '.join(inputs)})"
    outputs = ", ".join([name_of(slot) for slot in instruction.outputs])
    return f"{outputs} = {value}" if outputs else value


def write_fetches(
    fetches: Sequence[tuple[int, Callable[..., object]]],
    name_of: Callable[[int], str],
    writer: SourceWriter[Instruction],
) -> None:
    """The return statement: the fetched values, detached."""
    fetched = [
        f"{writer.bind(f'own{i}', own)}({name_of(slot)})"
        for i, (slot, own) in enumerate(fetches)
    ]
    writer.line(f"return [{', '.join(fetched)}]")
