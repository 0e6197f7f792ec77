"""Large arrays that a program put into its graph more than once.

Every use of an array in place of a tensor adds a constant, with a copy of its elements,
to the GraphDef.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from tfteach.framework.graph import Operation, SourceLine
from tfteach.framework.graphdef.graph_def import node_size

__all__ = ["Embedded"]

Place = Callable[[SourceLine], str]

LARGE_BYTES = 1024
HUGE_BYTES = 10_000_000  # from here on, once is too often
MOST_PLACES = 5  # listed individually
ONE_ELEMENT_BYTES = 100  # about the size of a constant that stores its element once


class Embedded(NamedTuple):
    """An array that is in the graph more than once, or several from one line.

    Attributes:
      sources: the lines that put it there, in the order of first use.
      names: the names of the constants.
      dtype: the name of their type, such as "float32".
      shape: their shape.
      size_bytes: the size of one of them in the GraphDef.
      total_bytes: the size of all of them.
      same: True if all have the same value; else one line embedded different ones.
      fill: the text of the only value of all elements, such as "1.0", or None.
    """

    sources: tuple[SourceLine, ...]
    names: tuple[str, ...]
    dtype: str
    shape: tuple[int, ...]
    size_bytes: int
    total_bytes: int
    same: bool
    fill: str | None

    def headline(
        self, place: Place | None = None, graph_def_bytes: int | None = None
    ) -> str:
        """The finding in one sentence.

        Args:
          place: formats a source line; by default "line 4".
          graph_def_bytes: the size of the whole GraphDef, to compare with.

        Returns:
          A string.
        """
        what = "the same" if self.same else "a new"
        often = "twice" if len(self.names) == 2 else f"{len(self.names)} times"
        put = "puts" if len(self.sources) == 1 else "put"
        total = f"{size_text(self.total_bytes)} in all"
        if graph_def_bytes is not None:
            whole = size_text(graph_def_bytes)
            total = f"{size_text(self.total_bytes)} of the GraphDef's {whole}"
        return (
            f"Large constants: {places(self.sources, place)} {put} {what} "
            f"{self.dtype} array of shape {self.shape}, {size_text(self.size_bytes)}, "
            f"into the graph {often}: {total}."
        )

    @property
    def advice(self) -> str:
        """How to avoid the copies."""
        if not self.same:
            return (
                "Values that change do not belong into the graph: make a "
                "tf.placeholder before the loop and feed it, `sess.run(..., "
                "feed_dict={x: array})`; or assign to a tf.Variable."
            )
        if self.fill is not None:
            shape = f"[{', '.join(map(str, self.shape))}]"
            return (
                f"All its elements are {self.fill}, but TensorFlow stores a NumPy "
                f"array or a list in full: `c = tf.constant({self.fill}, "
                f"tf.{self.dtype}, shape={shape})` stores one element, in less than "
                f"{ONE_ELEMENT_BYTES} bytes. Build it once, and use the tensor `c` "
                "each time."
            )
        if self.size_bytes >= HUGE_BYTES:
            return (
                "Every file and every copy of the GraphDef holds it, and none may "
                "exceed 2 GB. Feed it: `c = tf.placeholder(...)`, `sess.run(..., "
                "feed_dict={c: array})`; or initialize a tf.Variable from that "
                "placeholder, once."
            )
        return (
            "Convert it once, before: `c = tf.convert_to_tensor(array)`, and use the "
            "tensor `c` each time; or keep it in a tf.Variable."
        )

    def lines(
        self, place: Place | None = None, graph_def_bytes: int | None = None
    ) -> list[str]:
        """`headline` and `advice`, in lines that fit a terminal.

        Args:
          place: as for `headline`.
          graph_def_bytes: as for `headline`.
        """
        return [
            *textwrap.wrap(
                self.headline(place, graph_def_bytes), 79, subsequent_indent="     "
            ),
            *textwrap.wrap(
                self.advice, 79, initial_indent="     ", subsequent_indent="     "
            ),
        ]


def embedded_again(ops: Iterable[Operation]) -> list[Embedded]:
    """The arrays of 1 kB or more that `ops` hold more than once, the largest first.

    What counts is the size in the GraphDef, so that `tf.constant(0.0, shape=...)` and
    the zeros of optimizer slots, which store a single element, do not.
    """
    alike: dict[tuple[str, tuple[int, ...]], list[Operation]] = {}
    for op in ops:
        if not op.spec.holds_value or op.spec.constant.nbytes < LARGE_BYTES:
            continue
        if node_size(op) >= LARGE_BYTES:
            value = op.spec.constant
            name = op.outputs[0].dtype.name
            alike.setdefault((name, value.shape), []).append(op)
    found = []
    for same_type in alike.values():
        rest = []
        for of_line in _grouped(same_type, lambda op: op.source):
            if len(of_line) > 1 and len({op.spec for op in of_line}) > 1:
                found.append(_embedded(of_line, same=False))
            else:
                rest += of_line
        if len(rest) > 1:  # comparing arrays takes time
            found += [
                _embedded(equal, same=True)
                for equal in _grouped(rest, lambda op: op.spec)
                if len(equal) > 1
            ]
    return sorted(found, key=lambda embedded: -embedded.total_bytes)


def _grouped(
    ops: list[Operation], key: Callable[[Operation], object]
) -> list[list[Operation]]:
    groups: dict[object, list[Operation]] = {}
    for op in ops:
        groups.setdefault(key(op), []).append(op)
    return list(groups.values())


def _embedded(ops: list[Operation], same: bool) -> Embedded:
    value = ops[0].spec.constant
    sizes = [node_size(op) for op in ops]
    sources = sorted(ops, key=lambda op: op.node_id)
    return Embedded(
        tuple(dict.fromkeys(op.source for op in sources if op.source is not None)),
        tuple([op.name for op in sources]),
        ops[0].outputs[0].dtype.name,
        value.shape,
        sizes[0],
        sum(sizes),
        same,
        _fill_of(value) if same else None,
    )


def _fill_of(value: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str | None:
    """The only value of a number array's elements, as Python writes it."""
    if value.dtype.kind not in "biuf" or not bool((value == value.flat[0]).all()):
        return None
    return repr(value.flat[0].item())


def places(sources: tuple[SourceLine, ...], place: Place | None = None) -> str:
    """Lines in words: "In [3] line 4", "In [3] lines 4, 5 and 9"."""
    texts = [f"line {s.line}" if place is None else place(s) for s in sources]
    if not texts:
        return "a line without a file"
    more = len(texts) - MOST_PLACES
    files = {text.rpartition("line ")[0] for text in texts}
    if len(texts) > 1 and len(files) == 1:  # the file is said once
        texts = [text.rpartition("line ")[2] for text in texts]
        head = f"{files.pop()}lines "
    else:
        head = ""
    if more > 0:
        return f"{head}{', '.join(texts[:MOST_PLACES])} and {more} more"
    if len(texts) == 1:
        return texts[0]
    return f"{head}{', '.join(texts[:-1])} and {texts[-1]}"


def size_text(size_bytes: float) -> str:
    """A number of bytes for people: "67 bytes", "1.0 kB", "2.3 MB"."""
    if size_bytes < 1000:
        return f"{size_bytes:.0f} bytes"
    if size_bytes < 1e6:
        return f"{size_bytes / 1e3:.1f} kB"
    return f"{size_bytes / 1e6:.1f} MB"
