"""`EagerView`: what eager code computed, as a graph beside its lines."""

from __future__ import annotations

import time
from typing import Any

import traitlets

from tfteach.explain.eager.eager_recording import EagerRecording
from tfteach.explain.eager.eager_text import headline, text_of
from tfteach.jupyter.display import place
from tfteach.jupyter.eager_rows import eager_rows
from tfteach.jupyter.pictures.graph_svg import svg_of
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import plural
from tfteach.jupyter.step_wire import StepWire, as_text
from tfteach.jupyter.widgets.graph import STATIC, GraphView

GROUP_ABOVE = 30  # iterations of a loop
LINES_S = 0.25  # between two messages on lines


class EagerView(GraphView):
    """What eager code computed, as a graph beside the lines of the code.

    Point at a line to see its ops, or at a box to see its line. Ops that a tape
    recorded have a mark; the ops that compute gradients from it stand apart. The
    details of a box have the values that it read and gave. Iterations of Python's loops
    are scopes. Keys are those of `GraphView`, except that nothing can be fetched or
    fed: it has run already.

    Args:
      program: an `EagerRecording`, from `record_eager`; it may still be recording.
      depth: as for `GraphView`; one level more, so that loops are open.
      options: as for `GraphView`, without `fetches`, `feeds` and `figures`.

    Attributes:
      program: the recording.

    Raises:
      TypeError: `program` is no recording.

    Example:
      >>> from tfteach.explain import record_eager
      >>> with record_eager() as program:
      ...     y = tf.square(tf.constant(3.0), name="y")
      >>> view = EagerView(program)
      >>> repr(view)
      'EagerView(1 op)'
    """

    _esm = STATIC / "eager.js"
    _css = STATIC / "eager.css"
    _has_colours_of_its_own = False

    # As text: ipywidgets would traverse each element of lists.
    _recorded: Any = traitlets.Dict().tag(sync=True, to_json=as_text)
    _code: Any = traitlets.List().tag(sync=True, to_json=as_text)
    _summary = traitlets.Unicode("").tag(sync=True)
    # Op -> numbers of the tapes that recorded it; op of a gradient -> forward op.
    _taped: Any = traitlets.Dict().tag(sync=True)
    _gradient_of: Any = traitlets.Dict().tag(sync=True)
    # Op of a traced function -> its line as (file, line).
    _inner: Any = traitlets.Dict().tag(sync=True)

    def __init__(
        self, program: EagerRecording, *, depth: int = 2, **options: Any
    ) -> None:
        if not isinstance(program, EagerRecording):
            raise TypeError(
                "EagerView shows an EagerRecording, from tfteach.explain.record_eager, "
                f"not {type(program).__name__}."
            )
        self.program = program
        self._next_lines_s = 0.0
        options = {"group_above": GROUP_ABOVE, **options}
        super().__init__(program.graph, depth=depth, **options)
        self._show()

    def __repr__(self) -> str:
        return f"EagerView({plural(self.program.ops_ran, 'op')})"

    def refresh(self) -> None:
        """Send additions to the graph, and the values of all ops, to the page now."""
        super().refresh()
        self._show()

    def _send_batch(self, batch: dict[str, Any]) -> None:
        super()._send_batch(batch)
        if time.monotonic() >= self._next_lines_s:
            self._next_lines_s = time.monotonic() + LINES_S
            self._show_lines()

    def _show(self) -> None:
        """Send what is known about the ops that have run."""
        run = self.program.run
        wire = StepWire(run, {row.name: i for i, row in enumerate(self._rows)})
        with self.hold_sync():
            self._recorded = wire.contents()
            self.figures = {s.op: {"time_us": s.elapsed_us} for s in run.steps}
            self._show_lines()

    def _show_lines(self) -> None:
        with self.hold_sync():
            for name, value in eager_rows(self.program).items():
                setattr(self, name, value)
            self._summary = headline(self.program)

    # ---- static pictures

    def to_text(self) -> str:
        """The lines of the code, with the ops that each ran."""
        return text_of(self.program, place)

    def static_bundle(self) -> dict[str, str]:
        """The lines and the graph as a dict from MIME types to SVG, HTML and text."""
        return bundle_with(self.to_text(), svg_of(self.still()), beside=True)
