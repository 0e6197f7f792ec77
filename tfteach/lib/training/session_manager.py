"""`tf.train.SessionManager`: sessions whose variables are restored or initialized.

Source: python/training/session_manager.py.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.engine.session.session import Session
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.errors import DeadlineExceededError, FailedPreconditionError
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import (
    FeedDict,
    Fetches,
    PathLike,
    Proto,
    SessionLike,
)
from tfteach.lib.files.checkpoint_management import get_checkpoint_state
from tfteach.lib.files.saver import Saver


@export("train.SessionManager")
class SessionManager:
    """Creates sessions, ready to train.

    Args:
      local_init_op: run in each new session, also after restoring, such as the
        initializer of local variables; None for nothing.
      ready_op: returns the names of the uninitialized variables: none if the session
        is ready.  None if it always is.
      ready_for_local_init_op: the same for what `local_init_op` needs.
      graph: the graph; the default graph if None.
      recovery_wait_secs: the interval of looking for a checkpoint or for another
        process's initialization, in seconds.
      local_init_run_options: RunOptions of `local_init_op`.

    Raises:
      ValueError: there is a `ready_for_local_init_op`, but no `local_init_op`.

    Example:
      >>> manager = tf.train.SessionManager()
      >>> init = tf.global_variables_initializer()
      >>> saver = tf.train.Saver()
      >>> session = manager.prepare_session("", init, saver, checkpoint_dir="logs")

    Source: python/training/session_manager.py.
    """

    def __init__(
        self,
        local_init_op: Fetches = None,
        ready_op: Fetches = None,
        ready_for_local_init_op: Fetches = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Proto | None = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a "
                f"local_init_op , ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def prepare_session(
        self,
        master: str,
        init_op: Fetches = None,
        saver: Saver | None = None,
        checkpoint_dir: PathLike | None = None,
        checkpoint_filename_with_path: PathLike | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Proto | None = None,
        init_feed_dict: FeedDict | None = None,
        init_fn: Callable[[Session], Any] | None = None,
    ) -> Session:
        """A session restored from a checkpoint; initialized if there is none.

        Args:
          master: the session's target: "", this process.
          init_op: initializes the variables.
          saver: restores them; None to initialize always.
          checkpoint_dir: the directory whose newest checkpoint to restore.
          checkpoint_filename_with_path: the checkpoint, in place of a directory.
          wait_for_checkpoint: whether to wait for a checkpoint to appear.
          max_wait_secs: for how long, in seconds.
          config: the session's ConfigProto.
          init_feed_dict: the feeds of `init_op`.
          init_fn: called with the session after `init_op`.

        Returns:
          The session.

        Raises:
          RuntimeError: there is nothing to initialize with, or it left variables
            uninitialized.
          ValueError: both a directory and a file are given.
        """
        session, is_restored = self._restore_checkpoint(
            master,
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            wait_for_checkpoint,
            max_wait_secs,
            config,
        )
        with _closed_on_error(session):
            if not is_restored:
                self._initialize(session, init_op, init_feed_dict, init_fn)
            self._check_prepared(session, init_op, init_fn)
        return session

    def _initialize(
        self, session: Session, init_op: Fetches, feeds: FeedDict | None, init_fn: Any
    ) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError(
                "Model is not initialized and no init_op or init_fn or local_init_op "
                "was given"
            )
        if init_op is not None:
            session.run(init_op, feed_dict=feeds)
        if init_fn:
            init_fn(session)

    def _check_prepared(self, session: Session, init_op: Fetches, init_fn: Any) -> None:
        missing = self._run_local_init_op(session)
        if missing is not None:
            name = getattr(init_op, "name", f"<no name for {type(init_op)}>")
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  Init op: "
                f"{None if init_op is None else name}, init fn: {init_fn}, error: "
                f"{missing}"
            )
        missing = missing_variables(self._ready_op, session, "Model not ready")
        if missing is not None:
            name = getattr(init_op, "name", f"<no name for {type(init_op)}>")
            raise RuntimeError(
                "Init operations did not make model ready.  Init op: "
                f"{None if init_op is None else name}, init fn: {init_fn}, "
                f"local_init_op: {self._local_init_op}, error: {missing}"
            )

    def recover_session(
        self,
        master: str,
        saver: Saver | None = None,
        checkpoint_dir: PathLike | None = None,
        checkpoint_filename_with_path: PathLike | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Proto | None = None,
    ) -> tuple[Session, bool]:
        """A session restored from a checkpoint, if there is one.

        Args:
          master, saver, checkpoint_dir, checkpoint_filename_with_path,
            wait_for_checkpoint, max_wait_secs, config: as in `prepare_session`.

        Returns:
          The session, and whether it was restored and is ready.

        Raises:
          ValueError: both a directory and a file are given.
        """
        session, is_restored = self._restore_checkpoint(
            master,
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            wait_for_checkpoint,
            max_wait_secs,
            config,
        )
        with _closed_on_error(session):
            missing = self._run_local_init_op(session)
            if not is_restored:
                return session, False
            source = checkpoint_dir or checkpoint_filename_with_path
            state = "ready for local init"
            if missing is None:
                missing = missing_variables(self._ready_op, session, "Model not ready")
                state = "ready"
            if missing is not None:
                get_logger().info(
                    f"Restoring model from {source} did not make model {state}: "
                    f"{missing}"
                )
                return session, False
            get_logger().info(f"Restored model from {source}")
            return session, True

    def _restore_checkpoint(
        self,
        master: str,
        saver: Saver | None,
        folder: PathLike | None,
        file: PathLike | None,
        wait: bool,
        max_wait_s: float,
        config: Proto | None,
    ) -> tuple[Session, bool]:
        """A new session, and whether `saver` has restored it."""
        if folder and file:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        session = Session(master, graph=self._graph, config=config)
        with _closed_on_error(session):
            if not saver or not (folder or file):
                return session, False
            if file:
                saver.restore(session, file)
                return session, True
            state = self._wait_for_state(folder, max_wait_s if wait else 0)
            if state is None:
                return session, False
            saver.restore(session, state.model_checkpoint_path)
            saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
            return session, True

    def _wait_for_state(self, folder: Any, max_wait_s: float) -> Any:
        """The CheckpointState of a directory; None if there is none after that time."""
        waited_s: float = 0
        while True:
            state: Any = get_checkpoint_state(folder)
            if state is not None and state.model_checkpoint_path:
                return state
            if waited_s >= max_wait_s:
                return None
            get_logger().info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited_s += self._recovery_wait_secs

    def wait_for_session(
        self,
        master: str,
        config: Proto | None = None,
        max_wait_secs: float | None = float("inf"),
    ) -> Session:
        """A session that another process initializes: waits until it is ready.

        Args:
          master: the session's target.
          config: the session's ConfigProto.
          max_wait_secs: how long to wait, in seconds; None for ever.

        Returns:
          The session.

        Raises:
          DeadlineExceededError: it is not ready after that time.
        """
        limit_s = float("inf") if max_wait_secs is None else max_wait_secs
        end_s = time.monotonic() + limit_s
        while True:
            session = Session(master, graph=self._graph, config=config)
            with _closed_on_error(session):
                missing_locally = self._run_local_init_op(session)
                missing = None
                if missing_locally is None:
                    missing = missing_variables(
                        self._ready_op, session, "Model not ready"
                    )
                    if missing is None:
                        return session
            session.close()
            if max(0, end_s - time.monotonic()) < self._recovery_wait_secs:
                raise DeadlineExceededError(
                    None,
                    None,
                    f"Session was not ready after waiting {_seconds(limit_s)} secs.",
                )
            get_logger().info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  "
                f"{missing_locally}, ready: {missing}"
            )
            time.sleep(self._recovery_wait_secs)

    def _run_local_init_op(self, session: Session) -> str | None:
        """Run it, if possible; otherwise returns what is missing."""
        if self._local_init_op is None:
            return None
        missing = missing_variables(
            self._ready_for_local_init_op, session, "Model not ready for local init"
        )
        if missing is None:
            get_logger().info("Running local_init_op.")
            session.run(self._local_init_op, options=self._local_init_run_options)
            get_logger().info("Done running local_init_op.")
        return missing


def _seconds(limit_s: float) -> str:
    return str(int(limit_s)) if limit_s < float("inf") else str(limit_s)


@contextlib.contextmanager
def _closed_on_error(session: Session) -> Any:
    """A block whose exception closes the session: no caller will ever have it."""
    try:
        yield
    except BaseException:
        session.close()
        raise


def missing_variables(
    ready_op: Fetches, session: SessionLike, message: str
) -> str | None:
    """What a session lacks according to an op that says so; None if it is ready.

    The op may return the names of uninitialized variables, fail because of them, or be
    an operation or an int32 without meaning.
    """
    if ready_op is None:
        return None
    try:
        found = session.run(ready_op)
    except FailedPreconditionError as error:
        if "uninitialized" in str(error):
            return str(error)
        get_logger().warning(f"{message} : error [{error}]")
        raise
    if found is None or found.dtype == np.int32 or found.size == 0:
        return None
    names = ", ".join(name.decode() for name in found)
    return f"Variables not initialized: {names}"
