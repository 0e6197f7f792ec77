"""`tf.test`'s names that need unittest and absl, loaded on first access."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfteach.compat.renamed import missing
from tfteach.framework.export import export, export_value
from tfteach.framework.lazy_names import imported, lazy_getattr
from tfteach.framework.type_aliases import Proto

if TYPE_CHECKING:
    from tfteach.lib.distributed_runtime.server import Server

_FOUND = {
    "TestCase": ("tfteach.compat.testing.case", "TestCase"),
    "main": ("tfteach.compat.testing.case", "main"),
    "get_temp_dir": ("tfteach.compat.testing.case", "get_temp_dir"),
    "test_src_dir_path": ("tfteach.compat.testing.case", "test_src_dir_path"),
    "mock": ("unittest.mock", ""),
}
_REFUSED = {
    "Benchmark": "time runs with %timeit, or look at tf.RunMetadata",
    "benchmark_config": "tf.ConfigProto() is what it returns but for one rewrite",
    "StubOutForTesting": "use tf.test.mock",
}


def _missing(_: str, name: str) -> AttributeError:
    if name in _REFUSED:
        return AttributeError(
            f"module 'tensorflow.test' has no attribute {name!r}: tfteach does not "
            f"have it; {_REFUSED[name]}."
        )
    return missing("test", name)


of_test = lazy_getattr("tfteach.api.test", imported(_FOUND), _missing)


@export("test.create_local_cluster")
def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Proto | None = None,
    ps_config: Proto | None = None,
) -> tuple[list[Server], list[Server]]:
    """Servers of this process that are a cluster: workers and parameter servers.

    `tfteach.distributed.LocalCluster` starts a process for each instead.

    Args:
      num_workers, num_ps: their numbers.
      protocol: as for `tf.train.Server`.
      worker_config, ps_config: ConfigProtos of the servers, or None.

    Returns:
      (the servers of the job "worker", those of the job "ps")

    Example:
      >>> workers, servers = tf.test.create_local_cluster(2, 1)
      >>> with tf.device("/job:ps/task:0"):
      ...     w = tf.Variable(3.0)
      >>> with tf.Session(workers[1].target) as sess:
      ...     sess.run(w.initializer)
      ...     sess.run(w)
      3.0

    Source: python/framework/test_util.py
    """
    from tfteach.lib.distributed_runtime.local.local_cluster import free_addresses
    from tfteach.lib.distributed_runtime.server import Server

    cluster = free_addresses({"worker": num_workers, "ps": num_ps})
    workers, servers = (
        [
            Server(cluster, job, i, protocol=protocol, config=config)
            for i in range(count)
        ]
        for job, count, config in (
            ("worker", num_workers, worker_config),
            ("ps", num_ps, ps_config),
        )
    )
    return workers, servers


@export("test.is_built_with_rocm")
def is_built_with_rocm() -> bool:
    """False: AMD's GPUs are not supported."""
    return False


export_value(__name__, of_test="test.__getattr__")
