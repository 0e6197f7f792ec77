"""The verdict on a graph's growth: the lines that cause lazy loading, and the fix."""

from __future__ import annotations

import ast
import textwrap
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

from tfteach.explain.graphs.duplicate_ops import Twins, shortened
from tfteach.explain.graphs.large_constants import Embedded, size_text
from tfteach.framework.graph import Graph, Operation, SourceLine

__all__ = ["LazyLine", "Verdict"]

Kind = Literal["clean", "late", "lazy"]
Place = Callable[[SourceLine], str]

MOST_LINES = 5  # listed individually


class Log(Protocol):
    """What the verdict reads of a `Growth`, whose members these are."""

    graph: Graph
    ops_before: int

    @property
    def ops_after(self) -> int: ...
    @property
    def runs(self) -> int: ...
    @property
    def rounds(self) -> list[Any]: ...
    @property
    def at_first_run(self) -> int: ...
    @property
    def added_while_running(self) -> int: ...
    @property
    def constants(self) -> list[Embedded]: ...
    @property
    def verdict(self) -> Verdict: ...
    def twins(self) -> Twins: ...
    def size_bytes(self, ops: int | None = None) -> int: ...


class LazyLine(NamedTuple):
    """A line that builds ops again and again while the graph is run.

    Attributes:
      source: the line.
      ran_at: the line whose runs it builds for, or None if unknown.
      runs: the number of runs before which it built something.
      ops: the operations that it built after the first run.
      twins: the number of them that repeat an existing op.
      data: the constants that were new in several rounds: values that change, such as
        those of a batch.
    """

    source: SourceLine
    ran_at: SourceLine | None
    runs: int
    ops: tuple[Operation, ...]
    twins: int
    data: tuple[Operation, ...] = ()

    @property
    def kinds(self) -> dict[str, int]:
        """Op type -> number of ops of that type, most frequent first."""
        return dict(Counter(op.type for op in self.ops).most_common())


class Verdict(NamedTuple):
    """What a graph's growth means; `print` it.

    Attributes:
      kind: "clean": nothing was added after the first run. "late": ops were added, but
        not repeatedly. "lazy": lazy loading.
      lines: the `LazyLine`s, the one that builds most first.
      caught_at: the line at which `graph.finalize()` before the loop would have stopped
        the program, or None.
      late: the number of ops added after the first run.
      runs: the number of runs.
    """

    kind: Kind
    lines: tuple[LazyLine, ...]
    caught_at: SourceLine | None
    late: int
    runs: int

    @property
    def line(self) -> SourceLine | None:
        """The line that builds most; None without lazy loading."""
        return self.lines[0].source if self.lines else None

    @property
    def is_lazy(self) -> bool:
        """True if `kind` is "lazy"."""
        return self.kind == "lazy"

    def headline(self, place: Place | None = None) -> str:
        """The verdict in one sentence.

        Args:
          place: formats a source line, for instance as "In [3] line 4"; by default
            "line 4".

        Returns:
          A string.
        """
        if self.kind == "clean":
            return "No op was added after the first run."
        if self.kind == "late":
            return (
                f"{_ops(self.late)} came after the first run, none of them again and "
                "again: late, but no lazy loading."
            )
        at = (place or in_file)(self.lines[0].source)
        return f"Lazy loading: {at} adds {self.pace} to the graph at every run."

    @property
    def pace(self) -> str:
        """The number of ops that the worst line adds per run, such as "2 ops"."""
        line = self.lines[0]
        each = len(line.ops) / max(1, line.runs)
        return _ops(round(each)) if each == round(each) else f"about {each:.1f} ops"

    def fix(self, place: Place | None = None) -> str:
        """What to change.

        Args:
          place: as for `headline`.

        Returns:
          A string of one or two lines; "" if nothing is wrong.
        """
        if self.kind == "clean":
            return ""
        if self.kind == "late":
            return "Build everything first, then `graph.finalize()`, then run."
        place = place or in_file
        parts = [_cure(self.lines)]
        if self.caught_at is not None:
            parts.append(
                "Put `graph.finalize()` before the loop: the program would have "
                f"stopped with a RuntimeError at {place(self.caught_at)}, the first "
                "time round."
            )
        return "\n".join(parts)

    def __str__(self) -> str:
        return "\n".join(part for part in (self.headline(), self.fix()) if part)


def in_file(source: SourceLine) -> str:
    return f"line {source.line}"


def _ops(count: int) -> str:
    return f"{count} op" if count == 1 else f"{count} ops"


def _cure(lines: tuple[LazyLine, ...]) -> str:
    """How to fix it, in terms of the user's own code where it can be parsed."""
    fed = [line for line in lines if line.data]
    if fed:
        return _feed(fed[0])
    if len(lines) > 1:
        return (
            f"Build it once: move these {len(lines)} lines before the loop, and only "
            "run in the loop."
        )
    line, source = lines[0], lines[0].source
    called = line.ran_at is not None and line.ran_at.function != source.function
    if called and not source.function.startswith("<"):
        return (
            f"`{source.function}` builds each time it is used: use it once before the "
            "loop, keep the tensor that it gives, and run that."
        )
    built = built_in_run(source.text)
    if built is not None:
        return (
            f"Build it once, before the loop: `op = {built}`. "
            "In the loop only run it: `sess.run(op)`."
        )
    return "Build it once: move this line before the loop, and only run in the loop."


def _feed(line: LazyLine) -> str:
    """The fix for a line that puts data that change into the graph.

    To build it once would freeze the data of the first round.
    """
    shapes = [op.outputs[0].static_shape for op in line.data]
    first = shapes[0]
    shape = ""
    if first is not None and all(
        s is not None and len(s) == len(first) for s in shapes
    ):
        sizes = [set(each) for each in zip(*(s for s in shapes if s), strict=True)]
        words = [str(each.pop()) if len(each) == 1 else "None" for each in sizes]
        shape = f", [{', '.join(words)}]"
    dtype = line.data[0].outputs[0].dtype.base_dtype.name
    return (
        "Its data change from run to run, and each run adds them to the graph as "
        "constants. Feed them: before the loop, make "
        f"`data = tf.placeholder(tf.{dtype}{shape})` and build once with it, "
        "`op = ...`; in the loop only run it: `sess.run(op, feed_dict={data: values})`."
    )


def built_in_run(text: str) -> str | None:
    """The expression that `sess.run(tf.add(x, y))` builds; None if it builds none."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the header of a block, or a continuation line
        return None
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("run", "eval")
        ):
            built = node.args[0] if node.args else node.func.value
            if isinstance(built, ast.Call | ast.BinOp | ast.Compare | ast.Subscript):
                return ast.unparse(built)
    return None


def judge(growth: Log) -> Verdict:
    """The verdict on what was recorded so far."""
    late = growth.added_while_running
    if not late:
        return Verdict("clean", (), None, 0, growth.runs)
    lines = _lazy_lines(growth)
    if not lines:
        return Verdict("late", (), None, late, growth.runs)
    sources = [line.source for line in lines]
    watched = _ops_of(growth, growth.ops_before, growth.ops_after)
    caught_at = next(op.source for op in watched if op.source in sources)
    for round_ in reversed(growth.rounds):
        # the first line that builds in a complete iteration of the loop
        built = {op.source for op in _ops_of(growth, round_.start, round_.stop)}
        if all(line.source in built for line in lines):
            ops = _ops_of(growth, round_.start, round_.stop)
            caught_at = next(op.source for op in ops if op.source in sources)
            break
    return Verdict("lazy", lines, caught_at, late, growth.runs)


def _ops_of(growth: Log, start: int, stop: int) -> list[Operation]:
    return growth.graph.operations[start:stop]


def _lazy_lines(growth: Log) -> tuple[LazyLine, ...]:
    """Lines that built ops for the runs of one other line more than once.

    Two rounds are enough if the second one only repeated ops. Ops that are all new
    could be a program built in parts, so those need a third round.
    """
    rounds = growth.rounds
    rounds_of: dict[SourceLine, list[int]] = {}
    built: dict[SourceLine, list[Operation]] = {}
    sources: dict[tuple[str, int], SourceLine] = {}  # one per line: ignores lambdas
    for number, round_ in enumerate(rounds):
        for op in _ops_of(growth, round_.start, round_.stop):
            source = op.source
            if source is None:
                continue
            source = sources.setdefault(source[:2], source)
            seen = rounds_of.setdefault(source, [])
            if not seen or seen[-1] != number:
                seen.append(number)
            if number:
                built.setdefault(source, []).append(op)
    first = growth.twins().first
    found = []
    for source, ops in built.items():
        callers = Counter(rounds[n].ran_at for n in rounds_of[source] if rounds[n].runs)
        if not callers:
            continue
        ran_at, count = callers.most_common(1)[0]
        twins = sum(first[op.node_id - 1] != op.node_id - 1 for op in ops)
        if count >= 3 or (count == 2 and twins):
            late_rounds = sum(n > 0 for n in rounds_of[source])
            data = _changing(ops, first, rounds)
            found.append(LazyLine(source, ran_at, late_rounds, tuple(ops), twins, data))
    return tuple(sorted(found, key=lambda line: -len(line.ops)))


def _changing(
    ops: list[Operation], first: list[int], rounds: list[Any]
) -> tuple[Operation, ...]:
    """Constants of which each of several rounds has a new value at the same place.

    Values that repeat are twins of those of the first round.
    """
    fresh = [
        op
        for op in ops
        if op.spec.holds_value and first[op.node_id - 1] == op.node_id - 1
    ]
    starts = [round_.start for round_ in rounds]
    at = {bisect_right(starts, op.node_id - 1) for op in fresh}
    return tuple(fresh) if len(at) > 1 else ()


def text_of(growth: Log, place: Place | None = None) -> str:
    """The growth and its verdict in a few lines."""
    place = place or in_file
    verdict = growth.verdict
    total = growth.ops_after - growth.ops_before
    runs = "1 run" if growth.runs == 1 else f"{growth.runs} runs"
    lines = [f"{_ops(total)} added, {runs}", verdict.headline(place)]
    for line in verdict.lines[:MOST_LINES]:
        lines += _line_text(growth, line, place)
    if len(verdict.lines) > MOST_LINES:
        lines.append(f"  and {len(verdict.lines) - MOST_LINES} lines more")
    if verdict.kind == "late":
        lines += _late_text(growth, place)
    if growth.runs:
        lines.append(_sizes_text(growth))
    lines += advice_of(verdict, place)
    for constant in growth.constants[:3]:
        lines += constant.lines(place, growth.size_bytes())
    return "\n".join(lines)


def advice_of(verdict: Verdict, place: Place | None = None) -> list[str]:
    """The fix, in lines that fit a terminal."""
    found: list[str] = []
    for part in verdict.fix(place).splitlines():
        found += _wrapped(part, "Fix: " if not found else "     ")
    return found


def _wrapped(text: str, head: str = "     ") -> list[str]:
    return textwrap.wrap(text, 79, initial_indent=head, subsequent_indent="     ")


def _line_text(growth: Log, line: LazyLine, place: Place) -> list[str]:
    lines = [f"  {place(line.source)}: {line.source.text}"]
    first = growth.twins().first
    for kind, count in list(line.kinds.items())[:3]:
        ops = [op for op in line.ops if op.type == kind]
        text = f"    {count:>5} x {kind}: {shortened([op.name for op in ops])}"
        origins = {first[op.node_id - 1] for op in ops}
        if len(origins) == 1 and not origins & {op.node_id - 1 for op in ops[1:]}:
            text += f", all like {growth.graph.operations[origins.pop()].name}"
        lines.append(text)
    rest = len(line.kinds) - 3
    if rest > 0:
        types = "type" if rest == 1 else "types"
        lines.append(f"          and ops of {rest} other {types}")
    return lines


def _late_text(growth: Log, place: Place) -> list[str]:
    late = _ops_of(growth, growth.at_first_run, growth.ops_after)
    counts = Counter(op.source for op in late if op.source is not None)
    return [
        f"  {count:>5}  {place(source)}: {source.text}"
        for source, count in counts.most_common(10)
    ]


def _sizes_text(growth: Log) -> str:
    before, now = growth.at_first_run, growth.ops_after
    size = growth.size_bytes
    if now == before:
        return f"The GraphDef stays at {size_text(size(now))}."
    return (
        f"From the first run to the last: {before} to {now} ops, a GraphDef of "
        f"{size_text(size(before))} to {size_text(size(now))}."
    )
