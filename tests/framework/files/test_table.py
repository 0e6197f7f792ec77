"""Tables: what is written is read; damage is noticed."""

from __future__ import annotations

import io
import random

import pytest

from tfteach.framework.errors import DataLossError
from tfteach.framework.files.table import MAGIC, Table, TableBuilder

# Long enough for several blocks; neighbouring keys share beginnings.
PAIRS = [(b"key/%05d" % i, bytes([i % 251]) * (i % 700)) for i in range(2000)]


def table_of(pairs: list[tuple[bytes, bytes]]) -> bytes:
    file = io.BytesIO()
    builder = TableBuilder(file)
    for key, value in pairs:
        builder.add(key, value)
    builder.finish()
    return file.getvalue()


@pytest.fixture(scope="module")
def data() -> bytes:
    return table_of(PAIRS)


def test_read_again(data: bytes) -> None:
    table = Table(io.BytesIO(data), "t")
    assert list(table) == PAIRS
    assert table.get(b"key/01234") == PAIRS[1234][1]
    for absent in (b"", b"key/01234x", b"z"):
        assert table.get(absent) is None


@pytest.mark.parametrize("pairs", [[], [(b"", b"")], [(b"", b"x"), (b"\0", b"")]])
def test_small_tables(pairs: list[tuple[bytes, bytes]]) -> None:
    assert list(Table(io.BytesIO(table_of(pairs)), "t")) == pairs


@pytest.mark.parametrize("keys", [[b"b", b"a"], [b"a", b"a"], [b"", b""]])
def test_keys_must_ascend(keys: list[bytes]) -> None:
    builder = TableBuilder(io.BytesIO())
    builder.add(keys[0], b"")
    with pytest.raises(ValueError, match="after"):
        builder.add(keys[1], b"")


def test_any_changed_bit_is_noticed() -> None:
    """Also in the footer: no place of a block fits any more, or nothing has changed."""
    data = table_of(PAIRS[:40])
    pick = random.Random(0)
    messages = []
    for at in {*range(len(data) - 60, len(data)), *pick.sample(range(len(data)), 200)}:
        changed = bytearray(data)
        changed[at] ^= 1 << pick.randrange(8)
        try:
            found = list(Table(io.BytesIO(bytes(changed)), "t"))
        except DataLossError as error:
            messages.append(error.message)
        else:  # the padding of the footer
            assert found == PAIRS[:40]
            assert len(data) - 48 <= at < len(data) - 8
    assert len(messages) > 200
    assert all(message.endswith(": t") for message in messages)


@pytest.mark.parametrize("size", [0, 47, 48, 1000, -49, -1])
def test_truncated(data: bytes, size: int) -> None:
    with pytest.raises(DataLossError, match=r"too short|magic|truncated"):
        list(Table(io.BytesIO(data[:size]), "t"))


def test_foreign_file() -> None:
    with pytest.raises(DataLossError, match="not an sstable"):
        Table(io.BytesIO(b"\x89PNG" * 30), "t")
    with pytest.raises(DataLossError, match="truncated block read"):
        Table(io.BytesIO(b"\xff\xff\x7f" * 13 + b"\0" + MAGIC), "t")
