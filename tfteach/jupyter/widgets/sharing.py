"""`SharingView`: which calls made and shared each variable, and what names it."""

from __future__ import annotations

from typing import Any

import traitlets

from tfteach.explain.graphs.names import (
    NamePart,
    parts_of,
    parts_of_variable,
    variable_scopes_of,
)
from tfteach.explain.graphs.sharing import Sharing, explain_sharing
from tfteach.explain.graphs.variable_calls import VariableCall, outer, scopes_of
from tfteach.framework.call_origin import SourceLine, line_of
from tfteach.framework.opened_scopes import OpenedScope
from tfteach.jupyter import display
from tfteach.jupyter.pictures.columns_svg import Column, columns_svg
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import plural
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import ContentsView

MOST_OPS = 6  # that use the result of a call
MOST_LINES = 60  # in the text of a saved notebook


class SharingView(ContentsView):
    """The calls of a program beside the variables that they create or share.

    At the left, the scopes of the code with the calls inside them: a variable scope has
    a solid frame, a name scope a dashed one. At the right, the variables under their
    own prefixes. A solid line leads from the call that created a variable, dashed lines
    from those that share it. A variable that looks like a second one by mistake is
    marked, with the cure. Choose a variable to see how its name came about, and which
    ops use it; choose an op to see the two prefixes side by side.

    Args:
      graph: a `tf.Graph` or a session; by default the default graph.
      selected: the op or variable whose name is explained; a name.

    Attributes:
      sharing: the `Sharing`, to `print`.
      selected: the name of the selected op; "" without one.

    Example:
      >>> for _ in range(2):
      ...     with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
      ...         w = tf.get_variable("w", [2])
      >>> view = SharingView()
      >>> view.sharing.summary
      '1 variable, 2 get_variable calls, 1 shared'
    """

    _esm = STATIC / "sharing.js"
    _css = STATIC / "sharing.css"

    _scopes: Any = traitlets.List().tag(sync=True)
    _variables: Any = traitlets.List().tag(sync=True)
    _calls: Any = traitlets.List().tag(sync=True)
    _duplicates: Any = traitlets.List().tag(sync=True)
    _names: Any = traitlets.Dict().tag(sync=True)

    sharing: Sharing

    def __init__(self, graph: Any = None, selected: str = "") -> None:
        super().__init__(graph, selected=selected)

    def refresh(self) -> None:
        """Show what the graph has now, if ops were added."""
        if self.graph.version != self._version:
            super().refresh()

    def _found(self) -> dict[str, Any]:
        self._version = self.graph.version
        self.sharing = found = explain_sharing(self.graph)
        lines = Lines()
        scopes, opened = scopes_of(self.graph), variable_scopes_of(self.graph)
        numbers: dict[str, int] = {}
        rows: list[list[Any]] = []

        def number_of(prefix: str) -> int:
            """The row of a scope, after that of the scope around it."""
            if prefix not in scopes:
                return -1 if not prefix else number_of(prefix.rpartition("/")[0])
            if prefix not in numbers:
                scope = scopes[prefix]
                around = number_of(outer(scope))
                numbers[prefix] = len(rows)
                rows.append([around, *_scope_row(scope, lines)])
            return numbers[prefix]

        index = {uses.name: i for i, uses in enumerate(found.variables)}
        names: dict[str, list[list[Any]]] = {}
        calls = []
        for i, uses in enumerate(found.variables):
            parts = (
                parts_of_variable(uses, opened)
                if uses.by_name
                else _parts_of_op(uses.name, scopes, uses.made_by)
            )
            names[uses.name] = [_part_row(part, lines) for part in parts]
            for call in uses.calls:
                calls.append([i, number_of(call.place), *_call_row(call, lines)])
                ops = [op for op in call.ops[:MOST_OPS] if op not in names]
                for name in ops:
                    source = self.graph.get_operation_by_name(name).source
                    op_parts = _parts_of_op(name, scopes, source)
                    names[name] = [_part_row(part, lines) for part in op_parts]
        return {
            "_summary": found.summary,
            "_scopes": rows,
            "_variables": [[u.name, u.value, u.by_name] for u in found.variables],
            "_calls": calls,
            "_duplicates": [
                [index[d.first], index[d.second], d.same_line, d.advice]
                for d in found.duplicates
            ],
            "_names": names,
            "_lines": lines.rows,
        }

    def to_text(self, most: int | None = None) -> str:
        """The calls of each variable, then possible duplicates.

        Args:
          most: the number of variables to list; by default all.

        Returns:
          A string of several lines.
        """
        return self.sharing.to_text(most)

    def static_bundle(self) -> dict[str, str]:
        """The text and an SVG picture, as a dict from MIME types to data."""
        text = self.to_text(MOST_LINES)
        return bundle_with(text, self._svg() if self._calls else None)

    def _svg(self) -> str:
        calls: dict[str, tuple[str, str, int, str]] = {}
        links: dict[tuple[str, str, bool], None] = {}
        twins = {second for _, second, *_ in self._duplicates}
        for variable, scope, line, call, made, _, _, name_scope, _ in self._calls:
            for row in _around(self._scopes, scope):
                _, label, kind, asked, _ = self._scopes[row]
                taken = "" if label == asked else f'  ("{asked}" was taken)'
                depth = len(_around(self._scopes, row)) - 1
                calls[f"s{row}"] = (f"s{row}", kind, depth, f"{label}/{taken}")
            key = f"c{scope},{line},{call},{name_scope}"
            place, number, text = self._lines[line] if line >= 0 else ("", 0, call)
            depth = len(_around(self._scopes, scope))
            where = f"{place}:{number}  " if place else ""
            calls[key] = (key, "call", depth, f"{where}{text or call}")
            links[key, f"v{variable}", not made] = None
        rows = [
            (f"v{i}", "twin" if i in twins else "variable", 0, f"{name}  {value}")
            for i, (name, value, _) in enumerate(self._variables)
        ]
        columns = [Column("the code's scopes and calls", 420, list(calls.values()))]
        columns.append(Column(plural(len(rows), "variable"), 330, rows))
        return columns_svg(columns, list(links))


class Lines:
    """The source lines of a message, each sent once.

    Attributes:
      rows: (place, line, text) of each, as in the notebook.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, str]] = []
        self._numbers: dict[SourceLine, int] = {}

    def number(self, line: SourceLine | None) -> int:
        """The index of a line; -1 if it is unknown."""
        if line is None:
            return -1
        if line not in self._numbers:
            place, number, _, text = display.where(line)
            self._numbers[line] = len(self.rows)
            self.rows.append((place, number, text.strip()))
        return self._numbers[line]


def _around(scopes: list[Any], row: int) -> list[int]:
    """A scope's row and those around it, the outermost first."""
    found: list[int] = []
    while row >= 0:
        found.insert(0, row)
        row = scopes[row][0]
    return found


def _scope_row(scope: OpenedScope, lines: Lines) -> list[Any]:
    asked = scope.asked.strip("/")
    label = scope.prefix.removeprefix(outer(scope)).lstrip("/")
    kind = "name_scope" if scope.variables is None else "variable_scope"
    origin = None if scope.origin is None else line_of(scope.origin)
    return [label, kind, asked, lines.number(origin)]


def _call_row(call: VariableCall, lines: Lines) -> list[Any]:
    return [
        lines.number(call.line), call.call, call.made, call.reuse,
        call.variable_scope, call.name_scope, list(call.ops[:MOST_OPS]),
    ]  # fmt: skip


def _parts_of_op(
    name: str, scopes: dict[str, OpenedScope], line: SourceLine | None
) -> list[NamePart]:
    prefix, _, own = name.rpartition("/")
    return [*parts_of(prefix, scopes, line), NamePart(own, "own", own, line)]


def _part_row(part: NamePart, lines: Lines) -> list[Any]:
    return [part.text, part.kind, part.asked, lines.number(part.line)]
