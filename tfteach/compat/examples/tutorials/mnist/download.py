"""Downloaded files: verified, and moved into place only when complete."""

from __future__ import annotations

import os
import sys
from typing import Any

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"

# SHA-256 of the files at DEFAULT_SOURCE_URL, which are those of yann.lecun.com.
CHECKSUMS = {
    "train-images-idx3-ubyte.gz": (
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
    ),
    "train-labels-idx1-ubyte.gz": (
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
    ),
    "t10k-images-idx3-ubyte.gz": (
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
    ),
}
TIMEOUT_S = 30.0


def maybe_download(filename: str, work_directory: Any, source_url: str) -> str:
    """The path of a file in a folder; the file is downloaded if it is missing.

    Args:
      filename: its name; if `name.gz` is missing, `name` is used.
      work_directory: the folder, created if it is missing.
      source_url: the file's address.

    Raises:
      urllib.error.URLError: the file is missing and cannot be downloaded.
      ValueError: the downloaded file differs from the one on TensorFlow's server.
    """
    path = os.path.join(work_directory, filename)
    for known in (path, path.removesuffix(".gz")):
        if os.path.exists(known):
            return known
    os.makedirs(work_directory, exist_ok=True)
    # In the same folder, so that moving the file into place is atomic.
    part = f"{path}.{os.getpid()}.part"
    try:
        digest = _fetch(source_url, part, filename, work_directory)
        known = CHECKSUMS.get(filename, digest)
        if source_url == DEFAULT_SOURCE_URL + filename and digest != known:
            raise ValueError(
                f"{source_url} gave another file than expected: its SHA-256 is "
                f"{digest}, not {known}. Is there a login page in between?"
            )
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
    print("Successfully downloaded", filename, os.path.getsize(path), "bytes.")
    return path


def _fetch(url: str, path: str, filename: str, folder: Any) -> str:
    """Download `url` to `path`; returns its SHA-256."""
    # Imported at the first download: they would add a twentieth to the start-up time.
    import hashlib
    import http.client
    import urllib.error
    import urllib.request

    digest = hashlib.sha256()
    done = 0
    try:
        with (
            urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer,
            open(path, "wb") as file,
        ):
            size = int(answer.headers.get("Content-Length") or 0)
            while block := answer.read(1 << 16):
                file.write(block)
                digest.update(block)
                done += len(block)
                _show(filename, done, size)
        if size and done != size:
            raise OSError(f"the connection ended after {done} of {size} bytes")
    except (OSError, http.client.HTTPException) as err:
        if isinstance(err, urllib.error.HTTPError):
            err.close()
        raise urllib.error.URLError(
            f"{url} cannot be downloaded: {err}. Without a network: put MNIST's four "
            f"files (train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, "
            f"t10k-images-idx3-ubyte.gz, t10k-labels-idx1-ubyte.gz) into the folder "
            f"{os.fspath(folder)!r}, or learn with drawn digits: "
            f"tfteach.examples.synthetic_mnist() instead of read_data_sets(), or once "
            f"tfteach.examples.write_synthetic_mnist({os.fspath(folder)!r})."
        ) from err
    finally:
        if done:
            sys.stderr.write("\n")
    return digest.hexdigest()


def _show(filename: str, done: int, size: int) -> None:
    """Show one line of progress on stderr, overwritten at each call."""
    share = done / size if size else 0.0
    bar = "#" * int(share * 30)
    amount = f"{share:4.0%} of {size / 1e6:.1f} MB" if size else f"{done / 1e6:.1f} MB"
    sys.stderr.write(f"\r{filename} [{bar:<30}] {amount}")
    sys.stderr.flush()
