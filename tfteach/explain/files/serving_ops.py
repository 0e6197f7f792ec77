"""The part of a model that computes what a caller requests, and what prevents it.

In SavedModels of TensorFlow 2 the saver and the initializer are calls of functions
beside the one that computes: they are named alike, and read the same variables.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework.op import op_class

__all__ = ["beside_outputs", "calls_that_compute", "ends_of_bodies", "switches"]

HUB_READERS = 20
MOST_SOURCES = 30  # boxes that are drawn with the calls that read them
MOST_IN_WRAPPER = 12  # a call, its arguments and results
_MOST_OPENED = 6  # scopes inside each other


def beside_outputs(graph_def: Any, outputs: Iterable[str]) -> list[str]:
    """What would hide the calls that compute some outputs.

    That is what no output needs: the saver, the initializer, and variables that only
    these read. The other variables, too, if they are so many that their edges would
    fill the picture.

    Args:
      graph_def: a GraphDef.
      outputs: the tensors of all signatures, which calls compute.

    Returns:
      Names of ops and scopes at the top of the graph, in graph order.
    """
    by_name = {node.name: node for node in graph_def.node}
    calls = [_op(output) for output in outputs]
    waiting = list(calls)
    needed: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in needed:
            needed.add(name)
            waiting += [_op(source) for source in by_name[name].input]
    shown = {_top(name) for name in needed}
    if len(shown) > MOST_SOURCES:
        shown = {name for name in needed if op_class(by_name[name].op).must_be_fed}
        shown.update(map(_top, calls))
    found = dict.fromkeys(_top(node.name) for node in graph_def.node)
    return [name for name in found if name not in shown]


def switches(graph_def: Any) -> list[str]:
    """Placeholders that a large part of the graph reads, such as Keras' learning phase.

    Their edges would cross the whole picture.

    Args:
      graph_def: a GraphDef.

    Returns:
      Names of ops at the top of the graph.
    """
    scopes: dict[str, set[str]] = {}
    for node in graph_def.node:
        for name in node.input:
            scopes.setdefault(_op(name), set()).add(_top(node.name))
    return [
        node.name
        for node in graph_def.node
        if "/" not in node.name
        and len(scopes.get(node.name, ())) >= HUB_READERS
        and "shape" in node.attr
        and not node.attr["shape"].shape.dim
        and not op_class(node.op).returns_handle
    ]


def ends_of_bodies(graph_def: Any) -> list[str]:
    """Ops that only wait for a large part of the graph.

    A function of TensorFlow 2 has one that waits for all its reads of variables: their
    edges would pull the layers of a model apart.

    Args:
      graph_def: a GraphDef.

    Returns:
      Names of ops.
    """
    return [
        node.name
        for node in graph_def.node
        if op_class(node.op).does_nothing
        and len({_op(name).rpartition("/")[0] for name in node.input}) >= HUB_READERS
    ]


def calls_that_compute(names: Iterable[str], outputs: Iterable[str]) -> list[str]:
    """The calls inside which the outputs of a signature are computed.

    A signature's function only calls another, which may hold a single model: of such
    scopes the contents are wanted.

    Args:
      names: of the ops in the picture, with functions as scopes of their calls.
      outputs: the tensors of a signature.

    Returns:
      The names of scopes, each inside the one before.
    """
    ops = list(names)
    taken = set(ops)
    found: list[str] = []
    for output in outputs:
        at = _op(output)
        while len(found) < _MOST_OPENED:
            sizes = _sizes(at, ops)
            if not sizes or (at not in taken and len(sizes) > MOST_SOURCES):
                break
            found.append(at)
            most = max(sizes, key=lambda part: sizes[part])
            is_wrapper = len(sizes) <= MOST_IN_WRAPPER and (
                sizes[most] * 3 > sum(sizes.values()) * 2
            )
            if at not in taken or not is_wrapper:
                break
            at = f"{at}/{most}"
        if found:
            break
    return found


def _sizes(scope: str, ops: Iterable[str]) -> dict[str, int]:
    """The ops and scopes in a scope, with their numbers of ops."""
    start = f"{scope}/"
    found: dict[str, int] = {}
    for name in ops:
        if name.startswith(start):
            part = _top(name[len(start) :])
            found[part] = found.get(part, 0) + 1
    return found


def _op(tensor: str) -> str:
    return tensor.removeprefix("^").partition(":")[0]


def _top(name: str) -> str:
    return name.partition("/")[0]
