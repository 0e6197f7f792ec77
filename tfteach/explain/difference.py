"""What changed from one graph to another, op by op, matched by name.

Enters: two graphs, live or as GraphDefs. Leaves: a `Difference`, which prints as a list
of what was added, removed and changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tfteach.explain.graph_rows import attr_proto_text
from tfteach.framework.graph import Graph

MOST_LINES = 40


class Change(NamedTuple):
    """An op that both graphs have and that is not the same in them.

    Attributes:
      name: of the op.
      what: a line for each thing that differs: "input 0: a -> b".
    """

    name: str
    what: tuple[str, ...]


class Difference(NamedTuple):
    """What leads from one graph to another.

    Attributes:
      added: names of ops that only the later graph has, in its order, with their types.
      removed: those that only the earlier one has.
      changed: ops of both that differ.
      same: how many ops are alike.
      kept: the names of all ops of both, for telling scopes that are new as a whole.
    """

    added: dict[str, str]
    removed: dict[str, str]
    changed: list[Change]
    same: int
    kept: frozenset[str]

    @property
    def summary(self) -> str:
        """One line of counts."""
        if not (self.added or self.removed or self.changed):
            return f"The graphs are the same: {_ops(self.same)}."
        return (
            f"{_ops(len(self.added))} added, {len(self.removed)} removed, "
            f"{len(self.changed)} changed, {self.same} the same"
        )

    def scopes(self) -> list[str]:
        """The scopes of both graphs that hold what differs, outer ones first."""
        known = {scope for name in self.kept for scope in _scopes(name)}
        names = [*self.added, *self.removed, *(c.name for c in self.changed)]
        found = {scope for name in names for scope in _scopes(name)}
        return sorted(found & known, key=lambda scope: (scope.count("/"), scope))

    def to_text(self, most: int | None = MOST_LINES) -> str:
        """The counts, then a line for each op, or for a scope that is all new or gone.

        Args:
          most: how many lines at most; None for all.
        """
        lines = [
            *_lines("+", self.added, self.kept),
            *_lines("-", self.removed, self.kept),
            *(f"~ {c.name}: {'; '.join(c.what)}" for c in self.changed),
        ]
        if most is not None and len(lines) > most:
            lines[most:] = [f"  and {len(lines) - most} more"]
        return "\n".join([self.summary, *lines])

    def __str__(self) -> str:
        return self.to_text()


def difference(before: Any, after: Any) -> Difference:
    """What was added, removed and changed from `before` to `after`.

    Ops are the same op if they have the same name. What an op computes, reads (also
    control inputs), where it is asked to be, and its attributes are compared.

    Args:
      before, after: each a `tf.Graph` or a GraphDef.

    Raises:
      TypeError: something else was given.

    Example:
      >>> print(difference(graph, other_graph))
      1 op added, 0 removed, 1 changed, 5 the same
      + loss/l2 (L2Loss)
      ~ loss/total: input 1: loss/data -> loss/l2
    """
    earlier = {node.name: node for node in _graph_def(before).node}
    later = {node.name: node for node in _graph_def(after).node}
    changed = []
    for name, node in later.items():
        if name in earlier and (what := tuple(_changes(earlier[name], node))):
            changed.append(Change(name, what))
    kept = frozenset(earlier) & frozenset(later)
    return Difference(
        {name: node.op for name, node in later.items() if name not in kept},
        {name: node.op for name, node in earlier.items() if name not in kept},
        changed,
        len(kept) - len(changed),
        kept,
    )


def _graph_def(graph: Any) -> Any:
    if isinstance(graph, Graph):
        return graph.as_graph_def()
    if hasattr(graph, "node") and hasattr(graph, "library"):
        return graph
    raise TypeError(
        f"difference compares tf.Graphs and GraphDefs, not {type(graph).__name__}. "
        "Pass the graph itself, such as session.graph or tensor.graph."
    )


def _changes(before: Any, after: Any) -> Iterator[str]:
    if before.op != after.op:
        yield f"type: {before.op} -> {after.op}"
    if list(before.input) != list(after.input):
        yield from input_changes(list(before.input), list(after.input))
    if before.device != after.device:
        yield f"device: {before.device or 'none'} -> {after.device or 'none'}"
    for key in sorted({*before.attr, *after.attr} - {"_output_shapes"}):
        one, other = (node.attr.get(key) for node in (before, after))
        if one != other:
            words = ["none" if a is None else attr_proto_text(a) for a in (one, other)]
            # Long values look alike in a few words.
            alike = f"{key}: other values ({words[1]})"
            yield alike if words[0] == words[1] else f"{key}: {' -> '.join(words)}"


def input_changes(before: list[str], after: list[str]) -> Iterator[str]:
    """A line for each input that is another one, as in a GraphDef, "^a" for waits."""
    data = [[name for name in names if name[0] != "^"] for names in (before, after)]
    for i in range(max(map(len, data))):
        one, other = (names[i] if i < len(names) else "none" for names in data)
        if one != other:
            yield f"input {i}: {one} -> {other}"
    waits = [[name for name in names if name[0] == "^"] for names in (before, after)]
    if waits[0] != waits[1]:
        words = [", ".join(name[1:] for name in names) or "nothing" for names in waits]
        yield f"waits for: {words[0]} -> {words[1]}"


def _lines(sign: str, ops: dict[str, str], kept: frozenset[str]) -> Iterator[str]:
    """A line for each op; one for a scope of which the other graph has nothing."""
    known = {scope for name in kept for scope in _scopes(name)}
    counts: dict[str, int] = {}
    for name, op_type in ops.items():
        whole = next((s for s in _scopes(name) if s not in known), None)
        if whole is None:
            counts[f"{name} ({op_type})"] = 0
        else:
            counts[whole] = counts.get(whole, 0) + 1
    for text, count in counts.items():
        yield f"{sign} {text} ({_ops(count)})" if count else f"{sign} {text}"


def _scopes(name: str) -> Iterator[str]:
    """ "a/b/c" is in "a/" and "a/b/"."""
    at = name.find("/")
    while at >= 0:
        yield name[: at + 1]
        at = name.find("/", at + 1)


def _ops(count: int) -> str:
    return f"{count} op{'' if count == 1 else 's'}"
