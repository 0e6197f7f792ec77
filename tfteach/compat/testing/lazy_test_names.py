"""`tf.test`'s names that need unittest and absl, loaded on first access."""

from __future__ import annotations

from typing import Any

from tfteach.compat.renamed import missing
from tfteach.framework.export import export, export_value
from tfteach.framework.lazy_names import imported, lazy_getattr

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
    worker_config: Any = None,
    ps_config: Any = None,
) -> Any:
    """Raises NotImplementedError: there are no servers yet."""
    raise NotImplementedError(
        "tf.test.create_local_cluster: tfteach has no tf.train.Server."
    )


@export("test.is_built_with_rocm")
def is_built_with_rocm() -> bool:
    """False: AMD's GPUs are not supported."""
    return False


export_value(__name__, of_test="test.__getattr__")
