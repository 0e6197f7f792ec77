"""What the stages of a dataset give, as data: see `elements_of`."""

from __future__ import annotations

from typing import NamedTuple

from tfteach.explain.graphs.graph_rows import plain_source
from tfteach.explain.pipelines.pipeline_stages import Place, place
from tfteach.explain.steps.value_summary import Seen
from tfteach.framework.errors import OpError
from tfteach.framework.graph import SourceLine

__all__ = ["GivenElement", "StageElements", "StagedElements"]

MOST_BARE = 12  # components of an array that is shown without type and shape


class GivenElement(NamedTuple):
    """An element that a stage gave.

    Attributes:
      number: its number among those of the stage, from 0.
      values: a `Seen` for each of its components.
      read: stage -> (first, last) of the elements that were read for it, for each input
        from which it read any.
    """

    number: int
    values: tuple[Seen, ...]
    read: dict[str, tuple[int, int]]

    @property
    def origin(self) -> str:
        """Which elements it was made of, such as "of 0 to 3"; "" for a source's."""
        parts = [
            f"{first}" if first == last else f"{first} to {last}"
            for first, last in self.read.values()
        ]
        return f"of {' and '.join(parts)}" if parts else ""

    @property
    def said(self) -> str:
        """Its values in brief."""
        return ", ".join(_brief(value) for value in self.values)

    def __str__(self) -> str:
        return f"{self.number}: {self.said}  {self.origin}".rstrip()


class StageElements(NamedTuple):
    """A stage of a dataset with its first elements.

    Attributes:
      key: the name of its op; of a dataset that a function returns behind that of the
        op that calls the function.
      op_type: the op's type.
      inputs: the keys of the stages that it reads.
      source: the line that built it, or None.
      elements: its first `GivenElement`s.
      total: the number of elements that it gave.
      has_ended: whether there are no more.
      error: what ended it, or None.
    """

    key: str
    op_type: str
    inputs: tuple[str, ...]
    source: SourceLine | None
    elements: tuple[GivenElement, ...]
    total: int
    has_ended: bool
    error: OpError | None

    @property
    def outcome(self) -> str:
        """What became of it, in words."""
        if self.error is not None:
            message = self.error.message.partition("\n")[0]
            return f"then {type(self.error).__name__}: {message}"
        left = self.total - len(self.elements)
        more = f"{left:,} more were read" if left else ""
        end = "then it ends" if self.has_ended else ""
        return ", ".join(part for part in (more, end) if part)

    def text(self, where: Place | None = None) -> str:
        """The stage, the line that built it, and its elements.

        Args:
          where: how to write a line of code; by default its file and number.
        """
        line = ""
        if self.source is not None:
            code = plain_source(self.source)[-1]
            line = f"  {(where or place)(self.source)}" + (f": {code}" if code else "")
        lines = [f"{self.op_type} {self.key}{line}"]
        lines += [f"  {element}" for element in self.elements]
        lines += [f"  {self.outcome}"] if self.outcome else []
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


class StagedElements(NamedTuple):
    """The stages of a dataset, each behind those it reads; `print` it.

    Attributes:
      stages: the `StageElements`.
      stopped: why reading was ended early; "" if it was not.
    """

    stages: tuple[StageElements, ...]
    stopped: str = ""

    def text(self, where: Place | None = None) -> str:
        """The stages in words.

        Args:
          where: how to write a line of code; by default its file and number.
        """
        parts = [stage.text(where) for stage in self.stages]
        return "\n".join([*parts, self.stopped] if self.stopped else parts)

    def __str__(self) -> str:
        return self.text()


def _brief(value: Seen) -> str:
    """A component in a line: its type and shape, too, if it is not all there."""
    size = "x".join(map(str, value.shape))
    if value.array is not None and value.array.size <= MOST_BARE:
        return value.text
    return f"{value.dtype} {size} {value.text}"
