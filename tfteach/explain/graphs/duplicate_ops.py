"""Duplicate ops: equal in type, attributes and inputs.

Duplicates are found by structure, not by name: `Add_1(x, Add_1/y)` duplicates `Add(x,
Add/y)` if the two constants are equal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple

from tfteach.framework.graph import Graph, Operation, SourceLine
from tfteach.framework.op import Op, StatefulOp

__all__ = ["Group"]

_SUFFIX = re.compile(r"_\d+(?=/|$)")


class Group(NamedTuple):
    """Operations that compute the same.

    Attributes:
      ops: the operations, in graph order.
    """

    ops: tuple[Operation, ...]

    @property
    def type(self) -> str:
        """Their op type."""
        return self.ops[0].type

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [op.name for op in self.ops]

    @property
    def lines(self) -> dict[SourceLine, int]:
        """Source line -> number of them that it built."""
        return dict(Counter(op.source for op in self.ops if op.source is not None))

    def __str__(self) -> str:
        return f"{len(self.ops)} x {self.type}: {shortened(self.names)}"


class Twins:
    """Finds, for each op of a graph, the first op equal to it.

    Stateful ops and placeholders differ from each other, even with equal types. They
    count as duplicates only if the same line built both, each in another round.

    Attributes:
      first: for each op, by index, the index of the first op equal to it; its own index
        if there is none.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.first: list[int] = []
        self._known: dict[Hashable, int] = {}
        self._specs: dict[int, tuple[int, bool]] = {}
        self._numbers: dict[Hashable, int] = {}
        self._round = -1
        self._seen: Counter[Hashable] = Counter()  # counts stateful ops in this round

    def read(self, stop: int, round_: int) -> None:
        """Process the ops before index `stop`.

        Args:
          stop: an index into `graph.operations`.
          round_: the round in which they were built.
        """
        if round_ != self._round:
            self._round = round_
            self._seen.clear()
        for index in range(len(self.first), stop):
            op = self.graph.operations[index]
            self.first.append(self._known.setdefault(self._key(op, index), index))

    def _key(self, op: Operation, index: int) -> Hashable:
        def same(other: Operation) -> int:
            # A loop's back edge comes from a later op.
            at = other.node_id - 1
            return self.first[at] if at < index else -1

        attributes, is_apart = self._attributes(op.spec)
        controls = op.control_inputs
        key: tuple[Hashable, ...] = (
            attributes,
            tuple([(same(t.op), t.value_index) for t in op.inputs]),
            frozenset([same(c) for c in controls]) if controls else None,
            op.device,
        )
        if is_apart:
            key = (*key, op.source)
            self._seen[key] += 1
            key = (*key, self._seen[key])
        return key

    def _attributes(self, spec: Op) -> tuple[int, bool]:
        """A number for the op's type and attributes, ignoring suffixes in names.

        Returns:
          (number, is_apart): equal numbers for equal ops; True for stateful ops and
          placeholders.
        """
        found = self._specs.get(id(spec))  # ids stay valid: the graph keeps its ops
        if found is None:
            plain = spec if spec.holds_value else _plain(spec)
            number = self._numbers.setdefault(plain, len(self._numbers))
            is_apart = isinstance(spec, StatefulOp) or spec.must_be_fed
            found = self._specs[id(spec)] = number, is_apart
        return found

    def groups(self, start: int = 0) -> list[Group]:
        """Groups of equal ops.

        Args:
          start: only groups with an op from this index on.

        Returns:
          A list of `Group`, the largest first.
        """
        members: dict[int, list[int]] = {}
        for index, first in enumerate(self.first):
            members.setdefault(first, []).append(index)
        ops = self.graph.operations
        found = [
            Group(tuple([ops[i] for i in group]))
            for group in members.values()
            if len(group) > 1 and group[-1] >= start
        ]
        return sorted(found, key=lambda group: -len(group.ops))


def _plain(spec: Op) -> Hashable:
    values = [(name, getattr(spec, name)) for name in type(spec).fields]
    if not any(isinstance(value, str) for _, value in values):
        return spec
    return spec.op_type, *[
        (name, _SUFFIX.sub("", value) if isinstance(value, str) else value)
        for name, value in values
    ]


def shortened(names: list[str]) -> str:
    """Names on one line: "Add, Add_1, ..., Add_9"."""
    if len(names) > 4:
        names = [*names[:2], "...", names[-1]]
    return ", ".join(names)
