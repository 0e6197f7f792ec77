"""Runs GraphDefs with real TensorFlow 1.15: requests on stdin, outcomes on stdout.

A request is a pickled (GraphDef bytes, runs), a run a (fetch names, feeds) with arrays
in the plain types of `plain`: the NumPy of Python 3.7 cannot read today's pickles.
Each answer is the outcome of the last run, or of the first that failed:

    ("value", [array, ...])    ("error", class name, message)    ("crash", signal)

A child does the work; when TensorFlow aborts, the next child goes on behind the request
that killed it.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import struct
import sys
from typing import Any, BinaryIO

LIMIT_S = 10
LIMIT_BYTES = 6 << 30


def plain(array: Any) -> tuple[str, tuple[int, ...], Any]:
    """(dtype's name, shape, bytes); a list of byte strings for text."""
    if array.dtype == object:
        return "object", array.shape, list(array.reshape(-1))
    return array.dtype.name, array.shape, array.tobytes()


def array_of(packed: Any, dtypes: Any) -> Any:
    """The array that `plain` packed; `dtypes` has the types NumPy does not know."""
    import numpy as np

    name, shape, data = packed
    if name == "object":
        boxed = np.empty(len(data), object)
        boxed[:] = data
        return boxed.reshape(shape)
    dtype = dtypes.get(name) or np.dtype(name)
    return np.frombuffer(data, dtype).reshape(shape)


def as_array(value: Any) -> Any:
    """A fetched value; NumPy's own type for bytes would drop zeros at the end."""
    import numpy as np

    return np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)


def write(stream: BinaryIO, value: Any) -> None:
    data = pickle.dumps(value, 4)
    stream.write(struct.pack("<q", len(data)) + data)
    stream.flush()


def read(stream: BinaryIO) -> Any:
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    return pickle.loads(stream.read(struct.unpack("<q", head)[0]))


def run(tf: Any, graph_def: bytes, runs: Any) -> Any:
    """The outcome of one request."""
    import numpy as np

    dtypes = {"bfloat16": tf.bfloat16.as_numpy_dtype}
    proto = tf.GraphDef()
    proto.ParseFromString(graph_def)
    try:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(proto, name="")
            with tf.Session() as session:
                for fetches, feeds in runs:
                    found = [graph.as_graph_element(name) for name in fetches]
                    fed = {k: array_of(v, dtypes) for k, v in feeds.items()}
                    values = session.run(found, fed)
    except Exception as error:
        message = getattr(error, "message", None) or str(error)
        return "error", type(error).__name__, message
    arrays = [as_array(v) for v in values if v is not None]
    return "value", [plain(np.array(a, a.dtype, order="C")) for a in arrays]


def serve(tf: Any, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are none; a new child after each crash."""
    while True:
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            try:
                while True:
                    request = read(requests)
                    signal.alarm(LIMIT_S)
                    answer = run(tf, *request)
                    signal.alarm(0)
                    write(answers, answer)
            except EOFError:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status == 0:
            return
        write(answers, ("crash", os.WTERMSIG(status) or os.WEXITSTATUS(status)))


def main() -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    requests = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    import tensorflow as tf

    serve(tf, requests, answers)


if __name__ == "__main__":
    main()
    sys.exit(0)
