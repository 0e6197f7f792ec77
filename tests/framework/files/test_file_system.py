"""Every function that takes a path also takes URLs, with fsspec."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import fsspec
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile

import tfteach as tf
from tfteach.framework.files import remote_file_system
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.files.pending_file import PendingFile
from tfteach.framework.files.saved_tensor_slices import write_tensor_slices
from tfteach.framework.files.tensor_bundle import BundleReader
from tfteach.framework.files.tensor_bundle_writer import BundleWriter, merge_bundles


class StoreFile(AbstractBufferedFile):  # type: ignore[misc]
    """A file that is sent in parts, and appears with the last, as s3fs's."""

    def _initiate_upload(self) -> None:
        self.parts: list[bytes] = []

    def _upload_chunk(self, final: bool = False) -> bool:
        self.parts.append(self.buffer.getvalue())
        if final and self.autocommit:
            self.commit()
        return True

    def commit(self) -> None:
        self.fs.pipe_file(self.path, b"".join(self.parts))

    def discard(self) -> None:
        self.parts = []

    def _fetch_range(self, start: int, end: int) -> bytes:
        data: bytes = self.fs.cat_file(self.path, start, end)
        return data


class Store(MemoryFileSystem):  # type: ignore[misc]
    """An object store, in memory."""

    store: dict[str, Any] = {}  # noqa: RUF012
    pseudo_dirs = [""]  # noqa: RUF012
    protocol = ("az",)

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix("az://").strip("/")

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode == "rb":
            return io.BytesIO(self.cat_file(path))
        autocommit = options.get("autocommit", True)
        return StoreFile(self, path, mode, block_size=100, autocommit=autocommit)

    def pipe_file(self, path: str, value: bytes, **options: Any) -> None:
        with super()._open(self._strip_protocol(path), "wb") as file:
            file.write(value)

    def cat_file(self, path: str, *args: Any, **options: Any) -> bytes:
        with super()._open(self._strip_protocol(path), "rb") as file:
            data: bytes = file.getvalue()
        return data[slice(*(args or (None,)))]


@pytest.fixture(params=["memory", "az"])
def here(request: pytest.FixtureRequest) -> Iterator[str]:
    fsspec.register_implementation("az", Store, clobber=True)
    kind: Any = Store if request.param == "az" else MemoryFileSystem
    yield f"{request.param}://place"
    kind.store.clear()
    kind.pseudo_dirs[:] = [""]


def names(url: str) -> list[str]:
    return sorted(tf.gfile.ListDirectory(url))


# ---- gfile


def test_gfile(here: str) -> None:
    gfile = tf.gfile
    gfile.MakeDirs(f"{here}/a/b")
    with gfile.GFile(f"{here}/a/f", "w") as file:
        file.write("hello\nworld\n")
    assert gfile.Exists(f"{here}/a/f")
    assert not gfile.Exists(f"{here}/no")
    assert gfile.IsDirectory(f"{here}/a")
    assert not gfile.IsDirectory(f"{here}/a/f")
    assert "f" in names(f"{here}/a")
    state = gfile.Stat(f"{here}/a/f")
    assert (state.length, state.is_directory) == (12, False)
    assert state.mtime_nsec > 1e18
    with gfile.GFile(f"{here}/a/f") as file:
        assert file.size() == 12
        assert list(file) == ["hello\n", "world\n"]
        file.seek(6)
        assert file.read() == "world\n"
    assert gfile.Glob(f"{here}/a/*f") == [f"{here}/a/f"]
    gfile.Copy(f"{here}/a/f", f"{here}/a/g")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.Copy(f"{here}/a/f", f"{here}/a/g")
    walked = {top: (set(inner), set(files)) for top, inner, files in gfile.Walk(here)}
    assert walked[here] == ({"a"}, set())
    assert walked[f"{here}/a"][1] == {"f", "g"}
    gfile.Remove(f"{here}/a/g")
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        gfile.Remove(f"{here}/a/g")
    gfile.DeleteRecursively(f"{here}/a")
    assert not gfile.Exists(f"{here}/a/f")


def test_gfile_moves() -> None:
    here = "memory://moves"
    with tf.gfile.GFile(f"{here}/f", "w") as file:
        file.write("x")
    with tf.gfile.GFile(f"{here}/f", "a") as file:
        file.write("y")
    tf.gfile.Rename(f"{here}/f", f"{here}/g")
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Rename(f"{here}/g", f"{here}/g")
    assert names(here) == ["g"]
    with tf.gfile.GFile(f"{here}/g") as file:
        assert file.read() == "xy"
    with pytest.raises(tf.errors.UnimplementedError, match="different file systems"):
        tf.gfile.Rename(f"{here}/g", "/tmp/g")
    with pytest.raises(tf.errors.FailedPreconditionError, match="directory"):
        tf.gfile.Remove(here)
    tf.gfile.DeleteRecursively(here)


def test_gfile_errors(here: str) -> None:
    for call in (
        lambda: tf.gfile.GFile(f"{here}/no").read(),
        lambda: tf.gfile.Stat(f"{here}/no"),
        lambda: tf.gfile.ListDirectory(f"{here}/no"),
        lambda: tf.gfile.DeleteRecursively(f"{here}/no"),
        lambda: tf.gfile.Copy(f"{here}/no", f"{here}/to"),
        lambda: tf.gfile.Rename(f"{here}/no", f"{here}/to"),
    ):
        with pytest.raises(tf.errors.NotFoundError):
            call()


def test_between_file_systems(here: str, tmp_path: Any) -> None:
    (tmp_path / "f").write_bytes(b"data")
    tf.gfile.Copy(tmp_path / "f", f"{here}/f")
    tf.gfile.Copy(f"{here}/f", tmp_path / "g")
    assert (tmp_path / "g").read_bytes() == b"data"


# ---- what opens files


@pytest.mark.parametrize("options", ["", "GZIP"])
def test_records(options: str, here: str) -> None:
    data = [b"x" * 100_000, b"", b"y"] * 5
    with tf.io.TFRecordWriter(f"{here}/f", options) as writer:
        for record in data:
            writer.write(record)
    assert list(tf.python_io.tf_record_iterator(f"{here}/f", options)) == data


def everything(reader: Any) -> dict[str, Any]:
    return {name: reader.read(name).tolist() for name in reader.types_and_shapes()}


def fail_while_writing(prefix: str) -> None:
    with BundleWriter(prefix) as writer:
        writer.add("other", np.zeros(1000))
        writer.add("", np.zeros(1))


def test_checkpoints(here: str) -> None:
    for value in (1.0, 2.0):  # the second replaces the first
        with BundleWriter(f"{here}/m") as writer:
            writer.add("big", np.full(100_000, value))
            writer.add("words", np.array([b"a", b"bc"], object))
        found = read_checkpoint(f"{here}/m", everything)
        assert found == {"big": [value] * 100_000, "words": [b"a", b"bc"]}
    assert names(here) == ["m.data-00000-of-00001", "m.index"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs a name"):
        fail_while_writing(f"{here}/m")
    assert names(here) == ["m.data-00000-of-00001", "m.index"]
    assert "big" in read_checkpoint(f"{here}/m", everything)


def test_version_1_checkpoints(here: str) -> None:
    write_tensor_slices(f"{here}/old", ["v"], [None], [np.arange(3)])
    assert read_checkpoint(f"{here}/old", everything) == {"v": [0, 1, 2]}
    with pytest.raises(tf.errors.NotFoundError):
        read_checkpoint(f"{here}/no", everything)


def test_merged_checkpoints() -> None:
    here = "memory://merged"
    for name in "ab":
        with BundleWriter(f"{here}/tmp/{name}") as writer:
            writer.add(name, np.zeros(2))
    merge_bundles([f"{here}/tmp/a", f"{here}/tmp/b"], f"{here}/both")
    with BundleReader(f"{here}/both") as reader:
        assert everything(reader) == {"a": [0.0, 0.0], "b": [0.0, 0.0]}
    tf.gfile.DeleteRecursively(here)


def test_event_files(here: str) -> None:
    with tf.summary.FileWriter(f"{here}/logs", tf.Graph()) as writer:
        summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])
        writer.add_summary(summary, 3)
    (path,) = tf.gfile.Glob(f"{here}/logs/events*")
    events = list(tf.train.summary_iterator(path))
    assert events[-1].summary.value[0].simple_value == 0.5


def test_graphs(here: str) -> None:
    with tf.Graph().as_default() as graph:
        tf.Variable(1.0, name="v")
        tf.train.export_meta_graph(f"{here}/m.meta")
    path = tf.train.write_graph(graph, f"{here}/models", "g.pbtxt")
    assert path == f"{here}/models/g.pbtxt"
    with tf.gfile.GFile(path) as file:
        assert 'name: "v"' in file.read()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(f"{here}/m.meta")
        assert graph.get_operation_by_name("v")
    with pytest.raises(OSError, match="does not exist"):
        tf.train.import_meta_graph(f"{here}/no.meta")


def test_savers_and_saved_models(here: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        saver = tf.train.Saver(max_to_keep=2)
        session.run(tf.global_variables_initializer())
        for step in range(3):
            saver.save(session, f"{here}/model", global_step=step)
        assert tf.train.latest_checkpoint(here) == f"{here}/model-2"
        assert "model-0.index" not in names(here)
        session.run(v.assign([0.0, 0.0]))
        saver.restore(session, f"{here}/model-1")
        assert session.run(v).tolist() == [1.0, 2.0]
        tf.saved_model.simple_save(session, f"{here}/served", {"v": v}, {"v": v})
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], f"{here}/served")
        assert session.run("v:0").tolist() == [1.0, 2.0]


def test_vocabularies(here: str) -> None:
    with tf.gfile.GFile(f"{here}/words", "w") as file:
        file.write("a\nb\n")
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.index_table_from_file(f"{here}/words")
        session.run(tf.tables_initializer())
        assert session.run(table.lookup(tf.constant(["b", "c"]))).tolist() == [1, -1]


def test_nothing_is_half_written(here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "cp_file", None)  # an object store need not copy
    with PendingFile(f"{here}/f") as pending:
        pending.write(b"old")
    pending = PendingFile(f"{here}/f")
    pending.write(b"new" * 1000)
    assert tf.gfile.GFile(f"{here}/f").read() == "old"
    pending.close()
    assert tf.gfile.GFile(f"{here}/f").read() == "old"
    pending.commit()
    pending.discard()
    assert tf.gfile.GFile(f"{here}/f").read() == "new" * 1000
    other = PendingFile(f"{here}/f")
    other.write(b"never")
    other.discard()
    del other
    assert tf.gfile.GFile(f"{here}/f").read() == "new" * 1000
    assert names(here) == ["f"]


# ---- where there is no fsspec


def test_schemes_that_are_not_known() -> None:
    for url, why in (("foo://x", "foo"), ("s3+x://x", "Protocol not known")):
        scheme = url.partition("://")[0]
        with pytest.raises(tf.errors.UnimplementedError, match=why) as error:
            tf.gfile.Exists(url)
        begin = f"File system scheme '{scheme}' not implemented (file: '{url}')"
        assert str(error.value).startswith(begin)


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    for call in (tf.gfile.Exists, tf.io.TFRecordWriter, BundleReader):
        with pytest.raises(tf.errors.UnimplementedError) as error:
            call("memory://x")
        assert "pip install 'tfteach[remote]'" in str(error.value)


def test_errors_of_a_file_system(here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(error: Exception) -> Any:
        def call(*args: Any) -> bool:
            raise error

        return call

    fs = remote_file_system.file_system(here)
    monkeypatch.setattr(fs, "exists", fails(RuntimeError("no token")))
    with pytest.raises(tf.errors.UnknownError, match="RuntimeError: no token"):
        tf.gfile.Exists(f"{here}/x")
    monkeypatch.setattr(fs, "exists", fails(NotImplementedError("asking")))
    with pytest.raises(tf.errors.UnimplementedError, match="cannot do this: asking"):
        tf.gfile.Exists(f"{here}/x")


def test_local_files_need_no_fsspec(tmp_path: Any) -> None:
    code = (
        "import sys, tfteach as tf\n"
        f"with tf.io.TFRecordWriter({str(tmp_path / 'f')!r}) as w: w.write(b'x')\n"
        f"assert tf.gfile.Exists('file://{tmp_path}/f')\n"
        "assert not [m for m in sys.modules if m.startswith('fsspec')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
