"""`CheckpointView`: the variables in a checkpoint, and what changed between two."""

from __future__ import annotations

from typing import Any

import traitlets

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.explain.files.checkpoints import (
    CheckpointContents,
    SavedVariable,
    explain_checkpoint,
)
from tfteach.explain.graphs.output_types import shape_words
from tfteach.explain.steps.value_summary import number_text
from tfteach.jupyter.pictures.checkpoint_svg import checkpoint_svg
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import PlainView

MOST_LINES = 60


class CheckpointView(PlainView):
    """The variables in a checkpoint as a tree of scopes, with sizes and histograms.

    With an earlier checkpoint the view says of each variable how far it moved; with a
    graph, which of the graph's variables cannot be restored, with the names in the
    checkpoint that may be meant, and which of the checkpoint the graph does not have.

    Args:
      checkpoint: the prefix given to `save`, one of the files, a directory, whose
        newest checkpoint is shown, or a `CheckpointContents`.
      before: an earlier checkpoint to compare with.
      graph: a `tf.Graph` whose global variables would be restored.

    Attributes:
      contents: the `CheckpointContents`.

    Raises:
      NotFoundError: there is no such checkpoint.
      DataLossError: it is damaged.
      InvalidArgumentError: the directory has no checkpoint.

    Example:
      >>> import tempfile
      >>> w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
      >>> with tf.Session() as sess:
      ...     sess.run(w.initializer)
      ...     path = tf.train.Saver().save(sess, tempfile.mkdtemp() + "/model")
      >>> CheckpointView(path)
      CheckpointView(1 variable, 8 B)
    """

    _esm = STATIC / "checkpoint.js"
    _css = STATIC / "checkpoint.css"

    _summary = traitlets.Unicode("").tag(sync=True)
    _paths: Any = traitlets.List().tag(sync=True)
    _variables: Any = traitlets.List().tag(sync=True)
    _missing: Any = traitlets.List().tag(sync=True)
    _extra: Any = traitlets.List().tag(sync=True)

    def __init__(self, checkpoint: Any, before: Any = None, graph: Any = None) -> None:
        if not isinstance(checkpoint, CheckpointContents):
            checkpoint = explain_checkpoint(checkpoint, before, graph)
        self.contents: CheckpointContents = checkpoint
        variables = checkpoint.variables
        largest = max((v.size_bytes for v in variables), default=0) or 1
        super().__init__(
            _summary=checkpoint.summary,
            _paths=[checkpoint.path, checkpoint.before],
            _variables=[_row(variable, largest) for variable in variables],
            _missing=[
                [each.name, str(each)[len(each.name) :].strip(), each.near]
                for each in checkpoint.missing or ()
            ],
            _extra=checkpoint.extra or [],
        )

    def __repr__(self) -> str:
        return f"CheckpointView({self.contents.summary})"

    def page_title(self) -> str:
        """The name of the checkpoint."""
        return f"{self.contents.path.rpartition('/')[2]}: checkpoint"

    def to_text(self) -> str:
        """The summary, what is missing, and a line for each variable."""
        return self.contents.to_text(None)

    def to_svg(self) -> str:
        """The first variables as an SVG table."""
        return checkpoint_svg(self.contents)

    def static_bundle(self) -> dict[str, str]:
        """The table as a picture, with the text below."""
        text = self.contents.to_text(MOST_LINES)
        return bundle_with(text, self.to_svg(), beside=True)


def _row(variable: SavedVariable, largest: int) -> list[Any]:
    """A variable as JSON."""
    figures, change = variable.figures, variable.change
    ends = [
        "" if end is None else number_text(end) for end in (figures.low, figures.high)
    ]
    wrong = figures.nans + figures.infinities
    return [
        variable.name,
        f"{variable.dtype} {shape_words(variable.shape)}",
        variable.size_bytes,
        show_bytes(variable.size_bytes),
        variable.size_bytes / largest,
        "" if variable.norm is None else number_text(variable.norm),
        list(figures.bins),
        ends,
        wrong,
        "" if change is None else str(change),
        "" if change is None else change.kind,
    ]
