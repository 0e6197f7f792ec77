"""MNIST's files: read, damaged, downloaded, absent.  Batches as TensorFlow's."""

from __future__ import annotations

import gzip
import http.server
import os
import re
import threading
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.compat.examples.tutorials.mnist import download, idx, input_data

NAMES = [name for pair in idx.FILES for name in pair]
TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS = NAMES


def numbered(count: int) -> Any:
    images = np.zeros((count, 2, 3), np.uint8)
    images[:, 0, 0] = np.arange(count)
    images[:, 1, 2] = 255
    return images


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for size, (images, labels) in zip((20, 6), idx.FILES, strict=True):
        idx.write(tmp_path / images, numbered(size))
        idx.write(tmp_path / labels, np.arange(size, dtype=np.uint8) % 10)
    return tmp_path


# What TensorFlow 1.15.5 gives for these files, sizes of batches and seeds.
SIZES = [5, 5, 5, 5, 12, 16]
OP_SEED = [
    [2, 9, 4, 6, 6],
    [4, 5, 8, 7, 1],
    [5, 7, 0, 3, 8],
    [9, 9, 4, 9, 1],
    [0, 6, 3, 4, 5, 7, 8, 2, 6, 5, 8, 7],
    [7, 5, 8, 1, 8, 0, 3, 4, 7, 9, 6, 2, 9, 6, 4, 5],
]
GRAPH_SEED = [
    [1, 7, 8, 5, 0],
    [6, 6, 9, 9, 4],
    [5, 8, 7, 3, 2],
    [4, 8, 4, 7, 5],
    [4, 5, 3, 8, 7, 9, 2, 0, 1, 6, 9, 6],
    [7, 6, 9, 4, 3, 0, 6, 8, 8, 1, 9, 4, 7, 5, 2, 5],
]


@pytest.mark.parametrize(
    ("options", "batches", "then"),
    [
        ({"seed": 7}, OP_SEED, 0.6690132408839138),
        ({}, GRAPH_SEED, 0.25758528874783126),
        ({"seed": 7, "one_hot": True}, OP_SEED, 0.6690132408839138),
    ],
)
def test_batches_are_tensorflows(
    folder: Path, options: dict[str, Any], batches: list[list[int]], then: float
) -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        mnist = input_data.read_data_sets(str(folder), validation_size=4, **options)
        got = [mnist.train.next_batch(size)[1] for size in SIZES]
    numbers = [b.argmax(1) if "one_hot" in options else b for b in got]
    assert [b.tolist() for b in numbers] == batches
    assert mnist.train.epochs_completed == 2
    assert mnist.train.num_examples == 16
    assert np.random.random_sample() == then  # NumPy's generator stands where TF's does


def test_images_and_labels_stay_together(folder: Path) -> None:
    mnist = input_data.read_data_sets(
        str(folder), dtype=tf.uint8, reshape=False, validation_size=4
    )
    images, labels = mnist.train.next_batch(10)
    assert (images.shape, images.dtype) == ((10, 2, 3, 1), np.uint8)
    np.testing.assert_array_equal(images[:, 0, 0, 0] % 10, labels)
    first, _ = mnist.validation.next_batch(4, shuffle=False)
    assert first[:, 0, 0, 0].tolist() == [0, 1, 2, 3]


def test_floats_and_one_hot(folder: Path, capsys: Any) -> None:
    mnist = input_data.read_data_sets(str(folder), one_hot=True, validation_size=0)
    assert capsys.readouterr().out.splitlines() == [
        f"Extracting {folder}/{name}" for name in NAMES
    ]
    assert mnist.train.images.shape == (20, 6)
    assert mnist.train.images.dtype == np.float32
    assert mnist.train.images.max() == 1.0
    np.testing.assert_array_equal(mnist.test.labels, np.eye(10)[:6])


def test_fake_data() -> None:
    mnist = input_data.read_data_sets("nowhere", fake_data=True, one_hot=True)
    images, labels = mnist.train.next_batch(2, fake_data=True)
    assert np.shape(images) == (2, 784)
    assert labels == [[1] + [0] * 9] * 2
    assert mnist.test.num_examples == 10000
    assert not os.path.exists("nowhere")


def test_files_that_a_browser_unpacked(folder: Path) -> None:
    for name in NAMES:
        path = folder / name
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    mnist = input_data.read_data_sets(str(folder), validation_size=4)
    assert mnist.train.num_examples == 16


def test_the_paths_of_old_code_give_the_same_function() -> None:
    for place in (tf.contrib.learn.datasets, tf.contrib.learn.python.learn.datasets):
        assert place.mnist.read_data_sets is input_data.read_data_sets
        assert place.base.Datasets is input_data.Datasets
    assert tf.examples.tutorials.mnist.input_data is input_data


@pytest.mark.parametrize(
    ("size", "dtype", "kind", "words"),
    [
        (5000, tf.float32, ValueError, "between 0 and 20. Received: 5000."),
        (-1, tf.float32, ValueError, "between 0 and 20. Received: -1."),
        (1, tf.int32, TypeError, "Invalid image dtype tf.int32, expected uint8 or"),
    ],
)
def test_wrong_arguments(
    folder: Path, size: int, dtype: Any, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        input_data.read_data_sets(str(folder), validation_size=size, dtype=dtype)
    assert words in str(caught.value)


def whole(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        (TRAIN_IMAGES, lambda p: p.read_bytes()[:-20], "is damaged"),
        (TRAIN_IMAGES, lambda p: p.read_bytes()[:12] + b"\0" * 50, "is damaged"),
        (TRAIN_IMAGES, lambda p: b"<html>", "Invalid magic number 1013478509 in MNIST"),
        (TRAIN_IMAGES, lambda p: b"", "Invalid magic number 0 in MNIST image file"),
        (TRAIN_IMAGES, lambda p: gzip.compress(whole(p)[:9]), "ends in its header"),
        (
            TRAIN_IMAGES,
            lambda p: gzip.compress(whole(p)[:-1]),
            "its header says [20, 2, 3], 120 bytes, and 119 follow",
        ),
        (
            TRAIN_LABELS,
            lambda p: (p.parent / TRAIN_IMAGES).read_bytes(),
            "Invalid magic number 2051 in MNIST label file",
        ),
        (
            TEST_LABELS,
            lambda p: gzip.compress(whole(p)[:8] + b"\x0c" * 6),
            "Label 12 (number 0) is not below num_classes = 10",
        ),
    ],
)
def test_damaged_files(folder: Path, name: str, damage: Any, words: str) -> None:
    path = folder / name
    path.write_bytes(damage(path))
    with pytest.raises(ValueError, match=re.escape(words)):
        input_data.read_data_sets(str(folder), validation_size=4, one_hot=True)


# ---- from a server


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *unused: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path.startswith("/short/"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"only this")
            return
        super().do_GET()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = False  # closing it waits for their sockets


@pytest.fixture
def server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "*")
    serve = _Server(("127.0.0.1", 0), lambda *a: _Handler(*a, directory=str(folder)))
    thread = threading.Thread(target=serve.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{serve.server_port}/"
    serve.shutdown()
    thread.join()
    serve.server_close()


def test_absent_files_are_downloaded_once(
    server: str, folder: Path, tmp_path: Path, capsys: Any
) -> None:
    new = tmp_path / "new" / "data"
    mnist = input_data.read_data_sets(str(new), validation_size=4, source_url=server)
    assert mnist.train.num_examples == 16
    assert sorted(os.listdir(new)) == sorted(NAMES)  # and no parts of files
    shown = capsys.readouterr()
    size = (folder / TEST_LABELS).stat().st_size
    assert f"Successfully downloaded {TEST_LABELS} {size} bytes." in shown.out
    assert f"{TEST_LABELS} [{'#' * 30}] 100% of 0.0 MB\n" in shown.err
    input_data.read_data_sets(str(new), validation_size=4, source_url="http://[::")
    assert "Successfully" not in capsys.readouterr().out


def test_a_wrong_checksum(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "DEFAULT_SOURCE_URL", server)
    new = tmp_path / "new"
    with pytest.raises(ValueError, match=f"not {download.CHECKSUMS[TRAIN_IMAGES]}"):
        download.maybe_download(TRAIN_IMAGES, new, server + TRAIN_IMAGES)
    assert os.listdir(new) == []


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("missing/", "HTTP Error 404"),
        ("short/", "the connection ended after 9 of 1000 bytes"),
    ],
)
def test_what_a_server_does_not_give(
    server: str, tmp_path: Path, path: str, reason: str
) -> None:
    new = tmp_path / "new"
    with pytest.raises(urllib.error.URLError) as caught:
        input_data.read_data_sets(str(new), source_url=server + path)
    assert reason in str(caught.value)
    assert os.listdir(new) == []


def test_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*unused: Any, **also: Any) -> Any:
        raise urllib.error.URLError("[Errno -3] Temporary failure in name resolution")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    with pytest.raises(urllib.error.URLError) as caught:
        input_data.read_data_sets(str(tmp_path / "MNIST_data"))
    for words in (
        download.DEFAULT_SOURCE_URL + TRAIN_IMAGES,
        "name resolution",
        "four files (train-images-idx3-ubyte.gz",
        "tfteach.examples.synthetic_mnist()",
    ):
        assert words in str(caught.value)
