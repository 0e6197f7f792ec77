"""The iterations of the loops of a user's Python code, as seen from calls inside them.

Python does not report the iterations of a loop.  They follow from where the code is at
each call: it jumps back, or the `for` has another value.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tfteach.explain.graphs.user_calls import FUNCTIONS, tree_of
from tfteach.framework.call_origin import decode_source

Frames = list[tuple[FrameType, FrameType | None]]


class Loop(NamedTuple):
    """A loop of the code.

    Attributes:
      kind: "for" or "while".
      file, line: where the keyword is.
      targets: the names that a `for` assigns, and nothing in its body.
    """

    kind: str
    file: str
    line: int
    targets: tuple[str, ...]

    @property
    def name(self) -> str:
        """Such as "for_line_4", for a scope."""
        return f"{self.kind}_line_{self.line}"


class OpenLoop:
    """A loop while it runs.

    Attributes:
      loop: the loop.
      iteration: the number of the iteration, from 0.
      asks: whether the last call was made by a `for` that asks for its next value,
        which may be the end.
      scope: where a caller draws it; "" at first.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop, self.iteration, self.scope = loop, 0, ""
        self.asks = False
        self._values: list[Any] | None = None  # not assigned yet

    def assigned(self, values: list[Any]) -> bool:
        """Whether a `for` has assigned other objects since the iteration began.

        Args:
          values: what its names refer to now.
        """
        before = values if self._values is None else self._values
        self._values = values
        return any(old is not new for old, new in zip(before, values, strict=True))

    def advance(self) -> None:
        """Begin the next iteration."""
        self.iteration += 1
        self._values = None


class _Level:
    """A frame of the user's code, where it is, and the loops that it is in."""

    def __init__(self, frame: FrameType, called: FrameType | None) -> None:
        self.frame, self.called, self.at = frame, called, frame.f_lasti
        self.loops: list[OpenLoop] = []


class _Around(NamedTuple):
    """The loops around a place of the code, the outermost first.

    Attributes:
      loops: the loops.
      is_next: whether the last one, a `for`, asks for its next value there.
    """

    loops: tuple[Loop, ...]
    is_next: bool


class LoopTracker:
    """Follows the loops of the user's code from call to call.

    It keeps the frames of the last call alive: a frame that has ended must not be
    taken for the next one at the same address.
    """

    def __init__(self) -> None:
        self._levels: list[_Level] = []
        self._known: dict[tuple[CodeType, int], _Around] = {}

    def at_call(self, frames: Frames) -> list[OpenLoop]:
        """The loops around a call, the outermost first.

        Args:
          frames: as from `user_frames`.
        """
        found, known = list(reversed(frames)), self._levels
        common = 0
        for level, (frame, _) in zip(known, found, strict=False):
            if level.frame is not frame:
                break
            common += 1
        del known[common:]
        if common:
            self._move(known[-1], *found[common - 1])
        for frame, called in found[common:]:
            level = _Level(frame, called)
            self._enter(level, self._around(frame, level.at))
            known.append(level)
        return [loop for level in known for loop in level.loops]

    def close(self) -> None:
        """Let go of all frames."""
        for level in self._levels:
            _ = level.frame.f_locals  # Python's copy of it keeps older values alive
        self._levels.clear()

    def _move(self, level: _Level, frame: FrameType, called: FrameType | None) -> None:
        """The code of a frame went on to another call."""
        before = self._around(frame, level.at).loops
        is_back = frame.f_lasti < level.at
        is_back |= frame.f_lasti == level.at and called is not level.called
        level.at, level.called = frame.f_lasti, called
        now = self._around(frame, level.at)
        while level.loops and level.loops[-1].loop not in now.loops:
            level.loops.pop()
        assigned = self._assigned(level, now)
        again = assigned[0] if assigned else None
        if again is None and is_back:
            inner = [o for o in level.loops if o.loop in before]
            again = inner[-1] if inner else None
        if again is not None:
            del level.loops[level.loops.index(again) + 1 :]
            again.advance()
        self._enter(level, now)

    def _enter(self, level: _Level, now: _Around) -> None:
        """Enter the loops around the place of a frame that are not open yet."""
        known = {open_loop.loop for open_loop in level.loops}
        level.loops += [OpenLoop(loop) for loop in now.loops if loop not in known]
        self._assigned(level, now)
        for open_loop in level.loops:
            open_loop.asks = now.is_next and open_loop.loop is now.loops[-1]

    @staticmethod
    def _assigned(level: _Level, now: _Around) -> list[OpenLoop]:
        """The loops that have assigned their names anew, the outermost first."""
        names = level.frame.f_locals if level.loops else {}
        found = []
        for open_loop in level.loops:
            if now.is_next and open_loop.loop is now.loops[-1]:
                continue  # it is about to assign them
            if open_loop.assigned([names.get(t) for t in open_loop.loop.targets]):
                found.append(open_loop)
        return found

    def _around(self, frame: FrameType, at: int) -> _Around:
        """The loops around an offset of a frame's code."""
        key = frame.f_code, at
        found = self._known.get(key)
        if found is None:
            code = frame.f_code
            line = decode_source(code, at, code.co_filename).line
            is_next = dis.opname[code.co_code[at]] == "FOR_ITER"
            loops = loops_around(code.co_filename, line, is_next)
            found = self._known[key] = _Around(loops, is_next and bool(loops))
        return found


def loops_around(file: str, line: int, is_next: bool = False) -> tuple[Loop, ...]:
    """The loops of a line's function that repeat the line, the outermost first.

    Args:
      file: the file.
      line: the number of the line.
      is_next: whether a `for` on that line asks for its next value.
    """
    tree = tree_of(file)
    if tree is None:
        return ()
    found: list[Loop] = []
    for node in ast.walk(tree):  # outer nodes come before those inside
        if isinstance(node, FUNCTIONS):
            if node.body[0].lineno <= line <= (node.end_lineno or node.lineno):
                found.clear()
        elif isinstance(node, ast.For | ast.While):
            first = node.body[0].lineno
            if isinstance(node, ast.While) or (is_next and node.lineno == line):
                first = node.lineno
            if first <= line <= (node.body[-1].end_lineno or line):
                found.append(_described(node, file))
    return tuple(found)


def _described(node: ast.For | ast.While, file: str) -> Loop:
    if isinstance(node, ast.While):
        return Loop("while", file, node.lineno, ())
    in_body = {name for inner in node.body for name in _assigned(inner)}
    names = tuple(name for name in _assigned(node.target) if name not in in_body)
    return Loop("for", file, node.lineno, names)


def _assigned(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
