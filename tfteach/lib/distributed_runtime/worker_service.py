"""The WorkerService: runs a task's parts of the steps that a master makes.

Source: core/distributed_runtime/{worker,graph_mgr}.cc, core/protobuf/worker.proto.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

from tfteach.framework import errors, protos
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import caller_is_gone
from tfteach.lib.distributed_runtime.cluster import Cluster
from tfteach.lib.distributed_runtime.partial_part import PartialPart
from tfteach.lib.distributed_runtime.partition_session import PartitionSession
from tfteach.lib.distributed_runtime.remote_code import check_graph
from tfteach.lib.distributed_runtime.rendezvous import Key
from tfteach.lib.distributed_runtime.run_messages import (
    RunGraphRequest,
    failed_graph_response,
    run_graph_response,
)
from tfteach.lib.distributed_runtime.service import (
    Call,
    Method,
    decoded,
    encoded,
    status_of,
    until_given_up,
)
from tfteach.lib.distributed_runtime.task import Task
from tfteach.lib.distributed_runtime.worker_session import WorkerSession


class WorkerService:
    """Holds a task's parts of graphs, and runs them for masters.

    Args:
      task: the server's.
      cluster: the other tasks.
    """

    def __init__(self, task: Task, cluster: Cluster) -> None:
        self.task = task
        self.cluster = cluster
        self.steps = task.steps
        self._shared = WorkerSession(task, cluster, self.steps)
        self._graphs: dict[str, PartitionSession] = {}
        self._partial_runs: dict[int, PartialPart] = {}
        self._sessions: dict[str, WorkerSession] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def methods(self) -> dict[str, Method]:
        """The methods by their names on the wire."""
        return {
            "WorkerService/GetStatus": self._get_status,
            "WorkerService/CreateWorkerSession": self._create_session,
            "WorkerService/DeleteWorkerSession": self._delete_session,
            "WorkerService/RegisterGraph": self._register_graph,
            "WorkerService/DeregisterGraph": self._deregister_graph,
            "WorkerService/RunGraph": self._run_graph,
            "WorkerService/CleanupGraph": self._cleanup_graph,
            "WorkerService/CleanupAll": self._cleanup_all,
            "WorkerService/RecvTensor": self._recv_tensor,
            "WorkerService/Logging": self._logging,
            "WorkerService/Tracing": self._tracing,
        }

    def _get_status(self, call: Call) -> bytes:
        protos.GetStatusRequest.FromString(call.request)
        attributes = self.task.attributes()
        return encoded(protos.GetStatusResponse(device_attributes=attributes))

    def _create_session(self, call: Call) -> bytes:
        request = protos.CreateWorkerSessionRequest.FromString(call.request)
        handle, brought = request.session_handle, request.server_def
        task, cluster = self.task, self.cluster
        if brought.HasField("cluster"):
            task = task.renamed(brought.job_name, brought.task_index)
            own, protocol = cluster.methods, cluster.protocol
            cluster = Cluster(brought.cluster, task.name, own, protocol)
        if request.isolate_session_state:
            task = task.isolated()
        self._sessions[handle] = WorkerSession(task, cluster, self.steps)
        return encoded(protos.CreateWorkerSessionResponse())

    def _delete_session(self, call: Call) -> bytes:
        request = protos.DeleteWorkerSessionRequest.FromString(call.request)
        found = self._sessions.pop(request.session_handle, None)
        if found is not None and found.task.resources is not self.task.resources:
            found.task.resources.clear()
        return encoded(protos.DeleteWorkerSessionResponse())

    def _register_graph(self, call: Call) -> bytes:
        request = protos.RegisterGraphRequest.FromString(call.request)
        check_graph(request.graph_def, call)
        session = self._session(request)
        config = protos.ConfigProto(graph_options=request.graph_options)
        part = PartitionSession(session, request.graph_def, config)
        handle = f"{next(self._numbers):016x}"
        with self._lock:
            self._graphs[handle] = part
        return encoded(protos.RegisterGraphResponse(graph_handle=handle))

    def _session(self, request: Proto) -> WorkerSession:
        """The session named by a RegisterGraphRequest.

        Raises:
          AbortedError: an earlier incarnation of the worker created it.
        """
        handle = request.session_handle
        found = self._sessions.get(handle)
        if found is None and request.create_worker_session_called:
            raise errors.AbortedError(
                None,
                None,
                f"Session handle is not found: {handle}. Possibly this worker "
                f'("{self.task.name}") just restarted.',
            )
        return found or self._shared

    def _deregister_graph(self, call: Call) -> bytes:
        request = protos.DeregisterGraphRequest.FromString(call.request)
        with self._lock:
            found = self._graphs.pop(request.graph_handle, None)
        if found is None:
            raise errors.AbortedError(
                None,
                None,
                f"Graph handle is not found: {request.graph_handle}. Possibly, this "
                "worker just restarted.",
            )
        found.close()
        return encoded(protos.DeregisterGraphResponse())

    def _run_graph(self, call: Call) -> bytes:
        request = decoded(RunGraphRequest, call.request, "RunGraph")
        with until_given_up(call):
            try:
                return self._run_part(request)
            except Exception as error:
                failure = status_of(error, "RunGraph")
            is_given_up = caller_is_gone()
        # Peers may be waiting for tensors of this part.
        kind = errors.exception_type_from_error_code(failure.error_code)
        aborted = kind(None, None, failure.message)
        self.steps.of(request.step_id).abort(aborted)
        if is_given_up:  # a master that was killed does not send CleanupGraph
            self._forget(request.step_id)
        if request.answers_errors:
            return failed_graph_response(failure)
        raise failure

    def _run_part(self, request: RunGraphRequest) -> bytes:
        part = self._graphs.get(request.graph_handle)
        if part is None:
            raise errors.AbortedError(
                None,
                None,
                f"Graph handle is not found: {request.graph_handle}. {self.task.name} "
                "has restarted, and has lost the session's variables: make a new "
                "session, and restore or initialize them.",
            )
        if request.is_partial:
            return self._advance(part, request)
        self._check_not_over(request.step_id)
        metadata = protos.RunMetadata()
        values = part.run_part(request, metadata)
        return run_graph_response(values, metadata, part.has_no_peers)

    def _advance(self, part: PartitionSession, request: RunGraphRequest) -> bytes:
        """Answer a call of a partial run; the first one starts it."""
        step_id = request.step_id
        with self._lock:
            self._check_not_over(step_id)
            run = self._partial_runs.get(step_id)
            if run is None:
                run = PartialPart(part, step_id, self.steps.of(step_id))
                self._partial_runs[step_id] = run
        try:
            values = run.advance(request)
        except errors.OpError:
            run.cancel()
            raise
        is_forgotten = request.is_last_partial_run and part.has_no_peers
        if is_forgotten:
            self._forget(step_id)
        return run_graph_response(values, protos.RunMetadata(), is_forgotten)

    def _check_not_over(self, step_id: int) -> None:
        """Refuse a call that was overtaken by the end of its step.

        Raises:
          AbortedError: the step is over.
        """
        if self.steps.has_ended(step_id):
            raise errors.AbortedError(None, None, f"Cleanup {step_id}")

    def _cleanup_graph(self, call: Call) -> bytes:
        request = protos.CleanupGraphRequest.FromString(call.request)
        self._forget(request.step_id)
        return encoded(protos.CleanupGraphResponse())

    def _forget(self, step_id: int) -> None:
        """Drop all state of a step, and abort whatever still waits for it."""
        self.steps.end(step_id)
        with self._lock:
            run = self._partial_runs.pop(step_id, None)
        if run is not None:
            run.cancel()

    def _cleanup_all(self, call: Call) -> bytes:
        request = protos.CleanupAllRequest.FromString(call.request)
        self.task.resources.clear(list(request.container))
        return encoded(protos.CleanupAllResponse())

    def _recv_tensor(self, call: Call) -> bytes:
        request = protos.RecvTensorRequest.FromString(call.request)
        key = Key.parse(request.rendezvous_key)
        sessions = (self._shared, *self._sessions.values())
        devices = (d for session in sessions for d in session.task.devices)
        own = {device.name: device.incarnation for device in devices}
        if key.sender not in own:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Invalid rendezvous key (src): {key.text} @ {self.task.name}",
            )
        if own[key.sender] != key.incarnation:
            raise errors.AbortedError(
                None,
                None,
                "RecvTensor expects a different device incarnation: "
                f"{key.incarnation} vs. {own[key.sender]}. Your worker job "
                f"({self.task.name}) was probably restarted. Check your worker job for "
                "the reason why it was restarted.",
            )
        rendezvous = self.steps.of(request.step_id)
        gone = threading.Event()
        call.at_end(gone.set)

        def wait(condition: threading.Condition, is_there: Any) -> None:
            while not is_there() and not gone.is_set():
                condition.wait(1.0)
            if not is_there():
                raise errors.CancelledError(None, None, "RecvTensor was cancelled")

        return rendezvous.take(request.rendezvous_key, wait)

    def _logging(self, call: Call) -> bytes:
        request = protos.LoggingRequest.FromString(call.request)
        steps = [protos.LabeledStepStats(step_id=i) for i in request.fetch_step_id]
        return encoded(protos.LoggingResponse(step=steps))

    def _tracing(self, call: Call) -> bytes:
        raise NotImplementedError("Tracing")

    def close(self) -> None:
        """End all parts and all steps."""
        self.steps.end_all()
        with self._lock:
            ended, self._graphs = list(self._graphs.values()), {}
            self._partial_runs.clear()
        for part in ended:
            part.close()
