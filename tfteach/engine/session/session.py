"""`Session` and `InteractiveSession`; what they do is in `base_session.py`.

Source: python/client/session.py (API and messages).
"""

from __future__ import annotations

import warnings
from typing import Any

import tfteach.engine.session.composite_tensors  # noqa: F401 - registers them
from tfteach.engine.session.base_session import BaseSession, made_sessions
from tfteach.engine.session.config_proto import check_config
from tfteach.engine.session.targets import target_of, text_of
from tfteach.framework import defaults, protos
from tfteach.framework.export import export
from tfteach.framework.graph import Graph


@export("Session")
class Session(BaseSession):
    """Runs operations of a graph, on this process's devices or on a server's.

    Args:
      target: "" for this process; "grpc://host:port" for a TensorFlow server or a
        `tf.train.Server`, which takes the extra `cluster`.
      graph: the graph to run; the default graph if None.
      config: a ConfigProto.

    Example:
      >>> with tf.Session() as sess:
      ...     print(sess.run(tf.constant(3.0) * 2.0))
      6.0

    Source: python/client/session.py, Session.
    """

    def __init__(
        self, target: Any = "", graph: Graph | None = None, config: Any = None
    ) -> None:
        super().__init__(target, graph, config)
        self._entered: list[Any] = []

    def __enter__(self) -> Session:
        if self._entered:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use "
                "`Session.as_default()` if you want to enter a session multiple times."
            )
        for manager in (self._graph.as_default(), self.as_default()):
            manager.__enter__()
            self._entered.append(manager)
        return self

    def __exit__(self, *error: Any) -> None:
        while self._entered:
            self._entered.pop().__exit__(*error)
        self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Clear the variables of a process's open sessions, and close them.

        Args:
          target: "" for this process, or that of a server.
          containers: names of resource containers; all if None or empty.
          config: a ConfigProto, or None.

        Raises:
          TypeError: `containers` is a single string.
        """
        check_config(target, config)
        if isinstance(containers, str):
            raise TypeError("containers must be a list of container names")
        elsewhere = target_of(target)
        if elsewhere is not None:
            elsewhere.reset(text_of(target), list(containers or ()), config)
            return
        for session in list(made_sessions):
            if session._remote is not None:
                continue
            session.resources.clear(list(containers or []))
            session._was_reset = True
            session.close()


@export("InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that makes itself the default, for notebooks and shells.

    It places only the ops that a run needs (`place_pruned_graph`, which it sets in the
    given `config`, as TF's does): a device that an unused op requests need not exist.
    Without a `config` it allocates GPU memory on demand.

    Args: as for `Session`.

    Example:
      >>> sess = tf.InteractiveSession()
      >>> tf.add(2, 3).eval()
      5
      >>> sess.close()
    """

    _active = 0

    def __init__(
        self, target: Any = "", graph: Graph | None = None, config: Any = None
    ) -> None:
        check_config(target, config)
        if config is None:
            config = protos.ConfigProto()
            config.gpu_options.allow_growth = True
        config.graph_options.place_pruned_graph = True
        self._is_counted = False  # a warning that is an error comes before
        super().__init__(target, graph, config)
        if InteractiveSession._active > 0:
            warnings.warn(
                "An interactive session is already active. This can cause "
                "out-of-memory errors in some cases. You must explicitly call "
                "`InteractiveSession.close()` to release resources held by the other "
                "session(s).",
                stacklevel=2,
            )
        InteractiveSession._active += 1
        self._is_counted = True
        self._explicit_graph = graph
        defaults.push_session(self, graph)

    def close(self) -> None:
        """Close the session; it is no longer the default."""
        if self._is_counted and not self._closed:
            InteractiveSession._active -= 1
            defaults.remove_session(self, self._explicit_graph)
        super().close()


def open_sessions(graph: Graph | None = None) -> list[BaseSession]:
    """The sessions (of one graph) that are not closed, in the order they were made."""
    found = [s for s in made_sessions if not s._closed]
    if graph is not None:
        found = [s for s in found if s.graph is graph]
    return sorted(found, key=lambda session: session.number)


@export("get_default_session")
def get_default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return defaults.get_default_session()
