"""`%checkpoint`: the variables in a checkpoint."""

from __future__ import annotations

from typing import ClassVar

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.framework.errors import OpError
from tfteach.jupyter.magics.completion import CompletedMagics, Words, no_words
from tfteach.jupyter.magics.options import (
    GRAPH_OF_SESSION,
    SAVE,
    STATIC,
    TEXT,
    magic_arguments,
    parsed,
    show_as_asked,
    unquoted,
)
from tfteach.jupyter.magics.run_request import graph_asked


@magics_class
class CheckpointMagics(CompletedMagics):
    """Shows checkpoints."""

    takes: ClassVar[dict[str, Words]] = {"checkpoint": no_words}

    @magic_arguments()
    @argument("path", help="its prefix, or a directory, whose newest one is shown.")
    @argument("--before", metavar="PATH", help="an earlier checkpoint to compare with.")
    @GRAPH_OF_SESSION
    @STATIC
    @SAVE
    @TEXT
    @line_magic
    def checkpoint(self, line: str) -> None:  # fmt: skip
        """Show the variables in a checkpoint: shapes, sizes, norms and histograms.

        With `--before`, how far each moved since an earlier checkpoint; with
        `--session`, which variables of the session's graph cannot be restored.

        Examples:

            %checkpoint logs/model.ckpt-200 --before logs/model.ckpt-100
            %checkpoint logs --session sess
        """
        args = parsed(self.checkpoint, line)

        from tfteach.jupyter.widgets.checkpoint import CheckpointView

        graph = graph_asked(self.shell, args.session)
        before = None if args.before is None else unquoted(args.before)
        try:
            view = CheckpointView(unquoted(args.path), before, graph)
        except OpError as error:
            raise UsageError(f"%checkpoint: {error.message}") from None
        show_as_asked(view, args)
