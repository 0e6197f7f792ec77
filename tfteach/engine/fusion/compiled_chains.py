"""Chains of element-wise ops as one loop of machine code (framework/loops/).

An op takes part if its `Op.scalar_expression` says how it computes one element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tfteach.engine.execute.instruction import Chain, Instruction
from tfteach.framework.codegen import SourceWriter
from tfteach.framework.loops.compile_loop import Loop
from tfteach.framework.loops.compiled_loops import CALL, loop_of
from tfteach.framework.loops.language import FLOATS, Parameter
from tfteach.framework.machine_code import is_installed

# Alignment of an argument with the results: element by element, one scalar, one
# for each column (a bias), one for each row.
Form = Literal["whole", "number", "row", "column"]


class MachineCode:
    """The loops of a chain, one for each way that its arguments lie along the results.

    Args:
      chain: its results all have one shape.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._sources: dict[tuple[tuple[Form, ...], int | None], str | None] = {}
        types = {}
        for part in chain.parts:
            types[part.outputs[0]] = part.node.op.outputs[0].dtype.numpy_dtype
            for slot, tensor in zip(part.inputs, part.node.op.inputs, strict=True):
                types.setdefault(slot, tensor.dtype.numpy_dtype)
        self._taken = [types[slot] for slot in chain.inputs]
        self.made = [types[slot] for slot in chain.outputs]

    def loop(
        self, forms: Sequence[Form], size: int, in_place: int | None = None
    ) -> Loop | None:
        """The compiled chain for arguments of these forms, or None if not ready.

        Args:
          forms: of the arguments.
          size: of each result.
          in_place: the number of the argument that the only result replaces.

        Returns:
          A function of flat arrays, of numbers, and of flat arrays for the results.
        """
        if not is_installed():
            return None
        key = tuple(forms), in_place
        if key not in self._sources:
            self._sources[key] = loop_source(self._chain, *key)
        source = self._sources[key]
        if source is None:
            return None
        parameters = [
            Parameter(dtype, int(form != "number"))
            for i, (dtype, form) in enumerate(zip(self._taken, forms, strict=True))
            if i != in_place
        ]
        parameters += [Parameter(dtype, is_written=True) for dtype in self.made]
        return loop_of(source, parameters, len(self._chain.parts) * (size + CALL))


def loop_source(
    chain: Chain, forms: Sequence[Form], in_place: int | None = None
) -> str | None:
    """A function of flat arrays, and of numbers, that computes a chain.

    Its arguments are the inputs, of these forms, and arrays for the outputs.  The input
    with the number `in_place`, if any, is none: the array for the output contains it.

    Returns:
      Its source; None if a part has none, or there is more than one type of floats.
    """
    parts, inputs, outputs = chain
    if float_type(parts) is None or any(part.scalar is None for part in parts):
        return None
    slots = dict.fromkeys((*inputs, *(part.outputs[0] for part in parts)))
    # Chains that compute the same have the same source, whatever their registers.
    names = {slot: f"s{i}" for i, slot in enumerate(slots)}
    taken = [f"a{i}" for i in range(len(inputs))]
    made = [f"r{i}" for i in range(len(outputs))]
    arguments = [name for i, name in enumerate(taken) if i != in_place] + made
    if in_place is not None:
        [taken[in_place]] = made
    by_form: dict[Form, list[tuple[str, str]]] = {
        form: [
            (names[slot], name)
            for slot, name, given in zip(inputs, taken, forms, strict=True)
            if given == form
        ]
        for form in ("whole", "number", "row", "column")
    }
    writer = SourceWriter[Instruction]("loop", arguments)
    for slot, name in by_form["number"]:
        writer.line(f"{slot} = {name}")

    def write_element(at: str) -> None:
        """One element of each result."""
        for slot, name in by_form["whole"]:
            writer.line(f"{slot} = {name}[{at}]")
        for part in parts:
            assert part.scalar is not None
            value = part.scalar.format(*(names[slot] for slot in part.inputs))
            writer.line(f"{names[part.outputs[0]]} = {value}")
        for name, output in zip(made, outputs, strict=True):
            writer.line(f"{name}[{at}] = {names[output]}")

    if not by_form["row"] and not by_form["column"]:
        with writer.block("for i in range(r0.size):"):
            write_element("i")
        return writer.source
    if by_form["row"]:
        writer.line(f"n = {by_form['row'][0][1]}.size")
    else:
        writer.line(f"n = r0.size // {by_form['column'][0][1]}.size")
    with writer.block("for j in range(r0.size // n):"):
        for slot, name in by_form["column"]:
            writer.line(f"{slot} = {name}[j]")
        with writer.block("for i in range(n):"):
            for slot, name in by_form["row"]:
                writer.line(f"{slot} = {name}[i]")
            write_element("j * n + i")
    return writer.source


def float_type(parts: Sequence[Instruction]) -> np.dtype[Any] | None:
    """The type of floats that a chain computes with; None if there are other types."""
    types = {
        tensor.dtype.numpy_dtype
        for part in parts
        for tensor in (*part.node.op.inputs, part.node.op.outputs[0])
    } - {np.dtype(bool)}
    [only] = types if len(types) == 1 else [None]
    return only if only in FLOATS else None
