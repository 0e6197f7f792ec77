"""Cluster resolvers; the values and errors are those of TensorFlow 1.15."""

import json

import pytest

import tfteach as tf

resolvers = tf.distribute.cluster_resolver
WORKERS = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1", "c:1"]})
NUMBERED = tf.train.ClusterSpec({"worker": {3: "q:1"}})


@pytest.fixture
def simple():
    return resolvers.SimpleClusterResolver(WORKERS, task_type="worker", task_id=1)


def test_a_cluster_that_the_program_knows(simple):
    assert simple.cluster_spec() is WORKERS
    assert simple.master() == ""
    assert simple.master("worker", 1) == "c:1"
    assert simple.master("worker", 1, rpc_layer="grpc") == "grpc://c:1"
    assert (simple.task_type, simple.task_id, simple.rpc_layer) == ("worker", 1, None)
    assert simple.num_accelerators() == {}
    assert simple.environment == ""
    other = resolvers.SimpleClusterResolver(
        WORKERS, "a:1", "ps", 0, "google", {"GPU": 2}, "grpc"
    )
    assert other.master() == "grpc://a:1"
    assert other.num_accelerators("worker", 1) == {"GPU": 2}
    assert other.environment == "google"


def test_several_as_one(simple):
    numbered = resolvers.SimpleClusterResolver(NUMBERED, "m:1")
    twice = resolvers.UnionResolver(simple, simple)
    assert twice.cluster_spec().as_dict() == {
        "ps": ["a:1", "a:1"],
        "worker": ["b:1", "c:1", "b:1", "c:1"],
    }
    both = resolvers.UnionResolver(simple, numbered, rpc_layer="grpc")
    assert both.cluster_spec().as_dict() == {
        "ps": ["a:1"],
        "worker": {0: "b:1", 1: "c:1", 3: "q:1"},
    }
    assert (both.task_type, both.task_id, both.rpc_layer) == ("worker", 1, "grpc")
    assert (both.master(), both.master("worker", 0)) == ("", "grpc://b:1")
    assert (both.environment, both.num_accelerators()) == ("", {})
    both.task_type, both.task_id, both.rpc_layer = "ps", 7, "other"
    assert (both.task_type, both.task_id, both.rpc_layer) == ("ps", 7, "other")
    with pytest.raises(KeyError, match=r"Duplicate keys detected .*: \{3\}"):
        resolvers.UnionResolver(numbered, numbered).cluster_spec()


TASK = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}


def test_tf_config(monkeypatch):
    made = resolvers.TFConfigClusterResolver(environment="e")

    def told():
        jobs = made.cluster_spec().as_dict()
        return jobs, made.master(), made.task_type, made.task_id, made.rpc_layer

    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert told() == ({}, "", None, None, None)
    monkeypatch.setenv("TF_CONFIG", json.dumps({**TASK, "rpc_layer": "grpc"}))
    jobs = {"worker": ["a:1", "b:1"]}
    assert told() == (jobs, "grpc://b:1", "worker", 1, "grpc")
    assert made.environment == "e"
    assert made.master("worker", 0) == "grpc://a:1"
    with pytest.raises(ValueError, match="No such job in cluster: 'ps'"):
        made.master("ps", 0)
    made.task_type, made.task_id, made.rpc_layer = "worker", 0, "other"
    assert told()[1:] == ("other://a:1", "worker", 0, "other")
    chosen = resolvers.TFConfigClusterResolver(task_type="worker")
    with pytest.raises(TypeError, match=r"int\(\) argument must be"):
        chosen.master()


@pytest.mark.parametrize(
    ("config", "master"),
    [
        ({"cluster": {"worker": ["a:1", "b:1"]}, "session_master": "x"}, "x"),
        ({"cluster": {"worker": ["a:1"]}}, ""),
        ({"cluster": {"worker": ["a:1"], "ps": ["b:1"]}, **TASK}, "b:1"),
    ],
)
def test_masters_of_tf_config(monkeypatch, config, master):
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    assert resolvers.TFConfigClusterResolver().master() == master


def test_devices_are_counted_by_a_session(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1"]}}))
    made = resolvers.TFConfigClusterResolver()
    assert made.num_accelerators()["CPU"] == 1
    assert made.num_accelerators("localhost", 0)["CPU"] == 1
    assert made.num_accelerators("worker", 0) == {}


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (
            lambda: resolvers.SimpleClusterResolver({"a": ["b:1"]}),
            TypeError,
            "cluster_spec must be a ClusterSpec.",
        ),
        (
            lambda: resolvers.SimpleClusterResolver(WORKERS, master=3),
            TypeError,
            "master must be a string.",
        ),
        (
            resolvers.UnionResolver,
            ValueError,
            "At least one ClusterResolver is required.",
        ),
        (
            lambda: resolvers.UnionResolver(3),
            TypeError,
            "All arguments must be a sub-class of `ClusterResolver.`",
        ),
        (
            lambda: resolvers.UnionResolver(x=3),
            ValueError,
            "Unexpected kwargs provided {'x': 3}",
        ),
        (resolvers.ClusterResolver, TypeError, "Can't instantiate abstract class"),
        (resolvers.GCEClusterResolver, NotImplementedError, "GCEClusterResolver is"),
        (resolvers.KubernetesClusterResolver, NotImplementedError, "Kubernetes"),
        (resolvers.SlurmClusterResolver, NotImplementedError, "SlurmClusterResolver"),
        (resolvers.TPUClusterResolver, NotImplementedError, "TPUClusterResolver is"),
    ],
)
def test_what_is_refused(make, kind, message):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_the_names_of_contrib():
    contrib, own = tf.contrib.cluster_resolver, resolvers
    assert contrib.UnionClusterResolver is own.UnionResolver
    assert contrib.TFConfigClusterResolver is own.TFConfigClusterResolver
    assert tf.contrib.distribute.DistributionStrategy is tf.distribute.Strategy
    with tf.distribute.MirroredStrategy().scope():
        strategy = tf.contrib.distribute.get_cross_replica_context()
        assert strategy is tf.contrib.distribute.get_distribution_strategy()
        assert tf.contrib.distribute.has_distribution_strategy()
    assert tf.contrib.distribute.get_cross_replica_context() is None
