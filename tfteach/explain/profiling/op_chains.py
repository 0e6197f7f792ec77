"""Ops of a run that had to follow each other.

An op can begin once its inputs are there and its device, or the link that it copies
over, is free.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.session.list_schedule import Task, scheduled
from tfteach.explain.profiling.timing import OpTime, StepTimes, lane_of

Thing = tuple[str, str]  # its name, and which one of it
COPIES = Send.op_type, Recv.op_type
TOLERANCE_US = 0.002  # of times that were nanoseconds


class Lane:
    """Ops that occupy one thing, one after the other, in the order of their starts."""

    def __init__(self, ops: Iterable[OpTime]) -> None:
        # What takes no time occupies nothing.
        self.ops = sorted((op for op in ops if op.elapsed_us), key=in_time)
        later = self.ops[1:]
        self.is_serial = all(map(_follows, later, self.ops))
        self._before = dict(zip(map(id, later), self.ops, strict=False))

    def before(self, op: OpTime) -> OpTime | None:
        """The op that had to end before another began."""
        return self._before.get(id(op)) if self.is_serial else None


def in_time(op: OpTime) -> tuple[float, float]:
    return op.start_us, op.end_us


def _follows(op: OpTime, before: OpTime) -> bool:
    return before.end_us <= op.start_us + TOLERANCE_US


class Threads:
    """How long as many ops ran at once as there were threads.

    Attributes:
      count: the number of threads; 0 if unknown.
    """

    def __init__(self, ops: Sequence[OpTime]) -> None:
        self.count = count = len({op.host_thread for op in ops if op.host_thread})
        changes = [(op.start_us, 1) for op in ops if op.elapsed_us]
        changes += [(op.end_us, -1) for op in ops if op.elapsed_us]
        self._times: list[float] = []
        self._full_us: list[float] = []  # until then
        running, full_us, last_us = 0, 0.0, 0.0
        for at_us, change in sorted(changes):
            full_us += at_us - last_us if running >= count > 0 else 0.0
            running, last_us = running + change, at_us
            self._times.append(at_us)
            self._full_us.append(full_us)

    def full_us(self, from_us: float, to_us: float) -> float:
        """Between two times."""
        return self._until(to_us) - self._until(from_us)

    def _until(self, at_us: float) -> float:
        found = bisect.bisect_right(self._times, at_us)
        before = self._full_us[found - 1] if found else 0.0
        if found in (0, len(self._times)):
            return before
        grows = self._full_us[found] > before
        return before + (at_us - self._times[found - 1] if grows else 0.0)


class Chains:
    """The ops of a run, with what each had to wait for."""

    def __init__(self, times: StepTimes) -> None:
        self.times = times
        self._by_name: dict[str, list[OpTime]] = {}
        for op in sorted(times.ops, key=lambda op: op.end_us):
            self._by_name.setdefault(op.name, []).append(op)
        self._senders = {receive.name: send for send, receive in times.copies()}
        self._lanes = self._grouped(self._occupied)

    def _grouped(self, keys: Callable[[OpTime], list[Thing]]) -> dict[Thing, Lane]:
        groups: dict[Thing, list[OpTime]] = {}
        for op in self.times.ops:
            for key in keys(op):
                groups.setdefault(key, []).append(op)
        return {key: Lane(ops) for key, ops in groups.items()}

    def sender(self, op: OpTime) -> OpTime:
        """The `_Send` of a `_Recv`; for another op itself."""
        return self._senders.get(op.name, op)

    def _occupied(self, op: OpTime) -> list[Thing]:
        """What one op at a time uses: a device, or a direction of a modelled link."""
        cards = self.times.cards
        if not cards or op.op_type not in COPIES:
            return [(lane_of(op), op.device)]
        if not op.model:
            return []
        ends = ("out", self.sender(op).device), ("in", op.device)
        return [("the link", f"{way} {end}") for way, end in ends if end in cards]

    def waited_for(self, op: OpTime) -> Iterator[tuple[OpTime, str]]:
        """The ops that had to end before another began, and why."""
        for found in self._inputs(op):
            yield found, f"needs {found.name}"
        for thing in self._occupied(op):
            before = self._lanes[thing].before(op)
            if before is not None:
                yield before, f"{thing[0]} was busy with {before.name}"

    def _inputs(self, op: OpTime) -> Iterator[OpTime]:
        """The ops whose results an op needs: each its last run before this one."""
        names, seen = list(op.inputs), set[str]()
        while names:
            name = names.pop().lstrip("^").partition(":")[0]
            if name in seen:
                continue
            seen.add(name)
            runs = self._by_name.get(name)
            if runs is None:  # a constant, a group
                names += self.times.through.get(name, ())
                continue
            limit_us = op.end_us if op.op_type == Recv.op_type else op.start_us
            limit_us += TOLERANCE_US
            last = bisect.bisect_right(runs, limit_us, key=lambda run: run.end_us)
            if last and runs[last - 1] is not op:
                yield runs[last - 1]

    def longest(self, with_lanes: bool = True) -> list[Link]:
        """The longest chain of ops that waited for each other, in time.

        With the order on devices it is that of the op that ended last.
        """
        best: dict[int, Link] = {}
        for op in sorted(self.times.ops, key=lambda op: (op.end_us, op.start_us)):
            link = Link(op, 0.0)
            for before, because in self.waited_for(op):
                if not with_lanes and not because.startswith("needs"):
                    continue
                found = best.get(id(before))
                if found is not None and found.until_us > link.until_us:
                    link = Link(op, found.until_us, because, found)
            began_us = op.start_us
            if link.before is not None:  # a `_Recv` may have waited for its `_Send`
                began_us = max(began_us, min(op.end_us, link.before.op.end_us))
            until_us = link.until_us + op.end_us - began_us
            best[id(op)] = link._replace(until_us=until_us, began_us=began_us)
        chain = [max(best.values(), key=lambda link: link.until_us)]
        if with_lanes:
            chain = [best[id(max(self.times.ops, key=lambda op: op.end_us))]]
        while (before_it := chain[-1].before) is not None:
            chain.append(before_it)
        return chain[::-1]

    def beside_each_other(self) -> list[Link]:
        """The chain that bounds the run if devices do not share a thread."""
        ops = sorted(self.times.ops, key=in_time)
        place = {id(op): i for i, op in enumerate(ops)}
        needs = [list(self._inputs(op)) for op in ops]
        slots = scheduled(
            [
                Task(op.elapsed_us, [place[id(n)] for n in need], self._occupied(op))
                for op, need in zip(ops, needs, strict=True)
            ]
        )
        last = max(range(len(ops)), key=lambda i: slots[i].end)
        chain = list[Link]()
        while last >= 0:
            op, slot = ops[last], slots[last]
            last = slot.after
            because = "" if last < 0 else f"needs {ops[last].name}"
            if last >= 0 and ops[last] not in needs[place[id(op)]]:
                because = f"{lane_of(op)} was busy with {ops[last].name}"
            chain.append(Link(op, slot.end, because, None, op.start_us))
        return chain[::-1]


class Link(NamedTuple):
    """An op in a chain.

    Attributes:
      op: the op.
      until_us: the time of the chain's ops up to its end.
      because: why it could not begin sooner; "" for the first.
      before: the op before.
      began_us: when it began.
    """

    op: OpTime
    until_us: float
    because: str = ""
    before: Link | None = None
    began_us: float = 0.0
