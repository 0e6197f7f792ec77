"""When ops would run on devices and links that do one thing at a time."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from typing import NamedTuple


class Task(NamedTuple):
    """Something that takes time.

    Attributes:
      length: how long, in any unit.
      needs: the indices of the tasks that must have ended.
      occupies: the things that it uses alone.
    """

    length: float
    needs: Sequence[int] = ()
    occupies: Sequence[Hashable] = ()


class Slot(NamedTuple):
    """When a task runs.

    Attributes:
      begin, end: in the unit of the lengths.
      after: the index of the task whose end let it begin; -1 for none.
    """

    begin: float
    end: float
    after: int = -1


def scheduled(tasks: Sequence[Task]) -> list[Slot]:
    """Run each task once it is ready, in the order in which they become so.

    Args:
      tasks: each after those that it needs.

    Returns:
      A `Slot` for each.
    """
    slots = [Slot(0.0, 0.0)] * len(tasks)
    missing = [len(set(task.needs)) for task in tasks]
    users: list[list[int]] = [[] for _ in tasks]
    for index, task in enumerate(tasks):
        for need in set(task.needs):
            users[need].append(index)
    last: dict[Hashable, int] = {}
    # None becomes ready before the one that is taken: queues are first in, first out.
    ready = [(0.0, i) for i, count in enumerate(missing) if not count]
    while ready:
        _, index = heapq.heappop(ready)
        task = tasks[index]
        before = [*task.needs, *(last[t] for t in task.occupies if t in last)]
        after = max(before, key=lambda other: slots[other].end, default=-1)
        begin = slots[after].end if before else 0.0
        slots[index] = Slot(begin, begin + task.length, after)
        last.update(dict.fromkeys(task.occupies, index))
        for user in users[index]:
            missing[user] -= 1
            if not missing[user]:
                at = max(slots[need].end for need in tasks[user].needs)
                heapq.heappush(ready, (at, user))
    return slots
