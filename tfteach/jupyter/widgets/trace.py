"""`TraceView`: the traces of functions, and why each of them was made."""

from __future__ import annotations

import time
from typing import Any

import traitlets

from tfteach.explain.functions.function_calls import (
    FunctionLog,
    FunctionUse,
    explain_function,
)
from tfteach.explain.functions.retracing_text import text_of
from tfteach.jupyter.display import place
from tfteach.jupyter.pictures import graph_svg
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import Still
from tfteach.jupyter.pictures.trace_svg import svg_of
from tfteach.jupyter.step_wire import as_text
from tfteach.jupyter.trace_rows import (
    MOST_ROWS,
    MOST_SHOWN,
    function_row,
    graph_row,
    operations_of,
)
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import PlainView

CALLS_S = 0.25  # between two messages while calls are recorded


class TraceView(PlainView):
    """The calls of traced functions: which made a trace, why, and what it is.

    A sign for each call: a filled one made a trace. Choose a call for the reason: which
    argument differed, and how. The graph of its trace stands beside the Python lines;
    point at a line to see its ops, or at a box to see its line. The code that AutoGraph
    wrote stands beside the source. If a function traces again and again, the verdict
    names the line, what changes from call to call, and the cure.

    Args:
      functions: a `FunctionLog`, from `watch_functions`, which may still be recording;
        or a function of `tf.function`, whose traces so far are shown, or a list.

    Attributes:
      function: the number of the function that is shown, from 0.
      call: the number of the chosen call, from 1; of a function whose calls are not
        known, that of the trace.

    Raises:
      TypeError: `functions` is something else.

    Example:
      >>> double = tf.function(lambda x: x * 2)
      >>> _ = double(tf.constant(1.0)), double(tf.constant(1))
      >>> TraceView(double)
      TraceView(double: 2 traces)
    """

    _esm = STATIC / "trace.js"
    _css = STATIC / "trace.css"

    # As text: ipywidgets would traverse each element of lists.
    _functions: Any = traitlets.List().tag(sync=True, to_json=as_text)
    # "function:trace" -> its ops; those of the first traces.
    _graphs: Any = traitlets.Dict().tag(sync=True, to_json=as_text)
    function = traitlets.Int(0, min=0).tag(sync=True)
    call = traitlets.Int(1, min=1).tag(sync=True)
    height = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, functions: Any) -> None:
        self._log: FunctionLog | None = None
        self._uses: list[FunctionUse] = []
        if isinstance(functions, FunctionLog):
            self._log = functions
        else:
            many = functions if isinstance(functions, list | tuple) else [functions]
            self._uses = [explain_function(each) for each in many]
        self._rows: dict[str, Any] = {}  # the graphs that were sent
        self._next_s = 0.0
        self._chosen = (0, 1)  # what `_choose` has chosen
        # Created with its contents: the server may drop large messages later.
        super().__init__(**self._contents())
        self._choose()

    @property
    def uses(self) -> list[FunctionUse]:
        """The functions, as `FunctionUse`s."""
        return self._uses if self._log is None else self._log.functions

    def __repr__(self) -> str:
        said = [f"{use.name}: {use.verdict.sign()}" for use in self.uses]
        return f"TraceView({'; '.join(said) or 'no calls'})"

    def changed(self) -> None:
        """Send what was recorded, at most four times a second."""
        if time.monotonic() >= self._next_s:
            self.refresh()
            self._next_s = time.monotonic() + CALLS_S

    def refresh(self) -> None:
        """Send what was recorded to the page now."""
        with self.hold_sync():
            for name, value in self._contents().items():
                setattr(self, name, value)
            self._choose()

    def _choose(self) -> None:
        """Show the function that wastes most, and its last trace, unless one chose."""
        uses = self.uses
        if not uses or (self.function, self.call) != self._chosen:
            return
        worst = max(uses, key=lambda use: (use.verdict.is_waste, use.tracing_s))
        shown = worst.traces[-1:] if worst.verdict.is_waste else worst.traces[:1]
        number = min([MOST_SHOWN, *(trace.call or trace.number for trace in shown)])
        self._chosen = self.function, self.call = uses.index(worst), number

    def _contents(self) -> dict[str, Any]:
        uses = self.uses
        left = MOST_ROWS
        graphs: dict[str, Any] = {}
        for number, use in enumerate(uses):
            for trace in use.traces:
                key = f"{number}:{trace.number}"
                if trace.ops > left:
                    continue
                if key not in self._rows:
                    self._rows[key] = graph_row(trace)
                if self._rows[key] is not None:
                    graphs[key] = self._rows[key]
                    left -= trace.ops
        return {"_functions": [function_row(use) for use in uses], "_graphs": graphs}

    # ---- static pictures

    def to_text(self) -> str:
        """Each function with its traces, the reasons, and the verdict."""
        return text_of(self.uses, place)

    def to_svg(self) -> str:
        """The plots of traces against calls, and the last trace's graph, as SVG."""
        uses = self.uses
        if not uses:
            return svg_of(uses)
        trace = uses[min(self.function, len(uses) - 1)].traces[-1:]
        rows = operations_of(trace[0]) if trace else []
        return svg_of(uses, graph_svg.svg_of(Still(rows)))

    def static_bundle(self) -> dict[str, str]:
        """The static picture as a dict from MIME types to SVG, HTML and text."""
        self.refresh()
        return bundle_with(self.to_text(), self.to_svg(), beside=True)
