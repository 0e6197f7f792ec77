"""Recording the calls of traced functions: which of them trace anew, and why."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, Literal, NamedTuple

from tfteach.explain.functions.retracing import Retracing, judge
from tfteach.explain.functions.retracing_text import text_of
from tfteach.explain.functions.trace_arguments import (
    Argument,
    Difference,
    arguments_of,
    differences,
)
from tfteach.framework.call_origin import SourceLine, user_frames, user_line
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.graph import Graph
from tfteach.lib.functions import methods
from tfteach.lib.functions.function_spec import FunctionSpec
from tfteach.lib.functions.observed_calls import Call, observe_calls

__all__ = [
    "FunctionCall",
    "FunctionLog",
    "FunctionTrace",
    "FunctionUse",
    "Reason",
    "explain_function",
    "watch_functions",
]

ReasonKind = Literal["first", "made", "object", "context", "asked", "arguments"]

MOST_CALLS = 500  # of a function; further ones are only counted
MOST_TRACES = 60  # of a function whose graphs are kept
MOST_COMPARED = 50  # traces with which a new one is compared


class Reason(NamedTuple):
    """Why a call traced; `print` it.

    Attributes:
      kind: "first": the function had no trace. "made": a new `tf.function` was made of
        the same Python function. "object": a method of another object. "context": the
        same call in another graph. "asked": the same call in another graph, or by
        `get_concrete_function`; it is not known which. "arguments": no trace fits the
        arguments.
      differences: a `Difference` for each argument that differs from those of the trace
        that is most like this call.
      compared: the number of that trace; 0 if there is none.
    """

    kind: ReasonKind
    differences: tuple[Difference, ...] = ()
    compared: int = 0

    def __str__(self) -> str:
        words = {
            "first": "the first call",
            "made": "a new tf.function of the same Python function",
            "object": "the method of another object",
            "context": "called in another graph",
            "asked": "called in another graph, or made by get_concrete_function",
        }
        if self.kind in words:
            return words[self.kind]
        return "; ".join(map(str, self.differences)) or "other arguments"


class FunctionTrace(NamedTuple):
    """A trace of a function.

    Attributes:
      number: counts the traces of the function, from 1.
      call: the number of the call that made it.
      reason: why.
      arguments: those of that call.
      tracing_s: how long it took, in seconds.
      graph: the trace, with an op for each op of the function; None for one of many.
      ops: the number of its ops.
    """

    number: int
    call: int
    reason: Reason
    arguments: tuple[Argument, ...]
    tracing_s: float
    graph: Graph | None
    ops: int


class FunctionCall(NamedTuple):
    """A call of a traced function.

    Attributes:
      number: counts the calls of the function, from 1.
      line: the line of the call; None if it is unknown.
      inside: the traced function whose trace called it; "" for a call of the program.
      trace: the number of the trace that ran.
      is_new: whether that was made for this call.
      arguments: what was passed.
      run_s: how long the trace ran, in seconds; in a graph, how long adding it took.
    """

    number: int
    line: SourceLine | None
    inside: str
    trace: int
    is_new: bool
    arguments: tuple[Argument, ...]
    run_s: float


class FunctionUse:
    """A Python function that is traced, with its calls and traces; `print` it.

    Attributes:
      name: its name.
      function: the Python function.
      called_as: what the calling code calls it; "" if that is not known.
      parameters: the names of its parameters.
      makers: the number of `tf.function` objects that were made of it.
      calls: its `FunctionCall`s; of many the first ones.
      count: how many there were.
      traces: its `FunctionTrace`s, in order.
      made_variables: whether it was traced twice at first, to create its variables.
    """

    def __init__(self, name: str, function: Any, parameters: tuple[str, ...]) -> None:
        self.name, self.function, self.parameters = name, function, parameters
        self.called_as = ""
        self.calls: list[FunctionCall] = []
        self.traces: list[FunctionTrace] = []
        self.count = self.makers = 0
        self.made_variables = False

    @property
    def source(self) -> SourceLine | None:
        """The line at which the function begins, its decorators included."""
        code = getattr(self.function, "__code__", None)
        if not isinstance(code, CodeType):
            return None
        return SourceLine(code.co_filename, code.co_firstlineno, code.co_name)

    @property
    def tracing_s(self) -> float:
        """The seconds spent on tracing."""
        return sum(trace.tracing_s for trace in self.traces)

    @property
    def running_s(self) -> float:
        """The seconds spent on running traces, of the calls that were recorded."""
        return sum(call.run_s for call in self.calls)

    def line_of(self, trace: FunctionTrace) -> SourceLine | None:
        """The line of the call that made a trace.

        Args:
          trace: one of `traces`.

        Returns:
          A `SourceLine`; None if it is not known.
        """
        if not 1 <= trace.call <= len(self.calls):
            return None
        return self.calls[trace.call - 1].line

    def add_trace(
        self,
        call: int,
        reason: Reason,
        arguments: tuple[Argument, ...],
        tracing_s: float,
        graph: Graph,
    ) -> None:
        """Note one more trace.

        Args:
          call: the number of the call that made it.
          reason: why.
          arguments: what it was made for.
          tracing_s: how long that took.
          graph: the trace.
        """
        number = len(self.traces) + 1
        kept = graph if number <= MOST_TRACES else None
        ops = len(graph.operations)
        self.traces.append(
            FunctionTrace(number, call, reason, arguments, tracing_s, kept, ops)
        )

    @property
    def verdict(self) -> Retracing:
        """Does it trace again and again; why; the cure."""
        return judge(self)

    def __str__(self) -> str:
        return text_of([self])


class FunctionLog:
    """The calls of traced functions while `watch_functions` is active; `print` it.

    Attributes:
      functions: a `FunctionUse` for each Python function that was called, in order.

    Example:
      >>> double = tf.function(lambda x, n: x * n)
      >>> with watch_functions() as log:
      ...     for n in range(4):
      ...         _ = double(tf.constant(1), n)
      >>> print(log.verdict.headline())
      Retracing: line 3 calls `double`, and each of 4 calls traces anew: ...
    """

    def __init__(self, changed: Callable[[], Any] | None = None) -> None:
        self.functions: list[FunctionUse] = []
        self._changed = changed
        self._uses: dict[Any, FunctionUse] = {}
        # By the object that was called: the traces it has, and the next to compare.
        self._objects: dict[int, tuple[Any, FunctionUse, list[int]]] = {}
        self._concrete: dict[int, tuple[Any, int]] = {}  # trace -> its number
        self._thread = threading.get_ident()
        self._stop = observe_calls(self._called)

    @property
    def verdict(self) -> Retracing:
        """The verdict on the function that wastes most; a clean one without calls."""
        found = [use.verdict for use in self.functions]
        bad = [verdict for verdict in found if verdict.is_waste]
        best = bad or found
        if not best:
            return Retracing("clean")
        return max(best, key=lambda verdict: verdict.wasted_s)

    def close(self) -> None:
        """Stop recording. What was recorded remains available."""
        self._stop()
        self._objects.clear()
        self._concrete.clear()

    def __str__(self) -> str:
        return text_of(self.functions)

    # ---- recording

    def _called(self, call: Call) -> None:
        if threading.get_ident() != self._thread:
            return
        function = call.function
        use, own = self._use_of(function)
        use.count += 1
        names = function.function_spec.names(len(call.arguments.args))
        arguments = arguments_of(names, *call.arguments)
        number = self._trace_of(call, use, own, arguments)
        graph = get_default_graph()
        made = FunctionCall(
            use.count,
            user_line(),
            getattr(graph, "name", "") if graph.building_function else "",
            number,
            call.is_new,
            arguments,
            0.0,
        )
        if len(use.calls) >= MOST_CALLS:
            return
        at = len(use.calls)
        use.calls.append(made)

        def ended(run_s: float) -> None:
            use.calls[at] = made._replace(run_s=run_s)
            if self._changed is not None:
                self._changed()

        call.at_end.append(ended)

    def _use_of(self, function: Any) -> tuple[FunctionUse, list[int]]:
        """The use of what was called, and the traces of that object so far."""
        known = self._objects.get(id(function))
        if known is not None and known[0] is function:
            return known[1], known[2]
        python = _python_function(function)
        key = getattr(python, "__code__", python)
        use = self._uses.get(key)
        if use is None:
            use = self._uses[key] = _new_use(function, python)
            self.functions.append(use)
        use.makers += 1
        own: list[int] = []
        self._objects[id(function)] = function, use, own
        return use, own

    def _trace_of(
        self,
        call: Call,
        use: FunctionUse,
        own: list[int],
        arguments: tuple[Argument, ...],
    ) -> int:
        """The number of the trace that runs, which may be new."""
        concrete = call.concrete
        known = self._concrete.get(id(concrete))
        if known is not None and known[0] is concrete:
            return known[1]
        number = len(use.traces) + 1
        # Otherwise it was made before the recording began.
        reason = Reason("first")
        if call.is_new:
            reason = self._reason(call, use, own, arguments)
        use.add_trace(use.count, reason, arguments, call.tracing_s, concrete.graph)
        use.made_variables |= call.made_variables
        own.append(number)
        self._concrete[id(concrete)] = concrete, number
        return number

    def _reason(
        self,
        call: Call,
        use: FunctionUse,
        own: list[int],
        arguments: tuple[Argument, ...],
    ) -> Reason:
        if own:
            return _compared([use.traces[number - 1] for number in own], arguments)
        if not use.traces:
            return Reason("first")
        is_method = _is_method(call.function.python_function)
        return Reason("object" if is_method else "made")


def _compared(traces: list[FunctionTrace], arguments: tuple[Argument, ...]) -> Reason:
    """How arguments differ from those of the trace that is most like them."""
    best: Reason | None = None
    for trace in reversed(traces[-MOST_COMPARED:]):
        found = differences(trace.arguments, arguments)
        if best is None or len(found) < len(best.differences):
            best = Reason("arguments", found, trace.number)
    if best is None:
        return Reason("first")
    return best if best.differences else Reason("context", (), best.compared)


def _python_function(function: Any) -> Any:
    """What a traced function was made of."""
    python = inspect.unwrap(function.python_function)
    return getattr(python, "func", python)  # of a functools.partial


def _new_use(function: Any, python: Any) -> FunctionUse:
    name = getattr(python, "__qualname__", type(python).__name__)
    parameters = tuple(function.function_spec.arg_names)
    use = FunctionUse(name.rpartition("<locals>.")[2], python, parameters)
    use.called_as = _users_name(function)
    if use.name == "<lambda>" and use.called_as:
        use.name = use.called_as
    return use


def _is_method(python_function: Any) -> bool:
    """Whether it is a method that was bound to an object when it was looked up."""
    code = getattr(python_function, "__code__", None)
    return code is not None and code.co_filename == methods.__file__


def _users_name(function: Any) -> str:
    """What the user's code calls an object."""
    for frame, _ in user_frames():
        for names in (frame.f_locals, frame.f_globals):
            for name, value in list(names.items()):
                if value is function and not name.startswith("_"):
                    return name
    return ""


def explain_function(function: Any) -> FunctionUse:
    """The traces that a traced function has.

    Its calls are unknown: `watch_functions` records them.

    Args:
      function: made by `tf.function` or `tf.contrib.eager.defun`.

    Returns:
      A `FunctionUse` without calls; each trace has a reason by its arguments.

    Raises:
      TypeError: it is something else.

    Example:
      >>> double = tf.function(lambda x: x * 2)
      >>> _ = double(tf.constant(1.0)), double(tf.constant(1))
      >>> print(explain_function(double).traces[1].reason)
      x is int32, before float32
    """
    if not isinstance(getattr(function, "function_spec", None), FunctionSpec):
        raise TypeError(
            "explain_function explains what tf.function or tf.contrib.eager.defun "
            f"returned, not {type(function).__name__}"
        )
    use = _new_use(function, _python_function(function))
    use.makers = 1
    for concrete in function.traces:
        args, kwargs = concrete.structured_input_signature or ((), {})
        names = function.function_spec.names(len(args))
        arguments = arguments_of(names, args, kwargs)
        reason = _compared(use.traces, arguments)
        if reason.kind == "context":
            reason = reason._replace(kind="asked")
        use.add_trace(0, reason, arguments, 0.0, concrete.graph)
    return use


@contextmanager
def watch_functions() -> Iterator[FunctionLog]:
    """Record the calls of traced functions inside a `with` block.

    Functions of `tf.function` and `tf.contrib.eager.defun`, in eager programs and in
    graphs.

    Returns:
      A context manager; `with` assigns a `FunctionLog`, which is closed at the end of
      the block.

    Example:
      >>> square = tf.function(lambda x: x * x)
      >>> with watch_functions() as log:
      ...     y = [square(tf.constant(v)) for v in (1.0, 2.0, 3.0)]
      >>> log.functions[0].count, len(log.functions[0].traces)
      (3, 1)
    """
    log = FunctionLog()
    try:
        yield log
    finally:
        log.close()
