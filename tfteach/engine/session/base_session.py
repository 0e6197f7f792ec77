"""`BaseSession`: runs parts of a graph, and holds the state of its variables.

A run: fetches and feeds -> (cached) program -> values.  A program is built once per
combination of fetches and fed tensors: prune, place, optimize, partition, compile.
It stays valid while the graph only grows.
Source: python/client/session.py (API and messages).
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import tfteach.engine.session.composite_tensors  # noqa: F401 - registers them
from tfteach.engine.devices.devices import Device
from tfteach.engine.devices.malloc_tuning import keep_freed_memory
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.program import StepObserver
from tfteach.engine.plan.partition import Transfers
from tfteach.engine.plan.place import Placement
from tfteach.engine.plan.step import Step
from tfteach.engine.session import targets
from tfteach.engine.session.config import default_config
from tfteach.engine.session.config_proto import Options, check_config
from tfteach.engine.session.device_list import attributes_of
from tfteach.engine.session.feeds import converter_for, parts, resolve_feed
from tfteach.engine.session.fetches import Element, Fetches, structure_key
from tfteach.engine.session.function_programs import Follow, following
from tfteach.engine.session.lru import MAX_PROGRAMS, Recent
from tfteach.engine.session.partial_run import PartialRun, set_up
from tfteach.engine.session.planner import AnyProgram, StepPlanner
from tfteach.engine.session.resolved_run import Asked, Plan, resolved
from tfteach.engine.session.unfolded import is_unfolded
from tfteach.framework import defaults
from tfteach.framework.errors import CancelledError, OpError
from tfteach.framework.graph import Graph, SessionClosed, SessionOpened, SessionRun
from tfteach.framework.observers import (
    RunRefused,
    announce_lifetime,
    announce_refusal,
)
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import FeedDict

made_sessions: weakref.WeakSet[BaseSession] = weakref.WeakSet()
_numbers = itertools.count(1)


class BaseSession:
    """Base of `Session` and `InteractiveSession`."""

    _closed: bool
    _is_dropped = False  # whether it is closed because nothing refers to it

    def __init__(
        self, target: Any = "", graph: Graph | None = None, config: Any = None
    ) -> None:
        began_s = time.perf_counter()
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        check_config(target, config)
        keep_freed_memory()
        self._graph = defaults.public_default_graph() if graph is None else graph
        config = default_config() if config is None else config
        self._config = config
        self._options = Options.of(config)
        self._options.check_alone(s._options for s in made_sessions if not s._closed)
        self.resources = Resources()
        self.planner = StepPlanner(self._options, config)
        self._target = targets.text_of(target or "")
        self._remote = targets.open_target(self._target, self._graph, config)
        several = len(self.planner.devices) > 1 or self._remote is not None
        watched = self._options.log_device_placement or self._options.is_static
        self._places_more = several or watched
        self.number = next(_numbers)  # in the order of this process's sessions
        self._known_size: int | None = None  # of the graph at the last run
        self._closed = self._was_reset = False
        self._lock = threading.RLock()
        # (fetches, fed keys) as the caller wrote them -> plan, for hashable ones
        self._ready: Recent[Any, Plan] = Recent(MAX_PROGRAMS // 2)
        self._programs: Recent[Any, tuple[AnyProgram, int]] = Recent(MAX_PROGRAMS)
        made_sessions.add(self)
        self._graph.add_planner(self)
        announce_lifetime(SessionOpened(self, began_s))

    # ---- properties

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        return self._graph

    @property
    def devices(self) -> list[Device]:
        """The devices that this session can use."""
        return self.planner.devices

    @property
    def placements(self) -> dict[str, Placement]:
        """Op name -> where it was placed last, and why."""
        return self.planner.placements

    @property
    def transfers(self) -> Transfers:
        """What was copied between devices."""
        return self.planner.transfers

    @property
    def graph_def(self) -> Any:
        """The GraphDef of the graph."""
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> bytes:
        """The target that the session was made with; b"" for this process."""
        return self._target.encode()

    def list_devices(self) -> list[Any]:
        """The devices this session can use, as `DeviceAttributes`.

        Raises:
          CancelledError: the session is closed.
        """
        self._check_running()
        if self._remote is not None:
            return self._remote.list_devices()
        return [attributes_of(device) for device in self.devices]

    # ---- running

    def run(
        self,
        fetches: Any,
        feed_dict: FeedDict | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Run what `fetches` need and return their values.

        Args:
          fetches: a Tensor, Operation, Variable or name; or any nesting of lists,
            tuples, namedtuples and dicts of them.
          feed_dict: values that stand in for tensors of the graph: tensor or name ->
            array, number, string or nested list.
          options: a RunOptions proto, or None.
          run_metadata: a RunMetadata proto that is filled in, or None.

        Returns:
          The structure of `fetches`, with arrays (NumPy scalars for rank 0, bytes for
          strings) in place of tensors and None in place of operations.

        Raises:
          RuntimeError: the session is closed, or the graph is empty.
          TypeError: a fetch or a feed key is of a wrong kind.
          ValueError: a fetch or feed is not of this graph, or a fed value does not fit.
          OpError: an op failed; the session can still be used.

        Example:
          >>> with tf.Session() as sess:
          ...     sess.run(tf.add(2, 3))
          5

        Source: python/client/session.py, Session.run.
        """
        if self._closed or options is not None or run_metadata is not None:
            return self._run_checked(fetches, feed_dict, options, run_metadata)
        kind = type(fetches)
        key = (kind, *fetches) if kind is list or kind is tuple else fetches
        try:
            fed_keys = () if feed_dict is None else tuple(feed_dict)
        except TypeError:  # no dict
            return self._run_checked(fetches, feed_dict, options, run_metadata)
        try:
            plan = self._ready.get((key, fed_keys))
        except TypeError:  # the structure is not hashable
            plan = None
        if plan is None and kind is not Tensor:
            plan = self._plan_of_nested(fetches, fed_keys)
        graph = self._graph
        if plan is None or plan.mutations != graph.mutations or graph.observers:
            return self._run_checked(fetches, feed_dict, options, run_metadata)
        if feed_dict:
            pairs = zip(plan.converters, feed_dict.values(), strict=True)
            fed = [converter(value) for converter, value in pairs]
            return plan.result(plan.program.run(fed))
        return plan.result(plan.program.run(()))

    def _plan_of_nested(self, fetches: Any, fed_keys: tuple[Any, ...]) -> Plan | None:
        try:
            return self._ready.get((structure_key(fetches), fed_keys))
        except TypeError:  # neither can be fetched
            return None

    def _check_open(self) -> None:
        if self._was_reset:
            self._check_running()
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def _check_running(self) -> None:
        if self._closed:
            raise CancelledError(None, None, "Session has been closed.")

    def _run_checked(
        self, fetches: Any, feed_dict: FeedDict | None, options: Any, run_metadata: Any
    ) -> Any:
        """`run` with all checks; caches the plan for the next time."""
        asked = self._flatten(fetches, feed_dict)
        settings = options, run_metadata
        if not self._graph.observers:
            return self._run_now(fetches, feed_dict, asked, settings)
        return self._announced(
            asked,
            lambda followers: self._run_now(
                fetches, feed_dict, asked, settings, followers
            ),
            run_metadata,
        )

    def _flatten(self, fetches: Any, feed_dict: FeedDict | None) -> Asked:
        """Resolve the arguments of `run`; raises for those that cannot run."""
        try:
            self._check_open()
            return resolved(self._graph, fetches, feed_dict)
        except Exception as error:
            announce_refusal(RunRefused(self, fetches, feed_dict, error))
            raise

    def _announced(
        self,
        asked: Asked,
        run: Callable[[list[StepObserver]], Any],
        run_metadata: Any = None,
    ) -> Any:
        """The results of `run`; the graph's observers are notified of the outcome."""
        elements = tuple(asked.fetches.elements)
        event = SessionRun(self, elements, asked.fed, [], run_metadata, [])
        for observer in self._graph.observers:
            observer(event)
        error: BaseException | None = None
        try:
            return run(event.followers)
        except BaseException as raised:
            error = raised
            raise
        finally:
            for call in event.at_end:
                call(error)

    def follow(
        self,
        fetches: Any,
        feed_dict: FeedDict | None,
        observers: Sequence[StepObserver],
        begin: Callable[[dict[str, Any]], None],
        functions: Follow | None = None,
    ) -> Any:
        """`run` with observers of each instruction.

        Args:
          fetches, feed_dict: as for `run`.
          observers: what follows the run.
          begin: called before the run with the fed arrays, by tensor name.
          functions: called with the body of each function that a kernel calls in this
            thread; returns the observers of that call. None to follow no function.
        """
        asked = self._flatten(fetches, feed_dict)
        names = [tensor.name for tensor in asked.fed]
        begin(dict(zip(names, asked.arrays, strict=True)))

        def run(followers: list[StepObserver]) -> Any:
            program, _ = self._program(asked.fetches.elements, asked.fed)
            every = [*observers, *followers]
            with following(functions):
                return asked.fetches.result(program.run(asked.arrays, every))

        return self._announced(asked, run)

    def _run_now(
        self,
        fetches: Any,
        feed_dict: FeedDict | None,
        asked: Asked,
        settings: tuple[Any, Any],
        followers: Sequence[StepObserver] = (),
    ) -> Any:
        """Look up or build the program, and run it."""
        program, mutations = self._program(asked.fetches.elements, asked.fed)
        result = self.planner.when_finished(asked.fetches.result)
        plan = Plan(program, asked.converters, result, mutations)
        self._remember(fetches, feed_dict, asked.fed, plan)
        return result(self._run_program(program, asked.arrays, settings, followers))

    def _run_program(
        self,
        program: AnyProgram,
        arrays: list[Any],
        settings: tuple[Any, Any],
        followers: Sequence[StepObserver] = (),
    ) -> Any:
        """The fetched values; `settings` are the options and the metadata."""
        timeout_ms = self._options.timeout_ms
        if settings == (None, None) and not timeout_ms:
            return program.run(arrays, followers)
        if isinstance(program, targets.RemoteProgram):
            return program.run_with(arrays, *settings)
        from tfteach.engine.session.run_options import run_with_options

        return run_with_options(self, program, arrays, settings, timeout_ms, followers)

    def _remember(
        self,
        fetches: Any,
        feed_dict: FeedDict | None,
        fed: tuple[Tensor, ...],
        plan: Plan,
    ) -> None:
        """Cache a plan under the arguments of `run`, if they determine it."""
        if feed_dict and len(fed) != len(feed_dict):
            return  # composite keys are expanded on each run
        if feed_dict and any(
            key is not tensor and not isinstance(key, str)
            for key, tensor in zip(feed_dict, fed, strict=True)
        ):
            return
        if self._options.timeout_ms or is_unfolded():
            return
        try:
            self._ready[structure_key(fetches), tuple(feed_dict or ())] = plan
            self._graph.is_planned = True
        except TypeError:
            return

    def _extend(self) -> None:
        """Process changes of the graph since the last run."""
        size = self._graph.version
        if self._known_size not in (None, size):
            self._options.check_growth()
        self.planner.placer.extend(self._graph)
        self._known_size = size
        self._options.check_executor()

    def graph_grew(self, op: Operation) -> None:
        """Clear the plan cache, if the new op may make the graph impossible to place.

        TF places the whole graph again before the next run, whatever that fetches.
        """
        if self._ready and (op.device or self._places_more):
            self._ready.clear()

    def _program(
        self, elements: Iterable[Element], fed: tuple[Tensor, ...]
    ) -> tuple[AnyProgram, int]:
        """The compiled program for these fetches and fed tensors."""
        elements = tuple(elements)
        unfolded = is_unfolded()
        key = elements, fed, unfolded
        with self._lock:
            self._check_running()
            if self._remote is not None:
                return self._remote.program(elements, fed), self._graph.mutations
            self._extend()
            mutations = self._graph.mutations
            found = self._programs.get(key)
            if found is not None and found[1] == mutations:
                self._programs[key] = found  # the latest used
                return found
            began_s = time.perf_counter()
            step = self.planner.plan(elements, fed, unfolded)
            program = self.planner.compile(step, self.resources, self)
            self.planner.count(time.perf_counter() - began_s)
            self._programs[key] = program, mutations
            return program, mutations

    def planned_step(
        self, elements: Iterable[Element], fed: tuple[Tensor, ...]
    ) -> Step:
        """The step that a run of these executes, after the optimizer's passes."""
        return self._program(elements, fed)[0].step

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function that runs `fetches`; faster than `run` for repeated calls.

        Args:
          fetches: as in `run`.
          feed_list: the tensors that the function's arguments feed, in order.
          accept_options: ignored: the function takes options and metadata anyway.

        Returns:
          `f(*values, options=None, run_metadata=None)`.

        Raises:
          TypeError: `feed_list` is no list or tuple.
          CancelledError: the session is closed.
        """
        self._check_running()
        if feed_list is not None and not isinstance(feed_list, list | tuple):
            raise TypeError("`feed_list` must be a list or tuple.")
        target = Fetches(self._graph, fetches)
        keys = list(feed_list or ())
        tensors = [resolve_feed(self._graph, p) for key in keys for p in parts(key)]
        fed = tuple(dict.fromkeys(tensors))
        is_plain = len(fed) == len(keys) and all(parts(k)[0] is k for k in keys)
        converters = [converter_for(tensor) for tensor in fed]
        graph, result = self._graph, self.planner.when_finished(target.result)
        program, planned = self._program(target.elements, fed)

        def call(*values: Any, **keywords: Any) -> Any:
            for name in keywords:
                if name not in ("options", "run_metadata"):
                    raise TypeError(
                        f"run() got an unexpected keyword argument {name!r}"
                    )
            if len(values) != len(converters) or not is_plain:
                # As in TF: surplus values are ignored, missing ones not fed.
                feeds = dict(zip(keys, values, strict=False))
                return self.run(fetches, feeds, **keywords)
            nonlocal program, planned
            if self._closed:
                self._check_open()
            if planned != graph.mutations:
                program, planned = self._program(target.elements, fed)
            arrays = [c(v) for c, v in zip(converters, values, strict=True)]
            settings = keywords.get("options"), keywords.get("run_metadata")
            return result(self._run_program(program, arrays, settings))

        return call

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """Begin a run whose feeds and fetches come in several parts.

        Args:
          fetches: all that will be fetched, as in `run`.
          feeds: all tensors that will be fed.

        Returns:
          A handle for `partial_run`.
        """
        self._check_open()
        if self._remote is not None:
            return self._remote.partial_run(fetches, feeds)
        return PartialRun(self, fetches, feeds)

    def partial_run(
        self, handle: Any, fetches: Any, feed_dict: FeedDict | None = None
    ) -> Any:
        """Continue a partial run: feed more, fetch more; no op runs twice.

        Args:
          handle: from `partial_run_setup`.
          fetches: some of those set up.
          feed_dict: values for some of the feeds set up.

        Raises:
          InvalidArgumentError: a fetch needs a feed not given yet, or was fetched
            before, or was not set up.
        """
        self._check_open()
        return set_up(handle, self._remote is not None).run(fetches, feed_dict)

    # ---- life

    def close(self) -> None:
        """Release the session's resources; running it raises RuntimeError.

        Runs of other threads finish, or end with CancelledError if they wait.
        """
        remote = None if self._closed else self._remote
        if not self._closed:
            announce_lifetime(SessionClosed(self.number, self._is_dropped))
        self._closed = True
        self.resources.cancellation.cancel()
        with self._lock:
            self._ready.clear()
            self._programs.clear()
            self.planner.close()
            released, self.resources = self.resources, Resources()
        released.release()
        if remote is not None:
            remote.close()

    def __del__(self, exiting: Callable[[], bool] = sys.is_finalizing) -> None:
        if not (exiting() or getattr(self, "_closed", True)):  # at exit globals go
            self._is_dropped = True
            with suppress(OpError):  # of a server that is gone
                self.close()

    @contextmanager
    def as_default(self) -> Iterator[BaseSession]:
        """Make this the default session in the block, without closing it after."""
        with defaults.default_session(self):
            yield self
