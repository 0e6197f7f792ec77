"""Order of the units in a region: units of the same branch are adjacent."""

from __future__ import annotations

import heapq
import itertools
from typing import Protocol

from tfteach.engine.flow.guards import ALWAYS, Guard, Literal
from tfteach.engine.flow.regions import Entry, Region
from tfteach.engine.plan.step import Edge, Node, writes
from tfteach.framework.op_traits import Flow

Key = tuple[int, bool, int]


class Structure(Protocol):
    """What is known of the nodes of a step before they are ordered.

    Attributes:
      guards: the predicates under which each unit runs.
      position: the place of each node in the step.
    """

    guards: dict[Node | Region, Guard]
    position: dict[Node, int]

    def owner(self, node: Node, region: Region) -> Node | Region | None:
        """The unit of the region that computes `node`; None if it is outside."""

    def sources(self, unit: Node | Region, region: Region) -> set[Node | Region]:
        """The units of the region that must run before."""

    def edge_guard(self, edge: Edge, region: Region) -> Guard:
        """The predicates under which a value flows along the edge."""


class Schedule:
    """Orders the units of a region so that branches change rarely."""

    def __init__(
        self, structure: Structure, region: Region, order: list[Node | Region]
    ) -> None:
        self.structure = structure
        self.region = region
        self.rank = {unit: i for i, unit in enumerate(order)}
        self.ready: dict[Guard, list[tuple[bool, int, Node | Region | Entry]]] = {}
        self._pending = 0
        # The next branch; stale keys are replaced when popped.
        self._branches: list[tuple[Key, int, Guard]] = []
        self._queued: dict[Guard, Key] = {}
        self._numbers = itertools.count()

    def run(self) -> list[tuple[Node | Region | Entry, tuple[Literal, ...]]]:
        structure, region = self.structure, self.region
        waiting: dict[Node | Region | Entry, int] = {}
        users: dict[Node | Region, list[Node | Region | Entry]] = {}
        entries: dict[Node, list[Entry]] = {}
        for unit in self.rank:
            sources = structure.sources(unit, region)
            waiting[unit] = len(sources)
            if self.is_branch_merge(unit):
                assert isinstance(unit, Node)
                entries[unit] = [Entry(unit, i) for i in range(len(unit.inputs))]
                waiting[unit] = len(unit.inputs)
                for entry in entries[unit]:
                    own = {structure.owner(unit.inputs[entry.number].node, region)}
                    own.update(structure.owner(other, region) for other in unit.control)
                    own &= sources
                    waiting[entry] = len(own)
                    for source in own:
                        users.setdefault(source, []).append(entry)  # type: ignore[arg-type]
            else:
                for source in sources:
                    users.setdefault(source, []).append(unit)
        for thing, count in waiting.items():
            if not count:
                self.push(thing)
        order: list[tuple[Node | Region | Entry, tuple[Literal, ...]]] = []
        current: Guard = ALWAYS
        while self._pending:
            current = self.choose(current)
            _, _, thing = heapq.heappop(self.ready[current])
            self._pending -= 1
            if current is not None:
                order.append((thing, self.sorted_guard(current)))
            following = (
                [thing.merge] if isinstance(thing, Entry) else users.get(thing, ())
            )
            for user in following:
                waiting[user] -= 1
                if not waiting[user]:
                    self.push(user)
        return order

    def is_branch_merge(self, unit: Node | Region) -> bool:
        return (
            isinstance(unit, Node)
            and unit.flow is Flow.MERGE
            and not any(v.merge is unit for v in self.region.variables)
        )

    def guard_of(self, thing: Node | Region | Entry) -> Guard:
        if isinstance(thing, Entry):
            merge = thing.merge
            return self.structure.edge_guard(merge.inputs[thing.number], self.region)
        return self.structure.guards[thing]

    def push(self, thing: Node | Region | Entry) -> None:
        unit = thing.merge if isinstance(thing, Entry) else thing
        is_write = isinstance(thing, Node) and writes(thing)
        number = thing.number if isinstance(thing, Entry) else 0
        guard = self.guard_of(thing)
        heap = self.ready.setdefault(guard, [])
        heapq.heappush(heap, (is_write, self.rank[unit] * 1000 + number, thing))
        self._pending += 1
        self._queue(guard)

    def choose(self, current: Guard) -> Guard:
        """Continue in this branch, else outside of branches, else in the next one."""
        heap = self.ready.get(current)
        always = self.ready.get(ALWAYS)
        if heap and current != ALWAYS and not heap[0][0]:
            return current
        if always and not always[0][0]:
            return ALWAYS
        while True:
            key, _, guard = self._branches[0]
            if self.ready[guard] and self._key(guard) == key:
                return guard
            heapq.heappop(self._branches)
            if self._queued.get(guard) == key:
                del self._queued[guard]
                if self.ready[guard]:
                    self._queue(guard)

    def _queue(self, guard: Guard) -> None:
        key = self._key(guard)
        if self._queued.get(guard) != key:
            self._queued[guard] = key
            heapq.heappush(self._branches, (key, next(self._numbers), guard))

    def _key(self, guard: Guard) -> Key:
        """The order among branches: outside the loop's condition, then inside."""
        predicate = self.region.predicate
        decided = next((v for e, v in guard or () if e == predicate), None)
        is_write, rank, _ = self.ready[guard][0]
        return (None, True, False).index(decided), is_write, rank

    def sorted_guard(self, guard: frozenset[Literal]) -> tuple[Literal, ...]:
        position = self.structure.position
        return tuple(
            sorted(guard, key=lambda item: (position[item[0].node], item[0][1]))
        )
