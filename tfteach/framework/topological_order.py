"""Topological sorting, with the caller's order among ready items."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")


class CycleError(ValueError):
    """Some items depend on each other.

    Attributes:
      items: those in a cycle or after one, in the given order.
    """

    def __init__(self, items: Sequence[Any]) -> None:
        super().__init__(f"{len(items)} items in a cycle or behind one")
        self.items = items


def topological_order(
    items: Iterable[Item],
    sources_of: Callable[[Item], Iterable[Item]],
    key: Callable[[Item], Any] | None = None,
) -> list[Item]:
    """The items, each after its sources.

    The order is deterministic: the next item is always the ready one with the smallest
    key, and among equal keys the first in `items`.

    Args:
      items: hashable and distinct.
      sources_of: the items that must precede an item; those not in `items` are ignored.
      key: the priority among ready items; by default only their order in `items`.

    Raises:
      CycleError: items depend on each other.

    Example:
      >>> topological_order("abc", {"a": "c", "b": "", "c": ""}.get)  # ['b', 'c', 'a']
    """
    given = list(items)
    position = {item: i for i, item in enumerate(given)}
    pending: list[int] = []
    users: list[list[int]] = [[] for _ in given]
    for i, item in enumerate(given):
        sources = {position[s] for s in sources_of(item) if s in position}
        pending.append(len(sources))
        for source in sources:
            users[source].append(i)
    ready: list[Any] = [
        i if key is None else (key(given[i]), i)
        for i, count in enumerate(pending)
        if not count
    ]
    heapq.heapify(ready)
    order: list[Item] = []
    while ready:
        i = heapq.heappop(ready) if key is None else heapq.heappop(ready)[1]
        order.append(given[i])
        for user in users[i]:
            pending[user] -= 1
            if not pending[user]:
                entry = user if key is None else (key(given[user]), user)
                heapq.heappush(ready, entry)
    if len(order) < len(given):
        raise CycleError([item for i, item in enumerate(given) if pending[i]])
    return order
