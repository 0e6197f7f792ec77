"""Which devices a session has: CPUs, and simulated GPUs under TF's options."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tfteach
import tfteach as tf
from tfteach.engine.devices import devices
from tfteach.engine.devices.memory_ledger import parse_bytes, show_bytes

LOCAL = "/job:localhost/replica:0/task:0/device:"
pytestmark = pytest.mark.usefixtures("no_cards")


def names(**options: object) -> list[str]:
    with tf.Session(config=tf.ConfigProto(**options)) as sess:
        return [d.name.removeprefix(LOCAL) for d in sess.list_devices()]


def test_cpus() -> None:
    with tf.Session() as sess:
        (only,) = sess.list_devices()
    assert only.name == LOCAL + "CPU:0"
    assert (only.device_type, only.memory_limit_bytes) == ("CPU", 268435456)
    assert repr(only).startswith(
        "_DeviceAttributes(/job:localhost/replica:0/task:0/device:CPU:0, CPU, 268435456"
    )
    assert names(device_count={"CPU": 3}) == ["CPU:0", "CPU:1", "CPU:2"]
    # A count is a limit: nobody asked for simulated ones.
    assert names(device_count={"GPU": 4}) == ["CPU:0"]


def test_simulated_gpus_show_only_where_asked_for() -> None:
    tfteach.simulate_gpus(3, memory="8GiB")
    assert names() == ["CPU:0", "GPU:0", "GPU:1", "GPU:2"]
    assert names(device_count={"GPU": 2}) == ["CPU:0", "GPU:0", "GPU:1"]
    assert names(device_count={"GPU": 0}) == ["CPU:0"]
    tfteach.simulate_gpus(0)
    assert names() == ["CPU:0"]
    with pytest.raises(ValueError, match="must not be negative"):
        tfteach.simulate_gpus(-1)
    with pytest.raises(ValueError, match="a size like"):
        tfteach.simulate_gpus(1, memory="much")


def test_simulated_gpus_say_so() -> None:
    tfteach.simulate_gpus(1, memory="8GiB")
    with tf.Session() as sess:
        device = sess.list_devices()[1]
    assert device.memory_limit_bytes == 8 << 30
    assert "simulated" in repr(device)
    assert device.physical_device_desc == (
        "device: 0, name: simulated GPU with 8.00 GiB, computed by NumPy on the CPU"
    )


def test_the_environment_asks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFTEACH_SIMULATED_GPUS", "2:1GiB")
    assert names() == ["CPU:0", "GPU:0", "GPU:1"]
    with tf.Session() as sess:
        assert sess.list_devices()[1].memory_limit_bytes == 1 << 30
    monkeypatch.setenv("TFTEACH_SIMULATED_GPUS", "two")
    with pytest.raises(ValueError, match="TFTEACH_SIMULATED_GPUS must be like"):
        names()


@pytest.mark.parametrize(
    ("visible", "cards"),
    [("0,2", [0, 2]), ("2,1", [2, 1]), ("", []), ("-1", []), ("1,9,0", [1]),
     ("1,1,0", [1])],
)  # fmt: skip
def test_cuda_visible_devices(
    visible: str, cards: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    tfteach.simulate_gpus(3)
    with tf.Session() as sess:
        described = [d.physical_device_desc for d in sess.list_devices()[1:]]
    assert [text.split(",")[0] for text in described] == [f"device: {c}" for c in cards]


def test_visible_device_list() -> None:
    tfteach.simulate_gpus(3)

    def cards(wanted: str) -> list[str]:
        options = tf.GPUOptions(visible_device_list=wanted)
        with tf.Session(config=tf.ConfigProto(gpu_options=options)) as sess:
            listed = sess.list_devices()[1:]
        assert [d.name for d in listed] == [
            f"{LOCAL}GPU:{i}" for i in range(len(listed))
        ]
        return [d.physical_device_desc[8] for d in listed]

    assert cards("2,0") == ["2", "0"]
    assert cards("") == ["0", "1", "2"]
    for wanted, words in (
        ("5", "'visible_device_list' listed an invalid GPU id '5' but visible device "
         "count is 3"),
        ("a", "Could not parse entry in 'visible_device_list': 'a'"),
        ("1,1", "visible_device_list contained a duplicate entry: 1"),
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            cards(wanted)


def test_fractions_and_growth() -> None:
    tfteach.simulate_gpus(1, memory="8GiB")
    half = tf.GPUOptions(per_process_gpu_memory_fraction=0.5)
    with tf.Session(config=tf.ConfigProto(gpu_options=half)) as sess:
        assert sess.list_devices()[1].memory_limit_bytes == 4 << 30
        assert sess.devices[1].ledger.reserved_bytes == 4 << 30
    growing = tf.GPUOptions(allow_growth=True)
    with tf.Session(config=tf.ConfigProto(gpu_options=growing)) as sess:
        assert sess.devices[1].ledger.reserved_bytes == 0
        assert sess.devices[1].ledger.limit_bytes == 8 << 30
    for options, words in (
        (tf.GPUOptions(per_process_gpu_memory_fraction=1.5), "memory_fraction"),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match=words):
            tf.Session(config=tf.ConfigProto(gpu_options=options))


def test_sizes() -> None:
    assert parse_bytes("8GiB") == parse_bytes("8 gb") == parse_bytes("8G") == 8 << 30
    assert parse_bytes("1.5MiB") == 3 << 19
    assert parse_bytes("4096") == parse_bytes(4096) == 4096
    for bad in ("", "x", 0, -1, True, "0B"):
        with pytest.raises(ValueError, match="a size like"):
            parse_bytes(bad)
    assert [show_bytes(n) for n in (512, 1536, 3 << 20, 5 << 40)] == [
        "512 B", "1.50 KiB", "3.00 MiB", "5.00 TiB",
    ]  # fmt: skip


def test_importing_and_a_cpu_session_leave_cupy_alone() -> None:
    code = (
        "import sys, tfteach as tf\n"
        "assert 'cupy' not in sys.modules\n"
        "config = tf.ConfigProto(device_count={'GPU': 0})\n"
        "tf.Session(config=config).run(tf.constant(1.0))\n"
        "assert 'cupy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_asking_for_gpus_does_not_count_simulated_ones() -> None:
    for count in (0, 2):
        tfteach.simulate_gpus(count)
        assert tf.test.is_gpu_available() is False
        assert tf.test.gpu_device_name() == ""
        listed = tf.client.device_lib.list_local_devices()
        assert [d.device_type for d in listed] == ["CPU"] + ["GPU"] * count
        assert [("simulated" in repr(d)) for d in listed] == [False] + [True] * count


def test_device_lib() -> None:
    listed = tf.client.device_lib.list_local_devices()
    assert type(listed[0]).DESCRIPTOR.full_name == "tensorflow.DeviceAttributes"
    incarnation = listed[0].incarnation
    assert str(listed[0]) == (
        'name: "/device:CPU:0"\ndevice_type: "CPU"\nmemory_limit: 268435456\n'
        f"locality {{\n}}\nincarnation: {incarnation}\n"
    )
    assert incarnation > 1 << 32
    config = tf.ConfigProto(device_count={"CPU": 2})
    listed = tf.client.device_lib.list_local_devices(config)
    assert [d.name for d in listed] == ["/device:CPU:0", "/device:CPU:1"]
    with pytest.raises(AttributeError, match="no attribute 'SerializeToString'"):
        tf.client.device_lib.list_local_devices("x")


@pytest.mark.parametrize(
    ("total", "fraction", "share"),
    [
        (100, 0.0, 0),
        (1024, 0.0, 1024 - 225),
        (2047, 0.0, 2047 - 225),
        (2048, 0.0, 2048 - 300),
        (6000, 0.0, 6000 - 300),
        (8000, 0.0, 8000 - 400),
        (8000, 0.5, 4000),
    ],
)
def test_memory_that_is_left_to_the_system(
    total: int, fraction: float, share: int
) -> None:
    """In MiB: 225 of small cards, else 300 or a twentieth."""
    options = tf.GPUOptions(per_process_gpu_memory_fraction=fraction)
    assert devices._share_of(total << 20, options) == share << 20
