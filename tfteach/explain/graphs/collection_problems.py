"""What is lost between those who fill the collections of a graph and those who read.

Each is legal, and raises no error where it happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tfteach.explain.graphs.public_names import called_name
from tfteach.framework.call_origin import SourceLine, line_of
from tfteach.framework.graph import Graph
from tfteach.framework.graph_collections import Added, Lookup
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor, consumers_of_all

INITIALIZERS = ("global_variables_initializer", "initialize_all_variables")
LOCAL_INITIALIZERS = ("local_variables_initializer", "initialize_local_variables")
LONGEST_NAMES = 80  # characters


class Problem(NamedTuple):
    """Items of a collection that nobody takes, or that come too late.

    Attributes:
      kind: such as "update_ops".
      key: the collection's; "" if the items are in none.
      items: their names.
      text: what is lost.
      cure: what to change.
      made: the line that made the first of them; None if unknown.
      taken: the line that looked too early, or in vain; None if none did.
    """

    kind: str
    key: str
    items: tuple[str, ...]
    text: str
    cure: str
    made: SourceLine | None
    taken: SourceLine | None

    @property
    def names(self) -> str:
        """The first two items, or one with a long name: "a, b and 3 more"."""
        first = ", ".join(self.items[:2])
        shown = 2 if len(first) <= LONGEST_NAMES else 1
        more = len(self.items) - shown
        return ", ".join(self.items[:shown]) + (f" and {more} more" if more > 0 else "")

    def __str__(self) -> str:
        made = "" if self.made is None else f" (line {self.made.line})"
        taken = "" if self.taken is None else f" (See line {self.taken.line}.)"
        return f"{self.names}{made}: {self.text}{taken}\n    {self.cure}"


def problems_of(graph: Graph) -> Iterator[Problem]:
    """The problems with a graph's collections."""
    yield from _update_ops(graph)
    yield from _regularization(graph)
    yield from _uninitialized(graph)
    yield from _untrained(graph)
    yield from _unmerged(graph)
    yield from _tables(graph)
    yield from _unsaved(graph)


def _update_ops(graph: Graph) -> Iterator[Problem]:
    key = GraphKeys.UPDATE_OPS
    trains = graph.added.get(GraphKeys.TRAIN_OP, [])
    idle = [a for a in graph.added.get(key, []) if not _has_dependents(a.value)]
    if not idle or not trains:
        return
    last = _last(graph, key)
    if last is None:
        why = "nobody looks them up"
    elif last.order < idle[0].order:
        why = "they are looked up before they are added"
    else:
        why = "no op waits for them"
    yield _problem(
        "update_ops", key, idle, last,
        f"Training does not run these updates, since {why}. The moving averages of "
        "batch normalization keep their initial values.",
        "Call minimize inside `with tf.control_dependencies("
        "tf.get_collection(tf.GraphKeys.UPDATE_OPS)):`.",
    )  # fmt: skip


def _regularization(graph: Graph) -> Iterator[Problem]:
    key = GraphKeys.REGULARIZATION_LOSSES
    trains = graph.added.get(GraphKeys.TRAIN_OP, [])
    idle = [a for a in graph.added.get(key, []) if not _has_dependents(a.value)]
    if idle and trains:
        yield _problem(
            "regularization", key, idle, _last(graph, key),
            "Nobody adds these losses to the one that is minimized, so they have no "
            "effect.",
            "loss += tf.losses.get_regularization_loss(), or minimize "
            "tf.losses.get_total_loss().",
        )  # fmt: skip


def _uninitialized(graph: Graph) -> Iterator[Problem]:
    """Variables that no initializer covers, although the program has made one."""
    made = _lookups(graph, GraphKeys.GLOBAL_VARIABLES, INITIALIZERS)
    if not made:
        return
    known = {id(a.value) for a in graph.added.get(GraphKeys.GLOBAL_VARIABLES, [])}
    late, only_local = [], []
    for a in graph.added.get(GraphKeys.GLOBAL_VARIABLES, []):
        if a.order > made[-1].order and _is_alone(a.value):
            late.append(a)
    for a in graph.added.get(GraphKeys.LOCAL_VARIABLES, []):
        if id(a.value) not in known and _is_alone(a.value):
            only_local.append(a)
    if late:
        yield _problem(
            "late_variables", GraphKeys.GLOBAL_VARIABLES, late, made[-1],
            f"{called_name(made[-1].origin)} initializes the variables that exist when "
            "it is called. These came later: reading them fails.",
            "Call tf.global_variables_initializer() when all variables are made.",
        )  # fmt: skip
    if only_local:
        yield _problem(
            "local_variables", GraphKeys.LOCAL_VARIABLES, only_local, made[-1],
            "Local variables, which tf.global_variables_initializer leaves "
            "uninitialized: reading them fails.",
            "Run tf.local_variables_initializer() as well.",
        )  # fmt: skip
    yield from _in_no_collection(graph)


def _in_no_collection(graph: Graph) -> Iterator[Problem]:
    """Variables that were made with `collections=[]`."""
    listed = {
        variable.op.name
        for key in graph.get_all_collection_keys()
        if key != GraphKeys.TRAINABLE_VARIABLES  # which `collections` leaves alone
        for variable in graph.collection_list(key)
        if hasattr(variable, "initializer")
    }
    alone = [
        op
        for op in graph.operations
        if op.spec.returns_handle
        and op.name not in listed
        and (start := graph.find_operation(f"{op.name}/Assign")) is not None
        and not graph.control_outputs_of(start)
    ]
    if alone:
        yield Problem(
            "no_collection", "", tuple(op.name for op in alone),
            "Neither among the global nor among the local variables: no initializer "
            "covers them, and no tf.train.Saver saves them.",
            "Do not pass collections=[], or run their initializers yourself.",
            alone[0].source, None,
        )  # fmt: skip


def _untrained(graph: Graph) -> Iterator[Problem]:
    key = GraphKeys.TRAINABLE_VARIABLES
    last = _last(graph, key)
    optimizers = [
        lookup
        for lookup in _lookups(graph, key)
        if called_name(lookup.origin).rpartition(".")[2]
        in ("minimize", "compute_gradients")
    ]
    if last is None or not optimizers:
        return
    late = [a for a in graph.added.get(key, []) if a.order > last.order]
    if late:
        yield _problem(
            "untrained", key, late, optimizers[-1],
            "The optimizer trains the variables that exist when minimize is called. "
            "These came later, and keep their initial values.",
            "Call minimize when the model is complete.",
        )  # fmt: skip


def _unmerged(graph: Graph) -> Iterator[Problem]:
    key = GraphKeys.SUMMARIES
    last = _last(graph, key)
    if last is None:
        return
    late = [
        a
        for a in graph.added.get(key, [])
        if a.order > last.order and not _has_dependents(a.value)
    ]
    if late:
        yield _problem(
            "unmerged", key, late, last,
            f"{called_name(last.origin)} returns the summaries that exist when it is "
            "called. These came later, and are not written.",
            "Call tf.summary.merge_all() after the last summary.",
        )  # fmt: skip


def _tables(graph: Graph) -> Iterator[Problem]:
    key = GraphKeys.TABLE_INITIALIZERS
    last = _last(graph, key)
    late = [
        a
        for a in graph.added.get(key, [])
        if (last is None or a.order > last.order) and not _has_dependents(a.value)
    ]
    if late and _lookups(graph, GraphKeys.GLOBAL_VARIABLES, INITIALIZERS):
        yield _problem(
            "tables", key, late, last,
            "tf.global_variables_initializer does not initialize tables: a lookup in "
            "them fails.",
            "Run tf.tables_initializer() as well.",
        )  # fmt: skip


def _unsaved(graph: Graph) -> Iterator[Problem]:
    key = GraphKeys.GLOBAL_VARIABLES
    savers = _lookups(graph, key, ("Saver",))
    if not savers:
        return
    late = [a for a in graph.added.get(key, []) if a.order > savers[-1].order]
    if late:
        yield _problem(
            "unsaved", key, late, savers[-1],
            "tf.train.Saver saves the variables that exist when it is made. These came "
            "later, and are not in its checkpoints.",
            "Make the tf.train.Saver() when all variables are made.",
        )  # fmt: skip


# ---- lookups and dependents


def _lookups(graph: Graph, key: str, calls: tuple[str, ...] = ()) -> list[Lookup]:
    """The lookups of a collection by functions of these names, the last one last."""
    found = [
        lookup
        for lookup in graph.lookups.values()
        if lookup.key == key
        and (not calls or called_name(lookup.origin).rpartition(".")[2] in calls)
    ]
    return sorted(found, key=lambda lookup: lookup.order)


def _last(graph: Graph, key: str) -> Lookup | None:
    found = _lookups(graph, key)
    return found[-1] if found else None


def _has_dependents(value: Any) -> bool:
    """Whether an op reads this tensor, or waits for this op."""
    op = value.op if isinstance(value, Tensor) else value
    if not isinstance(op, Operation):
        return True  # unknown: no complaint
    return bool(op.control_outputs or consumers_of_all(op.outputs))


def _is_alone(variable: Any) -> bool:
    """Whether nothing but the variable's own initializer initializes it."""
    start = getattr(variable, "initializer", None)
    return isinstance(start, Operation) and not _has_dependents(start)


# ---- words


def _problem(
    kind: str, key: str, added: list[Added], lookup: Lookup | None, text: str, cure: str
) -> Problem:
    origin = added[0].origin
    return Problem(
        kind, key, tuple(item_name(each.value) for each in added), text, cure,
        None if origin is None else line_of(origin),
        None if lookup is None else line_of(lookup.origin),
    )  # fmt: skip


def item_name(value: Any) -> str:
    """The name of an item, without the ":0" of a variable; its text if it has none."""
    name = getattr(value, "name", None)
    if not isinstance(name, str) or not name:
        return repr(value)[:60]
    return name.removesuffix(":0")
