"""In which order the units of a region run: those of one branch stand together."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from tfteach.runtime.guards import ALWAYS, Guard, Literal, kind_of
from tfteach.runtime.regions import Entry, Region
from tfteach.runtime.step import Node, writes

if TYPE_CHECKING:
    from tfteach.runtime.recover import Recovery


class Schedule:
    """Puts the units of a region into an order that seldom changes the branch."""

    def __init__(
        self, recovery: Recovery, region: Region, order: list[Node | Region]
    ) -> None:
        self.recovery = recovery
        self.region = region
        self.rank = {unit: i for i, unit in enumerate(order)}
        self.ready: dict[Guard, list[tuple[bool, int, Node | Region | Entry]]] = {}

    def run(self) -> list[tuple[Node | Region | Entry, tuple[Literal, ...]]]:
        recovery, region = self.recovery, self.region
        waiting: dict[Node | Region | Entry, int] = {}
        users: dict[Node | Region, list[Node | Region | Entry]] = {}
        entries: dict[Node, list[Entry]] = {}
        for unit in self.rank:
            sources = recovery.sources(unit, region)
            waiting[unit] = len(sources)
            if self.is_branch_merge(unit):
                assert isinstance(unit, Node)
                entries[unit] = [Entry(unit, i) for i in range(len(unit.inputs))]
                waiting[unit] = len(unit.inputs)
                for entry in entries[unit]:
                    own = {recovery.owner(unit.inputs[entry.number].node, region)}
                    own.update(recovery.owner(other, region) for other in unit.control)
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
        while any(self.ready.values()):
            current = self.choose(current)
            _, _, thing = heapq.heappop(self.ready[current])
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
            and kind_of(unit) == "Merge"
            and not any(v.merge is unit for v in self.region.variables)
        )

    def guard_of(self, thing: Node | Region | Entry) -> Guard:
        if isinstance(thing, Entry):
            merge = thing.merge
            return self.recovery.edge_guard(merge.inputs[thing.number], self.region)
        return self.recovery.guards[thing]

    def push(self, thing: Node | Region | Entry) -> None:
        unit = thing.merge if isinstance(thing, Entry) else thing
        is_write = isinstance(thing, Node) and writes(thing)
        number = thing.number if isinstance(thing, Entry) else 0
        heap = self.ready.setdefault(self.guard_of(thing), [])
        heapq.heappush(heap, (is_write, self.rank[unit] * 1000 + number, thing))

    def choose(self, current: Guard) -> Guard:
        """Go on in this branch; else finish what is outside; else the next branch."""
        heap = self.ready.get(current)
        always = self.ready.get(ALWAYS)
        predicate = self.region.predicate
        if heap and current != ALWAYS and not heap[0][0]:
            return current
        if always and not always[0][0]:
            return ALWAYS
        ready = [(guard, heap[0]) for guard, heap in self.ready.items() if heap]

        def order(item: tuple[Guard, tuple[bool, int, object]]) -> tuple[object, ...]:
            guard, (is_write, rank, _) = item
            decided = next((v for e, v in guard or () if e == predicate), None)
            return (None, True, False).index(decided), is_write, rank

        return min(ready, key=order)[0]

    def sorted_guard(self, guard: frozenset[Literal]) -> tuple[Literal, ...]:
        position = self.recovery.position
        return tuple(
            sorted(guard, key=lambda item: (position[item[0].node], item[0][1]))
        )
