"""`CollectionsView`: who puts what into a graph's collections, who takes it out."""

from __future__ import annotations

from typing import Any

import traitlets

from tfteach.explain.graphs.collections import Collections, explain_collections
from tfteach.jupyter.pictures.columns_svg import Column, columns_svg
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import plural
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.sharing import Lines
from tfteach.jupyter.widgets.view_base import ContentsView

MOST_ITEMS = 400  # of a collection, that the page lists
MOST_LINES = 20  # of makers and takers of a collection, in a saved notebook


class CollectionsView(ContentsView):
    """The collections of a graph between those who fill them and those who take.

    Three columns: the lines that put items in, the collections, and the lines that look
    them up, such as `minimize`, `merge_all` or a `Saver`. Point at a row to follow its
    items; choose a collection to list them. What nobody takes, or what came too late,
    is marked, with the cure.

    Args:
      graph: a `tf.Graph` or a session; by default the default graph.

    Attributes:
      collections: the `Collections`, to `print`.
      selected: the name of the selected op; "" without one.

    Example:
      >>> summary = tf.summary.scalar("loss", 1.0)
      >>> merged = tf.summary.merge_all()
      >>> CollectionsView().collections.summary
      '1 collection, 1 item'
    """

    _esm = STATIC / "collections.js"
    _css = STATIC / "collections.css"

    _makers: Any = traitlets.List().tag(sync=True)
    _collections: Any = traitlets.List().tag(sync=True)
    _takers: Any = traitlets.List().tag(sync=True)
    _problems: Any = traitlets.List().tag(sync=True)

    collections: Collections

    def __init__(self, graph: Any = None) -> None:
        super().__init__(graph)

    def _found(self) -> dict[str, Any]:
        self.collections = found = explain_collections(self.graph)
        lines = Lines()
        index = {each.key: i for i, each in enumerate(found.collections)}
        collections = []
        for each in found.collections:
            counts: dict[int, int] = {}
            for item in each.items:
                counts[item.maker] = counts.get(item.maker, 0) + 1
            items = [[*item] for item in each.items[:MOST_ITEMS]]
            name = each.name.removeprefix("tf.GraphKeys.")
            collections.append([name, each.key, items, [*counts.items()]])
        takers = []
        for taker in found.takers:
            takes = []
            for taking in taker.takes:
                there = found.collections[index[taking.key]].items
                makers = sorted({there[i].maker for i in taking.items})
                takes.append(
                    [index[taking.key], len(taking.items), taking.scope or "", makers]
                )
            takers.append([taker.call, lines.number(taker.line), takes])
        return {
            "_summary": found.summary,
            "_makers": [[m.call, lines.number(m.line)] for m in found.makers],
            "_collections": collections,
            "_takers": takers,
            "_problems": [
                [
                    index.get(problem.key, -1), problem.names, list(problem.items[:8]),
                    problem.text, problem.cure, lines.number(problem.made),
                    lines.number(problem.taken),
                ]
                for problem in found.problems
            ],
            "_lines": lines.rows,
        }  # fmt: skip

    def to_text(self, most: int | None = None) -> str:
        """Makers and takers of each collection, then what is lost.

        Args:
          most: the number of makers and takers of a collection; by default all.

        Returns:
          A string of several lines.
        """
        return self.collections.to_text(most)

    def static_bundle(self) -> dict[str, str]:
        """The text and an SVG picture, as a dict from MIME types to data."""
        text = self.to_text(MOST_LINES)
        return bundle_with(text, self._svg() if self._collections else None)

    def _svg(self) -> str:
        lost = {problem[0] for problem in self._problems}
        links = []
        for i, (_, _, _, counts) in enumerate(self._collections):
            links += [(f"m{maker}", f"c{i}", False) for maker, _ in counts]
        for i, (_, _, takes) in enumerate(self._takers):
            links += [(f"c{c}", f"t{i}", count == 0) for c, count, _, _ in takes]
        makers = [
            (f"m{i}", "call", 0, self._said(call, line))
            for i, (call, line) in enumerate(self._makers)
        ]
        middle = [
            (f"c{i}", "lost" if i in lost else "collection", 0, f"{name} ({count})")
            for i, (name, _, _, counts) in enumerate(self._collections)
            for count in [sum(n for _, n in counts)]
        ]
        takers = [
            (f"t{i}", "call", 0, self._said(call, line))
            for i, (call, line, _) in enumerate(self._takers)
        ]
        columns = [
            Column("put in by", 300, makers),
            Column(plural(len(middle), "collection"), 230, middle),
            Column("taken by", 300, takers),
        ]
        return columns_svg(columns, links)

    def _said(self, call: str, line: int) -> str:
        if line < 0:
            return call
        place, number, _ = self._lines[line]
        return f"{call}  {place}:{number}"
