"""`%step`: record a run, and step through it op by op."""

from __future__ import annotations

import fnmatch
from typing import Any

import numpy as np
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import (
    argument,
    magic_arguments,
    parse_argstring,
)

from tfteach.explain.recording import Recording
from tfteach.explain.stepping import record
from tfteach.framework.graph import Graph, Tensor
from tfteach.jupyter.magics.completion import complete
from tfteach.jupyter.magics.names import element_of, session_of
from tfteach.jupyter.magics.options import (
    DEPTH,
    FEED_DICT,
    SESSION,
    STATIC,
    check_depth,
    feed_dict_of,
    show_as_asked,
)


@magics_class
class StepMagics(Magics):
    """Shows runs, op by op."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        complete(shell, self.step)

    @magic_arguments()
    @argument("fetch", nargs="+", help="what to fetch: names of ops, or Python names.")
    @argument(
        "--feed",
        action="append",
        default=[],
        metavar="NAME=EXPRESSION",
        help="a tensor to feed, and its value: x=batch, or in quotes "
        "'x=np.ones([2, 3])'; may be repeated.",
    )
    @FEED_DICT
    @argument(
        "--break",
        dest="break_on",
        action="append",
        default=[],
        metavar="OP",
        help="stop at this op; * matches any part of a name: 'layer1/*'; may be "
        "repeated.",
    )
    @argument(
        "--break-nan",
        action="store_true",
        help="stop where a NaN or an infinity originates.",
    )
    @argument(
        "--when",
        metavar="EXPRESSION",
        help="stop where this is true for any element: 'abs(value) > 100'. It may use "
        "value (the op's first output, an array), op, op_type, turn (the iteration of "
        "the innermost loop, from 0), and your own names.",
    )
    @SESSION
    @DEPTH
    @STATIC
    @argument("--text", action="store_true", help="print the steps as a table.")
    @line_magic
    def step(self, line: str) -> None:
        """Run once and record every op, then step through the run in either direction.

        It is a real run: a training op trains, variables keep their new values. An op
        that fails ends the recording, not the notebook. Your Python variables stay
        unchanged.

        Examples:

            %step loss --feed x=batch --break-nan
            %step train_op --feed-dict feed --break loss --break 'layer1/*'
            %step result --when 'turn == 2 and op_type == "Mul"'
        """
        args = parse_argstring(self.step, line)
        check_depth(args)
        session = session_of(self.shell, args.session)
        graph, names = session.graph, self.shell.user_ns
        fetches = [element_of(graph, names, name) for name in args.fetch]
        feed = self._feed(graph, args)
        break_on = [self._pattern(graph, unquoted(name)) for name in args.break_on]
        when = None if not args.when else _Predicate(unquoted(args.when), names)
        run = record(session, fetches, feed, when=when)
        if when is not None:
            when.check(run)

        from tfteach.jupyter.widgets.step import StepView

        options = {"break_nan": args.break_nan, "depth": args.depth}
        show_as_asked(StepView(run, break_on=break_on, **options), args)

    def _pattern(self, graph: Graph, name: str) -> str:
        if "*" in name:
            names = (op.name for op in graph.get_operations())
            if not any(fnmatch.fnmatchcase(each, name) for each in names):
                raise UsageError(f"--break {name}: the graph has no op of such a name")
            return name
        element = element_of(graph, self.shell.user_ns, name)
        return element.op.name if isinstance(element, Tensor) else element.name

    def _feed(self, graph: Graph, args: Any) -> dict[Any, Any] | None:
        feed = dict(feed_dict_of(self.shell, args.feed_dict) or {})
        for text in map(unquoted, args.feed):
            name, equals, expression = text.partition("=")
            if not equals:
                raise UsageError(f"--feed {text}: say what to feed, {text}=batch")
            element = element_of(graph, self.shell.user_ns, name.strip())
            if not isinstance(element, Tensor):
                if not element.outputs:
                    raise UsageError(f"--feed {text}: {element.name} has no output")
                element = element.outputs[0]
            try:
                feed[element] = self.shell.ev(expression)
            except Exception as error:
                raise UsageError(f"--feed {text}: {error}") from None
        return feed or None


def unquoted(text: str) -> str:
    """A word of the command line without its quotes."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


class _Predicate:
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

    def __call__(self, step: Any, *arrays: np.ndarray[Any, Any]) -> bool:
        known = {
            "value": arrays[0] if arrays else None, "values": arrays, "step": step,
            "op": step.op, "op_type": step.op_type, "turn": step.turn,
        }  # fmt: skip
        try:
            found = bool(np.any(eval(self._code, {**self._names, **known})))
        except Exception as error:  # strings have no maximum
            self._error = error
            return False
        self._answers += 1
        return found

    def check(self, run: Recording) -> None:
        """Raise if the expression failed for every op.

        Raises:
          UsageError: with the reason.
        """
        if self._error is not None and not self._answers and len(run):
            kind = type(self._error).__name__
            raise UsageError(f"--when {self._expression}: {kind}: {self._error}")
