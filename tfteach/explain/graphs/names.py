"""How the name of an op or a variable came about, prefix by prefix.

A name scope prefixes the names of ops.  A variable scope prefixes those of variables,
and opens a name scope as well; entered again, it has the same prefix for variables and
a new one for ops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.explain.graphs.variable_calls import Uses, outer, scopes_of, uses_of
from tfteach.framework.call_origin import SourceLine, line_of
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.opened_scopes import OpenedScope

__all__ = ["ExplainedName", "NamePart", "explain_name"]


class NamePart(NamedTuple):
    """A part of a name between slashes; several if a scope was given such a name.

    Attributes:
      text: as in the name.
      kind: "variable_scope", "name_scope", "function" for a scope opened by a library
        function, or "own" for the last part.
      asked: the name given in the code, which differs from `text` if it was taken.
      line: the line of the `with` statement or the call; None if unknown.
    """

    text: str
    kind: str
    asked: str
    line: SourceLine | None

    def __str__(self) -> str:
        where = "" if self.line is None else f", line {self.line.line}"
        if self.kind == "own":
            return f"{self.text}: its own name{where}"
        if self.kind == "function":
            return f"{self.text}: a scope of a library function{where}"
        taken = "" if self.asked == self.text else f'; "{self.asked}" was taken'
        return f'{self.text}: tf.{self.kind}("{self.asked}"){where}{taken}'


class ExplainedName(NamedTuple):
    """The parts of a name; `print` it.

    Attributes:
      name: the name of the op or variable.
      is_variable: True if `get_variable` named it, which name scopes do not affect.
      parts: from the outermost scope to the own name.
      beside: for such a variable, the prefix of ops that are built where it is.
    """

    name: str
    is_variable: bool
    parts: tuple[NamePart, ...]
    beside: tuple[NamePart, ...]

    def __str__(self) -> str:
        kind = "a variable, named by variable scopes" if self.is_variable else "an op"
        lines = [f"{self.name}: {kind}", *(f"  {part}" for part in self.parts)]
        if self.beside:
            prefix = "/".join(part.text for part in self.beside)
            lines.append(f"  Ops beside it begin with {prefix}/")
            lines += [f"    {part}" for part in self.beside]
        return "\n".join(lines)


def explain_name(element: Any, graph: Graph | None = None) -> ExplainedName:
    """Explain how the name of an op or variable came about.

    Args:
      element: an operation, a tensor, a variable, or the name of one.
      graph: a `tf.Graph`; by default that of `element`, or the default graph.

    Returns:
      An `ExplainedName`; `print` it.

    Raises:
      KeyError: the graph has no op of this name.

    Example:
      >>> with tf.name_scope("inputs"), tf.variable_scope("net"):
      ...     w = tf.get_variable("w", [])
      >>> explain_name(w).name, [part.text for part in explain_name(w).beside]
      ('net/w', ['inputs', 'net'])
    """
    if graph is None:
        graph = getattr(element, "graph", None) or get_default_graph()
    found: Any = graph.as_graph_element(getattr(element, "op", element))
    op = getattr(found, "op", found)
    for uses in uses_of(graph) if op.spec.returns_handle else ():
        if uses.name == op.name and uses.by_name:
            parts = parts_of_variable(uses, variable_scopes_of(graph))
            call = uses.calls[0]
            beside = parts_of(call.name_scope, scopes_of(graph), call.line)
            if call.name_scope == "/".join(part.text for part in parts[:-1]):
                beside = []
            return ExplainedName(op.name, True, parts, tuple(beside))
    prefix, _, own = op.name.rpartition("/")
    around = parts_of(prefix, scopes_of(graph), op.source)
    named = (*around, NamePart(own, "own", own, op.source))
    return ExplainedName(op.name, False, named, ())


def variable_scopes_of(graph: Graph) -> dict[str, OpenedScope]:
    """Prefix of variables -> the scope that first had it."""
    opened: dict[str, OpenedScope] = {}
    for scope in graph.opened_scopes.values():
        if scope.variables:
            opened.setdefault(scope.variables, scope)
    return opened


def parts_of_variable(
    uses: Uses, opened: dict[str, OpenedScope]
) -> tuple[NamePart, ...]:
    """The parts of the name of a variable that `get_variable` created."""
    call = uses.calls[0]
    parts = []
    prefix = call.variable_scope
    while prefix:
        first = opened.get(prefix)
        asked = "" if first is None else first.asked
        if not asked or not prefix.endswith(asked):  # unknown, or a number was added
            asked = prefix.rpartition("/")[2]
        text = asked
        if first is not None and first.asked:
            asked = first.asked
        if first is None:
            parts.append(NamePart(text, "function", text, call.line))
        else:
            parts.append(NamePart(text, "variable_scope", asked, _line(first)))
        prefix = prefix.removesuffix(text).rstrip("/")
    own = uses.name.removeprefix(f"{call.variable_scope}/")
    return (*reversed(parts), NamePart(own, "own", own, call.line))


def parts_of(
    prefix: str, scopes: dict[str, OpenedScope], line: SourceLine | None
) -> list[NamePart]:
    """The parts of the prefix of an op, which `line` built."""
    parts = []
    while prefix:
        scope = scopes.get(prefix)
        outside = prefix.rpartition("/")[0] if scope is None else outer(scope)
        text = prefix.removeprefix(outside).lstrip("/")
        if scope is None or scope.origin is None:
            parts.append(NamePart(text, "function", text, line))
        else:
            kind = "name_scope" if scope.variables is None else "variable_scope"
            parts.append(NamePart(text, kind, scope.asked.strip("/"), _line(scope)))
        prefix = outside
    return parts[::-1]


def _line(scope: OpenedScope | None) -> SourceLine | None:
    return None if scope is None or scope.origin is None else line_of(scope.origin)
