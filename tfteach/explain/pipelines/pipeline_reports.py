"""What kernels report to a watch: draws of iterators, and calls of queues."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from tfteach.explain.pipelines.dataset_river import Draws
from tfteach.explain.pipelines.queue_river import OpMeter
from tfteach.framework.call_origin import SourceLine, user_line
from tfteach.framework.pipeline_meters import StageMeter
from tfteach.ops.queues.queue_attempts import Queue


class PipelineReports:
    """Collects the reports of all sessions, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._draws: dict[Any, Draws] = {}  # by iterator
        # By session, op and thread.
        self._ops: dict[tuple[Any, str, int], OpMeter] = {}
        self._lines: dict[tuple[Any, str], SourceLine | None] = {}

    def stage(self, pipeline: Any, stage: str) -> StageMeter:
        """The meter of a stage.

        Args:
          pipeline: the iterator whose dataset has it.
          stage: its key.
        """
        draws = self._draws_of(pipeline)
        with self._lock:
            found = draws.meters.get(stage)
            if found is None:
                found = draws.meters[stage] = StageMeter()
            return found

    def draw(self, context: Any, iterator: Any) -> Any:
        """The next element of an iterator.

        Args:
          context: of the kernel that draws.
          iterator: the iterator.
        """
        draws = self._draws_of(iterator)
        if draws.session is None:
            draws.session, draws.line = context.session, user_line()
        draws.begin()
        try:
            found = iterator.next(context)
        except BaseException:
            draws.stop()
            raise
        draws.end()
        return found

    def passed(self, context: Any, queue: Any, count: int) -> None:
        """An op added elements to a queue, or removed them.

        Args:
          context: of the op's kernel.
          queue: the queue.
          count: how many; negative if it removed them.
        """
        self._meter_of(context).passed(count)

    def waited(self, context: Any, queue: Any, elapsed_ns: int) -> None:
        """An op ended its wait for a queue.

        Args:
          context: of the op's kernel.
          queue: the queue.
          elapsed_ns: how long it waited.
        """
        self._meter_of(context).waited_ns += elapsed_ns

    def _draws_of(self, iterator: Any) -> Draws:
        found = self._draws.get(iterator)
        if found is None:
            with self._lock:
                found = self._draws.setdefault(iterator, Draws(iterator.name))
        return found

    def _meter_of(self, context: Any) -> OpMeter:
        key = context.session, context.op.name, threading.get_ident()
        found = self._ops.get(key)
        if found is None:
            line = user_line()
            with self._lock:
                self._lines[context.session, context.op.name] = line
                found = self._ops.setdefault(key, OpMeter())
        return found

    # ---- for the watch

    def draws(self) -> list[Draws]:
        """The requests of each iterator's consumer."""
        with self._lock:
            return list(self._draws.values())

    def sessions(self) -> set[Any]:
        """The sessions whose queues were used."""
        with self._lock:
            return {key[0] for key in self._ops}

    def meters_in(self, session: Any) -> dict[str, list[OpMeter]]:
        """The meters of the ops that used a session's queues, one for each thread."""
        with self._lock:
            ops = list(self._ops.items())
        found: dict[str, list[OpMeter]] = {}
        for (owner, op, _), meter in ops:
            if owner is session:
                found.setdefault(op, []).append(meter)
        return found

    def lines_in(self, session: Any) -> dict[str, SourceLine | None]:
        """The lines of user code that first ran these ops."""
        with self._lock:
            lines = list(self._lines.items())
        return {op: line for (owner, op), line in lines if owner is session}

    def buffers(self) -> Iterator[tuple[str, int, int]]:
        """The key, the contents and the capacity of each buffer."""
        for draws in self.draws():
            for key, meter in list(draws.meters.items()):
                if (buffered := meter.buffered) is not None:
                    yield (key, *buffered)
        for session in self.sessions():
            for name, item in session.resources.items():
                if isinstance(item, Queue):
                    key = name[2].removeprefix("node ")
                    yield key, item.size, item.capacity

    def progress(self) -> int:
        """A number that grows whenever an element passes a stage or a queue."""
        with self._lock:
            calls = sum(meter.calls for meter in self._ops.values())
        for draws in self.draws():
            calls += draws.count + sum(m.count for m in list(draws.meters.values()))
        return calls
