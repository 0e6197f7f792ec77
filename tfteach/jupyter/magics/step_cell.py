"""`%%step`: run a cell eagerly, record every op, and step through them."""

from __future__ import annotations

from typing import ClassVar

from IPython.core.magic import cell_magic, magics_class

from tfteach.explain.eager.eager_recording import EagerRecording, record_eager
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import CompletedMagics, Words, no_words
from tfteach.jupyter.magics.options import (
    DEPTH,
    SAVE,
    STATIC,
    TEXT,
    check_depth,
    magic_arguments,
    parsed,
    unquoted,
)
from tfteach.jupyter.magics.step import BREAK, BREAK_NAN, WHEN, Predicate, replay


@magics_class
class StepCellMagics(CompletedMagics):
    """Shows eager code, op by op."""

    takes: ClassVar[dict[str, Words]] = {"step": no_words}

    @magic_arguments()
    @BREAK
    @BREAK_NAN
    @WHEN
    @DEPTH
    @STATIC
    @SAVE
    @TEXT
    @cell_magic
    def step(self, line: str, cell: str) -> None:
        """Run the cell eagerly and record every op, then step through them.

        Forward and backward, also through the ops that compute gradients from a tape
        and into functions of `tf.function`. The cell runs in your own namespace, as any
        cell does, and eagerly also in a program that builds graphs. After an exception
        the view shows the ops that ran before it.

        Example:

            %%step --break-nan
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.log(x)
            tape.gradient(y, x)
        """
        args = parsed(self.step, line, is_cell=True)
        check_depth(args)
        when = None
        if args.when:
            when = Predicate(unquoted(args.when), self.shell.user_ns)
        program: EagerRecording | None = None
        try:
            with record_eager(when) as program:
                run_cell(self.shell, cell, "%%step")
        finally:
            if program is not None and program.ops_ran:
                replay(program, args, when)
            elif program is not None:
                print("No op ran eagerly in this cell.")
