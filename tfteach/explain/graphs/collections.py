"""Who puts what into the collections of a graph, and who takes it out.

Most of TensorFlow's libraries talk to each other through collections: `tf.Variable`
adds to the trainable variables, and an optimizer updates what it finds there when
`minimize` is called.  What is added later, or looked up by nobody, is lost without an
error; `explain_collections` finds that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tfteach.explain.graphs.collection_problems import Problem, item_name, problems_of
from tfteach.explain.graphs.public_names import called_name
from tfteach.framework.call_origin import SourceLine, line_of
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graph_collections import Lookup
from tfteach.framework.graph_keys import GraphKeys

__all__ = [
    "Collection",
    "Collections",
    "Maker",
    "Problem",
    "Taker",
    "Taking",
    "explain_collections",
]


class Maker(NamedTuple):
    """A line of code that puts items into collections.

    Attributes:
      call: the function that it calls, such as "tf.get_variable"; "" if unknown.
      line: the line; None if unknown.
    """

    call: str
    line: SourceLine | None


class Item(NamedTuple):
    """An item of a collection.

    Attributes:
      name: its name; its text if it has none.
      kind: the name of its class, such as "Tensor".
      maker: the index of the `Maker` that added it.
    """

    name: str
    kind: str
    maker: int


class Collection(NamedTuple):
    """A collection and its items.

    Attributes:
      key: such as "trainable_variables".
      constant: its name in `tf.GraphKeys`, such as "TRAINABLE_VARIABLES"; "" for a
        collection of the program's own.
      items: in the order of the collection.
    """

    key: str
    constant: str
    items: tuple[Item, ...]

    @property
    def name(self) -> str:
        """As in code: "tf.GraphKeys.LOSSES", or the key in quotes."""
        return f"tf.GraphKeys.{self.constant}" if self.constant else repr(self.key)


class Taking(NamedTuple):
    """What a `Taker` found in one collection.

    Attributes:
      key: the collection's.
      items: the indices of the items that were there at its last lookup.
      scope: the name prefix that it asked for, or None.
      lookups: their number.
    """

    key: str
    items: tuple[int, ...]
    scope: str | None
    lookups: int


class Taker(NamedTuple):
    """A line of code that looks collections up.

    Attributes:
      call: the function that it calls, such as "tf.train.Saver"; "" if unknown.
      line: the line; None if unknown.
      takes: a `Taking` for each collection.
    """

    call: str
    line: SourceLine | None
    takes: tuple[Taking, ...]


class Collections(NamedTuple):
    """The collections of a graph; `print` it.

    Attributes:
      collections: a `Collection` for each, in the order of their creation.
      makers: the lines that added items.
      takers: the lines that looked collections up.
      problems: a `Problem` for each thing that is lost.
    """

    collections: tuple[Collection, ...]
    makers: tuple[Maker, ...]
    takers: tuple[Taker, ...]
    problems: tuple[Problem, ...]

    @property
    def summary(self) -> str:
        """One line: "5 collections, 12 items, 1 problem"."""
        items = sum(len(found.items) for found in self.collections)
        text = f"{_plural(len(self.collections), 'collection')}"
        text += f", {_plural(items, 'item')}"
        if self.problems:
            text += f", {_plural(len(self.problems), 'problem')}"
        return text

    def takers_of(self, key: str) -> list[tuple[Taker, Taking]]:
        """The takers of one collection, with what each found in it.

        Args:
          key: the collection's, such as `tf.GraphKeys.LOSSES`.

        Returns:
          A list of pairs of a `Taker` and its `Taking`.
        """
        return [
            (taker, taking)
            for taker in self.takers
            for taking in taker.takes
            if taking.key == key
        ]

    def to_text(self, most: int | None = None) -> str:
        """The collections as text.

        Args:
          most: the number of makers and of takers of a collection; by default all.

        Returns:
          A string of several lines.
        """
        lines = [self.summary]
        for found in self.collections:
            lines.append(f"{found.name}: {_plural(len(found.items), 'item')}")
            counts: dict[int, list[str]] = {}
            for item in found.items:
                counts.setdefault(item.maker, []).append(item.name)
            made = [
                f"    from {_said(*self.makers[maker])}: {_names(names)}"
                for maker, names in counts.items()
            ]
            taken = [
                f"    to {_said(taker.call, taker.line)}: {_share(found, taking)}"
                for taker, taking in self.takers_of(found.key)
            ]
            lines += _first(made, most) + _first(taken, most)
            if not taken:
                lines.append("    nobody has looked it up")
        if self.problems:
            lines += ["What is lost", *(f"  {problem}" for problem in self.problems)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()


def explain_collections(graph: Graph | None = None) -> Collections:
    """Explain who puts what into a graph's collections, and who takes it out.

    Args:
      graph: a `tf.Graph`; by default the default graph.

    Returns:
      A `Collections`; `print` it.

    Example:
      >>> w = tf.Variable(1.0, name="w")
      >>> train = tf.train.GradientDescentOptimizer(0.1).minimize(w * w)
      >>> found = explain_collections()
      >>> [taker.call for taker, _ in found.takers_of("trainable_variables")]
      ['tf.train.Optimizer.minimize']
    """
    graph = get_default_graph() if graph is None else graph
    makers: dict[Maker, int] = {}
    collections = []
    for key in graph.get_all_collection_keys():
        items = _items(graph, key, makers)
        if items:
            collections.append(Collection(key, CONSTANTS.get(key, ""), tuple(items)))
    takers = _takers(graph, {found.key: found for found in collections})
    found = tuple(problems_of(graph))
    return Collections(tuple(collections), tuple(makers), tuple(takers), found)


CONSTANTS = {
    value: name
    for name, value in reversed(list(vars(GraphKeys).items()))
    if isinstance(value, str) and name.isupper() and not name.startswith("_")
}


def _items(graph: Graph, key: str, makers: dict[Maker, int]) -> list[Item]:
    """The items; one that was appended to the list itself has the line that got it."""
    origins = {id(added.value): added.origin for added in graph.added.get(key, ())}
    by_reference = [
        lookup.origin
        for lookup in graph.lookups.values()
        if lookup.key == key and lookup.is_reference
    ]
    items = []
    for value in graph.collection_list(key):
        origin = origins.get(id(value), by_reference[-1] if by_reference else None)
        maker = Maker(called_name(origin), None if origin is None else line_of(origin))
        index = makers.setdefault(maker, len(makers))
        items.append(Item(item_name(value), type(value).__name__, index))
    return items


def _takers(graph: Graph, collections: dict[str, Collection]) -> list[Taker]:
    """The lines that looked up a collection that has items."""
    found: dict[Maker, list[Taking]] = {}
    # The same line of a cell that was run twice is two code objects.
    for lookup in sorted(graph.lookups.values(), key=lambda each: each.order):
        if not isinstance(lookup.key, str) or lookup.key not in collections:
            continue
        taken = tuple(_taken(graph, lookup))
        who = Maker(called_name(lookup.origin), line_of(lookup.origin))
        if not taken and who.call.endswith("global_step"):
            continue  # it looks before it creates
        taking = Taking(lookup.key, taken, lookup.scope, lookup.count)
        found.setdefault(who, []).append(taking)
    return [Taker(*who, tuple(takes)) for who, takes in found.items()]


def _taken(graph: Graph, lookup: Lookup) -> Iterable[int]:
    """The indices of the items that were there, and match the scope."""
    orders = {id(a.value): a.order for a in graph.added.get(lookup.key, ())}
    for index, value in enumerate(graph.collection_list(lookup.key)):
        if orders.get(id(value), 0) > lookup.order:
            continue
        name = getattr(value, "name", None)
        if lookup.scope is None or (name and re.match(lookup.scope, name)):
            yield index


# ---- words


def _said(call: str, line: SourceLine | None) -> str:
    where = "an unknown line" if line is None else f"line {line.line}"
    return f"{where}, {call}" if call else where


def _names(names: Sequence[str], most: int = 3) -> str:
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def _share(found: Collection, taking: Taking) -> str:
    taken, there = len(taking.items), len(found.items)
    scope = f" in scope {taking.scope!r}" if taking.scope else ""
    if taken == there:
        return f"all {there}{scope}" if there > 1 else f"it{scope}"
    return f"{taken} of {there}{scope}"


def _first(lines: list[str], most: int | None) -> list[str]:
    if most is None or len(lines) <= most:
        return lines
    return [*lines[:most], f"    and {len(lines) - most} more"]


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
