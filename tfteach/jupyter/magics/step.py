"""`%step`: record a run, and step through it op by op."""

from __future__ import annotations

import fnmatch
from typing import Any

import numpy as np
from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.explain.eager.eager_recording import EagerRecording
from tfteach.framework.graph import Graph, Tensor
from tfteach.jupyter.magics.completion import CompletedMagics
from tfteach.jupyter.magics.names import element_of, session_of
from tfteach.jupyter.magics.options import (
    DEPTH,
    FEED,
    FEED_DICT,
    FETCHES,
    SAVE,
    SESSION,
    STATIC,
    TEXT,
    UNFOLDED,
    check_depth,
    magic_arguments,
    parsed,
    show_as_asked,
    unquoted,
)
from tfteach.jupyter.magics.run_request import request_in

BREAK = argument(
    "--break",
    dest="break_on",
    nargs="+",
    action="extend",
    default=[],
    metavar="OP",
    help="stop at these ops; * matches any part of a name: 'layer1/*'.",
)
BREAK_NAN = argument(
    "--break-nan",
    action="store_true",
    help="stop where a NaN or an infinity originates.",
)
WHEN = argument(
    "--when",
    metavar="EXPRESSION",
    help="stop where this is true for any element: 'abs(value) > 100'. It may use "
    "value (the op's first output, an array), op, op_type, iteration (of the innermost "
    "loop, from 0), and your own names.",
)


@magics_class
class StepMagics(CompletedMagics):
    """Shows runs, op by op."""

    @magic_arguments()
    @FETCHES
    @FEED
    @FEED_DICT
    @BREAK
    @BREAK_NAN
    @WHEN
    @SESSION
    @UNFOLDED
    @DEPTH
    @STATIC
    @SAVE
    @TEXT
    @line_magic
    def step(self, line: str) -> None:
        """Run once and record every op, then step through the run in either direction.

        It is a real run: a training op trains, variables keep their new values. An op
        that fails ends the recording, not the notebook. Your Python variables stay
        unchanged.

        The name of a recording of eager code, from `record_eager` or `%%graph --trace`,
        replays that.

        Examples:

            %step loss --feed x=batch --break-nan
            %step train_op --feed-dict feed --break loss 'layer1/*'
            %step result --when 'iteration == 2 and op_type == "Mul"'
        """
        args = parsed(self.step, line)
        check_depth(args)
        program = self.shell.user_ns.get(args.fetch[0])
        if isinstance(program, EagerRecording) and len(args.fetch) == 1:
            if args.when:
                raise UsageError("--when asks while code runs: %%step --when above it")
            replay(program, args)
            return
        session = session_of(self.shell, args.session)
        asked = request_in(self.shell, session, args)
        names = self.shell.user_ns
        break_on = [self._pattern(asked.graph, unquoted(n)) for n in args.break_on]
        when = None if not args.when else Predicate(unquoted(args.when), names)

        from tfteach.jupyter.widgets.step import StepView

        view = StepView.of(
            session,
            asked.fetches,
            asked.feed_dict,
            when=when,
            unfolded=args.unfolded,
            break_on=break_on,
            break_nan=args.break_nan,
            depth=args.depth,
        )
        if when is not None:
            when.check(view)
        show_as_asked(view, args)

    def _pattern(self, graph: Graph, name: str) -> str:
        if "*" in name:
            names = (op.name for op in graph.get_operations())
            if not any(fnmatch.fnmatchcase(each, name) for each in names):
                raise UsageError(f"--break {name}: the graph has no op of such a name")
            return name
        element = element_of(graph, self.shell.user_ns, name)
        return element.op.name if isinstance(element, Tensor) else element.name


def replay(program: EagerRecording, args: Any, when: Predicate | None = None) -> None:
    """Step through what ran eagerly.

    Args:
      program: the recording.
      args: the arguments of the magic.
      when: the condition that it was recorded with.
    """
    from tfteach.jupyter.widgets.step import StepView

    view = StepView(
        program,
        break_on=[unquoted(name) for name in args.break_on],
        break_nan=args.break_nan,
        depth=args.depth,
    )
    if when is not None:
        when.check(view)
    for pattern in view.break_on:
        if not view.run.breakpoints(pattern):
            print(f"--break {pattern}: no op of such a name has run")
    show_as_asked(view, args)


class Predicate:
    """An expression evaluated after each op; where it raises, it does not match."""

    def __init__(self, expression: str, names: dict[str, Any]) -> None:
        self._expression = expression
        self._names = names
        self._error: Exception | None = None
        self._answers = 0
        try:
            self._code = compile(expression, "<--when>", "eval")
        except SyntaxError as error:
            raise UsageError(f"--when {expression}: {error.msg}") from None
        if "turn" in self._code.co_names and "turn" not in names:
            raise UsageError(
                f"--when {expression}: there is no 'turn'; a loop counts `iteration`, "
                "from 0"
            )

    def __call__(self, step: Any, *arrays: np.ndarray[Any, Any]) -> bool:
        known = {
            "value": arrays[0] if arrays else None, "values": arrays, "step": step,
            "op": step.op, "op_type": step.op_type, "iteration": step.iteration,
        }  # fmt: skip
        try:
            found = bool(np.any(eval(self._code, {**self._names, **known})))
        except Exception as error:  # strings have no maximum
            self._error = error
            return False
        self._answers += 1
        return found

    def check(self, view: Any) -> None:
        """Raise, and close the view, if the expression failed for every op.

        Raises:
          UsageError: with the reason.
        """
        if self._error is not None and not self._answers and len(view.run):
            view.close()
            kind = type(self._error).__name__
            raise UsageError(f"--when {self._expression}: {kind}: {self._error}")
