"""`cupy.RawKernel` of tests/strict_card.py: it reads a program in C++ for all threads.

Threads run in step, as lanes of arrays: a condition selects those that go on.  The
language is what kernels of ours are written in: numbers, pointers to arrays, `if`,
`for`, `while`, a statement on each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests import card_capture
from tests.card_arrays import inside
from tests.card_kernels import TYPES, Expression

_HEAD = re.compile(r'extern "C" __global__ void (\w+)\((.*?)\) \{\n(.*)\n\}\n', re.S)
_NAMES = "|".join(sorted(TYPES, key=len, reverse=True))
_FOR = re.compile(r"for \(int (\w+) = 0; \1 < (\d+); \+\+\1\) \{")
_TEST = re.compile(r"(if|while) \((.*)\) \{")
_STORE = re.compile(r"(\w+)\[(.*)\] = (.*);")
_SET = re.compile(rf"(?:({_NAMES}) )?(\w+) = (.*);")


class _Block:
    """Statements up to a brace, each a line or a line and the block that it heads."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.parts: list[tuple[str, _Block | None]] = []
        for line in lines:
            if line == "}":
                return
            self.parts.append((line, _Block(lines) if line.endswith("{") else None))


class _Read:
    """An array that threads read, of which some take part in a statement."""

    def __init__(self, array: Any) -> None:
        self.array, self.active = array, None

    def __getitem__(self, places: Any) -> Any:
        places = np.broadcast_to(places, self.active.shape)
        inner = places[self.active]
        assert inner.size == 0 or 0 <= inner.min() <= inner.max() < self.array.size
        return self.array[np.where(self.active, places, 0)]


class _Threads:
    """What the variables of all threads are."""

    def __init__(self, names: dict[str, Any], pointers: set[str]) -> None:
        self._names, self._pointers = names, pointers
        self._types: dict[str, Any] = {}

    def _value(self, source: str, active: Any) -> Any:
        for found in self._names.values():
            if isinstance(found, _Read):
                found.active = active
        return Expression(source, self._names).value()

    def run(self, block: _Block, active: Any) -> None:
        for line, inner in block.parts:
            if inner is None:
                self._statement(line, active)
            elif found := _FOR.fullmatch(line):
                for i in range(int(found[2])):
                    self._names[found[1]] = np.int32(i)
                    self.run(inner, active)
            else:
                found = _TEST.fullmatch(line)
                assert found is not None, line
                chosen = active & self._value(found[2], active)
                while chosen.any():
                    self.run(inner, chosen)
                    if found[1] == "if":
                        break
                    chosen = chosen & self._value(found[2], chosen)

    def _statement(self, line: str, active: Any) -> None:
        if found := _STORE.fullmatch(line):
            name, index, source = found.groups()
            assert name in self._pointers, line
            target = self._names[name].array
            places = np.broadcast_to(self._value(index, active), active.shape)[active]
            assert places.size == 0 or 0 <= places.min() <= places.max() < target.size
            value = np.asarray(self._value(source, active))
            assert value.dtype == target.dtype, line
            target[places] = np.broadcast_to(value, active.shape)[active]
            return
        found = _SET.fullmatch(line)
        assert found is not None, line
        kind, name, source = found.groups()
        if kind:
            self._types[name] = TYPES[kind]
        value = np.asarray(self._value(source, active)).astype(self._types[name])
        old = self._names.get(name, value)
        self._names[name] = np.where(active, value, old)


class RawKernel:
    """A kernel that is given the addresses of arrays, and numbers."""

    def __init__(self, code: str, name: str) -> None:
        found = _HEAD.fullmatch(code)
        assert found is not None, code
        assert found[1] == name, code
        self._name = name
        self._parameters = [self._parameter(p) for p in found[2].split(",")]
        self._block = _Block(line.strip() for line in found[3].splitlines())

    @staticmethod
    def _parameter(text: str) -> tuple[str, Any, str]:
        """Its name, its type, and whether it is "read", "written" or a "number"."""
        kind, name = text.strip().rsplit(" ", 1)
        how = "number" if not kind.endswith("*") else "written"
        if kind.startswith("const "):
            how = "read"
        return name, np.dtype(TYPES[kind.removeprefix("const ").rstrip("*")]), how

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]
    ) -> None:
        given = inside(tuple(args))
        for value, (name, dtype, how) in zip(given, self._parameters, strict=True):
            assert isinstance(value, np.ndarray) == (how != "number"), name
            assert value.dtype == dtype, name
            assert how == "number" or value.flags.c_contiguous, name
        threads = int(np.prod(grid) * np.prod(block))
        assert 0 < np.prod(block) <= 1024

        def run(*values: Any) -> None:
            self._run(threads, int(block[0]), values)

        card_capture.write(self._name, run, given, {})

    def _run(self, threads: int, block: int, values: Sequence[Any]) -> None:
        names: dict[str, Any] = {}
        for value, (name, _, how) in zip(values, self._parameters, strict=True):
            names[name] = value if how == "number" else value.reshape(-1)
            if how != "number":
                names[name] = _Read(names[name])
        number = np.arange(threads)
        names["blockIdx.x"] = (number // block).astype(np.uint32)
        names["threadIdx.x"] = (number % block).astype(np.uint32)
        names["blockDim.x"] = np.uint32(block)
        written = {name for name, _, how in self._parameters if how == "written"}
        with np.errstate(all="ignore"):
            _Threads(names, written).run(self._block, np.ones(threads, bool))
