"""The base of views of a run that is planned, but not executed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import traitlets

from tfteach.framework.graph import Graph
from tfteach.jupyter.pictures.picture_contents import op_name
from tfteach.jupyter.saved_page import Answers, only_saved
from tfteach.jupyter.widgets.graph import NameList, Names, names_of
from tfteach.jupyter.widgets.view_base import PlainView, token_of

NOTHING = "Nothing is fetched: choose what to run in a graph view, with the key f."


class PlannedView(PlainView):
    """A view of what a run would do; it is updated when fetches or feeds change.

    Args:
      graph: the graph.
      fetches: a tensor, an operation, a name, or an iterable of these.
      feeds: the tensors, or their names, that the run would be fed.

    Attributes:
      problem: why there is nothing to show, or "".
    """

    _graph = traitlets.Unicode("").tag(sync=True)
    _summary = traitlets.Unicode("").tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)
    fetches = NameList().tag(sync=True)
    feeds = NameList().tag(sync=True)

    def __init__(self, graph: Graph, fetches: Names, feeds: Names) -> None:
        self.graph = graph
        names = names_of(fetches), names_of(feeds)
        # Created with its contents: the server may drop large messages later.
        super().__init__(
            _graph=token_of(graph), fetches=names[0], feeds=names[1],
            **self.look(*self._known(*names)),
        )  # fmt: skip
        self.observe(lambda _: self.refresh(), ["fetches", "feeds"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.problem or self._summary})"

    def refresh(self) -> None:
        """Plan the run again."""
        found = self.look(*self._known(self.fetches, self.feeds))
        with self.hold_sync():
            for name, value in found.items():
                setattr(self, name, value)

    def recorded_answers(self) -> Answers:
        """The plan of this run; of others the page can only say that it has none."""
        answer = self.look(*self._known(self.fetches, self.feeds))
        cases = [([self.fetches, self.feeds], answer)]
        said = only_saved(self.fetches)
        none = {name: type(value)() for name, value in answer.items()}
        return Answers(("fetches", "feeds"), cases, none | {"problem": said})

    def look(self, fetches: list[str], feeds: list[str]) -> dict[str, Any]:
        """The plan of a run, as values of traits."""
        raise NotImplementedError

    def _known(self, *names: list[str]) -> Iterator[list[str]]:
        """The names that are in the graph by now."""
        for some in names:
            yield [n for n in some if self.graph.find_operation(op_name(n))]

    def explanation(self) -> Any:
        """The plan as printable data; None without fetches."""
        raise NotImplementedError

    def to_text(self) -> str:
        """The plan as text."""
        found = self.explanation()
        return self.problem if found is None else str(found)
