"""Which calls share a variable, and which created a second one by mistake."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfteach.explain.graphs.variable_calls import Uses, VariableCall, uses_of
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graph_keys import GraphKeys

__all__ = ["Duplicate", "Sharing", "explain_sharing"]


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

    @property
    def summary(self) -> str:
        """One line: "2 variables, 4 get_variable calls, 2 shared"."""
        calls = sum(len(uses.calls) for uses in self.variables if uses.by_name)
        text = (
            f"{_plural(len(self.variables), 'variable')}, "
            f"{_plural(calls, 'get_variable call')}, {len(self.shared)} shared"
        )
        if self.duplicates:
            text += f", {_plural(len(self.duplicates), 'possible duplicate')}"
        return text

    def to_text(self, most: int | None = None) -> str:
        """The variables, the calls that made and shared them, and the duplicates.

        Args:
          most: the number of variables and of duplicates to list; by default all.

        Returns:
          A string of several lines.
        """
        lines = [self.summary]
        for uses in self.variables[:most]:
            lines.append(f"{uses.name}: {uses.value}")
            made, *others = uses.calls
            lines.append(f"    made by {_said(made)}")
            counts = Counter(_said(call) for call in others)
            for said, count in counts.items():
                times = f"{count} times " if count > 1 else ""
                lines.append(f"    shared {times}by {said}")
        if most is not None and len(self.variables) > most:
            lines.append(f"and {len(self.variables) - most} more variables")
        if self.duplicates:
            lines.append("Two where one was meant?")
        for duplicate in self.duplicates[:most]:
            both = ", made by the same line" if duplicate.same_line else ""
            lines.append(f"  {duplicate.second} beside {duplicate.first}{both}")
            lines.append(f"    {duplicate.advice}")
        if most is not None and len(self.duplicates) > most:
            lines.append(f"  and {len(self.duplicates) - most} more")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()


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
      >>> [call.made for call in explain_sharing().variables[0].calls]
      [True, False]
    """
    graph = get_default_graph() if graph is None else graph
    variables = tuple(uses_of(graph))
    weights = {
        v.op.name
        for v in graph.collection_list(GraphKeys.TRAINABLE_VARIABLES)
        if hasattr(v, "op")
    }
    learned = [uses for uses in variables if uses.name in weights]
    return Sharing(variables, tuple(_duplicates(learned)))


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
            if uses.by_name and not same:
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
    if not second.by_name:
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


def _said(call: VariableCall) -> str:
    if call.line is None:
        return "an unknown line"
    text = f": {call.line.text}" if call.line.text else ""
    scope = f" in scope {call.name_scope}" if call.name_scope else ""
    reuse = f", reuse={call.reuse}" if call.reuse else ""
    return f"line {call.line.line}{text}{scope}{reuse}"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
