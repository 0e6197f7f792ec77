"""Partial runs: one step whose feeds and fetches arrive in several calls.

Source: python/client/session.py, Session.partial_run.
"""

from __future__ import annotations

from typing import Any, Protocol

from tfteach.engine.execute.compile import compile_step, own_copy
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.program import Program
from tfteach.engine.plan import inline_functions
from tfteach.engine.plan.build_step import build_step
from tfteach.engine.plan.prune import prune
from tfteach.engine.session.feeds import (
    converter_for,
    flatten_feeds,
    parts,
    resolve_feed,
)
from tfteach.engine.session.fetches import Fetches
from tfteach.engine.session.planner import StepPlanner
from tfteach.engine.session.targets import RemotePartialRun
from tfteach.framework import errors
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import FeedDict

SET_UP_FIRST = "Must run 'setup' before performing partial runs!"


def set_up(handle: Any) -> PartialRun | RemotePartialRun:
    """A handle of `partial_run_setup`.

    Raises:
      InvalidArgumentError: it is none.
    """
    if not isinstance(handle, PartialRun | RemotePartialRun):
        raise errors.InvalidArgumentError(None, None, SET_UP_FIRST)
    return handle


class Host(Protocol):
    """The part of a session's interface that a partial run uses."""

    resources: Resources
    planner: StepPlanner

    @property
    def graph(self) -> Graph: ...


class PartialRun:
    """The state of a run between its parts.

    Every value computed so far is stored and fed to the later parts, so
    that no op runs twice.
    """

    def __init__(self, session: Host, fetches: Any, feeds: Any) -> None:
        graph = session.graph
        self._session = session
        self._fetches = set(Fetches(graph, fetches).elements)
        self._feeds = {
            resolve_feed(graph, part) for key in feeds or () for part in parts(key)
        }
        self._values: dict[Tensor, Any] = {}
        self._done: set[Operation] = set()
        self._fetched: set[Operation | Tensor] = set()
        if not self._fetches:
            raise errors.InvalidArgumentError(
                None, None, "Must specify at least one target to fetch or execute."
            )

    def run(self, fetches: Any, feed_dict: FeedDict | None) -> Any:
        """Accept further feeds, and return further fetches."""
        session = self._session
        resolved = Fetches(session.graph, fetches)
        if len(resolved.tensors) < len(resolved.elements):
            raise RuntimeError(
                "partial_run() requires empty target_list. Fetch tensors: an operation "
                "has no value."
            )
        fed = flatten_feeds(session.graph, feed_dict) if feed_dict else {}
        self._check(resolved.elements, fed)
        for tensor, value in fed.items():
            self._values[tensor] = converter_for(tensor)(value)
        self._compute(resolved.elements)
        self._fetched.update(resolved.elements)
        known = self._values
        inner = [inline_functions.resolved(t, known) for t in resolved.tensors]
        return resolved.result([own_copy(known[tensor]) for tensor in inner])

    def _check(self, elements: list[Any], fed: dict[Tensor, Any]) -> None:
        def refuse(message: str) -> None:
            raise errors.InvalidArgumentError(None, None, message)

        if self._fetches <= self._fetched and self._feeds <= self._values.keys():
            refuse(SET_UP_FIRST)
        for tensor in fed:
            if tensor not in self._feeds:
                refuse(
                    f"The feed {tensor.name} was not specified in partial_run_setup."
                )
            if tensor in self._values:
                refuse(f"The feed {tensor.name} has already been fed.")
        for element in elements:
            if element not in self._fetches:
                refuse(
                    f"The fetch {element.name} was not specified in partial_run_setup."
                )
            if element in self._fetched:
                refuse(f"The fetch {element.name} has already been fetched.")
        missing = self._feeds - self._values.keys() - fed.keys()
        needed = prune(elements, [*self._values, *fed]).needed
        for tensor in missing:
            if tensor.op in needed and tensor.op not in self._done:
                refuse(
                    f"Fetch {tensor.name} can't be computed from the feeds that have "
                    "been fed so far. Feed it first: it is needed for "
                    f"{', '.join(e.name for e in elements)}."
                )

    def _compute(self, elements: list[Any]) -> None:
        """Run the remaining ops, and store every value."""
        session = self._session
        known = tuple(t for t in self._values if not t.dtype.is_ref)
        pruned = prune(elements, known)
        for op in list(pruned.needed):
            if op in self._done:
                del pruned.needed[op]
        # A finished op without stored outputs has only control outputs: cut these.
        outputs = [
            t
            for op in pruned.needed
            for t in op.outputs
            if not t.dtype.is_ref or t in elements
        ]
        pending = [op for op in pruned.needed if not op.outputs]
        live = {*pruned.needed}
        step = build_step(
            pruned._replace(needed=_closed(pruned.needed, self._done)),
            [*outputs, *pending],
            known,
        )
        step.nodes = [node for node in step.nodes if node.op in live]
        session.planner.place(step)
        session.planner.partition(step)
        program = Program(compile_step(step, session.resources, session))
        values = program.run([self._values[t] for t in known])
        self._values.update(zip(outputs, values, strict=True))
        self._done.update(op for op in live if not _only_references(op))


def _closed(
    needed: dict[Operation, None], done: set[Operation]
) -> dict[Operation, None]:
    """`needed` and the finished operations it waits for, so that edges resolve."""
    whole = dict(needed)
    for op in needed:
        whole.update((c, None) for c in op.control_inputs if c in done)
        whole.update((t.op, None) for t in op.inputs if t.op in done)
    return whole


def _only_references(op: Operation) -> bool:
    return bool(op.outputs) and all(t.dtype.is_ref for t in op.outputs)
