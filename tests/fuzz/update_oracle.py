"""Runs steps that update variables on real TensorFlow 1.15: JSON lines in and out.

A request: {"graph": base64 of a GraphDef, "init": op, "steps": [[fetch, ...], ...],
"variables": [fetch, ...], "feeds": [{name: value}, ...], "sessions": n}.  Each session
runs every step with each of the feeds, then reads the variables.  The answer lists, for
each session, what it saw: numbers, or the class of the error that ended it.
"""

from __future__ import annotations

import base64
import json
import os
import sys


def main() -> None:
    """Answer requests from stdin until it ends."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    answers = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 2)
    import tensorflow as tf

    options = tf.RunOptions(timeout_in_ms=10000)
    for line in sys.stdin:
        request = json.loads(line)
        graph = tf.Graph()
        with graph.as_default():
            proto = tf.GraphDef.FromString(base64.b64decode(request["graph"]))
            tf.import_graph_def(proto, name="")
        config = tf.ConfigProto(inter_op_parallelism_threads=4)
        config.device_count["CPU"] = 2
        seen = []
        for _ in range(request["sessions"]):
            found = []
            with tf.Session(graph=graph, config=config) as session:
                session.run(request["init"])
                try:
                    for fed in request["feeds"]:
                        for fetches in request["steps"]:
                            values = session.run(fetches, fed, options)
                            found.append([v.tolist() for v in values])
                    values = session.run(request["variables"])
                    found.append([v.tolist() for v in values])
                except tf.errors.OpError as error:
                    found.append(type(error).__name__)
            seen.append(found)
        answers.write(json.dumps(seen) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
