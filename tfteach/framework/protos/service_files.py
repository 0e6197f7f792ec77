"""Proto files of the services by which processes of a cluster talk.

Written as in `absent_files.py`.
Source: core/protobuf/{named_tensor,tensorflow_server,master,worker}.proto (names, types
and numbers of the fields).
"""

from __future__ import annotations

SERVICE_FILES = {
    "named_tensor": {"NamedTensorProto": "name string 1, tensor TensorProto 2"},
    "tensorflow_server": {
        "ServerDef": "cluster ClusterDef 1, job_name string 2, task_index int32 3, "
        "default_session_config ConfigProto 4, protocol string 5",
    },
    "master": {
        "CreateSessionRequest": "graph_def GraphDef 1, config ConfigProto 2, "
        "target string 3",
        "CreateSessionResponse": "session_handle string 1, graph_version int64 2",
        "ExtendSessionRequest": "session_handle string 1, graph_def GraphDef 2, "
        "current_graph_version int64 3",
        "ExtendSessionResponse": "new_graph_version int64 4",
        "RunStepRequest": "session_handle string 1, feed *NamedTensorProto 2, "
        "fetch *string 3, target *string 4, options RunOptions 5, "
        "partial_run_handle string 6, store_errors_in_response_body bool 7, "
        "request_id int64 8",
        "RunStepResponse": "tensor *NamedTensorProto 1, metadata RunMetadata 2, "
        "status_code enum:error.Code 3, status_error_message string 4",
        "PartialRunSetupRequest": "session_handle string 1, feed *string 2, "
        "fetch *string 3, target *string 4, request_id int64 5",
        "PartialRunSetupResponse": "partial_run_handle string 1",
        "CloseSessionRequest": "session_handle string 1",
        "CloseSessionResponse": "",
        "ResetRequest": "container *string 1, device_filters *string 2",
        "ResetResponse": "",
        "ListDevicesRequest": "session_handle string 1",
        "ListDevicesResponse": "local_device *DeviceAttributes 1, "
        "remote_device *DeviceAttributes 2",
        "MakeCallableRequest": "session_handle string 1, options CallableOptions 2, "
        "request_id int64 3",
        "MakeCallableResponse": "handle int64 1",
        "RunCallableRequest": "session_handle string 1, handle int64 2, "
        "feed *TensorProto 3, request_id int64 4",
        "RunCallableResponse": "fetch *TensorProto 1, metadata RunMetadata 2",
        "ReleaseCallableRequest": "session_handle string 1, handle int64 2",
        "ReleaseCallableResponse": "",
    },
    "worker": {
        "GetStatusRequest": "",
        "GetStatusResponse": "device_attributes *DeviceAttributes 1",
        "CreateWorkerSessionRequest": "session_handle string 1, "
        "server_def ServerDef 2, isolate_session_state bool 3, "
        "cluster_device_attributes *DeviceAttributes 4",
        "CreateWorkerSessionResponse": "",
        "DeleteWorkerSessionRequest": "session_handle string 1",
        "DeleteWorkerSessionResponse": "",
        "RegisterGraphRequest": "session_handle string 1, "
        "create_worker_session_called bool 6, graph_def GraphDef 2, "
        "has_control_flow bool 3, graph_options GraphOptions 4, "
        "debug_options DebugOptions 5, collective_graph_key int64 7",
        "RegisterGraphResponse": "graph_handle string 1",
        "DeregisterGraphRequest": "session_handle string 2, "
        "create_worker_session_called bool 3, graph_handle string 1",
        "DeregisterGraphResponse": "",
        "CleanupAllRequest": "container *string 1",
        "CleanupAllResponse": "",
        "ExecutorOpts": "record_costs bool 1, record_timeline bool 3, "
        "record_partition_graphs bool 4, report_tensor_allocations_upon_oom bool 5",
        "RunGraphRequest": "session_handle string 8, "
        "create_worker_session_called bool 10, graph_handle string 1, "
        "step_id int64 2, exec_opts ExecutorOpts 5, send *NamedTensorProto 3, "
        "recv_key *string 4, is_partial bool 6, is_last_partial_run bool 7, "
        "store_errors_in_response_body bool 9, request_id int64 11",
        "RunGraphResponse": "recv *NamedTensorProto 1, step_stats StepStats 2, "
        "cost_graph CostGraphDef 3, partition_graph *GraphDef 4, "
        "status_code enum:error.Code 5, status_error_message string 6",
        "CleanupGraphRequest": "step_id int64 1",
        "CleanupGraphResponse": "",
        "RecvTensorRequest": "step_id int64 1, rendezvous_key string 2, dma_ok bool 3, "
        "client_locality DeviceLocality 4, server_locality DeviceLocality 5, "
        "request_id int64 7",
        "RecvTensorResponse": "tensor TensorProto 1, is_dead bool 2, "
        "send_start_micros int64 3, require_ack bool 5",
        "MarkRecvFinishedRequest": "request_id int64 1",
        "MarkRecvFinishedResponse": "",
        "LoggingRequest": "enable_rpc_logging bool 1, disable_rpc_logging bool 4, "
        "clear bool 2, fetch_step_id *int64 3",
        "LabeledStepStats": "step_id int64 1, step_stats StepStats 2",
        "LoggingResponse": "step *LabeledStepStats 1",
        "TracingRequest": "",
        "TracingResponse": "",
        "GetStepSequenceRequest": "graph_key *int64 1",
        "StepSequence": "graph_key int64 1, next_step_id int64 2",
        "GetStepSequenceResponse": "step_sequence *StepSequence 1",
    },
}
