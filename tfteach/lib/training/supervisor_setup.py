"""What a Supervisor works with: taken from the graph's collections, or built.

Source: python/training/supervisor.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tfteach.engine.session.session import Session
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.deprecation import deprecated
from tfteach.framework.dtypes import int32, int64
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import add_to_collection, get_collection
from tfteach.framework.type_aliases import (
    FeedDict,
    Fetches,
    PathLike,
    Proto,
)
from tfteach.lib.files.file_writer import FileWriter
from tfteach.lib.files.meta_graph import export_meta_graph
from tfteach.lib.files.saver import Saver
from tfteach.lib.lookup.table_initializers import tables_initializer
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.training.session_manager import SessionManager
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.debug.summary_functions import merge_all
from tfteach.variables.collections import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

_USE_DEFAULT: Any = 0


def first_or_new(key: str, make: Callable[[], Any] | None = None) -> Any:
    """A collection's first element, or a new one, which is added.

    Args:
      key: the collection of the default graph.
      make: returns the new element; None for none.
    """
    found = get_collection(key)
    if found:
        return found[0]
    made = make() if make else None
    if made is not None:
        add_to_collection(key, made)
    return made


def _collected(given: Any, key: str, make: Callable[[], Any] | None = None) -> Any:
    """The argument; by default the collection's first element, or a new one, added."""
    if given is not _USE_DEFAULT:
        return given
    number = len(get_collection(key))
    if number > 1:
        get_logger().info(f"Found {number} {key} operations. Returning the first one.")
    return first_or_new(key, make)


def default_local_init_op() -> Any:
    """Initializes the local variables and the tables."""
    return group(local_variables_initializer(), tables_initializer())


def default_saver() -> Any:
    """A Saver of the graph's variables; None if there are none."""
    return Saver() if global_variables() else None


def _default_global_step() -> Tensor | None:
    try:
        step = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if step.dtype.base_dtype in (int32, int64):
        return step
    get_logger().warning(f"Found 'global_step' is not an int type: {step.dtype}")
    return None


class SupervisorSetup:
    """The part of a Supervisor that does not change; see `Supervisor`."""

    USE_DEFAULT: Any = _USE_DEFAULT

    @deprecated(
        None,
        "Please switch to tf.train.MonitoredTrainingSession",
        "python.training.supervisor",
        "Supervisor.__init__",
    )
    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Fetches = _USE_DEFAULT,
        ready_for_local_init_op: Fetches = _USE_DEFAULT,
        is_chief: bool = True,
        init_op: Fetches = _USE_DEFAULT,
        init_feed_dict: FeedDict | None = None,
        local_init_op: Fetches = _USE_DEFAULT,
        logdir: PathLike | None = None,
        summary_op: Fetches = _USE_DEFAULT,
        saver: Any = _USE_DEFAULT,
        global_step: Any = _USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: Any = None,
        summary_writer: Any = _USE_DEFAULT,
        init_fn: Callable[[Session], Any] | None = None,
        local_init_run_options: Proto | None = None,
    ) -> None:
        require_graph("Supervisors are compatible with eager execution.")
        self._graph = get_default_graph() if graph is None else graph
        keys = GraphKeys
        with self._graph.as_default():
            self._ready_op = _collected(
                ready_op, keys.READY_OP, report_uninitialized_variables
            )
            self._ready_for_local_init_op = _collected(
                ready_for_local_init_op, keys.READY_FOR_LOCAL_INIT_OP
            )
            self._init_op = _collected(
                init_op, keys.INIT_OP, global_variables_initializer
            )
            self._local_init_op = _collected(
                local_init_op, keys.LOCAL_INIT_OP, default_local_init_op
            )
            self._saver = _collected(saver, keys.SAVERS, default_saver)
            self._summary_op = _collected(summary_op, keys.SUMMARY_OP, merge_all)
            self._global_step = _collected(
                global_step, keys.GLOBAL_STEP, _default_global_step
            )
        self._init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        # The collections are those of the default graph, as in TF.
        self._meta_graph_def = export_meta_graph(
            graph_def=self._graph.as_graph_def(add_shapes=True),
            saver_def=self._saver.saver_def if self._saver else None,
        )
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._logdir: str | None = None
        self._save_summaries_secs: float | None = None
        self._save_model_secs: float | None = None
        self._save_path: str | None = None
        self._summary_writer: Any = None
        self._graph_added_to_summary = False
        if is_chief:
            self._save_summaries_secs = save_summaries_secs
            self._save_model_secs = save_model_secs
            self._set_files(logdir, checkpoint_basename, summary_writer)
        self._session_manager = session_manager or SessionManager(
            self._local_init_op,
            self._ready_op,
            self._ready_for_local_init_op,
            self._graph,
            recovery_wait_secs,
            local_init_run_options,
        )
        self._check_devices()
        self._graph.finalize()

    def _set_files(self, logdir: Any, basename: str, writer: Any) -> None:
        if logdir:
            self._logdir = os.fspath(logdir)
            self._save_path = os.path.join(self._logdir, basename)
        if writer is not _USE_DEFAULT:
            self._summary_writer = writer
        elif self._logdir:
            self._summary_writer = FileWriter(self._logdir)

    def _check_devices(self) -> None:
        if self._is_chief:
            return
        for variable in self._graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
            if variable.dtype.is_ref and not variable.op.device:
                raise ValueError(
                    "When using replicas, all Variables must have their device set: "
                    f"{variable.op}"
                )

    @property
    def is_chief(self) -> bool:
        """Whether it initializes the model and writes files."""
        return self._is_chief

    @property
    def session_manager(self) -> Any:
        """The SessionManager."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """The Coordinator of the threads."""
        return self._coord

    @property
    def init_op(self) -> Fetches:
        """Initializes the model."""
        return self._init_op

    @property
    def init_feed_dict(self) -> FeedDict | None:
        """The feeds of `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Fetches:
        """Returns the names of uninitialized variables."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Fetches:
        """The same for what the local initializer needs; None for no check."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> Any:
        """The FileWriter; None if there is none."""
        return self._summary_writer

    @property
    def summary_op(self) -> Fetches:
        """The summaries; None if there are none."""
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        """The seconds between summaries; None for a worker."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        """The global step; None if there is none."""
        return self._global_step

    @property
    def saver(self) -> Any:
        """The Saver; None if there is none."""
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        """The seconds between checkpoints; None for a worker."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """The beginning of the checkpoints' paths; None without a directory."""
        return self._save_path
