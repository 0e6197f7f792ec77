"""Writes instructions of LLVM."""

from __future__ import annotations

import itertools
from typing import NamedTuple


class Value(NamedTuple):
    """A value: LLVM's type, and a register or literal."""

    type: str
    text: str


class InstructionWriter:
    """Writes the body of a function, block by block.

    Attributes:
      allocations: instructions that allocate variables; they come first.
      lines: the others, with the labels at which blocks begin.
    """

    def __init__(self) -> None:
        self.allocations: list[str] = []
        self.lines: list[str] = []
        self._numbers = itertools.count()

    def emit(self, kind: str, text: str) -> Value:
        """An instruction with a result of this type."""
        name = f"%.{next(self._numbers)}"
        self.lines.append(f"{name} = {text}")
        return Value(kind, name)

    def labels(self, *names: str) -> list[str]:
        """Names of blocks, like those of registers different from all parameters'."""
        number = next(self._numbers)
        return [f".{name}{number}" for name in names]

    def begin(self, label: str) -> None:
        """Begin a block; the one before has ended."""
        self.lines.append(f"{label}:")

    def go(self, label: str) -> None:
        """End a block: jump to another one."""
        self.lines.append(f"br label %{label}")

    def go_on(self, label: str) -> None:
        """End a block, and begin the one that follows it."""
        self.go(label)
        self.begin(label)

    def allocate(self, kind: str) -> str:
        """The register of the address of a new variable."""
        place = f"%.{next(self._numbers)}"
        self.allocations.append(f"{place} = alloca {kind}")
        return place
