"""A task's part of a partial run.

Source: core/distributed_runtime/{worker,partial_run_mgr}.cc.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tfteach.engine.flow.flow_nodes import DEAD
from tfteach.framework import errors
from tfteach.framework.dtypes import DType
from tfteach.framework.waiting import Cancellation, on_behalf_of, wait_until
from tfteach.lib.distributed_runtime.call_threads import call_threads
from tfteach.lib.distributed_runtime.partition_session import PartitionSession, received
from tfteach.lib.distributed_runtime.rendezvous import Rendezvous
from tfteach.lib.distributed_runtime.run_messages import RunGraphRequest
from tfteach.lib.distributed_runtime.service import status_of


class PartialPart:
    """Runs a part once, while the master's calls supply feeds and collect fetches.

    Args:
      session: the part.
      step_id: of the step.
      rendezvous: of the step; feeds and fetches go through it.
    """

    def __init__(
        self, session: PartitionSession, step_id: int, rendezvous: Rendezvous
    ) -> None:
        self._session = session
        self._step_id = step_id
        self._rendezvous = rendezvous
        self._cancellation = Cancellation()
        self._condition = threading.Condition()
        self._has_ended = False
        self._error: errors.OpError | None = None
        call_threads.start(self._run)

    def _run(self) -> None:
        try:
            with on_behalf_of(self._cancellation):
                self._session.run_partially(self._step_id)
        except Exception as error:
            failure = status_of(error, "RunGraph")
            kind = errors.exception_type_from_error_code(failure.error_code)
            self._error = kind(None, None, failure.message)
            self._rendezvous.abort(self._error)
        with self._condition:
            self._has_ended = True
            self._condition.notify_all()

    def advance(self, request: RunGraphRequest) -> list[tuple[str, Any, DType]]:
        """Accept further feeds, and return further fetches, by key.

        The last call waits until the part has ended.

        Raises:
          OpError: an op failed, or the master gave up.
        """
        session = self._session
        for key, value in request.feeds.items():
            if key in session.feeds:
                session.send(self._step_id, key, value, session.feeds[key].dtype)
        try:
            found = [
                (key, self._take(key), session.fetches[key].dtype)
                for key in request.fetches
                if key in session.fetches
            ]
        except errors.OpError:
            if self._error is None:
                raise
            raise self._error from None
        if request.is_last_partial_run:
            with self._condition:
                self._wait(self._condition, lambda: self._has_ended)
        if self._error is not None:
            raise self._error
        return found

    def _take(self, key: str) -> Any:
        value = received(self._rendezvous.take(key, self._wait), key)
        if value is DEAD:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"From {self._session.task.name}:\nThe tensor returned for {key} was "
                "not valid.",
            )
        return value

    def _wait(
        self, condition: threading.Condition, is_there: Callable[[], bool]
    ) -> None:
        of_session = self._session.resources.cancellation
        wait_until(condition, is_there, "Call was cancelled", of_session)

    def cancel(self) -> None:
        """End the part if it still runs."""
        self._cancellation.cancel()
