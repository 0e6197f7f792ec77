"""Chains of element-wise ops as one loop of machine code (framework/machine_code.py).

NumPy computes chains that hold an op without an `Op.scalar_expression`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.machine_code import (
    FLOATS,
    Loop,
    Parameter,
    is_installed,
    loop_of,
)
from tfteach.runtime.instruction import Instruction


class MachineCode:
    """The loop of a chain, for each pattern of whole arrays and single numbers.

    Args:
      parts: the instructions, in order.
      inputs: the registers that the arguments stand for.
      outputs: the registers of the results.
    """

    def __init__(
        self,
        parts: Sequence[Instruction],
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
    ) -> None:
        self._inputs, self._outputs = inputs, outputs
        self._lines = _lines(parts) if is_installed() else None

    def loop(self, arrays: Sequence[Any], is_whole: Sequence[bool]) -> Loop | None:
        """What computes the chain for such arrays, if it is there already.

        Returns:
          A function of flat arrays, numbers where `is_whole` says so, and flat arrays
          for the results.
        """
        if self._lines is None:
            return None
        dtype = arrays[0].dtype
        if dtype not in FLOATS or any(array.dtype != dtype for array in arrays):
            return None
        parameters = [Parameter(dtype, int(whole)) for whole in is_whole]
        parameters += [Parameter(dtype, is_written=True)] * len(self._outputs)
        return loop_of(self._source(is_whole, self._lines), parameters)

    def _source(self, is_whole: Sequence[bool], lines: Sequence[str]) -> str:
        names = [f"a{i}" for i in range(len(self._inputs))]
        targets = [f"r{i}" for i in range(len(self._outputs))]
        return "\n".join(
            [
                f"def loop({', '.join(names + targets)}):",
                f" for i in range({targets[0]}.size):",
                *(
                    f"  s{slot} = {name}[i]" if whole else f"  s{slot} = {name}"
                    for slot, name, whole in zip(
                        self._inputs, names, is_whole, strict=True
                    )
                ),
                *(f"  {line}" for line in lines),
                *(
                    f"  {target}[i] = s{slot}"
                    for target, slot in zip(targets, self._outputs, strict=True)
                ),
            ]
        )


def _lines(parts: Sequence[Instruction]) -> list[str] | None:
    """A line of source for each part, or None if one of them has none."""
    lines = []
    types = {tensor.dtype for part in parts for tensor in part.node.op.outputs}
    if len(types) > 1:
        return None
    for part in parts:
        names = [f"s{slot}" for slot in part.inputs]
        source = part.node.spec.scalar_expression(*names)
        if source is None:
            return None
        lines.append(f"s{part.outputs[0]} = {source}")
    return lines
