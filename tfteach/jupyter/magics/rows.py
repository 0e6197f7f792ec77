"""`%%rows`: which rows of embeddings the runs of a cell read, and which they moved."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.explain.runs.row_updates import RowUpdates, watch_rows
from tfteach.explain.runs.sessions import default_name
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import CompletedMagics
from tfteach.jupyter.magics.names import session_of
from tfteach.jupyter.magics.options import (
    RUN_OF_SESSION,
    SAVE,
    STATIC,
    TEXT,
    magic_arguments,
    parsed,
    show_as_asked,
)


@magics_class
class RowsMagics(CompletedMagics):
    """Shows rows that optimizers move."""

    @magic_arguments()
    @argument(
        "--names",
        nargs="+",
        default=[],
        metavar="NAME",
        help="titles for the variables, in the order of their first runs.",
    )
    @RUN_OF_SESSION
    @STATIC
    @SAVE
    @TEXT
    @cell_magic
    def rows(self, line: str, cell: str) -> None:
        """Run the cell, then show which rows its runs read, and which they moved.

        Every variable whose rows a run selects by index gets a heat map: rows by steps,
        side by side for several sessions or optimizers.

        Example:

            %%rows --names Adam LazyAdam
            for optimizer in (adam, lazy_adam):
                train(optimizer)
        """
        args = parsed(self.rows, line, is_cell=True)
        with watch_rows() as seen:
            try:
                run_cell(self.shell, cell, "%%rows")
            finally:
                self._show(seen, args)

    def _show(self, seen: RowUpdates, args: Any) -> None:
        from tfteach.jupyter.widgets.rows import RowsView

        if args.session:
            wanted = default_name(session_of(self.shell, args.session, True))
            seen.tracks = [track for track in seen.tracks if track.session == wanted]
        if not seen.tracks:
            print("No run of this cell selected rows of a variable by index.")
            return
        try:
            view = RowsView(seen, args.names)
        except ValueError as error:
            raise UsageError(f"%%rows --names: {error}") from None
        show_as_asked(view, args)
