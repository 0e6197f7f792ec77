"""Sessions on servers, servers, and clusters of processes, by TensorFlow's protocol.

`tfteach.distributed` is this package: `LocalCluster` starts a cluster on this machine,
`use_certificates` encrypts connections, `limit_messages` refuses large messages.
"""

from typing import TYPE_CHECKING, Any

from tfteach.framework.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from tfteach.lib.distributed_runtime.certificates import (
        use_certificates as use_certificates,
    )
    from tfteach.lib.distributed_runtime.channel_options import (
        limit_messages as limit_messages,
    )
    from tfteach.lib.distributed_runtime.local.local_cluster import (
        LocalCluster as LocalCluster,
    )

__all__ = ["LocalCluster", "limit_messages", "use_certificates"]


def _find(name: str) -> Any:
    if name == "LocalCluster":
        from tfteach.lib.distributed_runtime.local.local_cluster import LocalCluster

        return LocalCluster
    if name == "limit_messages":
        from tfteach.lib.distributed_runtime.channel_options import limit_messages

        return limit_messages
    if name == "use_certificates":
        from tfteach.lib.distributed_runtime.certificates import use_certificates

        return use_certificates
    return None


__getattr__ = lazy_getattr(__name__, _find)
