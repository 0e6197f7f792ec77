"""The iterations of the loops of a user's Python code, as seen from calls inside them.

Python does not report the iterations of a loop.  They follow from where the code is at
each call: it jumps back, or the `for` has another value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tfteach.explain.user_calls import FUNCTIONS, tree_of
from tfteach.framework.call_origin import decode_source

Frames = list[tuple[FrameType, FrameType | None]]


class Loop(NamedTuple):
    """A loop of the code.

    Attributes:
      kind: "for" or "while".
      line: the line of the keyword.
      first, last: the lines that each iteration may run.
      targets: the names that a `for` assigns, and nothing in its body.
    """

    kind: str
    line: int
    first: int
    last: int
    targets: tuple[str, ...]

    @property
    def name(self) -> str:
        """Such as "for_line_4", for a scope."""
        return f"{self.kind}_line_{self.line}"

    def contains(self, line: int) -> bool:
        """Whether a line is repeated by the loop."""
        return self.first <= line <= self.last


class OpenLoop:
    """A loop while it runs.

    Attributes:
      loop: the loop.
      iteration: the number of the iteration, from 0.
      scope: where a caller draws it; "" at first.
    """

    def __init__(self, loop: Loop, frame: FrameType) -> None:
        self.loop, self.iteration, self.scope = loop, 0, ""
        self.values = _values(loop, frame)

    def has_other_values(self, frame: FrameType) -> bool:
        """Whether a `for` has assigned another object since the iteration began."""
        pairs = zip(self.values, _values(self.loop, frame), strict=True)
        return any(old is not new for old, new in pairs)

    def advance(self, frame: FrameType) -> None:
        """Begin the next iteration."""
        self.iteration += 1
        self.values = _values(self.loop, frame)


class _Level:
    """A frame of the user's code, where it is, and the loops that it is in."""

    def __init__(self, frame: FrameType, called: FrameType | None) -> None:
        self.frame, self.called, self.at = frame, called, frame.f_lasti
        self.loops: list[OpenLoop] = []


class LoopTracker:
    """Follows the loops of the user's code from call to call.

    It keeps the frames of the last call alive: a frame that has ended must not be
    taken for the next one at the same address.
    """

    def __init__(self) -> None:
        self._levels: list[_Level] = []
        self._loops: dict[tuple[CodeType, int], tuple[int, tuple[Loop, ...]]] = {}

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
            self._open(level)
            known.append(level)
        return [loop for level in known for loop in level.loops]

    def close(self) -> None:
        """Let go of all frames."""
        self._levels.clear()

    def _move(self, level: _Level, frame: FrameType, called: FrameType | None) -> None:
        """The code of a frame went on to another call."""
        before, _ = self._around(frame, level.at)
        is_back = frame.f_lasti < level.at
        is_back |= frame.f_lasti == level.at and called is not level.called
        level.at, level.called = frame.f_lasti, called
        line, _ = self._around(frame, level.at)
        while level.loops and not level.loops[-1].loop.contains(line):
            level.loops.pop()
        again = next((o for o in level.loops if o.has_other_values(frame)), None)
        if again is None and is_back:
            inner = [o for o in level.loops if o.loop.contains(before)]
            again = inner[-1] if inner else None
        if again is not None:
            del level.loops[level.loops.index(again) + 1 :]
            again.advance(frame)
        self._open(level)

    def _open(self, level: _Level) -> None:
        """Enter the loops around the place of a frame that are not open yet."""
        _, loops = self._around(level.frame, level.at)
        is_open = {open_loop.loop for open_loop in level.loops}
        level.loops += [OpenLoop(x, level.frame) for x in loops if x not in is_open]

    def _around(self, frame: FrameType, at: int) -> tuple[int, tuple[Loop, ...]]:
        """The line at an offset of a frame's code, and the loops around it."""
        key = frame.f_code, at
        found = self._loops.get(key)
        if found is None:
            code = frame.f_code
            line = decode_source(code, at, code.co_filename).line
            found = self._loops[key] = line, loops_around(code.co_filename, line)
        return found


def loops_around(file: str, line: int) -> tuple[Loop, ...]:
    """The loops of a line's function that repeat the line, the outermost first."""
    tree = tree_of(file)
    if tree is None:
        return ()
    found: list[Loop] = []
    for node in ast.walk(tree):  # outer nodes come before those inside
        if isinstance(node, FUNCTIONS):
            if node.body[0].lineno <= line <= (node.end_lineno or node.lineno):
                found.clear()
        elif isinstance(node, ast.For | ast.While):
            loop = _described(node)
            if loop.contains(line):
                found.append(loop)
    return tuple(found)


def _described(node: ast.For | ast.While) -> Loop:
    last = node.body[-1].end_lineno or node.body[-1].lineno
    if isinstance(node, ast.While):
        return Loop("while", node.lineno, node.lineno, last, ())
    in_body = {name for inner in node.body for name in _assigned(inner)}
    names = tuple(name for name in _assigned(node.target) if name not in in_body)
    return Loop("for", node.lineno, node.body[0].lineno, last, names)


def _assigned(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id


def _values(loop: Loop, frame: FrameType) -> list[Any]:
    """What the loop's names refer to in a frame."""
    if not loop.targets:
        return []
    names = frame.f_locals
    return [names.get(name) for name in loop.targets]
