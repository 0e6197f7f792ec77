"""Sessions whose steps another process runs, by the scheme of their target.

`BaseSession` resolves fetches and feeds as always; what is registered for the target's
scheme takes the place of planner, compiler and executor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tfteach.engine.execute.program import StepObserver
from tfteach.engine.plan.step import Step
from tfteach.engine.session.fetches import Element
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import FeedDict
from tfteach.framework.waiting import Deadline

NO_STEP = (
    "The step of a session on servers is planned and run there, op by op out of sight. "
    "%placement and %schedule plan it, %timeline and %cluster --fetch show what its "
    "tasks record. To step through it, run the graph in a tf.Session() of this "
    "process, without its devices of tasks."
)


class RemoteProgram(ABC):
    """The fetches and feeds of a run, by the names that the other process knows."""

    @property
    def step(self) -> Step:
        """What a local program executes.

        Raises:
          NotImplementedError: only the other process knows.
        """
        raise NotImplementedError(NO_STEP)

    @abstractmethod
    def run(
        self,
        fed: Sequence[Any],
        observers: Sequence[StepObserver] = (),
        deadline: Deadline | None = None,
    ) -> list[Any]:
        """The values of the fetched tensors; the observers see nothing of the run."""

    @abstractmethod
    def run_with(self, fed: Sequence[Any], options: Any, metadata: Any) -> list[Any]:
        """`run` with a RunOptions proto or None; fills a RunMetadata proto or None."""


class RemotePartialRun(ABC):
    """A partial run that another process executes."""

    @abstractmethod
    def run(self, fetches: Any, feed_dict: FeedDict | None) -> Any:
        """Accept further feeds, and return further fetches."""


class RemoteSession(Protocol):
    """A session of another process, for a graph of this one."""

    def program(
        self, elements: tuple[Element, ...], fed: tuple[Tensor, ...]
    ) -> RemoteProgram:
        """What runs these fetches.  First it sends what the graph grew by."""

    def partial_run(self, fetches: Any, feeds: Any) -> RemotePartialRun:
        """A new partial run."""

    def list_devices(self) -> list[Any]:
        """The devices that the session can use, as DeviceAttributes protos."""

    def close(self) -> None:
        """End the session."""


class Target(Protocol):
    """What opens and resets the sessions of one scheme."""

    def open(self, target: str, graph: Graph, config: Any) -> RemoteSession:
        """A session of the process at `target`."""

    def reset(self, target: str, containers: Sequence[str], config: Any) -> None:
        """Clear the resources of the process at `target`, and end its sessions."""


_schemes: dict[str, Callable[[], Target]] = {}


def register_scheme(scheme: str, load: Callable[[], Target]) -> None:
    """Set what opens the targets that begin with `scheme`, such as "grpc://".

    Args:
      scheme: with colon and slashes.
      load: returns it, and imports what that takes.
    """
    _schemes[scheme] = load


def is_registered(name: str) -> bool:
    """Whether a target's scheme is registered."""
    return any(name.startswith(scheme) for scheme in _schemes)


def target_of(name: str | bytes | None) -> Target | None:
    """What opens the sessions of a target; None for those of this process."""
    if not name:
        return None
    text = text_of(name)
    for scheme, load in _schemes.items():
        if text.startswith(scheme):
            return load()
    return None


def open_target(target: str, graph: Graph, config: Any) -> RemoteSession | None:
    """A session of another process; None if the target is this one."""
    found = target_of(target)
    return None if found is None else found.open(target, graph, config)


def text_of(name: str | bytes) -> str:
    """A target's name as text."""
    return name.decode() if isinstance(name, bytes) else name
