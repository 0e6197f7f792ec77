"""`tf.train.Scaffold`: the ops that a training loop needs in addition to the model's.

Source: python/training/monitored_session.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import add_to_collection, get_collection
from tfteach.framework.type_aliases import (
    FeedDict,
    Fetches,
    SessionLike,
)
from tfteach.lib.files.saver import Saver
from tfteach.lib.lookup.table_initializers import tables_initializer
from tfteach.lib.training import resources
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.debug.summary_functions import merge_all
from tfteach.variables.collections import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

T = TypeVar("T")


def default_saver() -> Any:
    """The Saver in the graph's collection; a new one, added to it, if there is none.

    Raises:
      RuntimeError: there are several.
    """
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate "
            "which one to use by passing it to the constructor."
        )
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    add_to_collection(GraphKeys.SAVERS, saver)
    return saver


@export("train.Scaffold")
class Scaffold:
    """The ops that initialize a model, check and save it, and write its summaries.

    What is not given is taken from the graph's collections, and built if it is not
    there.

    Args:
      init_op: initializes the model when there is no checkpoint.
      init_feed_dict: its feeds.
      init_fn: called after it with the Scaffold and the session.
      ready_op: returns the names of the uninitialized variables.
      ready_for_local_init_op: returns those that `local_init_op` needs.
      local_init_op: run in each new session, also after restoring.
      summary_op: the summaries to write.
      saver: the Saver.
      copy_from_scaffold: a Scaffold whose values replace those that are None.

    Raises:
      TypeError: `copy_from_scaffold` is no Scaffold.

    Example:
      >>> scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=1))
      >>> session = tf.train.MonitoredTrainingSession(scaffold=scaffold)

    Source: python/training/monitored_session.py.
    """

    def __init__(
        self,
        init_op: Fetches = None,
        init_feed_dict: FeedDict | None = None,
        init_fn: Callable[[Scaffold, SessionLike], Any] | None = None,
        ready_op: Fetches = None,
        ready_for_local_init_op: Fetches = None,
        local_init_op: Fetches = None,
        summary_op: Fetches = None,
        saver: Saver | None = None,
        copy_from_scaffold: Scaffold | None = None,
    ) -> None:
        base = copy_from_scaffold
        if base is not None and not isinstance(base, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def chosen(value: Any, name: str) -> Any:
            return getattr(base, name) if value is None and base else value

        self._init_op = chosen(init_op, "_init_op")
        self._init_feed_dict = chosen(init_feed_dict, "_init_feed_dict")
        self._ready_op = chosen(ready_op, "_ready_op")
        self._ready_for_local_init_op = chosen(
            ready_for_local_init_op, "_ready_for_local_init_op"
        )
        self._local_init_op = chosen(local_init_op, "_local_init_op")
        self._summary_op = chosen(summary_op, "_summary_op")
        self._saver = chosen(saver, "_saver")
        # The function as it was given: `copy_from_scaffold` takes another Scaffold.
        self._user_init_fn = chosen(init_fn, "_user_init_fn")
        self._init_fn: Callable[[SessionLike], Any] | None = None
        if self._user_init_fn:
            self._init_fn = lambda session: self._user_init_fn(self, session)

    def finalize(self) -> Scaffold:
        """Build what is missing, and finalize the default graph; returns this object.

        Raises:
          RuntimeError: a collection has several candidates.
        """
        keys = GraphKeys
        default = self.get_or_default
        if self._init_op is None:
            self._init_op = default("init_op", keys.INIT_OP, _init_op)
        if self._ready_op is None:
            self._ready_op = default("ready_op", keys.READY_OP, _ready_op)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = default(
                "ready_for_local_init_op",
                keys.READY_FOR_LOCAL_INIT_OP,
                _ready_for_local_init_op,
            )
        if self._local_init_op is None:
            self._local_init_op = default(
                "local_init_op", keys.LOCAL_INIT_OP, Scaffold.default_local_init_op
            )
        if self._summary_op is None:
            self._summary_op = default("summary_op", keys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = default_saver()
        self._saver.build()
        get_default_graph().finalize()
        get_logger().info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable[[SessionLike], Any] | None:
        """The function to call after `init_op`, with the session only; or None."""
        return self._init_fn

    @property
    def init_op(self) -> Fetches:
        """Initializes the model."""
        return self._init_op

    @property
    def ready_op(self) -> Fetches:
        """Returns the names of the uninitialized variables."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Fetches:
        """Returns the names of those that `local_init_op` needs."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Fetches:
        """Run in each new session."""
        return self._local_init_op

    @property
    def summary_op(self) -> Fetches:
        """The summaries to write; None if there are none."""
        return self._summary_op

    @property
    def saver(self) -> Saver | None:
        """The Saver."""
        saver: Saver | None = self._saver
        return saver

    @property
    def init_feed_dict(self) -> FeedDict | None:
        """The feeds of `init_op`."""
        feeds: FeedDict | None = self._init_feed_dict
        return feeds

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], T]
    ) -> T:
        """The element of a collection; a new one, added to it, if it is empty.

        Args:
          arg_name: the Scaffold's argument, for the error.
          collection_key: the collection.
          default_constructor: makes the element; it may return None, for none.

        Raises:
          RuntimeError: the collection has several elements.
        """
        found = get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please '
                "indicate which one to use by passing it to the tf.Scaffold "
                f"constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            element: T = found[0]
            return element
        made = default_constructor()
        if made is not None:
            add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Operation:
        """An operation that initializes local variables, tables and local resources."""
        return group(
            local_variables_initializer(),
            tables_initializer(),
            resources.initialize_resources(resources.local_resources()),
        )


def _init_op() -> Operation:
    return group(
        global_variables_initializer(),
        resources.initialize_resources(resources.shared_resources()),
    )


def _ready_op() -> Tensor:
    missing = [
        report_uninitialized_variables(),
        resources.report_uninitialized_resources(),
    ]
    return concat(missing, 0)


def _ready_for_local_init_op() -> Tensor:
    missing = [
        report_uninitialized_variables(global_variables()),
        resources.report_uninitialized_resources(resources.shared_resources()),
    ]
    return concat(missing, 0)
