"""`%%trace` and `%trace`: why functions of `tf.function` trace, and trace again."""

from __future__ import annotations

from typing import Any, ClassVar

from IPython.core.error import UsageError
from IPython.core.magic import line_cell_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.explain.functions.function_calls import FunctionLog
from tfteach.explain.functions.retracing_text import verdict_lines
from tfteach.jupyter import display
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import CompletedMagics, Words
from tfteach.jupyter.magics.options import (
    SAVE,
    STATIC,
    TEXT,
    finish_as_asked,
    magic_arguments,
    parsed,
    show_as_asked,
)


def function_words(user_ns: dict[str, Any], line: list[str]) -> list[str]:
    """The user's names of traced functions."""
    return [
        name
        for name, value in list(user_ns.items())
        if not name.startswith("_") and hasattr(type(value), "get_concrete_function")
    ]


@magics_class
class TraceMagics(CompletedMagics):
    """Shows the traces of functions."""

    takes: ClassVar[dict[str, Words]] = {"trace": function_words}

    @magic_arguments()
    @argument(
        "function",
        nargs="*",
        help="%%trace: the functions whose traces are shown, expressions without "
        "spaces; %%%%trace shows those that the cell calls.",
    )
    @STATIC
    @SAVE
    @TEXT
    @line_cell_magic
    def trace(self, line: str, cell: str | None = None) -> None:
        """Watch the calls of traced functions: which of them trace anew, and why.

        `%%trace` runs the cell in your own namespace, as any cell does, and watches
        functions of `tf.function` and `tf.contrib.eager.defun`, in eager programs and
        in graphs. If one traces again and again, the line is printed, with the cause
        and the cure. `%trace` shows the traces that functions have.

        Examples:

            %%trace
            for n in range(10):
                power(x, n)         # traces each time: pass tf.constant(n)

            %trace power
        """
        args = parsed(self.trace, line, cell is not None)
        if cell is None:
            self._show(args)
        elif args.function:
            raise UsageError("%%trace shows the functions that the cell calls")
        else:
            self._watch(args, cell)

    def _show(self, args: Any) -> None:
        from tfteach.jupyter.widgets.trace import TraceView

        if not args.function:
            raise UsageError("%trace FUNCTION: which? %%trace watches those of a cell")
        found = []
        for expression in args.function:
            try:
                found.append(self.shell.ev(expression))
            except Exception as error:
                raise UsageError(f"%trace {expression}: {error}") from None
        try:
            view = TraceView(found)
        except TypeError as error:
            raise UsageError(f"%trace: {error}") from None
        show_as_asked(view, args)

    def _watch(self, args: Any, cell: str) -> None:
        from tfteach.jupyter.widgets.trace import TraceView

        is_live = not args.static and not args.text
        views: list[Any] = []

        def changed() -> None:
            if views:
                views[0].changed()
                return
            views.append(TraceView(log))
            if is_live:
                display.show_live(views[0])

        log = FunctionLog(changed)
        try:
            run_cell(self.shell, cell, "%%trace")
        finally:
            log.close()
            if not log.functions:
                print("No traced function was called in this cell.")
            for view in views:
                finish_as_asked(view, args)
            if not args.text:  # the text of a view contains its verdicts
                for use in log.functions:
                    for said in verdict_lines(use.verdict, display.place):
                        print(said)
