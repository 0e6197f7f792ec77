"""The stages of input pipelines: tf.data's datasets, and queues with their threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tfteach.explain.graphs.graph_rows import plain_source
from tfteach.framework.constant_values import constant_value
from tfteach.framework.graph import Graph, SourceLine, Tensor

__all__ = ["Pipeline", "Stage"]

STEP = "step"  # the key of the last stage


class Stage(NamedTuple):
    """A stage of a pipeline; its elements flow to the stages that have it as an input.

    Attributes:
      key: the name of its op; inside a function behind that of the op that calls it.
      kind: "source", "map", "shuffle", "batch", ...; of queues "threads" and "queue";
        "step" for the runs that take the elements.
      title: what to call it, such as "map(parse)".
      detail: its settings, such as "buffer of 1000"; "" without any.
      inputs: the keys of the stages it reads, in order.
      inner: the keys of those inputs that its function returns for each element.
      op: the name of the op, without those that call it.
      source: the line of user code that built it, or None.
      capacity: the number of elements its buffer holds at most; 0 without a buffer or
        if a run determines it.
      threads: the number of calls or threads at a time; -1 if it is tuned.
      size: the number of elements it puts into one; 0 if it does not, or if a run
        determines it.
      rows: the number of elements of a source; 0 if it is not known.
      takes: the names of the ops by which it takes elements from queues.
      calls_python: whether the threads of a queue call a Python function.
      parses: whether they decode or parse records one at a time.
    """

    key: str
    kind: str
    title: str
    detail: str = ""
    inputs: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    op: str = ""
    source: SourceLine | None = None
    capacity: int = 0
    threads: int = 1
    size: int = 0
    rows: int = 0
    takes: tuple[str, ...] = ()
    calls_python: bool = False
    parses: bool = False

    def __str__(self) -> str:
        text = f"{self.title}: {self.detail}" if self.detail else self.title
        return text if self.source is None else f"{text}  [{place(self.source)}]"


class Pipeline:
    """The stages between the data and the step; `print` it for a list.

    Args:
      kind: "dataset" or "queues".
      name: of the iterator's op, or of the last queue's.
      stages: each `Stage` behind those it reads; the step is the last.
      graph: the graph that has the ops.

    Attributes:
      kind, name, stages, graph: as given.

    Example:
      >>> rows = tf.data.Dataset.range(100).shuffle(10).batch(4)
      >>> element = rows.make_one_shot_iterator().get_next()
      >>> (pipeline,) = explain_pipelines()
      >>> [stage.kind for stage in pipeline.stages]
      ['source', 'shuffle', 'batch', 'step']
    """

    def __init__(
        self, kind: str, name: str, stages: Sequence[Stage], graph: Graph
    ) -> None:
        self.kind, self.name, self.graph = kind, name, graph
        self.stages = tuple(stages)
        self._by_key = {stage.key: stage for stage in stages}

    def __repr__(self) -> str:
        return f"Pipeline({self.name}: {' -> '.join(s.kind for s in self.stages)})"

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.name} ({self.kind})", *(f"  {line}" for line in self._lines())]
        )

    def stage(self, key: str) -> Stage:
        """The stage of this key.

        Args:
          key: a `Stage.key`.

        Raises:
          KeyError: there is none.
        """
        return self._by_key[key]

    def lanes(self) -> dict[str, int]:
        """The column of each stage's river: 0 for those that lead to the step directly.

        Returns:
          A dict from keys to columns; branches that join have columns of their own.
        """
        row = {stage.key: i for i, stage in enumerate(self.stages)}
        found: dict[str, int] = {}
        taken: list[list[tuple[int, int]]] = []  # rows of the branches of each column
        for stage in reversed(self.stages):
            found.setdefault(stage.key, 0)
            for number, key in enumerate(stage.inputs):
                if key in found:
                    continue
                if number == 0:
                    found[key] = found[stage.key]
                else:
                    rows = self._first_row(key, row), row[stage.key]
                    found[key] = 1 + _free_column(taken, rows)
        return found

    def _first_row(self, key: str, row: dict[str, int]) -> int:
        """The row in which the branch that ends with this stage begins."""
        while inputs := self._by_key[key].inputs:
            key = inputs[0]
        return row[key]

    def readers(self, key: str) -> list[Stage]:
        """The stages that read a stage.

        Args:
          key: the key of the stage.
        """
        return [stage for stage in self.stages if key in stage.inputs]

    def _lines(self) -> list[str]:
        lanes = self.lanes()
        return [f"{'| ' * lanes[stage.key]}{stage}" for stage in self.stages]


def _free_column(taken: list[list[tuple[int, int]]], rows: tuple[int, int]) -> int:
    """The first column without a branch in these rows, which are then taken."""
    first, last = rows
    for number, branches in enumerate(taken):
        if all(last < start or end < first for start, end in branches):
            branches.append(rows)
            return number
    taken.append([rows])
    return len(taken) - 1


Place = Callable[[SourceLine], str]  # how to write a line of code


def place(source: SourceLine) -> str:
    """A line as "file.py line 3"."""
    file, line, _, _ = plain_source(source)
    return f"{file} line {line}" if file else f"line {line}"


def number_of(tensor: Tensor) -> int:
    """The value of a constant integer scalar; 0 if only a run determines it."""
    value = constant_value(tensor)
    return 0 if value is None or value.size != 1 else int(value.reshape(-1)[0])


def in_order(stages: Iterable[Stage]) -> list[Stage]:
    """Stages in such an order that each one follows those it reads.

    A branch stands together, directly before the stage that joins it.
    """
    by_key = {stage.key: stage for stage in stages}
    read = {key for stage in by_key.values() for key in stage.inputs}
    found: dict[str, Stage] = {}
    opened: set[str] = set()
    # Depth first without recursion: pipelines may be long.
    waiting = [(key, False) for key in reversed(list(by_key)) if key not in read]
    while waiting:
        key, is_ready = waiting.pop()
        if is_ready:
            found[key] = by_key[key]
        elif key not in opened:
            opened.add(key)
            waiting.append((key, True))
            inputs = [each for each in by_key[key].inputs if each in by_key]
            waiting += [(each, False) for each in reversed(inputs)]
    return list(found.values())
