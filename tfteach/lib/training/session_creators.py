"""What creates the sessions of a MonitoredSession.

Source: python/training/monitored_session.py.
"""

from __future__ import annotations

import abc

from tfteach.engine.session.session import Session
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.type_aliases import (
    PathLike,
    Proto,
    SessionLike,
)
from tfteach.lib.training.scaffold import Scaffold
from tfteach.lib.training.session_manager import SessionManager


@export("train.SessionCreator")
class SessionCreator(abc.ABC):
    """Creates sessions: again and again, if they are lost.

    Source: python/training/monitored_session.py.
    """

    @abc.abstractmethod
    def create_session(self) -> SessionLike:
        """A new session, ready to train."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class _ScaffoldSessionCreator(SessionCreator):
    """The common part of chief and workers."""

    def __init__(
        self, scaffold: Scaffold | None, master: str, config: Proto | None
    ) -> None:
        self._scaffold = scaffold or Scaffold()
        self._session_manager: SessionManager | None = None
        self._master = master
        self._config = config

    def _get_session_manager(self) -> SessionManager:
        """The manager of all sessions, made when the scaffold is finalized."""
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager


@export("train.ChiefSessionCreator")
class ChiefSessionCreator(_ScaffoldSessionCreator):
    """Sessions that are restored from the newest checkpoint, or initialized.

    Args:
      scaffold: the ops for that; None for the default ones.
      master: the sessions' target.
      config: their ConfigProto.
      checkpoint_dir: the directory of the checkpoints.
      checkpoint_filename_with_path: the checkpoint, in place of a directory.

    Example:
      >>> creator = tf.train.ChiefSessionCreator(checkpoint_dir="logs")
      >>> session = tf.train.MonitoredSession(creator)

    Source: python/training/monitored_session.py.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Proto | None = None,
        checkpoint_dir: PathLike | None = None,
        checkpoint_filename_with_path: PathLike | None = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Session:
        """A session, restored or initialized."""
        scaffold = self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master,
            saver=scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=scaffold.init_op,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )


@export("train.WorkerSessionCreator")
class WorkerSessionCreator(_ScaffoldSessionCreator):
    """Sessions that wait until the chief has initialized the variables.

    Args:
      scaffold: the ops for that; None for the default ones.
      master: the sessions' target.
      config: their ConfigProto.
      max_wait_secs: how long to wait, in seconds.

    Source: python/training/monitored_session.py.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Proto | None = None,
        max_wait_secs: float = 30 * 60,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Session:
        """A session whose variables the chief has initialized."""
        self._scaffold.finalize()
        return self._get_session_manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )
