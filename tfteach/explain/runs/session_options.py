"""The options of sessions side by side, and what each of them changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tfteach.engine.devices.devices import Device
from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.engine.session.config_proto import HONOURED, TREATMENT
from tfteach.engine.session.session import open_sessions
from tfteach.explain.runs.cluster_plan import label_of
from tfteach.framework import protos, threads
from tfteach.framework.card_products import allows_tf32
from tfteach.framework.defaults import get_default_graph, get_default_session

__all__ = ["OptionRow", "SessionOptions", "session_options"]

UNSET = "-"
NONE = "no GPU"
LONGEST = 28  # characters of a cell, in text


class OptionRow(NamedTuple):
    """One option of several sessions, or one effect of an option.

    Attributes:
      name: the option's last name, such as "allow_growth"; the effect in words.
      field: the option's name in a ConfigProto, "graph" for the graph; "" for an
        effect.
      values: a string for each session; "-" for an option that was not set.
    """

    name: str
    field: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """True if not all sessions have the same value."""
        return len(set(self.values)) > 1


class SessionOptions(NamedTuple):
    """The options of several sessions side by side; `print` it.

    Attributes:
      sessions: the name of each session.
      rows: an `OptionRow` for each option, and below it for each of its effects.
    """

    sessions: tuple[str, ...]
    rows: tuple[OptionRow, ...]

    def row(self, name: str) -> OptionRow:
        """The option or effect of that name.

        Args:
          name: as in `OptionRow.name`.

        Returns:
          An `OptionRow`.

        Raises:
          KeyError: there is none.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(
            f"{name!r}: there are {', '.join(row.name for row in self.rows)}"
        )

    def __str__(self) -> str:
        if not self.sessions:
            return ""
        table = [("", *self.sessions)]
        for row in self.rows:
            mark = "* " if row.differs else "  "
            indent = "" if row.field else "  "
            table.append((f"{mark}{indent}{row.name}", *row.values))
        table = [tuple(map(_clipped, cells)) for cells in table]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(f"{cell:<{w}}" for cell, w in zip(cells, widths, strict=True))
            for cells in table
        ]
        if any(row.differs for row in self.rows):
            lines.append("* differs between the sessions")
        return "\n".join(line.rstrip() for line in lines)


def session_options(
    sessions: Iterable[Any] | None = None, names: Mapping[int, str] | None = None
) -> SessionOptions:
    """The options of sessions side by side, with their effects.

    Args:
      sessions: open sessions; by default all.
      names: number of a session -> its name; by default "session 1".

    Returns:
      A `SessionOptions`; `print` it.

    Example:
      >>> config = tf.ConfigProto(allow_soft_placement=True)
      >>> with tf.Session() as one, tf.Session(config=config) as other:
      ...     found = session_options([one, other])
      >>> found.row("allow_soft_placement").values
      ('-', 'True')
      >>> found.row("constants are folded").values
      ('yes', 'yes')
    """
    shown = list(open_sessions() if sessions is None else sessions)
    known = names or {}
    titles = tuple(known.get(s.number, f"session {s.number}") for s in shown)
    if not shown:
        return SessionOptions((), ())
    rows = [
        OptionRow(name, field, tuple(value(session) for session in shown))
        for name, field, value in _columns(shown)
    ]
    return SessionOptions(titles, tuple(rows))


Column = tuple[str, str, Callable[[Any], str]]


def _columns(sessions: list[Any]) -> Iterator[Column]:
    """Name, field and value of each row."""
    yield "graph", "graph", _graph
    yield from _devices(sessions)
    yield _option("intra_op_parallelism_threads")
    yield "threads inside an op", "", lambda _: f"{threads.thread_count()}"
    yield _option("inter_op_parallelism_threads")
    yield "ops at a time", "", lambda _: "1"
    yield "opt_level", "graph_options.optimizer_options.opt_level", _level
    yield "constants are folded", "", _says("fold_constants", "yes", "no")
    yield "equal ops are merged", "", _says("merge_duplicates", "yes", "no")
    yield _option("allow_soft_placement")
    soft = _says("allow_soft_placement", "goes elsewhere", "is an error")
    yield "an op that its device cannot run", "", soft
    yield _option("log_device_placement")
    yield "placements are logged", "", _says("log_device_placement", "yes", "no")
    yield _option("operation_timeout_in_ms")
    yield "a run may take", "", _limit
    covered = {"graph_options.optimizer_options.opt_level", *COVERED}
    others = dict.fromkeys(field for s in sessions for field in _fields(_config(s)))
    for field in others:
        if field not in covered:
            yield _option(field)
            yield "effect", "", _effect(field)


COVERED = (
    "device_count",
    "gpu_options.per_process_gpu_memory_fraction",
    "gpu_options.allow_growth",
    "gpu_options.visible_device_list",
    "intra_op_parallelism_threads",
    "inter_op_parallelism_threads",
    "allow_soft_placement",
    "log_device_placement",
    "operation_timeout_in_ms",
)


def _devices(sessions: list[Any]) -> Iterator[Column]:
    """Devices, and the memory of GPUs."""
    yield _option("device_count")
    yield _option("gpu_options.visible_device_list")
    yield "devices", "", lambda s: ", ".join(label_of(d.name) for d in s.devices)
    labels = [label_of(d.name) for s in sessions for d in _gpus(s)]
    gpus = list(dict.fromkeys(labels))
    yield _option("gpu_options.per_process_gpu_memory_fraction")
    yield from ((f"limit of {gpu}", "", _on(gpu, _memory_limit)) for gpu in gpus)
    yield _option("gpu_options.allow_growth")
    yield from ((f"reserved on {gpu}", "", _on(gpu, _reserved)) for gpu in gpus)
    cards = {label_of(d.name) for s in sessions for d in _gpus(s) if d.is_asynchronous}
    for gpu in sorted(cards):
        yield f"float32 products on {gpu}", "", _on(gpu, _float32_products)
    if not gpus:
        yield "memory of GPUs", "", lambda _: NONE


def _gpus(session: Any) -> list[Device]:
    return [d for d in session.devices if d.device_type == "GPU"]


def _on(label: str, value: Callable[[Any], str]) -> Callable[[Any], str]:
    """The value of a session's device of that name."""

    def found(session: Any) -> str:
        for device in _gpus(session):
            if label_of(device.name) == label:
                return value(device)
        return NONE

    return found


def _memory_limit(device: Any) -> str:
    return show_bytes(device.memory_limit_bytes)


def _reserved(device: Any) -> str:
    ledger = device.ledger
    how = "as needed" if ledger.allow_growth else "at once"
    return f"{show_bytes(ledger.reserved_bytes)}, {how}"


def _float32_products(device: Any) -> str:
    if not device.is_asynchronous:
        return NONE
    return "TF32" if allows_tf32(device.card.compute_capability) else "float32"


def _graph(session: Any) -> str:
    graph = session.graph
    which = "default" if graph is get_default_graph() else "another"
    text = f"{which}, {graph.version} op{'' if graph.version == 1 else 's'}"
    is_default = session is get_default_session()
    return f"{text}, default session" if is_default else text


def _config(session: Any) -> Any:
    """The session's ConfigProto; an empty one if it has none."""
    return protos.ConfigProto() if session._config is None else session._config


def _option(field: str) -> Column:
    """The row of a field, as the session was given it."""

    def value(session: Any) -> str:
        found = _fields(_config(session)).get(field)
        return UNSET if found is None else _shown(found)

    return field.rpartition(".")[2], field, value


def _fields(message: Any, prefix: str = "") -> dict[str, Any]:
    """The fields of a message that are set, by their dotted names."""
    found: dict[str, Any] = {}
    for descriptor, value in message.ListFields():
        name = prefix + descriptor.name
        if name not in TREATMENT and hasattr(value, "ListFields"):
            found |= _fields(value, f"{name}.")
        elif descriptor.enum_type is not None:
            found[name] = descriptor.enum_type.values_by_number[value].name
        else:
            found[name] = value
    return found


def _shown(value: Any) -> str:
    if hasattr(value, "items"):
        return ", ".join(f"{key}: {count}" for key, count in sorted(value.items()))
    if isinstance(value, float):
        return f"{value:g}"
    return " ".join(str(value).split())


def _effect(field: str) -> Callable[[Any], str]:
    """What a field does in a session that sets it."""
    treatment = TREATMENT.get(field, "")
    text = "yes" if treatment == HONOURED else treatment
    return lambda s: text if field in _fields(_config(s)) else UNSET


def _level(session: Any) -> str:
    level = _config(session).graph_options.optimizer_options.opt_level
    return {0: "L1", -1: "L0"}.get(level, f"{level}")


def _says(option: str, yes: str, no: str) -> Callable[[Any], str]:
    """One of two words, by an option that the session follows."""
    return lambda session: yes if getattr(session.planner.options, option) else no


def _limit(session: Any) -> str:
    limit_ms = session.planner.options.timeout_ms
    return f"{limit_ms / 1000:g} s" if limit_ms else "any time"


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST + 8 else f"{text[: LONGEST + 7]}…"
