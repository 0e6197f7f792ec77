"""Running a user's cell from inside a cell magic."""

from __future__ import annotations

import sys
from typing import Any


def run_cell(shell: Any, cell: str, magic: str) -> None:
    """Run a cell as the shell would, and raise its exception with the user's traceback.

    The shell itself would print the exception at once, and the magic another one.

    Args:
      shell: IPython's shell.
      cell: the lines below the magic's.
      magic: the magic's name, such as "%%graph".
    """
    shown: list[list[str]] = []
    # It would look for the `;` that hides a value in the magic's call.
    hook = shell.displayhook
    hook.quiet = lambda: hook.semicolon_at_end_of_expression(shell.transform_cell(cell))
    shell._showtraceback = lambda etype, evalue, lines: shown.append(lines)
    count = shell.execution_count
    # run_cell increments the count, but this is still the same cell.
    shell.execution_count = max(1, len(shell.user_ns["In"]) - 1)
    try:
        # The comment replaces the magic's own line, so that line numbers match.
        result = shell.run_cell(f"# {magic}\n{cell}", store_history=False)
    finally:
        del shell._showtraceback, hook.quiet
        shell.execution_count = count
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return
    if shown:
        error._render_traceback_ = lambda: shown[-1]
        if isinstance(error, SyntaxError):
            _show_once(shell, error, shown[-1])
    raise error


def _show_once(shell: Any, error: SyntaxError, lines: list[str]) -> None:
    """Make the shell show these lines for this exception.

    For syntax errors it ignores `_render_traceback_`, and would add a traceback of this
    magic to the learner's line.
    """

    def show(*args: Any, **options: Any) -> None:
        del shell.showsyntaxerror
        if sys.exc_info()[1] is error:
            shell._showtraceback(type(error), error, lines)
        else:  # it was caught; this is another error
            shell.showsyntaxerror(*args, **options)

    shell.showsyntaxerror = show
