"""The loop (frame) of each node of a step, and errors of malformed loops.

Source: core/graph/control_flow.cc (BuildControlFlowInfo).
"""

from __future__ import annotations

from collections import deque

from tfteach.engine.plan.step import Node, Step
from tfteach.framework import errors
from tfteach.framework.op_traits import Flow

Path = tuple[str, ...]  # the enclosing frames, outermost first


def frames_of(step: Step) -> dict[Node, Path]:
    """The enclosing loops (by frame name) of each node.

    Raises:
      InvalidArgumentError: a node has inputs of different loops, or an Exit is in none.
    """
    users: dict[Node, list[Node]] = {}
    waits: dict[Node, int] = {}
    for node in step.nodes:
        before = {edge.node for edge in node.inputs} | set(node.control)
        for other in before:
            users.setdefault(other, []).append(node)
        waits[node] = len(before)
    nodes = [*step.feeds.values(), *step.nodes]
    queue = deque(node for node in nodes if not waits.get(node))
    paths: dict[Node, Path] = dict.fromkeys(queue, ())
    while queue:
        node = queue.popleft()
        path = path_behind(node, paths[node])
        for user in users.get(node, ()):
            if user not in paths:
                paths[user] = path
                queue.append(user)
            elif paths[user] != path:
                _refuse(user, node, path, paths)
    return paths


def path_behind(node: Node, path: Path) -> Path:
    """The loops that the outputs of `node` are in."""
    if node.flow is Flow.ENTER:
        return (*path, node.spec.frame_name)  # type: ignore[attr-defined]
    if node.flow is Flow.EXIT:
        if not path:
            raise errors.invalid_argument(
                f"node {node.name} is an Exit that no Enter leads to: only the "
                "value of a loop can leave it."
            ).at(node.op)
        return path[:-1]
    return path


def _refuse(user: Node, node: Node, path: Path, paths: dict[Node, Path]) -> None:
    other = next(
        n
        for n in (*(edge.node for edge in user.inputs), *user.control)
        if n in paths and path_behind(n, paths[n]) == paths[user]
    )
    theirs = paths[user]
    raise errors.invalid_argument(
        f"node {user.name} has inputs from different frames. The input "
        f"node {node.name} is in frame '{path[-1] if path else ''}'. The input "
        f"node {other.name} is in frame '{theirs[-1] if theirs else ''}'."
    ).at(user.op)
