"""A worker as the parts of one session see it.

Source: core/distributed_runtime/{worker_session,session_mgr}.cc.
"""

from __future__ import annotations

from tfteach.framework import errors, protos
from tfteach.lib.distributed_runtime.cluster import Cluster
from tfteach.lib.distributed_runtime.rendezvous import Key, Rendezvous, RendezvousTable
from tfteach.lib.distributed_runtime.task import Task


class WorkerSession:
    """The task, its cluster, and the tensors on their way.

    Args:
      task: the worker's own; as the session names it, if that brings a cluster along.
      cluster: the tasks that it talks to.
      steps: the tensors on their way.

    Attributes:
      task, cluster, steps: see the arguments.
    """

    def __init__(self, task: Task, cluster: Cluster, steps: RendezvousTable) -> None:
        self.task = task
        self.cluster = cluster
        self.steps = steps

    def fetch(self, step_id: int, key: Key, rendezvous: Rendezvous) -> None:
        """Ask the sending task for a tensor, and put it there when it comes."""
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
