"""Partial runs: one step whose feeds and fetches arrive in several calls.

Source: python/client/session.py, Session.partial_run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
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
SET_UP_ON_SERVER_FIRST = "Must run PartialRunSetup before performing partial runs"


def set_up(handle: Any, is_remote: bool) -> PartialRun | RemotePartialRun:
    """A handle of `partial_run_setup`.

    Args:
      handle: it, or whatever the user passed.
      is_remote: whether the session's runs are those of a server.

    Raises:
      InvalidArgumentError: it is none.
    """
    if not isinstance(handle, PartialRun | RemotePartialRun):
        message = SET_UP_ON_SERVER_FIRST if is_remote else SET_UP_FIRST
        raise errors.InvalidArgumentError(None, None, message)
    return handle


class Host(Protocol):
    """The part of a session's interface that a partial run uses."""

    resources: Resources
    planner: StepPlanner

    @property
    def graph(self) -> Graph: ...


class Promises:
    """What `partial_run_setup` named, of which each comes once.

    Args:
      fetches: tensors and operations.
      feeds: tensors.

    Attributes:
      fetches, feeds: see the arguments.
      fed, fetched: those that came.
    """

    def __init__(
        self, fetches: Iterable[Operation | Tensor], feeds: Iterable[Tensor]
    ) -> None:
        self.fetches, self.feeds = set(fetches), dict.fromkeys(feeds)
        self.fed: set[Tensor] = set()
        self.fetched: set[Operation | Tensor] = set()

    @property
    def are_kept(self) -> bool:
        return self.fetches <= self.fetched and self.feeds.keys() <= self.fed

    def check(
        self,
        elements: Sequence[Operation | Tensor],
        fed: Collection[Tensor],
        known: Collection[Tensor] = (),
        done: Collection[Operation] = (),
    ) -> None:
        """Refuse a part whose fetches or feeds are not due.

        Args:
          elements: its fetches.
          fed: its feeds.
          known: tensors that were computed.
          done: operations that have run.

        Raises:
          InvalidArgumentError: of these fetches and feeds one is not due.
        """

        def refuse(message: str) -> None:
            raise errors.InvalidArgumentError(None, None, message)

        if self.are_kept:
            refuse(SET_UP_FIRST)
        for tensor in fed:
            if tensor not in self.feeds:
                refuse(
                    f"The feed {tensor.name} was not specified in partial_run_setup."
                )
            if tensor in self.fed:
                refuse(f"The feed {tensor.name} has already been fed.")
        for element in elements:
            if element not in self.fetches:
                refuse(
                    f"The fetch {element.name} was not specified in partial_run_setup."
                )
            if element in self.fetched:
                refuse(f"The fetch {element.name} has already been fetched.")
        missing = [t for t in self.feeds if t not in self.fed and t not in fed]
        needed = prune(list(elements), [*self.fed, *fed, *known]).needed
        for tensor in missing:
            if tensor.op in needed and tensor.op not in done:
                refuse(
                    f"Fetch {tensor.name} can't be computed from the feeds that have "
                    "been fed so far. Feed it first: it is needed for "
                    f"{', '.join(e.name for e in elements)}."
                )


class PartialRun:
    """The state of a run between its parts.

    Every value computed so far is stored and fed to the later parts, so
    that no op runs twice.
    """

    def __init__(self, session: Host, fetches: Any, feeds: Any) -> None:
        graph = session.graph
        self._session = session
        self._promises = Promises(
            Fetches(graph, fetches).elements,
            (resolve_feed(graph, part) for key in feeds or () for part in parts(key)),
        )
        self._values: dict[Tensor, Any] = {}
        self._done: set[Operation] = set()
        if not self._promises.fetches:
            raise errors.InvalidArgumentError(
                None, None, "Must specify at least one target to fetch or execute."
            )

    @property
    def is_over(self) -> bool:
        """Whether all feeds and fetches came."""
        return self._promises.are_kept

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
        self._promises.check(resolved.elements, fed, self._values, self._done)
        for tensor, value in fed.items():
            self._values[tensor] = converter_for(tensor)(value)
        self._promises.fed.update(fed)
        self._compute(resolved.elements)
        self._promises.fetched.update(resolved.elements)
        known = self._values
        inner = [inline_functions.resolved(t, known) for t in resolved.tensors]
        return resolved.result([own_copy(known[tensor]) for tensor in inner])

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
