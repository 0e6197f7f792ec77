"""`tf.gfile` and `tf.io.gfile`: results and errors as TensorFlow 1.15's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tfteach.compat.internals import inner


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "f").write_text("hello\nworld\n")
    return tmp_path


def test_what_is_there(here: Path) -> None:
    assert tf.gfile.Exists(str(here / "a"))
    assert tf.gfile.Exists(os.fsencode(here))
    assert not tf.io.gfile.exists(here / "no")
    assert tf.gfile.Exists(f"file://{here}/a")
    assert tf.gfile.IsDirectory(str(here))
    assert not tf.io.gfile.isdir(here / "a" / "f")
    assert sorted(tf.gfile.ListDirectory(str(here / "a"))) == ["b", "f"]
    found = tf.gfile.Stat(str(here / "a" / "f"))
    assert (found.length, found.is_directory) == (12, False)
    assert tf.io.gfile.stat(here).is_directory


def test_glob(here: Path) -> None:
    a = str(here / "a")
    assert tf.gfile.Glob(f"{a}/*") == [f"{a}/b", f"{a}/f"]
    assert tf.gfile.Glob([f"{a}/?", f"{a}/b"]) == [f"{a}/b", f"{a}/f", f"{a}/b"]
    assert tf.io.gfile.glob(f"{a}/no*") == []
    assert tf.io.gfile.glob(a) == [a]


def test_making_and_moving(here: Path) -> None:
    tf.gfile.MkDir(str(here / "new"))
    tf.gfile.MkDir(str(here / "new"))
    tf.gfile.MakeDirs(str(here / "x" / "y"))
    tf.gfile.MakeDirs(str(here / "x" / "y"))
    tf.gfile.Copy(str(here / "a" / "f"), str(here / "x" / "g"))
    tf.gfile.Rename(str(here / "x" / "g"), str(here / "x" / "h"))
    tf.gfile.Rename(str(here / "x" / "h"), str(here / "a" / "f"), overwrite=True)
    assert (here / "a" / "f").read_text() == "hello\nworld\n"
    tf.gfile.Remove(str(here / "a" / "f"))
    tf.gfile.DeleteRecursively(str(here / "a"))
    assert sorted(os.listdir(here)) == ["new", "x"]


def test_walk(here: Path) -> None:
    top, a, b = str(here), str(here / "a"), str(here / "a" / "b")
    rows = [(top, ["a"], []), (a, ["b"], ["f"]), (b, [], [])]
    assert list(tf.gfile.Walk(top)) == rows
    assert list(tf.gfile.Walk(top, in_order=False)) == rows[::-1]
    errors: list[Any] = []
    assert list(tf.io.gfile.walk(here / "no", onerror=errors.append)) == []
    assert "Could not find directory" in str(errors[0])


E = tf.errors
WORDS: list[tuple[Callable[[str], Any], type, str]] = [
    (lambda p: tf.gfile.MkDir(p + "/x/y"), E.NotFoundError, "x/y; No such file or"),
    (lambda p: tf.gfile.ListDirectory(p + "/x"), E.NotFoundError, "Could not find dir"),
    (lambda p: tf.gfile.Stat(p + "/x"), E.NotFoundError, "x; No such file"),
    (lambda p: tf.gfile.Glob(p + "/x/*"), E.NotFoundError, "x; No such file"),
    (lambda p: tf.gfile.Remove(p + "/x"), E.NotFoundError, "x; No such file"),
    (lambda p: tf.gfile.Remove(p + "/a"), E.FailedPreconditionError, "a; Is a direct"),
    (lambda p: tf.gfile.DeleteRecursively(p + "/x"), E.NotFoundError, "/x not found"),
    (
        lambda p: tf.gfile.DeleteRecursively(p + "/a/f"),
        E.FailedPreconditionError,
        "f; Not a directory",
    ),
    (lambda p: tf.gfile.Copy(p + "/x", p + "/y"), E.NotFoundError, "/x; No such file"),
    (lambda p: tf.gfile.Copy(p + "/a/f", p + "/x/y"), E.NotFoundError, "/x/y; No such"),
    (lambda p: tf.gfile.Copy(p + "/a/f", p + "/a"), E.AlreadyExistsError, "file alrea"),
    (
        lambda p: tf.gfile.Copy(p + "/a", p + "/y"),
        E.InvalidArgumentError,
        "Invalid arg",
    ),
    (lambda p: tf.gfile.Rename(p + "/a", p + "/a/f"), E.AlreadyExistsError, "file alr"),
    (lambda p: tf.gfile.Rename(p + "/x", p + "/y"), E.NotFoundError, "/x; No such"),
    (lambda p: tf.gfile.GFile(p + "/x").read(), E.NotFoundError, "x; No such file"),
    (lambda p: tf.gfile.GFile(p + "/x/y", "w").write("z"), E.NotFoundError, "No such"),
    (lambda p: tf.gfile.GFile(p).read(), E.FailedPreconditionError, "Is a directory"),
    (lambda p: tf.gfile.GFile(p, "x"), E.InvalidArgumentError, "mode is not 'r' or"),
    (
        lambda p: tf.gfile.GFile(p + "/a/f", "w").read(),
        E.PermissionDeniedError,
        "File isn't open for reading",
    ),
    (
        lambda p: tf.gfile.GFile(p + "/a/f").write("z"),
        E.PermissionDeniedError,
        "File isn't open for writing",
    ),
    (
        lambda p: tf.gfile.GFile(p + "/a/f").seek(-1),
        E.InvalidArgumentError,
        "Seeking to a negative position: -1",
    ),
    (lambda p: tf.gfile.GFile(p + "/a/f").seek(99), E.OutOfRangeError, "reached end"),
    (
        lambda p: tf.gfile.GFile(p + "/a/f").seek(0, 4),
        E.InvalidArgumentError,
        "Invalid whence argument: 4",
    ),
    (
        lambda p: tf.gfile.Exists("gs://bucket/x"),
        E.UnimplementedError,
        "File system scheme 'gs' not implemented (file: 'gs://bucket/x')",
    ),
    (
        lambda p: tf.gfile.GFile("s3://bucket/x").read(),
        E.UnimplementedError,
        "File system scheme 's3' not implemented",
    ),
]


@pytest.mark.parametrize(("call", "kind", "words"), WORDS)
def test_errors(
    here: Path, call: Callable[[str], Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        call(str(here))
    assert words in str(caught.value)
    assert (here / "a" / "f").read_text() == "hello\nworld\n"


def test_not_a_path() -> None:
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        tf.gfile.Exists(3)
    file = tf.gfile.GFile(__file__)
    with pytest.raises(TypeError, match=r"seek\(\): offset argument required"):
        file.seek()


def test_reading(here: Path) -> None:
    path = str(here / "a" / "f")
    with tf.gfile.GFile(path) as file:
        assert (file.name, file.mode, file.size()) == (path, "r", 12)
        assert file.read(3) == "hel"
        assert file.tell() == 3
        file.seek(1)
        file.seek(1, whence=1)
        assert file.readline() == "llo\n"
        assert list(file) == ["world\n"]
        file.seek(position=6)
        assert file.readlines() == ["world\n"]
    with tf.gfile.Open(here / "a" / "f", "rb") as file:
        assert file.read() == b"hello\nworld\n"
    assert tf.io.gfile.GFile is tf.gfile.GFile is tf.gfile.Open


def test_writing(here: Path) -> None:
    path = str(here / "w")
    file = tf.gfile.GFile(path, "w")
    assert not tf.gfile.Exists(path)  # opened by the first write
    file.write("é\n")
    file.write(b"\x00")
    assert file.tell() == 4
    file.flush()
    assert file.size() == 4
    file.close()
    with tf.gfile.GFile(path, "a") as file:
        file.write("end")
    assert tf.gfile.GFile(path, "rb").read() == b"\xc3\xa9\n\x00end"
    with tf.gfile.GFile(path, "wb") as file:
        file.write(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        tf.gfile.GFile(path).read()


def test_text_and_bytes() -> None:
    assert tf.compat.as_bytes("é") == b"\xc3\xa9"
    assert tf.compat.as_text(b"\xc3\xa9") == tf.compat.as_str("é") == "é"
    assert tf.compat.as_str_any(3) == "3"
    assert tf.compat.path_to_str(Path("x")) == "x"
    assert tf.compat.path_to_str(3) == 3
    assert isinstance(3, tf.compat.integral_types)
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        tf.compat.as_text(3)


def test_files_beside_the_script() -> None:
    assert tf.resource_loader.get_data_files_path() == os.path.dirname(__file__)
    assert tf.resource_loader.get_path_to_datafile("x").endswith("platform/x")
    assert b"tf.gfile" in tf.resource_loader.load_resource("compat/platform/gfile.py")


def test_functions_of_the_inner_module(here: Path) -> None:
    file_io = inner("lib.io.file_io")
    a, b = str(here / "x"), str(here / "y")
    file_io.atomic_write_string_to_file(a, "testing\n\n")
    file_io.atomic_write_string_to_file(b, b"testing\n\n\n", overwrite=False)
    with pytest.raises(tf.errors.AlreadyExistsError, match="file already exists"):
        file_io.atomic_write_string_to_file(a, "t", overwrite=False)
    with pytest.raises(tf.errors.NotFoundError, match="No such file or dir"):
        file_io.atomic_write_string_to_file(str(here / "no" / "x"), "t")
    assert sorted(os.listdir(here)) == ["a", "x", "y"]
    found = [file_io.file_crc32(a), file_io.file_crc32(b, 3), file_io.file_crc32(a, -1)]
    assert found == ["0x8607e4f4", "0x88813772", "0x8607e4f4"]
    assert file_io.filecmp(a, a)
    assert not file_io.filecmp(a, b)
    file_io.write_string_to_file(b, "testing!\n")
    assert not file_io.filecmp(a, b)
    with pytest.raises(tf.errors.NotFoundError):
        file_io.filecmp(a, str(here / "no"))
    below = [top for top, _, _ in file_io.walk(str(here), in_order=False)]
    assert below == [str(here / "a" / "b"), str(here / "a"), str(here)]
    assert [top for top, _, _ in file_io.walk_v2(str(here), topdown=True)] == below[
        ::-1
    ]
