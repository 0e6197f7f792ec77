"""What a checkpoint contains, how it differs from another, and what a graph misses.

Values are read one variable at a time, so that a checkpoint may be larger than memory.
"""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.explain.files.model_files import SAVED_MODEL
from tfteach.explain.graphs.output_types import shape_words
from tfteach.explain.steps.value_summary import Figures, figures_of, number_text
from tfteach.framework.errors import InvalidArgumentError, NotFoundError
from tfteach.framework.files import file_system
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.table import MAGIC
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys

__all__ = [
    "CheckpointContents",
    "MissingVariable",
    "SavedVariable",
    "VariableChange",
    "explain_checkpoint",
]

MOST_LINES = 60
MOST_NEAR = 3
# Where a whole checkpoint has other names, comparing all of them takes minutes.
MOST_WITH_NEAR = 60
MOST_COMPARED = 40
_LEAST_LIKENESS = 0.6
# Files of a checkpoint that people name instead of its prefix.
_FILE = re.compile(r"(.*)\.(index|meta|data-\d{5}-of-\d{5})")

Array = np.ndarray[Any, Any]


class VariableChange(NamedTuple):
    """How a variable differs from that of the earlier checkpoint.

    Attributes:
      kind: "same", "changed", "added", "removed" or "other type" (or shape).
      distance: the Euclidean norm of the difference; None if it has none.
      share: `distance` relative to the norm before; None if that is 0.
      largest: the largest absolute difference of an element.
    """

    kind: str
    distance: float | None = None
    share: float | None = None
    largest: float | None = None

    def __str__(self) -> str:
        if self.kind != "changed" or self.distance is None:
            return self.kind
        if self.share is None:
            return f"changed by {number_text(self.distance)}"
        return f"changed by {100 * self.share:.3g}%"


class SavedVariable(NamedTuple):
    """A variable in a checkpoint.

    Attributes:
      name: its name there.
      dtype: such as "float32".
      shape: a tuple of sizes.
      size_bytes: the size of its values.
      norm: the Euclidean norm; None for other than numbers.
      figures: its statistics and histogram.
      change: since the earlier checkpoint; None without one.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    size_bytes: int
    norm: float | None
    figures: Figures
    change: VariableChange | None = None

    def __str__(self) -> str:
        parts = [f"{self.dtype} {shape_words(self.shape)}", show_bytes(self.size_bytes)]
        if self.norm is not None:
            parts.append(f"norm {number_text(self.norm)}")
        if self.figures.nans or self.figures.infinities:
            parts.append(f"{self.figures.nans + self.figures.infinities} not finite")
        if self.change is not None:
            parts.append(str(self.change))
        return f"{self.name}: {', '.join(parts)}"


class MissingVariable(NamedTuple):
    """A variable of the graph that the checkpoint lacks, or has in another shape.

    Attributes:
      name: the key that a Saver looks up.
      dtype: in the graph.
      shape: in the graph; -1 is an unknown size, None an unknown rank.
      saved_as: its type and shape in the checkpoint; "" if it is not there.
      near: names in the checkpoint that may be meant, the likeliest first; of the first
        60 missing variables.
    """

    name: str
    dtype: str
    shape: list[int] | None
    saved_as: str
    near: list[str]

    def __str__(self) -> str:
        kind = f"{self.name} ({self.dtype} {shape_words(self.shape)})"
        if self.saved_as:
            return f"{kind} is {self.saved_as} in the checkpoint"
        near = f": is it {' or '.join(self.near)}?" if self.near else ""
        return f"{kind} is not in the checkpoint{near}"


class CheckpointContents(NamedTuple):
    """The contents of a checkpoint; `print` it.

    Attributes:
      path: its prefix.
      before: the prefix of the earlier checkpoint; "" without one.
      variables: those that it has, and "removed" ones of the earlier, by name.
      missing: the graph's variables that cannot be restored; None without a graph.
      extra: the variables that the graph does not have; None without a graph.
    """

    path: str
    before: str
    variables: list[SavedVariable]
    missing: list[MissingVariable] | None
    extra: list[str] | None

    @property
    def summary(self) -> str:
        """One line of counts and sizes."""
        own = [v for v in self.variables if not _is_removed(v)]
        count, size = len(own), show_bytes(sum(v.size_bytes for v in own))
        parts = [f"{count} variable{'' if count == 1 else 's'}, {size}"]
        if self.before:
            kinds = [v.change.kind for v in self.variables if v.change is not None]
            found = [f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds)]
            parts.append(", ".join(found) or "nothing to compare")
        if self.missing is not None and self.extra is not None:
            parts.append(
                f"{len(self.missing)} of the graph cannot be restored, "
                f"{len(self.extra)} are not in the graph"
            )
        return "; ".join(parts)

    def to_text(self, most: int | None = MOST_LINES) -> str:
        """The summary, what is missing, then a line for each variable.

        Args:
          most: the number of variables to list; None for all.

        Returns:
          A string of several lines.
        """
        lines = [f"{self.path}: {self.summary}"]
        lines += [f"- {missing}" for missing in self.missing or ()]
        extra = self.extra or []
        lines += [f"+ {name} is not in the graph" for name in extra[:most]]
        lines += [str(variable) for variable in self.variables[:most]]
        if (rest := len(self.variables) - len(self.variables[:most])) > 0:
            lines.append(f"and {rest} more")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()


def explain_checkpoint(
    path: Any, before: Any = None, graph: Any = None
) -> CheckpointContents:
    """What a checkpoint contains, what changed, and why a graph cannot restore it.

    Args:
      path: the prefix given to `save`, one of the files, or a directory, whose newest
        checkpoint is read.
      before: an earlier checkpoint to compare with.
      graph: a `tf.Graph` whose global variables would be restored.

    Returns:
      A `CheckpointContents`; `print` it.

    Raises:
      NotFoundError: there is no such checkpoint.
      DataLossError: it is damaged.
      InvalidArgumentError: the directory has no checkpoint.
      TypeError: `graph` is not a graph.

    Example:
      >>> import tempfile
      >>> w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
      >>> with tf.Session() as sess:
      ...     sess.run(w.initializer)
      ...     path = tf.train.Saver().save(sess, tempfile.mkdtemp() + "/model")
      >>> explain_checkpoint(path).summary
      '1 variable, 8 B'
    """
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(
            f"A checkpoint is compared with a tf.Graph, not {type(graph).__name__}. "
            "Pass the graph itself, such as session.graph."
        )
    prefix = checkpoint_prefix(path)
    earlier = "" if before is None else checkpoint_prefix(before)

    def read(reader: Any) -> list[SavedVariable]:
        if not earlier:
            return _variables(reader, None)
        found: list[SavedVariable] = read_checkpoint(
            earlier, lambda old: _variables(reader, old)
        )
        return found

    variables = read_checkpoint(prefix, read)
    missing, extra = None, None
    if graph is not None:
        missing, extra = _beside(graph, variables)
    return CheckpointContents(prefix, earlier, variables, missing, extra)


def checkpoint_prefix(path: Any) -> str:
    """The prefix of the checkpoint that a path names.

    Raises:
      NotFoundError: there is no such checkpoint.
      InvalidArgumentError: the directory has none.
    """
    from tfteach.lib.files.checkpoint_management import is_checkpoint
    from tfteach.lib.files.checkpoint_reader import checkpoint_path

    name = resolve(path)
    if file_system.isdir(name):
        newest = checkpoint_path(name)
        if newest is None:
            raise InvalidArgumentError(
                None,
                None,
                f"{name}: a directory without a `checkpoint` file. Name the prefix of "
                "a checkpoint, such as model.ckpt-100",
            )
        return newest
    match = _FILE.fullmatch(name)
    if match is not None and is_checkpoint(match[1]):
        return match[1]
    if not is_checkpoint(name):
        raise NotFoundError(
            None, None, f"{name}: no such checkpoint: there is no {name}.index"
        )
    return name


def names_checkpoint(path: Any) -> bool:
    """Whether a path names a checkpoint, rather than a graph or nothing."""
    name = resolve(path)
    if file_system.isdir(name):
        names = set(file_system.listdir(name))
        return "checkpoint" in names and not names & set(SAVED_MODEL)
    match = _FILE.fullmatch(name)
    if match is not None and match[2] != "meta":
        return file_system.exists(name)
    if file_system.exists(f"{name}.index"):
        return True
    if not file_system.exists(name):
        return False
    with file_system.open_file(name, "rb") as file:  # of version 1: a table
        file.seek(max(0, file_system.stat(name).length - len(MAGIC)))
        return file.read() == MAGIC


# ---- values


class _Reader:
    """An open checkpoint, whose types and shapes are read once."""

    def __init__(self, reader: Any) -> None:
        self.read = reader.read
        self.kinds = reader.types_and_shapes()


def _variables(reader: Any, earlier: Any) -> list[SavedVariable]:
    new = _Reader(reader)
    old = None if earlier is None else _Reader(earlier)
    names = {*new.kinds, *(() if old is None else old.kinds)}
    return [_variable(name, new, old) for name in sorted(names)]


def _variable(name: str, new: _Reader, old: _Reader | None) -> SavedVariable:
    change = None
    holder = new
    if old is not None and name not in new.kinds:
        holder, change = old, VariableChange("removed")
    array = holder.read(name)
    if old is not None and change is None:
        change = VariableChange("added")
        if name in old.kinds:
            is_alike = old.kinds[name] == new.kinds[name]
            change = VariableChange("other type")
            if is_alike:
                change = _change(array, old.read(name))
    dtype, shape = holder.kinds[name]
    numbers = _numbers(array)
    return SavedVariable(
        name,
        dtype.base_dtype.name,
        tuple(shape),
        _size(array),
        None if numbers is None else _norm(numbers),
        figures_of(array if numbers is None else numbers),
        change,
    )


def _change(array: Array, earlier: Array) -> VariableChange:
    is_object = array.dtype.hasobject  # bytes, compared one by one
    if is_object and bool(np.array_equal(array, earlier)):
        return VariableChange("same")
    if not is_object and array.tobytes() == earlier.tobytes():
        return VariableChange("same", 0.0, 0.0, 0.0)
    numbers, past = _numbers(array), _numbers(earlier)
    if numbers is None or past is None:
        return VariableChange("changed")
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.abs(numbers.astype(_wide(numbers)) - past.astype(_wide(past)))
    distance, norm = _norm(moved), _norm(past)
    share = distance / norm if norm > 0 else None
    return VariableChange("changed", distance, share, float(moved.max(initial=0)))


def _numbers(array: Array) -> Array | None:
    """The values as numbers that NumPy computes with; None for strings and others."""
    if array.dtype.hasobject or array.dtype.kind in "SUM":
        return None
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    if array.dtype.kind in "iufc":
        return array
    try:  # such as bfloat16
        return array.astype(np.float32)
    except (TypeError, ValueError):
        return None


def _wide(array: Array) -> type:
    return np.complex128 if array.dtype.kind == "c" else np.float64


def _norm(array: Array) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        flat = np.abs(array.reshape(-1).astype(_wide(array)))
        return float(np.sqrt(np.dot(flat, flat)))


def _size(array: Array) -> int:
    if array.dtype.hasobject:
        return sum(len(item) for item in array.reshape(-1).tolist())
    return int(array.nbytes)


def _is_removed(variable: SavedVariable) -> bool:
    return variable.change is not None and variable.change.kind == "removed"


# ---- beside a graph


def _beside(
    graph: Graph, variables: Iterable[SavedVariable]
) -> tuple[list[MissingVariable], list[str]]:
    saved = {v.name: v for v in variables if not _is_removed(v)}
    wanted: dict[str, tuple[str, list[int] | None]] = {}
    for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
        info = getattr(variable, "_save_slice_info", None)
        name = variable.op.name if info is None else info.full_name
        shape = variable.shape if info is None else info.full_shape
        sizes = None if info is None and shape.ndims is None else [
            -1 if size is None else int(size)
            for size in (shape.as_list() if info is None else shape)
        ]  # fmt: skip
        wanted[name] = variable.dtype.base_dtype.name, sizes
    extra = sorted(set(saved) - set(wanted))
    others = [saved[name] for name in extra]
    missing: list[MissingVariable] = []
    for name, (dtype, sizes) in sorted(wanted.items()):
        found = saved.get(name)
        if found is None:
            near = _near(name, sizes, others) if len(missing) < MOST_WITH_NEAR else []
            missing.append(MissingVariable(name, dtype, sizes, "", near))
        elif found.dtype != dtype or not _fits(sizes, found.shape):
            words = f"{found.dtype} {shape_words(found.shape)}"
            missing.append(MissingVariable(name, dtype, sizes, words, []))
    return missing, extra


def _fits(sizes: list[int] | None, shape: tuple[int, ...]) -> bool:
    if sizes is None:
        return True
    pairs = zip(sizes, shape, strict=False)
    return len(sizes) == len(shape) and all(a in (-1, b) for a, b in pairs)


def _near(name: str, sizes: list[int] | None, others: list[SavedVariable]) -> list[str]:
    """Names that may be meant: of this shape if any is, alike, or with the same end."""
    end = name.rpartition("/")[2]

    def rank(other: SavedVariable) -> tuple[bool, bool, int, int]:
        fits = _fits(sizes, other.shape)
        alike = sum(a == b for a, b in zip(name, other.name, strict=False))
        apart = abs(len(name) - len(other.name))
        return fits, other.name.rpartition("/")[2] == end, alike, -apart

    scored = []
    for other in heapq.nlargest(MOST_COMPARED, others, rank):
        likeness = difflib.SequenceMatcher(None, name, other.name).ratio()
        fits, has_end, *_ = rank(other)
        if likeness >= _LEAST_LIKENESS or (fits and has_end):
            scored.append((fits, has_end, likeness, other.name))
    scored.sort(reverse=True)
    has_fit = any(fits for fits, *_ in scored)
    likely = [other for fits, *_, other in scored if fits or not has_fit]
    return likely[:MOST_NEAR]
