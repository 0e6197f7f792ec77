"""The master's side of a partial run of several tasks.

Source: core/distributed_runtime/master_session.cc (DoPartialRun).
"""

from __future__ import annotations

from typing import Any

from tfteach.engine.session.partial_run import Promises
from tfteach.framework import errors
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.distributed_runtime.cluster_session import ClusterSession
from tfteach.lib.distributed_runtime.step_run import PartialCall, new_step_id
from tfteach.lib.distributed_runtime.task_session import unique


class ClusterPartialRun:
    """A step that begins with the first call, and ends with the last one.

    Args:
      session: whose step it is.
      fetches, targets, feeds: all that the calls will fetch, run and feed.

    Raises:
      InvalidArgumentError: there is nothing to run, or a tensor is fed and fetched.

    Attributes:
      is_over: whether all feeds and fetches were made, or a call failed.
    """

    def __init__(
        self,
        session: ClusterSession,
        fetches: list[Tensor],
        targets: list[Operation],
        feeds: list[Tensor],
    ) -> None:
        elements = tuple(unique([*fetches, *targets]))
        if not elements:
            raise errors.InvalidArgumentError(
                None, None, "Must specify at least one target to fetch or execute."
            )
        for tensor in fetches:
            if tensor in feeds:
                raise errors.InvalidArgumentError(
                    None, None, f"{tensor.name} is both fed and fetched."
                )
        self._session = session
        self._promises = Promises(fetches, feeds)  # a target runs without being asked
        self._parts = session.parts_of(elements, tuple(dict.fromkeys(feeds)))
        self._step_id = new_step_id()
        self.is_over = False

    def run(self, fetches: list[Tensor], fed: dict[Tensor, Any]) -> list[Any]:
        """Send further feeds to the tasks, and return further fetches.

        Raises:
          OpError: a feed or fetch is not due, or an op failed.
        """
        promises = self._promises
        promises.check(fetches, fed)
        promises.fed.update(fed)
        promises.fetched.update(fetches)
        call = PartialCall(self._step_id, fetches, promises.are_kept)
        try:
            found = self._session.run_parts(self._parts, fed, None, None, call)
        except BaseException:
            self.is_over = True
            raise
        self.is_over = call.is_last
        return [found[tensor] for tensor in fetches]

    def end(self) -> None:
        """End the step early."""
        self._session.end_step(self._parts, self._step_id)
