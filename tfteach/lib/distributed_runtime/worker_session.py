"""A worker as the parts of one session see it.

Source: core/distributed_runtime/{worker_session,session_mgr}.cc.
"""

from __future__ import annotations

from tfteach.framework import errors, protos
from tfteach.lib.distributed_runtime.cluster import Cluster
from tfteach.lib.distributed_runtime.rendezvous import Key, Rendezvous, RendezvousTable
from tfteach.lib.distributed_runtime.task import Task


class WorkerSession:
    """A task, its cluster, and its tensors in transit.

    Args:
      task: the worker's; renamed if the session has a cluster of its own.
      cluster: its peers.
      steps: the tensors in transit.

    Attributes:
      task, cluster, steps: see the arguments.
    """

    def __init__(self, task: Task, cluster: Cluster, steps: RendezvousTable) -> None:
        self.task = task
        self.cluster = cluster
        self.steps = steps

    def fetch(self, step_id: int, key: Key, rendezvous: Rendezvous) -> None:
        """Request a tensor from its sender, and put it there when it arrives."""
        request = protos.RecvTensorRequest(step_id=step_id, rendezvous_key=key.text)

        def arrived(answer: bytes | None, error: errors.OpError | None) -> None:
            if error is not None:
                rendezvous.abort(error)
            else:
                rendezvous.put(key.text, answer or b"")

        self.cluster.post(
            key.sending_task,
            "WorkerService/RecvTensor",
            request.SerializeToString(),
            arrived,
        )
