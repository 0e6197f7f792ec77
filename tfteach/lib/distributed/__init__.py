"""Sessions on servers, servers, and clusters of processes, by TensorFlow's protocol.

`tfteach.distributed` is this package: `LocalCluster` starts a cluster on this machine.
"""

from typing import TYPE_CHECKING, Any

from tfteach.framework.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from tfteach.lib.distributed.local_cluster import LocalCluster as LocalCluster

__all__ = ["LocalCluster"]


def _find(name: str) -> Any:
    if name != "LocalCluster":
        return None
    from tfteach.lib.distributed.local_cluster import LocalCluster

    return LocalCluster


__getattr__ = lazy_getattr(__name__, _find)
