"""The MasterService: sessions of clients, each a graph that the cluster runs.

Source: core/distributed_runtime/{master,master_session}.cc, core/protobuf/master.proto.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tfteach.engine.session.partial_run import SET_UP_ON_SERVER_FIRST, PartialRun
from tfteach.framework import errors, protos
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Proto
from tfteach.framework.waiting import caller_is_gone
from tfteach.lib.distributed_runtime.call_threads import call_threads
from tfteach.lib.distributed_runtime.cluster import Cluster
from tfteach.lib.distributed_runtime.cluster_partial_run import ClusterPartialRun
from tfteach.lib.distributed_runtime.cluster_session import ClusterSession
from tfteach.lib.distributed_runtime.remote_code import check_graph
from tfteach.lib.distributed_runtime.run_messages import (
    RunStepRequest,
    failed_step_response,
    fed_array,
    run_step_response,
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
from tfteach.lib.distributed_runtime.task_session import TaskSession, unique

_RESET_TIMEOUT_S = 60.0


class _Callable(NamedTuple):
    feeds: list[Tensor]
    fetches: list[Tensor]
    targets: list[Operation]
    options: Proto


class MasterSession:
    """A client's session.

    Args:
      session: runs its graph.

    Attributes:
      handle: its name for the client.
    """

    def __init__(self, session: TaskSession) -> None:
        self.session = session
        self.handle = secrets.token_hex(8)
        self.version = 0  # of the graph
        self._is_closed = False
        self._lock = threading.Lock()
        self._partial_runs: dict[str, PartialRun | ClusterPartialRun] = {}
        self._callables: dict[int, _Callable] = {}
        self._numbers = itertools.count()

    def extend(self, graph_def: Proto, version: int | None = None) -> int:
        """Add nodes to the graph; returns its new version.

        Raises:
          AbortedError: the client last saw another version.
        """
        with self._lock:
            if version not in (None, self.version):
                raise errors.AbortedError(
                    None,
                    None,
                    f"Current version is {self.version} but caller expected {version}.",
                )
            if graph_def.node or graph_def.library.function:
                self.session.add(graph_def)
                self.version += 1
            return self.version

    def run(self, request: RunStepRequest, metadata: Proto | None) -> list[Any]:
        """The fetched values of a step, or of a part of one.

        Args:
          request: the step.
          metadata: a RunMetadata proto that is filled, or None.
        """
        session = self.session
        fetches = [session.tensor(name) for name in request.fetches]
        absent = "FeedInputs: unable to find feed output {}"
        feeds = request.feeds.items()
        fed = session.checked({session.tensor(n, absent): v for n, v in feeds})
        wanted = dict.fromkeys(fetches)
        targets = [session.operation(name) for name in request.targets]
        elements = unique((*wanted, *targets))
        with self._until_closed():
            if request.partial_run:
                values = self._continue(request.partial_run, [*wanted], fed)
            else:
                values = session.run_elements(elements, fed, request.options, metadata)
        by_tensor = dict(zip(wanted, values, strict=True))
        return [by_tensor[tensor] for tensor in fetches]

    @contextmanager
    def _until_closed(self) -> Iterator[None]:
        """Steps in this block fail with CancelledError once the session is closed."""
        try:
            yield
        except errors.OpError:
            if not self._is_closed:
                raise
            text = "Step was cancelled by an explicit call to `Session::Close()`."
            raise errors.CancelledError(None, None, text) from None

    def encoded_run(self, request: RunStepRequest) -> bytes:
        """The RunStepResponse of a step."""
        metadata = None if request.options is None else protos.RunMetadata()
        values = self.run(request, metadata)
        names = request.fetches
        dtypes = [self.session.tensor(name).dtype for name in names]
        return run_step_response(zip(names, values, dtypes, strict=True), metadata)

    # ---- partial runs

    def set_up(self, request: Proto) -> str:
        """Begin a partial run; returns its handle."""
        session = self.session
        fetches = [session.tensor(name) for name in request.fetch]
        targets = [session.operation(name) for name in request.target]
        feeds = [session.tensor(name) for name in request.feed]
        run: PartialRun | ClusterPartialRun
        if isinstance(session, ClusterSession):
            run = ClusterPartialRun(session, fetches, targets, feeds)
        else:
            run = PartialRun(session, [*fetches, *targets], feeds)
        handle = f"{self.handle}/{next(self._numbers)}"
        self._partial_runs[handle] = run
        return handle

    def _continue(
        self, handle: str, fetches: list[Tensor], fed: dict[Tensor, Any]
    ) -> list[Any]:
        run = self._partial_runs.get(handle)
        if run is None:
            raise errors.InvalidArgumentError(None, None, SET_UP_ON_SERVER_FIRST)
        try:
            values: list[Any] = run.run(fetches, fed)
        finally:
            if run.is_over:
                self._partial_runs.pop(handle, None)
        return values

    # ---- callables

    def make_callable(self, options: Proto) -> int:
        """Prepare a step that runs often; returns its handle."""
        for name in ("tensor_connection", "feed_devices", "fetch_devices"):
            if getattr(options, name):
                raise errors.UnimplementedError(
                    None, None, f"MakeCallable: CallableOptions.{name}"
                )
        for name in options.feed:
            if list(options.feed).count(name) > 1:
                raise errors.InvalidArgumentError(
                    None, None, f'Endpoint "{name}" fed more than once.'
                )
        session, handle = self.session, next(self._numbers)
        self._callables[handle] = _Callable(
            [session.tensor(name) for name in options.feed],
            [session.tensor(name) for name in options.fetch],
            [session.operation(name) for name in options.target],
            options.run_options,
        )
        return handle

    def run_callable(self, request: Proto) -> Proto:
        """The RunCallableResponse of a prepared step."""
        from tfteach.framework.protos.tensor_wire import tensor_pieces

        session, made = self.session, self._callable(request.handle)
        if len(request.feed) != len(made.feeds):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Expected {len(made.feeds)} feed tensors, but got {len(request.feed)}",
            )
        arrays = decoded(_fed_arrays, request, "RunCallable")
        fed = session.checked(dict(zip(made.feeds, arrays, strict=True)))
        elements = unique((*made.fetches, *made.targets))
        metadata = protos.RunMetadata()
        with self._until_closed():
            values = session.run_elements(elements, fed, made.options, metadata)
        by_tensor = dict(zip(dict.fromkeys(made.fetches), values, strict=True))
        answer = protos.RunCallableResponse(metadata=metadata)
        for tensor in made.fetches:
            pieces = tensor_pieces(by_tensor[tensor], tensor.dtype)
            answer.fetch.add().ParseFromString(b"".join(pieces))
        return answer

    def release_callable(self, handle: int) -> None:
        """Forget a prepared step."""
        self._callable(handle)
        del self._callables[handle]

    def _callable(self, handle: int) -> _Callable:
        if handle not in self._callables:
            raise errors.InvalidArgumentError(
                None, None, f"No such callable handle: {handle}"
            )
        return self._callables[handle]

    def close(self) -> None:
        """End the session; its steps that wait are cancelled."""
        self._is_closed = True
        for run in list(self._partial_runs.values()):
            if isinstance(run, ClusterPartialRun):
                run.end()
        self._partial_runs.clear()
        self.session.close()


def _fed_arrays(request: Proto) -> list[Any]:
    """The arrays that a RunCallableRequest feeds."""
    return [
        fed_array(memoryview(tensor.SerializeToString()), i)
        for i, tensor in enumerate(request.feed)
    ]


class MasterService:
    """The sessions of a server, and the methods by which clients use them.

    Args:
      task: the server's.
      cluster: all tasks.
      default_config: merged under the clients' ConfigProtos, or None.
    """

    def __init__(
        self, task: Task, cluster: Cluster, default_config: Proto | None = None
    ) -> None:
        self._task = task
        self._cluster = cluster
        self._default_config = default_config
        self._sessions: dict[str, MasterSession] = {}
        self._lock = threading.Lock()

    def methods(self) -> dict[str, Method]:
        """The methods by their names on the wire."""
        return {
            "MasterService/CreateSession": self._create_session,
            "MasterService/ExtendSession": self._extend_session,
            "MasterService/RunStep": self._run_step,
            "MasterService/PartialRunSetup": self._partial_run_setup,
            "MasterService/CloseSession": self._close_session,
            "MasterService/ListDevices": self._list_devices,
            "MasterService/Reset": self._reset,
            "MasterService/MakeCallable": self._make_callable,
            "MasterService/RunCallable": self._run_callable,
            "MasterService/ReleaseCallable": self._release_callable,
        }

    def _create_session(self, call: Call) -> bytes:
        request = protos.CreateSessionRequest.FromString(call.request)
        check_graph(request.graph_def, call)
        config = protos.ConfigProto()
        if self._default_config is not None:
            config.CopyFrom(self._default_config)
        config.MergeFrom(request.config)
        with until_given_up(call):
            made = MasterSession(self._new_session(config, request.target))
            try:
                version = made.extend(request.graph_def)
                if caller_is_gone():  # nobody would close the session
                    raise errors.CancelledError(None, None, "CreateSession")
            except BaseException:
                made.close()
                raise
        with self._lock:
            self._sessions[made.handle] = made
        answer = protos.CreateSessionResponse(
            session_handle=made.handle, graph_version=version
        )
        return encoded(answer)

    def _new_session(self, config: Proto, target: str) -> TaskSession:
        """A session on the tasks that its device filters match, or its own cluster."""
        brings_cluster = config.HasField("cluster_def")
        is_isolated = brings_cluster or config.isolate_session_state
        if config.experimental.share_session_state_in_clusterspec_propagation:
            is_isolated = False
        task, cluster = self._task, self._cluster
        if brings_cluster:
            task, cluster = self._place_in(config.cluster_def, target)
        if is_isolated:
            task = task.isolated()
        if brings_cluster or cluster.filtered(config.device_filters) != [task.name]:
            return ClusterSession(task, cluster, config, is_isolated)
        return TaskSession(task, config)

    def _place_in(self, cluster_def: Proto, target: str) -> tuple[Task, Cluster]:
        """The server's task in the cluster of a session's ConfigProto.

        Args:
          cluster_def: the cluster.
          target: by which the client reached the server.

        Raises:
          InvalidArgumentError: the server is not in it, or has the same name there as
            it was started with.
        """
        address = target.rpartition("//")[2]
        own, protocol = self._cluster.methods, self._cluster.protocol
        for job in cluster_def.job:
            for index, found in job.tasks.items():
                if found != address:
                    continue
                task = self._task.renamed(job.name, index)
                if task.name == self._task.name:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        "The ClusterSpec names the job and task index to be the same "
                        "names that were provided when the server booted. This is "
                        f"currently not allowed. Job: {job.name}, task index: {index}",
                    )
                return task, Cluster(cluster_def, task.name, own, protocol)
        raise errors.InvalidArgumentError(
            None,
            None,
            "The master (current machine) is not included in the provided cluster_def. "
            f"{cluster_def}",
        )

    def _extend_session(self, call: Call) -> bytes:
        request = protos.ExtendSessionRequest.FromString(call.request)
        check_graph(request.graph_def, call)
        found = self._session(request.session_handle)
        version = found.extend(request.graph_def, request.current_graph_version)
        return encoded(protos.ExtendSessionResponse(new_graph_version=version))

    def _run_step(self, call: Call) -> bytes:
        request = decoded(RunStepRequest.decode, call.request, "RunStep")
        session = self._session(request.handle)
        try:
            with until_given_up(call):
                return session.encoded_run(request)
        except Exception as error:
            if not request.answers_errors:
                raise
            return failed_step_response(status_of(error, "RunStep"))

    def run_step(self, request: RunStepRequest, metadata: Proto | None) -> list[Any]:
        """The fetched values of a step of a client in this process."""
        return self._session(request.handle).run(request, metadata)

    def _partial_run_setup(self, call: Call) -> bytes:
        request = protos.PartialRunSetupRequest.FromString(call.request)
        handle = self._session(request.session_handle).set_up(request)
        return encoded(protos.PartialRunSetupResponse(partial_run_handle=handle))

    def _close_session(self, call: Call) -> bytes:
        request = protos.CloseSessionRequest.FromString(call.request)
        with self._lock:
            found = self._sessions.pop(request.session_handle, None)
        if found is None:
            raise errors.AbortedError(
                None,
                None,
                f"Session {request.session_handle} is not found. Possibly, this "
                "master has restarted.",
            )
        found.close()
        return encoded(protos.CloseSessionResponse())

    def _list_devices(self, call: Call) -> bytes:
        request = protos.ListDevicesRequest.FromString(call.request)
        if request.session_handle and request.session_handle not in self._sessions:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Session {request.session_handle} is not found. Possibly, this "
                "master has restarted.",
            )
        if not request.session_handle:
            own = self._task.attributes()
            return encoded(protos.ListDevicesResponse(local_device=own))
        session = self._session(request.session_handle).session
        answer = protos.ListDevicesResponse(local_device=session.task.attributes())
        if isinstance(session, ClusterSession):
            answer.remote_device.extend(session.attributes)
        return encoded(answer)

    def _reset(self, call: Call) -> bytes:
        request = protos.ResetRequest.FromString(call.request)
        with self._lock:
            ended, self._sessions = list(self._sessions.values()), {}
        for session in ended:
            session.close()
        cleanup = protos.CleanupAllRequest(container=request.container)
        method = "WorkerService/CleanupAll", cleanup.SerializeToString()
        answers = [
            call_threads.submit(self._cluster.call, task, *method, _RESET_TIMEOUT_S)
            for task in self._cluster.filtered(request.device_filters)
        ]
        failures = [failure for a in answers if (failure := a.exception())]
        if failures:
            raise failures[0]
        return encoded(protos.ResetResponse())

    def _make_callable(self, call: Call) -> bytes:
        request = protos.MakeCallableRequest.FromString(call.request)
        handle = self._session(request.session_handle).make_callable(request.options)
        return encoded(protos.MakeCallableResponse(handle=handle))

    def _run_callable(self, call: Call) -> bytes:
        request = protos.RunCallableRequest.FromString(call.request)
        session = self._session(request.session_handle)
        with until_given_up(call):
            answer = session.run_callable(request)
        return encoded(answer)

    def _release_callable(self, call: Call) -> bytes:
        request = protos.ReleaseCallableRequest.FromString(call.request)
        self._session(request.session_handle).release_callable(request.handle)
        return encoded(protos.ReleaseCallableResponse())

    def _session(self, handle: str) -> MasterSession:
        found = self._sessions.get(handle)
        if found is None:
            raise errors.AbortedError(None, None, f"Session {handle} is not found.")
        return found

    def close(self) -> None:
        """End all sessions."""
        with self._lock:
            ended, self._sessions = list(self._sessions.values()), {}
        for session in ended:
            session.close()
