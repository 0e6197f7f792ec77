"""The program of one task of a `LocalCluster`, for tfteach and for TensorFlow.

It runs as `python -c TEXT MODULE CLUSTER JOB INDEX CONFIG`, also in a Python without
tfteach, and prints `READY` once its server answers.  It ends with its standard input:
when the process that started it has gone, however that ended.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading

READY = "tfteach: the task is ready"


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def main(module: str, cluster: str, job: str, index: str, config: str) -> None:
    """Serve until the standard input ends.

    Args:
      module: "tfteach" or "tensorflow".
      cluster: addresses by job, as JSON.
      job: the task's job.
      index: its index there.
      config: its ConfigProto in hexadecimal digits.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tf = importlib.import_module(module)
    tf = getattr(tf.compat, "v1", tf)
    server = tf.train.Server(
        json.loads(cluster),
        job_name=job,
        task_index=int(index),
        protocol="grpc",
        config=tf.ConfigProto.FromString(bytes.fromhex(config)),
    )
    print(READY, flush=True)
    server.join()


if __name__ == "__main__":
    # The notebook's folder is no place for modules of the server.
    sys.path[:] = [folder for folder in sys.path if folder]
    main(*sys.argv[1:])
