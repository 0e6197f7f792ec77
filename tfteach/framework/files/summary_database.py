"""Databases of summaries: SQLite files that older versions of TensorBoard read.

Users have experiments, these have runs, and runs have tags: series of tensors by step.
Each of them has a random number, its id.

Source: core/summary/{schema,summary_db_writer}.cc, core/lib/db/sqlite.cc.
"""

from __future__ import annotations

import secrets
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype, dtypes_of, string
from tfteach.framework.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    OpError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
    invalid_argument,
)
from tfteach.framework.protos.pool import message
from tfteach.framework.protos.tensor_proto import make_ndarray
from tfteach.framework.type_aliases import Array, Proto

# TensorFlow sets this id.  It is larger than SQLite's ids, so that nothing happens.
_APPLICATION_ID = 0xFEEDABEE
_TABLES = """
Ids: id INTEGER PRIMARY KEY
Descriptions: id INTEGER PRIMARY KEY, description TEXT
Tensors: rowid INTEGER PRIMARY KEY, series INTEGER, step INTEGER, dtype INTEGER, \
computed_time REAL, shape TEXT, data BLOB
TensorStrings: rowid INTEGER PRIMARY KEY, tensor_rowid INTEGER NOT NULL, \
idx INTEGER NOT NULL, data BLOB
Tags: rowid INTEGER PRIMARY KEY, run_id INTEGER, tag_id INTEGER NOT NULL, \
inserted_time DOUBLE, tag_name TEXT, display_name TEXT, plugin_name TEXT, \
plugin_data BLOB
Runs: rowid INTEGER PRIMARY KEY, experiment_id INTEGER, run_id INTEGER NOT NULL, \
inserted_time REAL, started_time REAL, finished_time REAL, run_name TEXT
Experiments: rowid INTEGER PRIMARY KEY, user_id INTEGER, \
experiment_id INTEGER NOT NULL, inserted_time REAL, started_time REAL, \
is_watching INTEGER, experiment_name TEXT
Users: rowid INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, inserted_time REAL, \
user_name TEXT, email TEXT
Graphs: rowid INTEGER PRIMARY KEY, run_id INTEGER, graph_id INTEGER NOT NULL, \
inserted_time REAL, graph_def BLOB
Nodes: rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, \
node_id INTEGER NOT NULL, node_name TEXT, op TEXT, device TEXT, node_def BLOB
NodeInputs: rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, \
node_id INTEGER NOT NULL, idx INTEGER NOT NULL, input_node_id INTEGER NOT NULL, \
input_node_idx INTEGER, is_control INTEGER
"""
# Index, table, and the columns that are unique together; rows with NULL in a column
# that has an asterisk do not count.
_INDEXES = """
TensorSeriesStepIndex Tensors series* step*
TensorStringIndex TensorStrings tensor_rowid idx
TagIdIndex Tags tag_id
TagRunNameIndex Tags run_id* tag_name*
RunIdIndex Runs run_id
RunNameIndex Runs experiment_id run_name*
ExperimentIdIndex Experiments experiment_id
ExperimentNameIndex Experiments user_id experiment_name*
UserIdIndex Users user_id
UserNameIndex Users user_name*
UserEmailIndex Users email*
GraphIdIndex Graphs graph_id
GraphRunIndex Graphs run_id*
NodeIdIndex Nodes graph_id node_id
NodeNameIndex Nodes graph_id node_name*
NodeInputsIndex NodeInputs graph_id node_id idx
"""
# Ids are small while there are few of them.
_ID_MASKS = (2**23 - 1, 2**31 - 1, 2**47 - 1)
_SUPPORTED = dtypes_of(
    "string float16 float32 float64 complex64 complex128 int8 int16 int32 int64 uint8 "
    "uint16 uint32 uint64"
)
_ERRORS: dict[int, Callable[[str], OpError]] = {
    code: partial(error, None, None)
    for error, codes in (
        (DataLossError, (sqlite3.SQLITE_CORRUPT,)),
        (FailedPreconditionError, (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_MISMATCH)),
        (
            InvalidArgumentError,
            (
                sqlite3.SQLITE_CANTOPEN,
                sqlite3.SQLITE_CONSTRAINT,
                sqlite3.SQLITE_NOTADB,
            ),
        ),
        (PermissionDeniedError, (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_PERM)),
        (ResourceExhaustedError, (sqlite3.SQLITE_FULL, sqlite3.SQLITE_TOOBIG)),
        (UnavailableError, (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)),
    )
    for code in codes
}


def _schema() -> Iterator[str]:
    """The statements that create the tables, where they are not there."""
    yield f"PRAGMA application_id={_APPLICATION_ID}"
    for line in _TABLES.strip().splitlines():
        table, columns = line.split(": ")
        yield f"CREATE TABLE IF NOT EXISTS {table} ({columns})"
    for line in _INDEXES.strip().splitlines():
        index, table, *names = line.split()
        columns = ", ".join(name.rstrip("*") for name in names)
        given = [f"{name[:-1]} IS NOT NULL" for name in names if name.endswith("*")]
        where = f" WHERE {' AND '.join(given)}" if given else ""
        yield f"CREATE UNIQUE INDEX IF NOT EXISTS {index} ON {table} ({columns}){where}"


class _Connection:
    """A connection to a database, whose errors are TensorFlow's.

    Args:
      uri: "file:" and a path, or a path.
    """

    def __init__(self, uri: str) -> None:
        try:
            # Without `isolation_level` nothing but `transaction` begins transactions.
            self._database = sqlite3.connect(
                uri, uri=True, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise _translated(error, f"Sqlite::Open({uri}) failed: {error}") from None
        self._mask = 0  # the number of the present mask for ids

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        try:
            return self._database.execute(sql, values)
        except sqlite3.Error as error:
            code = error.sqlite_errorcode
            raise _translated(
                error, f"Step() failed: [{code}] {error}: {sql}"
            ) from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A block whose rows are written to the disk together, also before an error."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("COMMIT")

    def insert(self, table: str, *, replace: bool = False, **values: Any) -> int:
        """Add a row, instead of those with which it must not be; returns its rowid."""
        verb = "INSERT OR REPLACE" if replace else "INSERT"
        marks = ", ".join("?" * len(values))
        sql = f"{verb} INTO {table} ({', '.join(values)}) VALUES ({marks})"
        rowid = self.execute(sql, *values.values()).lastrowid
        assert rowid is not None
        return rowid

    def new_id(self) -> int:
        """An id that nothing has."""
        while True:
            number = secrets.randbits(64) & _ID_MASKS[self._mask] or 1
            try:
                return self.insert("Ids", id=number)
            except InvalidArgumentError:  # there is one
                self._mask = min(self._mask + 1, len(_ID_MASKS) - 1)

    def close(self) -> None:
        self._database.close()


def _translated(error: sqlite3.Error, text: str) -> OpError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return _ERRORS.get(code, partial(UnknownError, None, None))(text)


class SummaryDatabase:
    """The writer of a run's summaries.

    Args:
      uri: the file, which is created with its tables unless it is there.
      experiment: the name of the experiment; "" for none.
      run: the name of the run; "" for none.  It replaces an earlier run of this name.
      user: the name of the user; "" for none.

    Raises:
      InvalidArgumentError: the file cannot be opened, or is no database.
    """

    def __init__(self, uri: str, experiment: str, run: str, user: str) -> None:
        self._names = user, experiment, run
        self._lock = threading.RLock()
        self._run_id: int | None = None
        self._experiment_id: int | None = None
        self._started: dict[str, float] = {}  # by table
        self._tag_ids: dict[str, int] = {}
        self._connection = _Connection(uri)
        try:
            for sql in _schema():
                self._connection.execute(sql)
        except OpError:
            self._connection.close()
            raise

    def write(self, event: bytes) -> None:
        """Add what a serialized Event holds: summaries, or a graph.

        Raises:
          UnimplementedError: a tensor is of another type than numbers and strings.
        """
        parsed = message("Event").FromString(event)
        with self._lock, self._connection.transaction():
            if parsed.HasField("summary"):
                for value in parsed.summary.value:
                    self._write_value(value, parsed.step, parsed.wall_time)
            elif parsed.HasField("graph_def"):
                graph_def = message("GraphDef").FromString(parsed.graph_def)
                self._begin(parsed.wall_time)
                self._write_graph(graph_def)

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """End the run."""
        with self._lock:
            if self._run_id is not None:
                sql = "UPDATE Runs SET finished_time = ? WHERE run_id = ?"
                self._connection.execute(sql, time.time(), self._run_id)
            self._connection.close()

    # ---- users, experiments, runs

    def _begin(self, wall_time: float) -> None:
        """Let there be the run, and let it have begun at this time or before."""
        _, experiment, run = self._names
        if not run:
            return
        if self._run_id is None:
            if experiment:
                self._experiment_id = self._find_experiment(experiment, wall_time)
            self._run_id = self._connection.new_id()
            self._started["Runs"] = wall_time
            self._connection.insert(
                "Runs",
                replace=True,
                experiment_id=self._experiment_id,
                run_id=self._run_id,
                run_name=run,
                inserted_time=time.time(),
                started_time=wall_time,
            )
        for table, column, number in (
            ("Experiments", "experiment_id", self._experiment_id),
            ("Runs", "run_id", self._run_id),
        ):
            if number is not None and wall_time < self._started[table]:
                self._started[table] = wall_time
                sql = f"UPDATE {table} SET started_time = ? WHERE {column} = ?"
                self._connection.execute(sql, wall_time, number)

    def _find_experiment(self, name: str, wall_time: float) -> int:
        user_id = self._find_user()
        found = self._connection.execute(
            "SELECT experiment_id, started_time FROM Experiments "
            "WHERE user_id IS ? AND experiment_name = ?",
            user_id,
            name,
        ).fetchone()
        if found is None:
            found = self._connection.new_id(), wall_time
            self._connection.insert(
                "Experiments",
                user_id=user_id,
                experiment_id=found[0],
                experiment_name=name,
                inserted_time=time.time(),
                started_time=wall_time,
                is_watching=0,
            )
        self._started["Experiments"] = found[1]
        return int(found[0])

    def _find_user(self) -> int | None:
        user = self._names[0]
        if not user:
            return None
        sql = "SELECT user_id FROM Users WHERE user_name = ?"
        found = self._connection.execute(sql, user).fetchone()
        if found is not None:
            return int(found[0])
        user_id = self._connection.new_id()
        self._connection.insert(
            "Users", user_id=user_id, user_name=user, inserted_time=time.time()
        )
        return user_id

    # ---- tags and their tensors

    def _write_value(self, value: Proto, step: int, wall_time: float) -> None:
        kind = value.WhichOneof("value")
        tensor_of = _TENSORS.get(kind)
        if tensor_of is None:
            return
        plugin, tensor = tensor_of(getattr(value, kind))
        dtype = as_dtype(tensor.dtype)
        if dtype not in _SUPPORTED:
            raise UnimplementedError(
                None, None, f"{dtype.name} tensors unsupported on platform"
            )
        self._begin(wall_time)
        tag_id = self._tag_id(value.tag, value.metadata, plugin)
        self._write_tensor(tag_id, step, wall_time, dtype, tensor)

    def _tag_id(self, tag: str, metadata: Proto, plugin: str) -> int:
        if tag in self._tag_ids:
            return self._tag_ids[tag]
        tag_id = self._tag_ids[tag] = self._connection.new_id()
        self._connection.insert(
            "Descriptions",
            replace=True,
            id=tag_id,
            description=metadata.summary_description,
        )
        self._connection.insert(
            "Tags",
            run_id=self._run_id,
            tag_id=tag_id,
            tag_name=tag,
            inserted_time=time.time(),
            display_name=metadata.display_name,
            plugin_name=metadata.plugin_data.plugin_name or plugin,
            plugin_data=metadata.plugin_data.content,
        )
        return tag_id

    def _write_tensor(
        self, series: int, step: int, wall_time: float, dtype: DType, tensor: Array
    ) -> None:
        """Add a tensor, instead of that of the same step."""
        if dtype is not string:
            data: bytes | None = _little_endian(tensor).tobytes() or None
        else:
            data = tensor.item() if tensor.ndim == 0 else None
        rowid = self._connection.insert(
            "Tensors",
            replace=True,
            series=series,
            step=step,
            computed_time=wall_time,
            dtype=dtype.as_datatype_enum,
            shape=",".join(map(str, tensor.shape)),
            data=data,
        )
        if dtype is string and tensor.ndim:
            for i, text in enumerate(tensor.ravel().tolist()):
                self._connection.insert(
                    "TensorStrings", tensor_rowid=rowid, idx=i, data=text
                )

    # ---- graphs

    def _write_graph(self, graph_def: Proto) -> None:
        """Add a graph; `graph_def` is changed."""
        graph_id = self._connection.new_id()
        numbers = {node.name: i for i, node in enumerate(graph_def.node)}
        for i, node in enumerate(graph_def.node):
            for j, text in enumerate(node.input):
                name, _, index = text.removeprefix("^").partition(":")
                if name not in numbers:
                    raise DataLossError(None, None, f"Could not find node: {name}")
                self._connection.insert(
                    "NodeInputs",
                    graph_id=graph_id,
                    node_id=i,
                    idx=j,
                    input_node_id=numbers[name],
                    input_node_idx=int(index or 0),
                    is_control=int(text.startswith("^")),
                )
        for i, node in enumerate(graph_def.node):
            columns = {"node_name": node.name, "op": node.op, "device": node.device}
            for field in ("name", "op", "device", "input"):
                node.ClearField(field)
            self._connection.insert(
                "Nodes",
                graph_id=graph_id,
                node_id=i,
                **columns,
                node_def=node.SerializeToString(),
            )
        graph_def.ClearField("node")
        self._connection.insert(
            "Graphs",
            replace=True,
            run_id=self._run_id,
            graph_id=graph_id,
            inserted_time=time.time(),
            graph_def=graph_def.SerializeToString(),
        )


# ---- tensors of summaries: each with the name of its plugin in TensorBoard


def _of_scalar(value: float) -> tuple[str, Array]:
    return "scalars", np.array(value, np.float32)


def _of_tensor(proto: Proto) -> tuple[str, Array]:
    try:
        return "", make_ndarray(proto)
    except (TypeError, ValueError):
        raise invalid_argument("bad proto") from None


def _of_histogram(histogram: Proto) -> tuple[str, Array]:
    """Rows of left edge, right edge, count."""
    right = list(histogram.bucket_limit)
    if len(right) != len(histogram.bucket):
        raise invalid_argument("size mismatch")
    # As in TensorFlow, which means the lowest number here.
    left = [sys.float_info.min, *right][: len(right)]
    return "histograms", np.column_stack([left, right, histogram.bucket])


def _of_image(image: Proto) -> tuple[str, Array]:
    sizes = str(image.width).encode(), str(image.height).encode()
    return "images", np.array([*sizes, image.encoded_image_string], object)


def _of_audio(audio: Proto) -> tuple[str, Array]:
    return "audio", np.array([[audio.encoded_audio_string, b""]], object)


_TENSORS: dict[str | None, Callable[[Any], tuple[str, Array]]] = {
    "simple_value": _of_scalar,
    "tensor": _of_tensor,
    "histo": _of_histogram,
    "image": _of_image,
    "audio": _of_audio,
}


def _little_endian(tensor: Array) -> Array:
    return tensor.astype(tensor.dtype.newbyteorder("<"), copy=False)
