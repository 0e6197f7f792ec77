"""Servers and sessions with TLS; their certificates are in a folder of that name."""

import pathlib
import socket

import pytest
from tfteach.distributed import use_certificates

import tfteach as tf
from tests.lib.distributed_runtime.conftest import free_addresses
from tfteach.lib.distributed_runtime import certificates, channel
from tfteach.lib.distributed_runtime import cluster as cluster_tasks

FOLDER = pathlib.Path(__file__).parent / "certificates"


def file(name):
    return str(FOLDER / name)


OURS = {
    "certificate": file("task_ours.pem"),
    "key": file("task_ours.key"),
    "roots": file("roots_ours.pem"),
}
OTHER = {
    "certificate": file("task_other.pem"),
    "key": file("task_other.key"),
    "roots": file("roots_ours.pem"),
}
BY_RPC = tf.ConfigProto()
BY_RPC.rpc_options.use_rpc_for_inprocess_master = True


@pytest.fixture(autouse=True)
def apart(monkeypatch):
    """Certificates and connections of this test only."""
    monkeypatch.setattr(certificates, "_chosen", None)
    monkeypatch.setattr(channel, "_channels", {})
    yield
    for each in channel._channels.values():
        each.close()


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def server(request):
    """A server whose clients must have a certificate of ours."""
    use_certificates(**OURS, mutual=getattr(request, "param", True))
    made = tf.train.Server({"local": ["localhost:0"]}, protocol="grpc+tls")
    yield made
    made._stop()


def test_a_cluster_that_talks_by_tls(graph, monkeypatch):
    monkeypatch.setattr(cluster_tasks, "local_methods", lambda address: None)
    for name, path in zip(certificates._VARIABLES, OURS.values(), strict=True):
        monkeypatch.setenv(name, path)
    ps, worker = free_addresses(2)
    cluster = {"ps": [ps], "worker": [worker]}
    servers = [tf.train.Server(cluster, job, protocol="grpc+tls") for job in cluster]
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(2.0)
    with tf.device("/job:worker/task:0"):
        doubled = v * 2.0
    try:
        assert servers[1].target == f"grpc+tls://{worker}".encode()
        with tf.Session(servers[1].target, config=BY_RPC) as session:
            session.run(v.initializer)
            assert session.run(doubled) == 4
        tf.Session.reset(servers[1].target)
    finally:
        for server in servers:
            server._stop()
    assert {is_secure for _, is_secure in channel._channels} == {True}


SERVER_ENDS = "accept other certificates only|ALERT|reset"
REFUSED = {
    "no certificate": ({"roots": OURS["roots"]}, SERVER_ENDS),
    "a certificate of other roots": (OTHER, SERVER_ENDS),
    "other roots": (OURS | {"roots": file("roots_other.pem")}, "local issuer"),
}


@pytest.mark.parametrize(("own", "reason"), REFUSED.values(), ids=REFUSED)
def test_clients_that_are_refused(server, graph, own, reason):
    one = tf.constant(1)
    message = f"TLS with localhost.* failed: .*({reason})"
    use_certificates(**own)
    with (
        tf.Session(server.target, config=BY_RPC) as session,
        pytest.raises(tf.errors.UnavailableError, match=message),
    ):
        session.run(one)


@pytest.mark.parametrize("server", [False], indirect=True)
def test_a_server_that_needs_no_certificate_of_clients(server, graph):
    use_certificates(roots=OURS["roots"])
    with tf.Session(server.target, config=BY_RPC) as session:
        assert session.run(tf.constant(1)) == 1


def test_a_client_without_tls(server, graph):
    address = server.target.decode().removeprefix("grpc+tls://")
    one = tf.constant(1)
    message = f'{address} is encrypted: connect to "grpc\\+tls://{address}"'
    with (
        tf.Session(f"grpc://{address}", config=BY_RPC) as session,
        pytest.raises(tf.errors.UnavailableError, match=message),
    ):
        session.run(one)


def test_a_client_with_tls_of_a_server_without(graph):
    use_certificates(**OURS)
    server = tf.train.Server.create_local_server()
    target = server.target.decode()
    one = tf.constant(1)
    try:
        secure = target.replace("grpc", "grpc+tls")
        with (
            tf.Session(secure, config=BY_RPC) as session,
            pytest.raises(tf.errors.UnavailableError, match=f'connect to "{target}"'),
        ):
            session.run(one)
    finally:
        server._stop()


def accept_until_nobody_comes(listening):
    for _ in range(10):
        listening.accept()[0].close()


def test_who_failed_to_connect_stops_trying_until_it_is_called_again():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(1.5)  # gRPC tries again after a second at most
        made = channel.Channel(f"127.0.0.1:{listening.getsockname()[1]}")
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                made.call("WorkerService/GetStatus", b"", 0.2, waits_for_server=True)
            listening.accept()[0].close()
            with pytest.raises(TimeoutError):
                accept_until_nobody_comes(listening)
        made.close()


def test_a_server_without_a_certificate():
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs a certificate"):
        tf.train.Server({"local": ["localhost:0"]}, protocol="grpc+tls")
    assert not channel._channels


def test_files_that_hold_no_certificates(tmp_path):
    text = tmp_path / "text.pem"
    text.write_text("no certificate")
    cert, key = OURS["certificate"], OURS["key"]
    with pytest.raises(tf.errors.NotFoundError, match=r"private key .*absent\.key"):
        use_certificates(cert, file("absent.key"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a PEM file"):
        use_certificates(roots=str(text))
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not the key of"):
        use_certificates(cert, file("task_other.key"))
    for one in ({"certificate": cert}, {"key": key}):
        with pytest.raises(tf.errors.InvalidArgumentError, match="or neither"):
            use_certificates(**one)
