"""`%elements`: the elements of a dataset, stage by stage."""

from __future__ import annotations

import html
from typing import Any, ClassVar

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.engine.session.base_session import BaseSession
from tfteach.explain.pipelines.dataset_elements import dataset_tensor, elements_of
from tfteach.explain.pipelines.stage_elements import (
    GivenElement,
    StagedElements,
    StageElements,
)
from tfteach.framework.errors import OpError
from tfteach.framework.graph import Graph
from tfteach.jupyter import display
from tfteach.jupyter.display import place
from tfteach.jupyter.magics.completion import CompletedMagics, Words
from tfteach.jupyter.magics.names import did_you_mean, session_of, sessions_in
from tfteach.jupyter.magics.options import (
    FEED_DICT,
    SESSION,
    TEXT,
    magic_arguments,
    parsed,
    unquoted,
)


def dataset_words(user_ns: dict[str, Any], line: list[str]) -> list[str]:
    """The user's names of datasets and iterators."""
    return [
        name
        for name, value in user_ns.items()
        if not name.startswith("_")
        and (hasattr(value, "_variant_tensor") or hasattr(value, "_iterator_resource"))
    ]


@magics_class
class ElementsMagics(CompletedMagics):
    """Shows the elements of datasets."""

    takes: ClassVar[dict[str, Words]] = {"elements": dataset_words}

    @magic_arguments()
    @argument(
        "dataset",
        help="a dataset, an iterator, or a tensor that get_next returned.",
    )
    @argument(
        "-n",
        type=int,
        default=3,
        help="how many elements of the last stage to read, and of each to show.",
    )
    @FEED_DICT
    @SESSION
    @TEXT
    @line_magic
    def elements(self, line: str) -> None:
        """Show the first elements of each stage of a dataset.

        Each element says of which elements of the stages before it was made: which
        rows a batch has, what a filter dropped, in which order a shuffle gives. The
        dataset is read anew, in one thread; the iterators of the program stay where
        they are. Its functions, files and generators are called and read again.

        Examples:

            %elements dataset
            %elements next_batch -n 5 --session sess
        """
        args = parsed(self.elements, line)
        if args.n < 1:
            raise UsageError(f"-n counts elements, got {args.n}")
        dataset = self._value(unquoted(args.dataset), "dataset")
        feed_dict = args.feed_dict and self._value(unquoted(args.feed_dict), "feeds")
        try:
            session = self._session(args, dataset_tensor(dataset).graph)
            found = elements_of(dataset, args.n, session, feed_dict)
        except (OpError, TypeError, ValueError) as error:
            message = error.message if isinstance(error, OpError) else error
            raise UsageError(f"%elements {args.dataset}: {message}") from None
        text = found.text(place)
        if args.text:
            print(text)
        else:
            display.publish({"text/plain": text, "text/html": _table(found)})

    def _value(self, expression: str, kind: str) -> Any:
        try:
            return self.shell.ev(expression)
        except Exception as error:
            near = did_you_mean(expression, dataset_words(self.shell.user_ns, []))
            raise UsageError(f"%elements: no {kind}: {error}.{near}") from None

    def _session(self, args: Any, graph: Graph) -> BaseSession | None:
        """The session asked for, or the only one of the graph that has a name."""
        if args.session:
            return session_of(self.shell, args.session)
        named = sessions_in(self.shell.user_ns).values()
        suitable = [session for session in named if session.graph is graph]
        return suitable[0] if len(suitable) == 1 else None


CELL = "text-align:left;padding:3px 16px 3px 0;vertical-align:top;"
FAINT = "opacity:.65;font-size:90%"


def _table(found: StagedElements) -> str:
    """A row for each stage, as HTML that suits light and dark pages."""
    rows = [_row(stage) for stage in found.stages]
    note = f"<p>{html.escape(found.stopped)}</p>" if found.stopped else ""
    return f"<table>{''.join(rows)}</table>{note}"


def _row(stage: StageElements) -> str:
    line = ""
    if stage.source is not None:
        at, text = place(stage.source), stage.source.text
        line = f"<br><span style='{FAINT}'>{html.escape(at)}</span>"
        if text:
            line += f"<br><code style='{FAINT}'>{html.escape(text)}</code>"
    head = f"<b>{html.escape(stage.key)}</b>{line}"
    cells = [head, *map(_cell, stage.elements)]
    if stage.outcome:
        strong = "" if stage.error is None else "font-weight:600"
        cells.append(f"<i style='{strong}'>{html.escape(stage.outcome)}</i>")
    made = [f"<td style='{CELL}'>{cell}</td>" for cell in cells]
    return f"<tr>{''.join(made)}</tr>"


def _cell(element: GivenElement) -> str:
    said = html.escape(element.said).replace("\n", "<br>")
    origin = f"#{element.number} {element.origin}".rstrip()
    return f"{said}<br><span style='{FAINT}'>{html.escape(origin)}</span>"
