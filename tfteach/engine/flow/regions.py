"""Structured control flow: regions of units under guards."""

from __future__ import annotations

from typing import NamedTuple

from tfteach.engine.flow.guards import ALWAYS, Literal
from tfteach.engine.plan.frames import Path
from tfteach.engine.plan.step import Edge, Node


class Variable(NamedTuple):
    """A loop variable: its initial value, its Merge, its value in the next round."""

    merge: Node
    enter: Edge
    next: Edge


class Entry(NamedTuple):
    """One input of a Merge, forwarded where the guard of that input holds."""

    merge: Node
    number: int


class Unit(NamedTuple):
    """A statement and its predicates, outermost first."""

    thing: Node | Entry | Region
    guard: tuple[Literal, ...]


class Region:
    """A loop, or the step itself, as ordered units.

    Attributes:
      path: the frames it is in; () for the step.
      before: units that run first; in a loop, its condition in every iteration.
      predicate: the loop's condition.
      body: units that run while it is true.
      after: units that run once it is false.
      variables: of the loop.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before: list[Unit] = []
        self.body: list[Unit] = []
        self.after: list[Unit] = []
        self.predicate: Edge | None = None
        self.variables: list[Variable] = []
        self.members: list[Node] = []
        self.children: list[Region] = []
        self.enters: list[Node] = []
        # The guard of the loop itself, and the predicates of branches inside it.
        self.context: frozenset[Literal] = ALWAYS
        self.eliminated: set[Edge] = set()

    def __repr__(self) -> str:
        return f"<Region {'/'.join(self.path)}>"


class Recovered(NamedTuple):
    """The structure of a step.

    Attributes:
      root: the outermost region.
      alive: the nodes whose values are needed.
      always: those outside of branches and loops.
    """

    root: Region
    alive: set[Node]
    always: set[Node]
