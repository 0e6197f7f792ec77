"""Checkpoints of both versions: real TensorFlow's are read, and what we write."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.golden.checkpoints import FOLDER, VALUES
from tfteach.framework.dtypes import qint8
from tfteach.framework.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    ResourceExhaustedError,
)
from tfteach.framework.files import pending_file, tensor_bundle_writer
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.files.saved_tensor_slices import write_tensor_slices
from tfteach.framework.files.tensor_bundle import BundleReader, data_path, index_path
from tfteach.framework.files.tensor_bundle_writer import BundleWriter, merge_bundles
from tfteach.framework.files.tensor_slice import SliceSpec

Arrays = dict[str, Any]


def expected() -> Arrays:
    names: Arrays = {}
    exec(VALUES, names)  # the text that real TensorFlow executed
    values: Arrays = names["values"]
    parts = [np.full((2, 2), i, np.float32) for i in range(3)]
    return {**values, "part": np.concatenate(parts)}


def everything(reader: Any) -> Arrays:
    return {name: reader.read(name) for name in reader.types_and_shapes()}


def assert_equal(found: Arrays, wanted: Arrays) -> None:
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert found[name].dtype == np.asarray(value).dtype, name
        np.testing.assert_array_equal(found[name], value, name)


def write(prefix: str, arrays: Arrays) -> None:
    with BundleWriter(prefix) as writer:
        for name, array in arrays.items():
            writer.add(name, array)


# ---- real TensorFlow's


def test_version_2() -> None:
    assert_equal(read_checkpoint(str(FOLDER / "all"), everything), expected())


def test_version_1() -> None:
    wanted = expected()
    del wanted["empty"], wanted["half"]
    assert_equal(read_checkpoint(str(FOLDER / "version_1"), everything), wanted)


def test_shards() -> None:
    found = read_checkpoint(str(FOLDER / "sharded"), everything)
    assert_equal(found, {"one": np.arange(3), "two": np.arange(3) + 1})


def test_two_thousand_variables() -> None:
    with BundleReader(str(FOLDER / "tf1-5")) as reader:
        assert len(reader.names) == 2003
        np.testing.assert_array_equal(reader.read("scope_3/v0003"), np.arange(4.0))
        assert reader.read("strs").tolist() == [b"hello", b"", b"z" * 1000]
        assert reader.read("bf").dtype == ml_dtypes.bfloat16
        part = reader.read_slice("part", SliceSpec.parse("10 3 2,7:1,1"))
        np.testing.assert_array_equal(part, np.ones((7, 1)))


# ---- ours


def test_all_types_again(tmp_path: Path) -> None:
    arrays = expected()
    arrays["bfloat16"] = np.array([1.5, -3.0], ml_dtypes.bfloat16)
    arrays["quantized"] = np.array([(1,), (-2,)], qint8.numpy_dtype)
    arrays["strided"] = np.arange(24.0).reshape(2, 3, 4).T
    arrays["repeated"] = np.broadcast_to(np.float32(3.0), (4, 5))
    write(str(tmp_path / "new" / "m"), arrays)
    assert_equal(read_checkpoint(str(tmp_path / "new" / "m"), everything), arrays)
    assert sorted(os.listdir(tmp_path / "new")) == [
        "m.data-00000-of-00001", "m.index",
    ]  # fmt: skip


def test_version_1_again(tmp_path: Path) -> None:
    arrays = {**expected(), "repeated": np.broadcast_to(np.float32(3.0), (4, 5))}
    path = str(tmp_path / "v1")
    write_tensor_slices(path, list(arrays), [None] * len(arrays), list(arrays.values()))
    assert_equal(read_checkpoint(path, everything), arrays)


@pytest.mark.parametrize("version", [1, 2])
def test_slices_again(tmp_path: Path, version: int) -> None:
    path = str(tmp_path / "m")
    whole = np.arange(12.0).reshape(6, 2)
    specs = [SliceSpec.parse(f"6 2 {2 * i},2:-") for i in range(3)]
    parts = [whole[2 * i : 2 * i + 2] for i in range(3)]
    if version == 1:
        write_tensor_slices(path, ["p"] * 3, specs, parts)
    else:
        with BundleWriter(path) as writer:
            for spec, part in zip(specs, parts, strict=True):
                writer.add_slice("p", spec, part)

    def read(reader: Any) -> None:
        np.testing.assert_array_equal(reader.read("p"), whole)
        middle = SliceSpec.parse("6 2 1,4:1,1")
        np.testing.assert_array_equal(reader.read_slice("p", middle), whole[1:5, 1:])
        with pytest.raises(InvalidArgumentError, match=r"tensor_name = p; shape in"):
            reader.read_slice("p", SliceSpec.parse("6 3 1,4:-"))
        with pytest.raises(NotFoundError, match=r"q.*not found"):
            reader.read("q")

    read_checkpoint(path, read)


def test_merged(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    for name in "ab":
        write(str(scratch / name), {name: np.arange(3)})
    merge_bundles([str(scratch / name) for name in "ab"], str(tmp_path / "m"))
    assert not scratch.exists()
    found = read_checkpoint(str(tmp_path / "m"), everything)
    assert_equal(found, {"a": np.arange(3), "b": np.arange(3)})
    assert sorted(os.listdir(tmp_path)) == [
        "m.data-00000-of-00002", "m.data-00001-of-00002", "m.index",
    ]  # fmt: skip


def slices(*parts: tuple[str, Any]) -> Callable[[BundleWriter], None]:
    def add(writer: BundleWriter) -> None:
        for spec, part in parts:
            writer.add_slice("x", SliceSpec.parse(spec), part)

    return add


def twice(writer: BundleWriter) -> None:
    writer.add("x", np.zeros(1))
    writer.add("x", np.zeros(1))


TWO, THREE = np.zeros((2, 2)), np.zeros((2, 3))


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (twice, "Adding duplicate key: x"),
        (lambda writer: writer.add("", np.zeros(1)), "needs a name"),
        (slices(("4 2 0,2:-", THREE)), r"Slice in shape_and_slice .*tensor: \[2,3\]"),
        (slices(("4 2 0,2:-", TWO), ("4 2 0,2:-", TWO)), "duplicate key: x"),
        (slices(("4 2 0,2:-", TWO), ("4 3 0,2:-", THREE)), "different tensors"),
        (
            slices(("4 2 0,2:-", TWO), ("4 2 2,2:-", TWO.astype(int))),
            "different tensors",
        ),
    ],
)
def test_refused(
    tmp_path: Path, add: Callable[[BundleWriter], None], words: str
) -> None:
    write(str(tmp_path / "m"), {"old": np.arange(2)})
    with (
        pytest.raises(InvalidArgumentError, match=words),
        BundleWriter(str(tmp_path / "m")) as writer,
    ):
        add(writer)
    found = read_checkpoint(str(tmp_path / "m"), everything)
    assert_equal(found, {"old": np.arange(2)})
    assert len(os.listdir(tmp_path)) == 2


# ---- damage


@pytest.mark.parametrize("file", [".index", ".data-00000-of-00001"])
def test_any_changed_bit_is_noticed(tmp_path: Path, file: str) -> None:
    prefix = str(tmp_path / "m")
    arrays = {"a": np.arange(40.0), "s": np.array([b"one", b"", b"three"], object)}
    write(prefix, arrays)
    data = Path(prefix + file).read_bytes()
    pick = random.Random(1)
    messages = []
    for at in pick.sample(range(len(data)), min(len(data), 150)):
        changed = bytearray(data)
        changed[at] ^= 1 << pick.randrange(8)
        Path(prefix + file).write_bytes(changed)
        try:
            found = read_checkpoint(prefix, everything)
        except DataLossError as error:
            messages.append(error.message)
        else:  # the padding of the index's footer
            assert file == ".index"
            assert_equal(found, arrays)
    assert len(messages) > 60
    assert all(prefix in message for message in messages)


def test_truncated_data(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    write(prefix, {"a": np.arange(40.0), "s": np.array([b"one"], object)})
    path = data_path(prefix, 0, 1)
    os.truncate(path, 300)
    with pytest.raises(
        DataLossError, match=r"Read less bytes .*\(tensor a at offset 0 of .*data-00000"
    ):
        read_checkpoint(prefix, lambda reader: reader.read("a"))
    os.unlink(path)
    with pytest.raises(NotFoundError, match="data-00000-of-00001; No such file"):
        read_checkpoint(prefix, lambda reader: reader.read("a"))


def test_not_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="Failed to find any matching files for"):
        read_checkpoint(str(tmp_path / "m"), everything)
    with pytest.raises(DataLossError, match=r"Unable to open table file .*directory"):
        read_checkpoint(str(tmp_path), everything)
    (tmp_path / "text").write_text("no table" * 20)
    with pytest.raises(DataLossError, match=r"Unable to open .* Data loss: not an ss"):
        read_checkpoint(str(tmp_path / "text"), everything)
    with pytest.raises(FailedPreconditionError, match="Not a directory"):
        BundleWriter(str(tmp_path / "text" / "m"))


# ---- nothing is lost


def test_a_full_disk_leaves_the_old_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = str(tmp_path / "m")
    write(prefix, {"old": np.arange(2)})
    full = open("/dev/full", "wb", buffering=0)  # noqa: SIM115 - closed with the file

    def write_to_full_disk() -> None:
        with BundleWriter(prefix) as writer:
            writer._data.file.close()
            monkeypatch.setattr(writer._data, "file", full)
            writer.add("new", np.arange(1000))

    with pytest.raises(ResourceExhaustedError, match="No space left on device"):
        write_to_full_disk()
    assert_equal(read_checkpoint(prefix, everything), {"old": np.arange(2)})
    assert len(os.listdir(tmp_path)) == 2


def test_killed_between_its_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data is new, the index beside its place: together they are the checkpoint."""
    prefix = str(tmp_path / "m")
    write(prefix, {"x": np.arange(2)})

    class Killed(BaseException):
        pass

    class Pending(tensor_bundle_writer.PendingFile):
        def commit(self) -> None:
            if self.path == index_path(prefix):
                raise Killed
            super().commit()

        def discard(self) -> None:
            """A killed process tidies nothing."""

    monkeypatch.setattr(tensor_bundle_writer, "PendingFile", Pending)
    with pytest.raises(Killed):
        write(prefix, {"x": np.ones(5)})
    monkeypatch.undo()
    assert_equal(read_checkpoint(prefix, everything), {"x": np.ones(5)})
    write(prefix, {"x": np.arange(7)})
    assert_equal(read_checkpoint(prefix, everything), {"x": np.arange(7)})


def test_readers_beside_a_writer(tmp_path: Path) -> None:
    """Each sees a whole checkpoint, the old one or the new one."""
    prefix = str(tmp_path / "m")
    sizes = (1000, 3000)
    arrays = [{n: np.full(size, size) for n in "ab"} for size in sizes]
    write(prefix, arrays[0])
    ended = threading.Event()
    errors: list[OpError] = []

    def rewrite() -> None:
        for i in range(60):
            write(prefix, arrays[i % 2])
        ended.set()

    writer = threading.Thread(target=rewrite)
    writer.start()
    while not ended.is_set():
        try:
            found = read_checkpoint(prefix, everything)
        except OpError as error:
            errors.append(error)
            break
        assert {len(v) for v in found.values()} in ({1000}, {3000})
        assert {int(v[0]) for v in found.values()} in ({1000}, {3000})
    writer.join()
    assert errors == []


@pytest.mark.parametrize("answer", [0, -1, None])
def test_large_tensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: int | None
) -> None:
    """Room for them is reserved where that is possible; else they are written, too."""
    reserved: list[tuple[int, int]] = []

    def fallocate(file: int, mode: int, offset: int, size: int) -> int | None:
        assert os.fstat(file).st_size == offset
        assert mode == 0
        reserved.append((offset, size))
        if answer == 0:
            os.posix_fallocate(file, offset, size)
        return answer

    found = None if answer is None else fallocate
    monkeypatch.setattr(pending_file, "_fallocate", lambda: found)
    rng = np.random.RandomState(0)
    arrays = {
        "small": rng.rand(3),
        "large": rng.rand(300_001),
        "text": np.array([b"x" * (3 << 20), b"y"], object),
        "wide": rng.randint(0, 9, [2, 1 << 20]).astype(np.int16),
    }
    prefix = str(tmp_path / "m")
    with BundleWriter(prefix) as writer:
        for name, array in arrays.items():
            writer.add(name, array)
    sizes = dict(reserved)
    assert (reserved == []) == (answer is None)
    assert list(sizes.values()) in ([], [2400008, (3 << 20) + 1, 4 << 20])
    with BundleReader(prefix) as reader:  # compares checksums
        for name, array in arrays.items():
            np.testing.assert_array_equal(reader.read(name), array)


def test_room_is_reserved_in_the_file(tmp_path: Path) -> None:
    pending = pending_file.PendingFile(str(tmp_path / "f"))
    pending.write(b"abc")
    pending.reserve(5)
    if pending_file._fallocate() is not None:
        assert os.stat(pending.scratch_path).st_size in (3, 8)  # or not supported
    pending.write(b"defgh")
    pending.commit()
    assert (tmp_path / "f").read_bytes() == b"abcdefgh"
