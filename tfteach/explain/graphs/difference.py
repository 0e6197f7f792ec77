"""How two graphs differ, op by op, matched by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tfteach.explain.graphs.graph_rows import attr_proto_text
from tfteach.framework.graph import Graph

__all__ = ["Change", "Difference", "difference"]

MOST_LINES = 40


class Change(NamedTuple):
    """An op that differs between the two graphs.

    Attributes:
      name: the op's name.
      what: a line for each difference: "input 0: a -> b".
    """

    name: str
    what: tuple[str, ...]


class Difference(NamedTuple):
    """The changes from one graph to another; `print` it.

    Attributes:
      added: name -> type of the ops that only the later graph has, in its order.
      removed: name -> type of the ops that only the earlier graph has.
      changed: a `Change` for each op that differs.
      same: the number of ops that are equal.
      kept: the names of all ops that both graphs have.
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
        """The scopes of both graphs that contain differences.

        Returns:
          A list of scope names that end with "/", outer scopes first.
        """
        known = {scope for name in self.kept for scope in _scopes(name)}
        names = [*self.added, *self.removed, *(c.name for c in self.changed)]
        found = {scope for name in names for scope in _scopes(name)}
        return sorted(found & known, key=lambda scope: (scope.count("/"), scope))

    def to_text(self, most: int | None = MOST_LINES) -> str:
        """The counts, then a line for each op, or for each whole scope.

        Args:
          most: the number of lines; None for all.

        Returns:
          A string of several lines.
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
    """Compare two graphs.

    Ops are matched by name. Their types, inputs, control inputs, requested devices and
    attributes are compared.

    Args:
      before: a `tf.Graph` or a GraphDef.
      after: a `tf.Graph` or a GraphDef.

    Returns:
      A `Difference`; `print` it.

    Raises:
      TypeError: an argument is neither.

    Example:
      >>> a = tf.constant(1.0, name="a")
      >>> before = a.graph.as_graph_def()
      >>> b = tf.square(a, name="b")
      >>> print(difference(before, a.graph))
      1 op added, 0 removed, 0 changed, 1 the same
      + b (Square)
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


def _graph_def(graph: Graph) -> Any:
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
            # Abbreviated, two long values may look the same.
            alike = f"{key}: other values ({words[1]})"
            yield alike if words[0] == words[1] else f"{key}: {' -> '.join(words)}"


def input_changes(before: list[str], after: list[str]) -> Iterator[str]:
    """A line for each input that differs, as in a GraphDef ("^a" for control)."""
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
    """A line for each op; one for a scope that the other graph does not have."""
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
    """The scopes of a name: "a/" and "a/b/" for "a/b/c"."""
    at = name.find("/")
    while at >= 0:
        yield name[: at + 1]
        at = name.find("/", at + 1)


def _ops(count: int) -> str:
    return f"{count} op{'' if count == 1 else 's'}"
