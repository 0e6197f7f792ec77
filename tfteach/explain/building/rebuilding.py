"""The verdict on graphs and sessions that a program makes again and again.

A function that makes a graph and a session in every call builds, initializes and
compiles the same in every call. None of its graphs grows while it is run, so that the
verdict on lazy loading has nothing to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal, NamedTuple

from tfteach.explain.building.estimator_calls import ModelInputs, advice, cure
from tfteach.explain.building.graph_lives import (
    PREPARING,
    ConstantLine,
    Cost,
    GraphLife,
    SessionLife,
    milliseconds,
    times,
)
from tfteach.explain.graphs.user_calls import UserCall, find_call, is_in_loop
from tfteach.framework.graph import SourceLine

__all__ = ["Family", "Rebuilding"]

Kind = Literal["clean", "kept", "repeated", "unclosed", "reopened", "rebuilt"]
Place = Callable[[SourceLine], str]

AGAIN_AND_AGAIN = 3  # graphs, or sessions of a graph
FEW_RUNS = 3  # of each: built for so few runs, it was hardly worth it
MOST_COSTS = 6  # of graphs, in the text and in the view

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)")


class Family(NamedTuple):
    """Graphs that the same lines built, in order.

    Attributes:
      graphs: the `GraphLife`s, at least one.
    """

    graphs: tuple[GraphLife, ...]

    @property
    def first(self) -> GraphLife:
        """The first of them."""
        return self.graphs[0]

    @property
    def sessions(self) -> list[SessionLife]:
        """The sessions of all of them."""
        return [session for life in self.graphs for session in life.sessions]

    @property
    def runs(self) -> int:
        """Their runs, without those that initialize or restore variables."""
        return sum(life.runs for life in self.graphs)

    @property
    def is_equal(self) -> bool:
        """Whether they have the same ops; constants may have other values."""
        return len({life.structure for life in self.graphs}) == 1

    @property
    def changed(self) -> list[ConstantLine]:
        """The lines that embedded other values in some than in the first."""
        found = {
            line.source: line
            for life in self.graphs[1:]
            for line in life.changed_since(self.first)
        }
        return list(found.values())

    @property
    def preparing_s(self) -> float:
        """Seconds spent on all but runs."""
        return sum(life.seconds(*PREPARING) for life in self.graphs)

    @property
    def running_s(self) -> float:
        """Seconds spent on runs other than those that initialize or restore."""
        return sum(life.seconds("run") for life in self.graphs)

    @property
    def ops_text(self) -> str:
        """Their ops, such as "the same 7 ops"."""
        counts = [life.ops_built for life in self.graphs]
        if min(counts) == max(counts):
            return f"the same {times(counts[0], 'op')}"
        return f"{min(counts):,} to {max(counts):,} ops from the same lines"

    def shape_of(self, source: SourceLine) -> str:
        """The shape of a line's constants, as Python; None for sizes that differ.

        Args:
          source: the line.
        """
        shapes = [
            life.constants[source].shape
            for life in self.graphs
            if source in life.constants
        ]
        if len({len(shape) for shape in shapes}) != 1:
            return ""
        sizes = [set(size) for size in zip(*shapes, strict=True)]
        texts = [str(size.pop()) if len(size) == 1 else "None" for size in sizes]
        return f", [{', '.join(texts)}]"


def families_of(graphs: Sequence[GraphLife]) -> list[Family]:
    """Group graphs by the lines that built them, in the order of their first ones."""
    groups: dict[object, list[GraphLife]] = {}
    for life in graphs:
        known = life.made_at is not None and life.ops_built > 0
        key: object = life.made_by if known else life.number
        if known and life is graphs[-1] and key not in groups:  # it may be half built
            begun = set(life.lines)
            for other, members in groups.items():
                made_at = members[0].made_at
                if made_at == life.made_at and begun <= set(members[0].lines):
                    key = other
        groups.setdefault(key, []).append(life)
    return [Family(tuple(group)) for group in groups.values()]


class Rebuilding(NamedTuple):
    """What is made again and again; `print` it.

    Attributes:
      kind: "clean": nothing. "kept": one graph, built by an estimator for many
        predictions. "repeated": the same ops in several graphs that are few,
        or run many times each. "unclosed": a `tf.InteractiveSession` was opened while
        another was open. "reopened": one line opened sessions on a graph again and
        again. "rebuilt": the same lines built graph after graph, each for a few runs.
      family: the graphs concerned; None if clean.
      sessions: the sessions concerned.
    """

    kind: Kind
    family: Family | None = None
    sessions: tuple[SessionLife, ...] = ()

    @property
    def is_waste(self) -> bool:
        """True unless `kind` is "clean", "kept" or "repeated"."""
        return self.kind not in ("clean", "kept", "repeated")

    @property
    def line(self) -> SourceLine | None:
        """The line that makes the graphs, or opens the sessions; None if clean.

        For an estimator it is the line of the call, even if the graph is made later,
        when the first prediction is asked for.
        """
        call = self.call
        if call is not None:
            return call.source
        if self.family is not None and self.kind in ("kept", "rebuilt", "repeated"):
            return self.family.first.made_at
        return self.sessions[-1].opened_at if self.sessions else None

    @property
    def inputs(self) -> ModelInputs | None:
        """What an estimator built the graphs for; None if another code made them."""
        if self.family is None or self.kind not in ("kept", "rebuilt", "repeated"):
            return None
        return self.family.first.inputs

    @property
    def call(self) -> UserCall | None:
        """The call of an estimator's method, if that made the graphs and is found."""
        inputs, family = self.inputs, self.family
        if inputs is None or family is None or family.first.made_at is None:
            return None
        return find_call(family.first.made_at, inputs.method, inputs.names)

    @property
    def costs(self) -> list[Cost]:
        """What each graph took, for those that were rebuilt, or kept by an estimator.

        In long recordings these are the first ones.
        """
        if self.family is None or self.kind not in ("kept", "rebuilt"):
            return []
        return [life.cost for life in self.family.graphs[:MOST_COSTS]]

    @property
    def more_costs(self) -> int:
        """The number of graphs that `costs` leaves out."""
        costs, family = self.costs, self.family
        return len(family.graphs) - len(costs) if family is not None and costs else 0

    def sign(self) -> str:
        """The verdict in a few words."""
        count = len(self.sessions)
        if self.family is not None and self.kind in ("rebuilt", "repeated"):
            count = len(self.family.graphs)
        return {
            "clean": "built once",
            "kept": "built and restored once",
            "repeated": f"{count:,} graphs alike",
            "unclosed": "session never closed",
            "reopened": f"opened {count:,} times",
            "rebuilt": f"built {count:,} times",
        }[self.kind]

    def headline(self, place: Place | None = None) -> str:
        """The verdict in one sentence.

        Args:
          place: formats a source line, for instance as "In [3] line 4"; by default
            "line 4".

        Returns:
          A string.
        """
        family = self.family
        if family is None:
            return "No graph was built again, no session opened again."
        at = (
            "a line without a file"
            if self.line is None
            else place_text(self.line, place)
        )
        if self.call is not None:
            at = f"{at}, `{self.call.text}`,"
        graphs, runs = len(family.graphs), family.runs
        if self.kind == "unclosed":
            return (
                f"Never closed: {at} opened a tf.InteractiveSession while another was "
                "open, which keeps its variables and their memory."
            )
        if self.kind == "reopened":
            runs = sum(session.runs for session in self.sessions)
            return (
                f"Reopened: {at} opened {len(self.sessions):,} sessions on one graph, "
                f"for {times(runs, 'run')}."
            )
        if self.kind == "kept":
            run_s = family.running_s / max(1, runs)
            return (
                f"Kept: {at} built one graph, opened one session and restored "
                f"{_often(self._restored)}, for {times(runs, 'run')}: "
                f"{milliseconds(run_s)} each."
            )
        alike = f"{graphs:,} graphs of {family.ops_text}"
        if family.first.is_default:
            alike = f"{graphs:,} default graphs of {family.ops_text}"
        if self.kind == "repeated":
            each = f"{times(runs, 'run')} in all"
            if runs % graphs == 0:
                each = f"each run {_often(runs // graphs)}"
            return f"{at} made {alike}, {each}."
        sessions = times(len(family.sessions), "session")
        made = f", and {sessions}"
        if self._restored:
            made = f" and {sessions}, and restored {_often(self._restored)}"
        return f"Rebuilt: {at} made {alike}{made}, for {times(runs, 'run')}."

    @property
    def _restored(self) -> int:
        return sum(session.time.counts["restore"] for session in self.sessions)

    def cost(self) -> str:
        """What was done more than once, and how long it took as measured.

        Returns:
          A string; "" if nothing is wasted.
        """
        family = self.family
        if family is None or not self.is_waste or self.kind == "unclosed":
            return ""
        lives = family.graphs
        sessions = self.sessions
        counts = {
            kind: sum(session.time.counts[kind] for session in sessions)
            for kind in ("initialize", "restore", "compile")
        }
        said = [f"{times(len(sessions), 'session')} opened"]
        if self.kind == "rebuilt":
            built = sum(life.ops_built for life in lives)
            said.insert(0, f"{built:,} ops built where {lives[0].ops_built:,} do")
        if counts["initialize"]:
            said.append(f"variables initialized {_often(counts['initialize'])}")
        if counts["restore"]:
            said.append(f"checkpoints restored {_often(counts['restore'])}")
        if counts["compile"]:
            said.append(f"{times(counts['compile'], 'program')} compiled")
        left = sum(session.end != "closed" for session in sessions)
        if left:
            said.append(f"{times(left, 'session')} never closed")
        if self.kind == "rebuilt":
            preparing, running = family.preparing_s, family.running_s
            each = [life.seconds(*PREPARING) for life in lives]
            words = "building, opening and compiling"
        else:
            each = [
                sum(s.time.seconds.get(kind, 0.0) for kind in PREPARING)
                for s in sessions
            ]
            preparing = sum(each)
            running = sum(s.time.seconds.get("run", 0.0) for s in sessions)
            words = "opening, initializing and compiling"
        text = (
            f"{', '.join(said)}: {milliseconds(preparing)} {words}, "
            f"{milliseconds(running)} running. "
            f"Done once, about {milliseconds(median(each))} would do."
        )
        if self.inputs is not None:
            run_s = median(life.seconds("run") for life in lives)
            text += (
                f" Each call spent {milliseconds(median(each))} to run for "
                f"{milliseconds(run_s)}."
            )
        return text

    def fix(self, place: Place | None = None) -> str:
        """What to change.

        Args:
          place: as for `headline`.

        Returns:
          A string of one or more lines; "" if nothing is wasted.
        """
        family = self.family
        if family is None or not self.is_waste:
            return ""
        if self.kind == "unclosed":
            return (
                "Close it when you are done, `sess.close()`; in a cell that is run "
                "again and again, use `with tf.Session() as sess:`."
            )
        if self.inputs is not None:
            return advice(self.inputs)
        where = self._outside()
        if self.kind == "reopened":
            return (
                f"Open the session once, {where}, and keep it: its variables and its "
                "compiled programs live as long as it does."
            )
        parts = [
            f"Build the graph and open its session once, {where}; then only run, and "
            "feed the data."
        ]
        if family.first.is_default:
            parts.append(
                "Leave out the tf.reset_default_graph() that throws the graph away."
            )
        for line in family.changed[:2]:
            at = place_text(line.source, place)
            parts.append(
                f"{at}, `{line.source.text}`, embeds data that change: make it a "
                "tf.placeholder."
            )
        return "\n".join(parts)

    def code(self) -> str:
        """The program with its graph and session kept, as an outline.

        Returns:
          Lines of Python; "" if nothing is wasted.
        """
        family = self.family
        if family is None or self.kind not in ("rebuilt", "reopened"):
            return ""
        if self.inputs is not None:
            return cure(self.inputs, self.call)
        name, shape = "x", "tf.float32"
        remark = ""
        if family.changed:
            source, dtype, _ = family.changed[0]
            found = _ASSIGNED.match(source.text)
            name = "x" if found is None else found.group(1)
            shape = f"tf.{dtype}{family.shape_of(source)}"
            remark = f"  # not {source.text}" if source.text else "  # not a constant"
        lines = []
        if self.kind == "rebuilt":
            lines += [
                "graph = tf.Graph()",
                "with graph.as_default():",
                f"    {name} = tf.placeholder({shape}){remark}",
                "    y = ...  # the same lines, once",
            ]
        own = self.kind == "rebuilt" or not family.first.is_default
        lines.append(f"sess = tf.Session({'graph=graph' if own else ''})")
        kinds = {span.kind for session in self.sessions for span in session.time.spans}
        if "restore" in kinds:
            lines.append("saver.restore(sess, path)")
        elif "initialize" in kinds:
            lines.append("sess.run(init)")
        function = self._function()
        run = f"sess.run(y, {{{name}: batch}})"
        lines.append("")
        if function:
            lines += [f"def {function}(batch):", f"    return {run}"]
        else:
            lines += ["for batch in batches:", f"    {run}"]
        return "\n".join(lines)

    def _function(self) -> str:
        """The function that makes it again and again; "" for a loop."""
        family = self.family
        if family is None or self.line is None or is_in_loop(self.line):
            return ""
        ran_at = [line for _, _, line in family.first.rounds if line is not None]
        for source in [*ran_at[-1:], self.line]:
            if not source.function.startswith("<"):
                return source.function
        return ""

    def _outside(self) -> str:
        function = self._function()
        return f"outside `{function}`" if function else "before the loop"

    def __str__(self) -> str:
        cost = self.cost()
        parts = [self.headline(), f"Cost: {cost}" if cost else "", self.fix()]
        return "\n".join(part for part in parts if part)


CLEAN = Rebuilding("clean")


def judge_lives(graphs: Sequence[GraphLife]) -> Rebuilding:
    """The worst finding on what was recorded so far."""
    return next(iter(findings_of(graphs)), CLEAN)


def findings_of(graphs: Sequence[GraphLife]) -> list[Rebuilding]:
    """All findings, the most wasteful first."""
    found: list[Rebuilding] = []
    for family in families_of(graphs):
        count = len(family.graphs)
        sessions = tuple(family.sessions)
        if count > 1:
            wasted = count >= AGAIN_AND_AGAIN and family.runs <= FEW_RUNS * count
            kind: Kind = "rebuilt" if wasted else "repeated"
            found.append(Rebuilding(kind, family, sessions))
        if count < AGAIN_AND_AGAIN:
            found += [r for life in family.graphs for r in _reopened(life)]
        inputs = family.first.inputs
        if count == 1 and inputs is not None and inputs.method == "predict":
            found.append(Rebuilding("kept", family, sessions))
        late = tuple(s for s in sessions if s.is_interactive and s.others_open)
        if late:
            found.append(Rebuilding("unclosed", family, late))
    rank: list[Kind] = ["rebuilt", "reopened", "unclosed", "repeated", "kept"]
    found.sort(key=lambda one: _seconds_of(one), reverse=True)
    return sorted(found, key=lambda one: rank.index(one.kind))


def _reopened(life: GraphLife) -> list[Rebuilding]:
    """Lines that open session after session on one graph, for a few runs each."""
    by_line: dict[SourceLine | None, list[SessionLife]] = {}
    for session in life.sessions:
        by_line.setdefault(session.opened_at, []).append(session)
    return [
        Rebuilding("reopened", Family((life,)), tuple(sessions))
        for line, sessions in by_line.items()
        if line is not None
        and len(sessions) >= AGAIN_AND_AGAIN
        and sum(s.runs for s in sessions) <= FEW_RUNS * len(sessions)
    ]


def _seconds_of(finding: Rebuilding) -> float:
    return 0.0 if finding.family is None else finding.family.preparing_s


def place_text(source: SourceLine, place: Place | None) -> str:
    """A line as a view names it, or "line 4"."""
    return f"line {source.line}" if place is None else place(source)


def _often(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
