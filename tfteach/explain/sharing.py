"""Which calls share a variable, and which created a second one by mistake."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from tfteach.framework.graph import Graph, SourceLine, get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, decode_source
from tfteach.framework.shape import Shape
from tfteach.framework.shape import text as shape_text
from tfteach.variables.scope.get_variable import store_of
from tfteach.variables.scope.store import Request

__all__ = ["Duplicate", "Sharing", "Uses", "explain_sharing"]

TRAINABLE = GraphKeys.TRAINABLE_VARIABLES


class Uses(NamedTuple):
    """One variable, and the lines that requested it.

    Attributes:
      name: the name of its op.
      dtype: the name of its type.
      shape: a tuple of sizes, with None for unknown ones; None for an unknown rank.
      made_by: the line that created it, or None if unknown.
      calls: the number of `get_variable` calls that returned it; 0 for a plain
        `tf.Variable`.
      lines: source line -> number of these calls, including the one that created it.
    """

    name: str
    dtype: str
    shape: Shape
    made_by: SourceLine | None
    calls: int
    lines: dict[SourceLine | None, int]

    @property
    def is_shared(self) -> bool:
        """True if more than one call returned it."""
        return self.calls > 1

    @property
    def value(self) -> str:
        """Its type and shape: "float32 [784,10]"."""
        return f"{self.dtype} {shape_text(self.shape)}"


class Duplicate(NamedTuple):
    """A variable whose name, type and shape resemble those of an earlier one.

    Attributes:
      first: the name of the earlier variable, such as "weights".
      second: the name of the later one, such as "weights_1".
      same_line: True if one line of code created both.
      advice: what to change if a single variable was intended.
    """

    first: str
    second: str
    same_line: bool
    advice: str


class Sharing(NamedTuple):
    """The variables of a graph and the calls that share them; `print` it.

    Attributes:
      variables: a `Uses` for each variable, in the order of creation.
      duplicates: a `Duplicate` for each variable that may be a mistake.
    """

    variables: tuple[Uses, ...]
    duplicates: tuple[Duplicate, ...]

    @property
    def shared(self) -> list[Uses]:
        """The variables that more than one call returned."""
        return [uses for uses in self.variables if uses.is_shared]

    def __str__(self) -> str:
        calls = sum(uses.calls for uses in self.variables)
        lines = [
            f"{_plural(len(self.variables), 'variable')}, "
            f"{_plural(calls, 'get_variable call')}, {len(self.shared)} shared"
        ]
        for uses in self.variables:
            lines.append(f"{uses.name}: {uses.value}")
            lines.append(f"    made by {_where(uses.made_by)}")
            for line, count in _others(uses).items():
                times = f"{count} times " if count > 1 else ""
                lines.append(f"    shared {times}by {_where(line)}")
        if self.duplicates:
            lines.append("Two where one was meant?")
        for duplicate in self.duplicates:
            both = ", made by the same line" if duplicate.same_line else ""
            lines.append(f"  {duplicate.second} beside {duplicate.first}{both}")
            lines.append(f"    {duplicate.advice}")
        return "\n".join(lines)


def explain_sharing(graph: Graph | None = None) -> Sharing:
    """Explain which `get_variable` calls share which variable.

    Args:
      graph: a `tf.Graph`; by default the default graph.

    Returns:
      A `Sharing`; `print` it.

    Example:
      >>> def layer(x):
      ...     return x * tf.get_variable("w", [], use_resource=False)
      >>> with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
      ...     y = layer(layer(1.0))
      >>> explain_sharing().variables[0].calls
      2
    """
    graph = get_default_graph() if graph is None else graph
    requests: dict[str, list[Request]] = {}
    for request in store_of(graph).requests:
        op = getattr(request.variable, "op", None)
        if isinstance(op, Operation):
            requests.setdefault(op.name, []).append(request)
    made = [op for op in graph.get_operations() if op.spec.returns_handle]
    variables = tuple(_uses(op, requests.get(op.name, [])) for op in made)
    weights = {v.op.name for v in graph.get_collection(TRAINABLE)}
    learned = [uses for uses in variables if uses.name in weights]
    return Sharing(variables, tuple(_duplicates(learned)))


def _uses(op: Operation, requests: Iterable[Request]) -> Uses:
    spec: Any = op.spec
    lines: Counter[SourceLine | None] = Counter()
    for request in requests:
        origin = request.origin
        lines[None if origin is None else decode_source(*origin)] += 1
    shape = spec.shape
    return Uses(
        op.name,
        spec.dtype.base_dtype.name,
        shape,
        op.source,
        lines.total(),
        dict(lines),
    )


def _others(uses: Uses) -> dict[SourceLine | None, int]:
    """The calls other than the one that created the variable."""
    counts = Counter(uses.lines)
    if uses.made_by in counts:
        counts[uses.made_by] -= 1
    elif counts:  # the graph was imported, or the line is unknown
        counts[next(iter(counts))] -= 1
    return {line: count for line, count in counts.items() if count > 0}


# ---- duplicates


def _duplicates(variables: Iterable[Uses]) -> Iterable[Duplicate]:
    """Possible mistakes among trainable variables; slots are numbered on purpose.

    Layers with default names are suspicious only if one line created both: a function
    of the user's that was called twice, or a loop.
    """
    known: dict[str, Uses] = {}
    for uses in variables:
        for plain in _without_numbers(uses.name):
            first = known.get(plain)
            if first is None or first.value != uses.value:
                continue
            same = first.made_by is not None and first.made_by == uses.made_by
            if uses.calls and not same:
                continue
            yield Duplicate(first.name, uses.name, same, _advice(first, uses, plain))
            break
        known[uses.name] = uses


def _without_numbers(name: str) -> Iterable[str]:
    """The name without one or all numeric suffixes.

    "a_1/w_2" yields "a_1/w", "a/w_2" and "a/w".
    """
    parts = name.split("/")
    plain = [re.sub(r"_\d+$", "", part) for part in parts]
    for i in reversed(range(len(parts))):
        if plain[i] != parts[i] and plain[i]:
            yield "/".join([*parts[:i], plain[i], *parts[i + 1 :]])
    if sum(a != b for a, b in zip(parts, plain, strict=True)) > 1 and all(plain):
        yield "/".join(plain)


def _advice(first: Uses, second: Uses, plain: str) -> str:
    if not second.calls:
        return (
            "tf.Variable makes a new variable each time it is called. To share one, "
            f'use tf.get_variable("{first.name.rsplit("/", 1)[-1]}", ...) inside '
            "tf.variable_scope(..., reuse=tf.AUTO_REUSE)."
        )
    scope = next(
        (
            a
            for a, b in zip(plain.split("/"), second.name.split("/"), strict=True)
            if a != b
        ),
        plain,
    )
    return (
        f'The scope "{scope}" was given a new number because its name was a default. '
        f'Say tf.variable_scope("{scope}", reuse=tf.AUTO_REUSE), or for a layer '
        f'name="{scope}", reuse=tf.AUTO_REUSE, to share. If these are two layers on '
        "purpose, give each a name of its own."
    )


def _where(source: SourceLine | None) -> str:
    if source is None:
        return "an unknown line"
    text = f": {source.text}" if source.text else ""
    return f"line {source.line}{text}"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
