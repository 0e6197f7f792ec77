"""`tf.config`, and the fields of ConfigProto; the facts are TensorFlow 1.15's."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import text_format

import tfteach
import tfteach as tf
from tfteach.compat import internals
from tfteach.engine.devices import devices
from tfteach.engine.session import config as settings_module
from tfteach.engine.session import config_proto

LOCAL = "/job:localhost/replica:0/task:0/device:"
experimental, threading = tf.config.experimental, tf.config.threading
optimizer = tf.config.optimizer
Virtual = experimental.VirtualDeviceConfiguration


@pytest.fixture(autouse=True)
def defaults(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No cards but simulated ones, and nothing set before a test or after it."""
    monkeypatch.setattr(devices, "_simulated", None)
    monkeypatch.setattr(devices, "cuda_cards", lambda: 0)
    settings_module.settings.__init__()  # type: ignore[misc]
    with tf.Graph().as_default():
        yield
    settings_module.settings.__init__()  # type: ignore[misc]


def names(sess: tf.Session) -> list[str]:
    return [d.name.removeprefix(LOCAL) for d in sess.list_devices()]


def cpu() -> Any:
    (found,) = experimental.list_physical_devices("CPU")
    return found


# ---- tf.config


def test_physical_devices() -> None:
    assert experimental.list_physical_devices() == [cpu()]
    assert repr(cpu()) == (
        "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    )
    assert experimental.list_physical_devices("GPU") == []
    assert experimental.get_visible_devices() == [cpu()]
    tfteach.simulate_gpus(2)
    gpus = experimental.list_physical_devices("GPU")
    assert [g.name for g in gpus] == [
        "/physical_device:GPU:0",
        "/physical_device:GPU:1",
    ]
    assert repr(gpus[1]).endswith("device_type='GPU', simulated)")
    assert experimental.get_visible_devices("GPU") == gpus


def test_logical_devices() -> None:
    tfteach.simulate_gpus(1)
    found = experimental.list_logical_devices()
    assert [(d.name.removeprefix(LOCAL), d.device_type) for d in found] == [
        ("CPU:0", "CPU"), ("GPU:0", "GPU"),
    ]  # fmt: skip
    assert experimental.list_logical_devices("GPU") == found[1:]
    assert tf.config.experimental_list_devices() == [d.name for d in found]


def test_defaults_are_tfs() -> None:
    assert tf.config.get_soft_device_placement() is False
    assert threading.get_inter_op_parallelism_threads() == 0
    assert threading.get_intra_op_parallelism_threads() == 0
    assert optimizer.get_jit() is False
    assert optimizer.get_experimental_options() == {
        "disable_model_pruning": False, "disable_meta_optimizer": False,
    }  # fmt: skip
    assert experimental.get_virtual_device_configuration(cpu()) is None
    with pytest.raises(KeyError):
        experimental.get_memory_growth(cpu())
    with tf.Session() as sess:
        assert sess._config is None


def test_sessions_without_a_config_take_what_was_set() -> None:
    early = tf.Session()
    tf.config.set_soft_device_placement(True)
    threading.set_inter_op_parallelism_threads(3)
    threading.set_intra_op_parallelism_threads(2)
    optimizer.set_jit(True)
    optimizer.set_experimental_options({"constant_folding": False, "remapping": True})
    experimental.set_virtual_device_configuration(cpu(), [Virtual(), Virtual()])
    assert threading.get_inter_op_parallelism_threads() == 3
    assert optimizer.get_jit() is True
    assert optimizer.get_experimental_options() == {
        "constant_folding": False, "remapping": True, "disable_model_pruning": False,
        "disable_meta_optimizer": False,
    }  # fmt: skip
    with tf.device("/gpu:0"):
        c = tf.add(1.0, 2.0)
    with tf.Session() as sess:
        assert names(sess) == ["CPU:0", "CPU:1"]
        assert sess.run(c) == 3.0
        passes = {change.pass_name for change in sess.planner.plan([c], ()).log}
        assert "fold_constants" not in passes
        assert text_format.Parse(SET, tf.ConfigProto()) == sess._config
    with pytest.raises(tf.errors.InvalidArgumentError), early:
        early.run(c)
    with tf.Session(config=tf.ConfigProto()) as own, pytest.raises(
        tf.errors.InvalidArgumentError
    ):  # fmt: skip
        own.run(c)
    tf.config.set_soft_device_placement(False)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(c)


SET = """
device_count { key: "CPU" value: 2 }  device_count { key: "GPU" value: 0 }
intra_op_parallelism_threads: 2  inter_op_parallelism_threads: 3
allow_soft_placement: true
graph_options {
  optimizer_options { global_jit_level: ON_1 }
  rewrite_options { constant_folding: OFF  remapping: ON }
}
"""


def test_visible_devices() -> None:
    tfteach.simulate_gpus(3)
    gpus = experimental.list_physical_devices("GPU")
    experimental.set_visible_devices(gpus[2], "GPU")
    assert experimental.get_visible_devices() == [cpu(), gpus[2]]
    with tf.Session() as sess:
        assert names(sess) == ["CPU:0", "GPU:0"]
        assert sess.list_devices()[1].physical_device_desc.startswith("device: 2,")
    experimental.set_visible_devices([], "GPU")
    with tf.Session() as sess:
        assert names(sess) == ["CPU:0"]
    experimental.set_visible_devices(gpus)
    with pytest.raises(tf.errors.NotFoundError, match="No CPU devices are available"):
        tf.Session()
    for wrong, kind in (("CPU:0", None), (cpu(), "GPU"), (None, None), (["x"], "GPU")):
        with pytest.raises(ValueError, match=r"^Unrecognized device: "):
            experimental.set_visible_devices(wrong, kind)


def test_memory_growth() -> None:
    tfteach.simulate_gpus(2, memory="1GiB")
    first, second = experimental.list_physical_devices("GPU")
    assert experimental.get_memory_growth(first) is None
    experimental.set_memory_growth(first, True)
    assert experimental.get_memory_growth(first) is True
    with pytest.raises(ValueError, match="Memory growth cannot differ between GPU dev"):
        tf.Session()
    experimental.set_memory_growth(second, True)
    with tf.Session() as sess:
        assert [d.ledger.reserved_bytes for d in sess.devices[1:]] == [0, 0]
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU devices"):
        experimental.set_memory_growth(cpu(), True)
    with pytest.raises(ValueError, match="Unrecognized device: 'GPU:0'"):
        experimental.set_memory_growth("GPU:0", True)
    experimental.set_virtual_device_configuration(second, [Virtual(100)])
    with pytest.raises(ValueError, match="when virtual devices configured"):
        experimental.set_memory_growth(second, False)


def test_virtual_gpus() -> None:
    tfteach.simulate_gpus(2, memory="1GiB")
    _, second = experimental.list_physical_devices("GPU")
    experimental.set_virtual_device_configuration(second, [Virtual(100), Virtual(50.5)])
    assert experimental.get_virtual_device_configuration(second) == [
        Virtual(memory_limit=100), Virtual(memory_limit=50.5),
    ]  # fmt: skip
    with tf.Session() as sess:
        assert names(sess) == ["CPU:0", "GPU:0", "GPU:1", "GPU:2"]
        limits = [d.memory_limit_bytes for d in sess.list_devices()[1:]]
        cards = [d.physical_device_desc[8] for d in sess.list_devices()[1:]]
    assert limits == [1 << 30, 100 << 20, 101 << 19]
    assert cards == ["0", "1", "1"]
    for device, parts, words in (
        (cpu(), [Virtual(10)], "Setting memory limit on CPU virtual devices"),
        (second, [Virtual()], "Setting memory limit is required for GPU virtual"),
        ("CPU:0", [], "Unrecognized device: 'CPU:0'"),
    ):
        with pytest.raises(ValueError, match=words):
            experimental.set_virtual_device_configuration(device, parts)
    experimental.set_virtual_device_configuration(second, [Virtual(2000)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="2000 MB of the 1"):
        tf.Session()


def test_nothing_about_devices_changes_once_they_are_listed() -> None:
    tf.Session().close()
    threading.set_inter_op_parallelism_threads(1)  # a session alone fixes nothing
    experimental.list_logical_devices()
    for call, words in (
        (lambda: threading.set_inter_op_parallelism_threads(2),
         "Inter op parallelism cannot be modified after initialization."),
        (lambda: threading.set_intra_op_parallelism_threads(2),
         "Intra op parallelism cannot be modified after initialization."),
        (lambda: experimental.set_virtual_device_configuration(cpu(), [Virtual()]),
         "Virtual devices cannot be modified after being initialized"),
        (lambda: experimental.set_visible_devices([], "CPU"),
         "Visible devices cannot be modified after being initialized"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="^" + words):
            call()
    threading.set_inter_op_parallelism_threads(1)  # as it is
    experimental.set_visible_devices([], "GPU")
    tf.config.set_soft_device_placement(True)


def test_optimizer_options_that_do_not_exist(capsys: Any, caplog: Any) -> None:
    optimizer.set_experimental_options({"foo": True})
    assert "has no option 'foo'" in capsys.readouterr().err + caplog.text
    with pytest.raises(NotImplementedError, match="debug_stripper"):
        optimizer.set_experimental_options({"debug_stripper": True})
    optimizer.set_experimental_options({"remapping": False, "min_graph_nodes": -1})
    optimizer.set_experimental_options({"remapping": None})
    assert optimizer.get_experimental_options() == {
        "disable_model_pruning": False, "disable_meta_optimizer": False,
        "min_graph_nodes": -1,
    }  # fmt: skip


def test_settings_of_eager_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_module.eager_settings, "device_policy", 2)
    monkeypatch.setattr(settings_module.eager_settings, "is_async", False)
    assert experimental.get_device_policy() == "silent"
    for policy in ("warn", "explicit", "silent_for_int32", "silent"):
        experimental.set_device_policy(policy)
        assert experimental.get_device_policy() == policy
    experimental.set_synchronous_execution(False)
    assert experimental.get_synchronous_execution() is False
    experimental.set_synchronous_execution(None)
    assert experimental.get_synchronous_execution() is True


def test_what_is_not_of_graphs_is_refused_by_name() -> None:
    for call, name in (
        (lambda: tf.config.experimental_connect_to_host("h:1"), "connect_to_host"),
        (lambda: tf.config.experimental_connect_to_cluster({}), "connect_to_cluster"),
    ):
        with pytest.raises(NotImplementedError, match=f"tf.config.*{name}"):
            call()
    with pytest.raises(ValueError, match="Not a valid device policy: 'foo'"):
        experimental.set_device_policy("foo")
    with pytest.raises(ValueError, match="Must provide at least one remote_host"):
        tf.config.experimental_connect_to_host("")


# ---- ConfigProto


def fields(descriptor: Any, before: str = "") -> list[str]:
    """Every field with its path; messages that the table takes as a whole are one."""
    found = []
    for field in descriptor.fields:
        path = before + field.name
        inner = field.message_type
        if path in config_proto.TREATMENT or inner is None:
            found.append(path)
        else:
            found += fields(inner, path + ".")
    return found


def test_every_field_has_its_treatment() -> None:
    assert set(fields(tf.ConfigProto.DESCRIPTOR)) == config_proto.TREATMENT.keys()


@pytest.mark.parametrize(
    "text",
    [
        'cluster_def { job { name: "w" tasks { key: 0 value: "localhost:1" } } }',
        'rpc_options { compression_algorithm: "x" }', "isolate_session_state: true",
        'device_filters: "/job:ps"', "use_per_session_threads: true",
        'session_inter_op_thread_pool { num_threads: 1 global_name: "a" }',
        'gpu_options { visible_device_list: "0,9,x" }',
        "gpu_options { per_process_gpu_memory_fraction: 5.0 }",
        "gpu_options { experimental { virtual_devices { memory_limit_mb: 5 } } }",
        "graph_options { infer_shapes: true enable_bfloat16_sendrecv: true }",
        "graph_options { optimizer_options { opt_level: 7 global_jit_level: ON_2 } }",
        'graph_options { rewrite_options { optimizers: "foo" '
        'custom_optimizers { name: "foo" } auto_parallel { enable: true } } }',
        'experimental { executor_type: "SINGLE_THREADED_EXECUTOR" }',
        'device_count { key: "FOO" value: 2 } device_count { key: "GPU" value: -1 }',
        "operation_timeout_in_ms: -5", "intra_op_parallelism_threads: 1000",
    ],
)  # fmt: skip
def test_what_a_local_session_accepts(text: str) -> None:
    config = text_format.Parse(text, tf.ConfigProto())
    with tf.Session(config=config) as sess:
        assert sess.run(tf.add(tf.placeholder_with_default(1.0, []), 2.0)) == 3.0
        assert names(sess) == ["CPU:0"]


def test_what_is_refused() -> None:
    config = tf.ConfigProto()
    config.graph_options.build_cost_model = 1
    with pytest.raises(NotImplementedError, match="build_cost_model"):
        tf.Session(config=config)
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.debug_stripper = 1
    with pytest.raises(NotImplementedError, match="debug_stripper"):
        tf.Session(config=config)
    for message in (tf.ConfigProto, tf.OptimizerOptions):  # newer than 1.15
        name = "pluggable_device_options" if message is tf.ConfigProto else (
            "cpu_global_jit"
        )  # fmt: skip
        with pytest.raises(ValueError, match=f'has no "{name}" field'):
            message(**{name: None})


def test_merging_is_switched_with_arithmetic_optimization() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.add(tf.multiply(x, 2.0), tf.multiply(x, 2.0))
    config = tf.ConfigProto()
    for toggle, merges in ((0, True), (1, True), (2, False)):
        config.graph_options.rewrite_options.arithmetic_optimization = toggle
        with tf.Session(config=config) as sess:
            passes = {change.pass_name for change in sess.planner.plan([y], (x,)).log}
        assert ("merge_duplicates" in passes) is merges


def test_an_executor_that_does_not_exist() -> None:
    config = tf.ConfigProto(experimental={"executor_type": "foo"})
    with tf.Session(config=config) as sess, pytest.raises(
        tf.errors.NotFoundError, match="for the given executor type: foo Registered"
    ):  # fmt: skip
        sess.run(tf.constant(1.0))


def test_session_metadata() -> None:
    config = tf.ConfigProto()
    config.experimental.session_metadata.name = "m"
    config.experimental.session_metadata.version = -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="shouldn't be negative"):
        tf.Session(config=config)
    config.experimental.session_metadata.version = 2
    with tf.Session(config=config):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match='already been created: name: "m"'
        ):
            tf.Session(config=config)
        config.experimental.session_metadata.version = 3
        tf.Session(config=config).close()
    config.experimental.session_metadata.version = 2
    tf.Session(config=config).close()  # the first one is closed


def test_a_static_graph_does_not_grow() -> None:
    config = tf.ConfigProto(experimental={"optimize_for_static_graph": True})
    a = tf.constant(1.0)
    with tf.Session(config=config) as sess:
        for _ in range(3):
            assert sess.run(a) == 1.0
        tf.identity(a)
        for _ in range(2):
            with pytest.raises(
                tf.errors.FailedPreconditionError, match=r"^Extending the graph is"
            ):
                sess.run(a)


def test_interactive_sessions_place_what_they_run() -> None:
    with tf.device("/gpu:2"):
        tf.constant(1.0, name="bad")
    good = tf.constant(2.0)
    config = tf.ConfigProto(log_device_placement=False)
    for own in (None, config):
        sess = tf.InteractiveSession(config=own)
        assert good.eval() == 2.0
        sess.close()
    assert config.graph_options.place_pruned_graph  # as TF leaves it
    tfteach.simulate_gpus(1)
    growing = tf.InteractiveSession()
    assert growing._config.gpu_options.allow_growth
    assert growing.devices[1].ledger.reserved_bytes == 0
    growing.close()


def test_an_interactive_session_that_fails_counts_for_nothing() -> None:
    first = tf.InteractiveSession()
    for _ in range(2):
        with pytest.raises(UserWarning, match="already active"):
            tf.InteractiveSession()  # warnings are errors here
    assert tf.get_default_session() is first
    first.close()
    tf.InteractiveSession().close()


def test_a_graph_does_not_keep_its_sessions() -> None:
    graph = tf.get_default_graph()
    y = tf.constant(1.0)
    for _ in range(5):
        tf.Session().run(y)
    with tf.Session() as sess:
        gc.collect()
        tf.identity(y)
        sess.run(y)
        alive = [r() for r in graph.planners if r() is not None]
        assert alive == [sess]
    del alive, sess
    gc.collect()
    tf.Session().close()
    assert len(graph.planners) <= 1


def test_names_of_tensorflow_2_and_of_inner_modules() -> None:
    for name in ("list_physical_devices", "set_visible_devices"):
        with pytest.raises(AttributeError, match=f"here it is tf.config.*{name}"):
            getattr(tf.config, name)
    with pytest.raises(AttributeError, match="VirtualDeviceConfiguration"):
        tf.config.LogicalDeviceConfiguration  # noqa: B018
    inner = internals.inner("framework.config")
    assert inner.set_memory_growth is experimental.set_memory_growth
    assert inner.get_optimizer_jit is optimizer.get_jit
    inner = internals.inner("framework.device_spec")
    assert inner.DeviceSpecV1 is tf.DeviceSpec
