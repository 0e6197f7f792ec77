"""The verdict on a traced function: does it trace again and again, and the cure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, Literal, NamedTuple, Protocol

from tfteach.explain.building.graph_lives import milliseconds, times
from tfteach.explain.functions.trace_arguments import Argument, Difference
from tfteach.explain.functions.trace_calls import (
    definition_text,
    making_of,
    with_argument,
    with_cast,
)
from tfteach.framework.graph import SourceLine

__all__ = ["Retracing"]

Kind = Literal[
    "clean", "few", "python", "shape", "rank", "dtype", "object", "type", "structure",
    "graph", "made", "context",
]  # fmt: skip
Place = Callable[[SourceLine], str]

AGAIN_AND_AGAIN = 3  # traces for the same kind of reason


class Use(Protocol):
    """What the verdict reads of a `FunctionUse`, whose members these are."""

    name: str
    called_as: str
    function: Any
    parameters: tuple[str, ...]
    makers: int
    count: int
    calls: list[Any]
    traces: list[Any]

    @property
    def source(self) -> SourceLine | None: ...
    @property
    def tracing_s(self) -> float: ...
    def line_of(self, trace: Any) -> SourceLine | None: ...


class Retracing(NamedTuple):
    """What a function's traces mean; `print` it.

    Attributes:
      kind: "clean": one trace, or one for each of a few kinds of calls. "few": some
        more, but not again and again. Otherwise what changes again and again: "python",
        a Python value; "shape", "rank" or "dtype" of a Tensor; "object", a Python
        object, or the one whose method it is; "type" or "structure" of the arguments;
        "graph" or "context", the graph that calls it; "made", the function itself.
      use: the function; None without calls.
      line: the line that calls it most often with a new trace.
      traces: the number of traces that were made for that kind of reason.
      difference: an example of what changes; None if it is no argument.
    """

    kind: Kind
    use: Use | None = None
    line: SourceLine | None = None
    traces: int = 0
    difference: Difference | None = None

    @property
    def is_waste(self) -> bool:
        """True unless `kind` is "clean" or "few"."""
        return self.kind not in ("clean", "few")

    @property
    def wasted_s(self) -> float:
        """The seconds spent on traces, without the first one."""
        if self.use is None:
            return 0.0
        later = self.use.traces[1:]
        return float(sum(trace.tracing_s for trace in later))

    def sign(self) -> str:
        """The verdict in a few words."""
        if self.use is None:
            return "never called"
        if self.is_waste:
            return f"traced {times(len(self.use.traces), 'time')}"
        return times(len(self.use.traces), "trace")

    def headline(self, place: Place | None = None) -> str:
        """The verdict in one sentence.

        Args:
          place: formats a source line, for instance as "In [3] line 4"; by default
            "line 4".

        Returns:
          A string.
        """
        use = self.use
        if use is None:
            return "No traced function was called."
        made = times(len(use.traces), "trace")
        if not self.is_waste:
            return f"`{use.name}`: {times(use.count, 'call')}, {made}."
        at = "a line" if self.line is None else (place or in_file)(self.line)
        calls = times(use.count, "call")
        how = f"`{use.name}` {times(use.count, 'time')}, and {made} are made"
        if len(use.traces) == use.count:
            how = f"`{use.name}`, and each of {calls} traces anew"
        return f"Retracing: {at} calls {how}: {self._what()}."

    def _what(self) -> str:
        """What changes."""
        difference = self.difference
        if self.kind == "made":
            return "a new tf.function is made for each, which has no traces yet"
        if self.kind == "context":
            return "each time in another graph"
        if difference is None:
            return "each time on another object, which has traces of its own"
        name = f"`{difference.argument}`"
        return {
            "python": f"the Python value {name} changes, and a trace holds one",
            "shape": f"the shape of {name} changes, as in {difference.now} after "
            f"{difference.before}",
            "rank": f"{name} has another rank, as in {difference.now} after "
            f"{difference.before}",
            "dtype": f"{name} is of another type, {difference.now} after "
            f"{difference.before}",
            "object": f"{name} is each time another {difference.now}",
            "type": f"{name} is {difference.now} after {difference.before}",
            "structure": f"the structure of the arguments changes, as in {name}",
            "graph": f"{name} is once a Tensor with a value, once one of a graph",
        }[self.kind]

    def cost(self) -> str:
        """What tracing took, beside running.

        Returns:
          A string; "" if nothing is wasted.
        """
        use = self.use
        if use is None or not self.is_waste:
            return ""
        made = {trace.call: trace.tracing_s for trace in use.traces}
        new = [made[c.number] + c.run_s for c in use.calls if c.number in made]
        found = [call.run_s for call in use.calls if call.number not in made]
        said = f"{milliseconds(use.tracing_s)} spent on traces"
        if new:
            said += f"; a call that makes one takes {milliseconds(median(new))}"
        if found:
            said += f", one that finds its trace {milliseconds(median(found))}"
        return said + "."

    def fix(self, place: Place | None = None) -> str:
        """What to change.

        Args:
          place: as for `headline`.

        Returns:
          A string of one or two lines; "" if nothing is wrong.
        """
        if self.use is None or not self.is_waste:
            return ""
        name = "" if self.difference is None else f"`{self.difference.argument}`"
        own = self.difference is None
        return {
            "python": f"Pass {name} as a Tensor: one trace then serves all values. "
            "Python code that needs the number itself, such as `range(n)`, then needs "
            "its counterpart, `tf.range(n)`.",
            "shape": "Leave the sizes open that change: one trace then serves all.",
            "rank": f"Give {name} one rank, such as by tf.reshape or tf.expand_dims.",
            "dtype": f"Convert {name} to one type before the call.",
            "object": "Make the object once, before the loop: each has traces of its "
            "own."
            if own
            else f"Pass the same object as {name} each time, or the Tensors in it: "
            "objects are compared by identity.",
            "type": f"Pass {name} always as a Tensor.",
            "structure": "Pass the same arguments each time, nested alike.",
            "graph": "Call it either in a graph or eagerly.",
            "context": "Build the graph once: each graph has traces of its own.",
            "made": "Make the tf.function once, before the loop.",
        }[self.kind]

    def code(self) -> str:
        """The lines of the user's program as they would be.

        Returns:
          Python code; "" if it cannot be written.
        """
        use, difference = self.use, self.difference
        if use is None or not self.is_waste:
            return ""
        if self.kind == "made":
            return making_of(use.function, use.name, self.line)
        if self.kind in ("shape", "rank"):
            return _with_signature(use)
        if self.line is None or difference is None:
            return ""
        callee = (use.called_as, use.name)
        call = self.line, callee, use.parameters, difference.argument
        if self.kind in ("python", "type"):
            return with_argument(*call)
        if self.kind != "dtype":
            return ""
        first = next(
            a.dtype for a in use.traces[0].arguments if a.name == difference.argument
        )
        return with_cast(*call, dtype=first)

    def __str__(self) -> str:
        parts = self.headline(), self.cost(), self.fix(), self.code()
        return "\n".join(part for part in parts if part)


def in_file(source: SourceLine) -> str:
    return f"line {source.line}"


def judge(use: Use) -> Retracing:
    """The verdict on a function."""
    # A trace that the program may have asked for is no waste.
    wanted = ("first", "asked")
    later = [trace for trace in use.traces if trace.reason.kind not in wanted]
    if not later:
        return Retracing("few" if len(use.traces) > 1 else "clean", use)
    kinds = Counter(_kind(trace.reason) for trace in later)
    kind, count = kinds.most_common(1)[0]
    if count + 1 < AGAIN_AND_AGAIN or _is_a_choice(kind, use):
        return Retracing("few", use)
    same = [trace for trace in later if _kind(trace.reason) == kind]
    lines = Counter(line for trace in same if (line := use.line_of(trace)) is not None)
    line = lines.most_common(1)[0][0] if lines else None
    last = same[-1].reason.differences
    difference = next((d for d in last if d.kind == kind), last[0] if last else None)
    return Retracing(kind, use, line, count, difference)


# The kinds of differences, the one that is most surely the cause first.
_ORDER: Sequence[Kind] = (
    "structure", "type", "graph", "dtype", "object", "python", "rank", "shape",
)  # fmt: skip


def _kind(reason: Any) -> Kind:
    if reason.kind != "arguments":
        found: Kind = reason.kind
        return found
    kinds = {difference.kind for difference in reason.differences}
    return next(kind for kind in _ORDER if kind in kinds)


def _is_a_choice(kind: Kind, use: Use) -> bool:
    """Whether a Python value has a few meanings, such as `training=True`."""
    if kind != "python":
        return False
    values = {a.key for t in use.traces for a in t.arguments if a.kind == "python"}
    return use.count >= 4 * len(use.traces) and len(values) <= 4


def _with_signature(use: Use) -> str:
    """The decorator that leaves sizes open."""
    specs = []
    for parameter in use.parameters:
        found = [
            argument
            for trace in use.traces
            for argument in trace.arguments
            if argument.name == parameter
        ]
        if len(found) != len(use.traces) or any(a.kind != "tensor" for a in found):
            return definition_text(use.function, "experimental_relax_shapes=True")
        specs.append(f"tf.TensorSpec({_general(found)}, tf.{found[0].dtype})")
    return definition_text(use.function, f"input_signature=[{', '.join(specs)}]")


def _general(arguments: Sequence[Argument]) -> str:
    """The most specific shape that includes those of all arguments, as Python."""
    shapes = [argument.shape for argument in arguments]
    first = shapes[0]
    if first is None or any(s is None or len(s) != len(first) for s in shapes):
        return "None"
    sizes = zip(*(s for s in shapes if s is not None), strict=True)
    texts = [str(size[0]) if len(set(size)) == 1 else "None" for size in sizes]
    return f"[{', '.join(texts)}]"
