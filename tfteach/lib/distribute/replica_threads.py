"""Call a function once per replica, in threads that take turns.

Only one thread runs at a time: the first replica until it calls `merge_call`, then the
second, and so on; then the calling thread, which merges.  So the graph is the same each
time.

Source: python/distribute/mirrored_strategy.py.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from tfteach.framework.graph import get_default_graph
from tfteach.framework.scope import name_scope
from tfteach.lib.distribute.distributed_values import regroup, select_replica
from tfteach.lib.distribute.replica_context import ReplicaContext
from tfteach.variables.creation import creators, creators_of_thread
from tfteach.variables.scope import get_variable_scope, variable_scope


class _Stopped(BaseException):
    """Ends a replica's thread because another one failed."""


class _SharedVariables:
    """Shares the first replica's `tf.Variable(...)`s with the other replicas.

    They find it by its name, without the suffixes that make names unique, and by how
    often the name was asked for.
    """

    def __init__(self) -> None:
        self._made: dict[str, list[Any]] = {}

    def creator(self, index: int) -> Callable[..., Any]:
        """The variable creator of a replica."""
        asked: dict[str, int] = {}

        def make(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            variable = next_creator(**kwargs)
            name = _without_suffixes(kwargs.get("name"))
            self._made.setdefault(name, []).append(variable)
            return variable

        def find(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            name = _without_suffixes(kwargs.get("name"))
            number = asked.get(name, 0)
            asked[name] = number + 1
            found = self._made.get(name, ())
            if number >= len(found):
                raise RuntimeError(
                    f"Tried to create variable {kwargs.get('name')} with mismatching "
                    f"name on device {index}"
                )
            return found[number]

        return find if index else make


def _without_suffixes(name: str | None) -> str:
    return "Variable" if name is None else re.sub(r"_\d(?=/|$)", "", name)


class _ThreadedReplicaContext(ReplicaContext):
    def __init__(self, strategy: Any, index: int, thread: _Replica) -> None:
        super().__init__(strategy, index)
        self._thread = thread

    def _merge_call(
        self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return self._thread.merged(fn, args, kwargs)


class _Replica(threading.Thread):
    """A replica's thread; `resume` lets it run until it merges, ends or fails.

    Attributes:
      result: the function's return value.
      error: its exception, or None.
      is_done: True once the thread has ended.
      request: the function to merge by, and this replica's arguments.
      scopes: the name scope, the variable scope and the control inputs there.
    """

    def __init__(
        self, strategy: Any, index: int, device: str, variables: _SharedVariables,
        call: Callable[[], Any],
    ) -> None:  # fmt: skip
        super().__init__(name=f"Replica-{index}", daemon=True)
        self._call, self._device, self._index = call, device, index
        self._context = _ThreadedReplicaContext(strategy, index, self)
        self._graph = get_default_graph()
        self._state = self._graph.scopes.state
        scope = self._graph.get_name_scope()
        scope = f"{scope}/" if scope else ""
        self._names = f"{scope}replica_{index}/" if index else scope
        self._variable_scope = get_variable_scope()
        self._creators = [*creators(self._graph), variables.creator(index)]
        self._may_run, self._paused = threading.Event(), threading.Event()
        self._is_stopped = False
        self.result: Any = None
        self.error: BaseException | None = None
        self.is_done = False
        self.request: tuple[Any, tuple[Any, ...], dict[str, Any]] | None = None
        self.scopes: tuple[str, Any, Any] | None = None
        self._merge_result: Any = None

    # ---- for the calling thread

    def resume(self, merge_result: Any = None) -> None:
        """Resume with this replica's part of a merge's result, until the next pause."""
        self._merge_result = merge_result
        self._may_run.set()
        self._paused.wait()
        self._paused.clear()

    def end(self) -> None:
        """Stop and join the thread, unless it has ended."""
        if self.is_alive():
            self._is_stopped = True
            self._may_run.set()
            self.join()

    # ---- in the thread

    def run(self) -> None:
        self._wait()
        try:
            if not self._is_stopped:
                self._run()
        except _Stopped:
            pass
        except BaseException as error:
            self.error = error
        self.is_done = True
        self._paused.set()

    def _run(self) -> None:
        graph = self._graph
        graph.scopes.state = self._state
        with (
            graph.as_default(),
            creators_of_thread(self._creators),
            self._context,
            graph.device(self._device),
            graph.name_scope(self._names),
            variable_scope(
                self._variable_scope,
                reuse=self._index > 0 or None,
                auxiliary_name_scope=False,
            ),
        ):
            self.result = self._call()

    def _wait(self) -> None:
        self._may_run.wait()
        self._may_run.clear()

    def merged(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Pause until the calling thread has called `fn`; its result for this one."""
        if get_default_graph() is not self._graph:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a tf.function."
            )
        self.request = fn, args, kwargs
        names = self._graph.get_name_scope()
        control = self._graph.scopes.state.control
        self.scopes = f"{names}/" if names else "", get_variable_scope(), control
        self._paused.set()
        self._wait()
        if self._is_stopped:
            raise _Stopped
        return self._merge_result


def call_in_replicas(
    strategy: Any,
    devices: tuple[str, ...],
    fn: Callable[..., Any],
    args: Any,
    kwargs: Any,
) -> Any:
    """Call a function in each replica, and regroup its results.

    Raises:
      RuntimeError: the replicas called `merge_call` a different number of times.
    """
    variables = _SharedVariables()
    threads = []
    for index, device in enumerate(devices):
        own_args, own_kwargs = select_replica(index, (args, kwargs))

        def call(args: Any = own_args, kwargs: Any = own_kwargs) -> Any:
            return fn(*args, **kwargs)

        threads.append(_Replica(strategy, index, device, variables, call))
    for thread in threads:
        thread.start()
    try:
        _run_together(strategy, devices, threads)
    finally:
        for thread in threads:
            thread.end()
    return regroup(devices, [thread.result for thread in threads])


def _run_together(
    strategy: Any, devices: tuple[str, ...], threads: list[_Replica]
) -> None:
    merged: Any = None
    while True:
        for index, thread in enumerate(threads):
            thread.resume(select_replica(index, merged))
            if thread.error is not None:
                raise thread.error
        done = [thread.is_done for thread in threads]
        if all(done):
            return
        if any(done):
            raise RuntimeError(
                "Some replicas made a different number of "
                "replica_context().merge_call() calls."
            )
        merged = _merge(strategy, devices, threads)


def _merge(strategy: Any, devices: tuple[str, ...], threads: list[_Replica]) -> Any:
    """Call the replicas' merge function in the scopes of the first replica."""
    requests = [thread.request for thread in threads]
    scopes = threads[0].scopes
    assert requests[0] is not None and scopes is not None
    fn = requests[0][0]
    args = regroup(devices, [request[1] for request in requests if request])
    kwargs = regroup(devices, [request[2] for request in requests if request])
    names, own_variable_scope, _ = scopes
    graph = get_default_graph()
    waits = [
        op
        for thread in threads
        if thread.scopes is not None
        for block in thread.scopes[2]
        for op in block.control_inputs
    ]
    with (
        name_scope(names),
        graph.control_dependencies(waits),
        variable_scope(own_variable_scope),  # whose name TensorFlow repeats
    ):
        return fn(strategy, *args, **kwargs)
