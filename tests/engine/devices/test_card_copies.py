"""Copies that the host does not wait for, on a stand-in that finds what races."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_arrays import to_host
from tests.card_clock import CLOCKED, CURRENT
from tests.card_devices import POOL
from tests.card_transfers import TRANSFERS
from tests.strict_card import CARD
from tfteach.engine.devices.card_copies import OWN_STREAM_BYTES, CardCopies

LARGE = OWN_STREAM_BYTES // 4  # floats


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> CardCopies:
    strict_card.install(monkeypatch)
    return CardCopies(CARD, CARD.cuda.Device())


def numbers(start: float = 0.0) -> Any:
    return np.arange(start, start + LARGE, dtype=np.float32)


def waits_for_kernels(copies: CardCopies) -> bool:
    """Whether the stream of copies has waited for all kernels so far."""
    kernels = CURRENT.number, CARD.cuda.get_current_stream()
    known = CLOCKED.clocks.now(copies._stream)
    return known.get(kernels, 0) >= CLOCKED.clocks.now(kernels[1])[kernels]


# ---- to the card


def test_kernels_wait_for_a_large_array(copies: CardCopies) -> None:
    x = copies.upload(numbers())
    y = CARD.add(x, 1.0)
    np.testing.assert_array_equal(to_host(y), numbers(1.0))
    assert copies._stream is not None


def test_a_small_array_has_no_stream(copies: CardCopies) -> None:
    x = copies.upload(numbers()[:-1])
    np.testing.assert_array_equal(to_host(x), numbers()[:-1])
    assert copies._stream is None


def test_a_copy_goes_beside_kernels_that_do_not_need_it(copies: CardCopies) -> None:
    x = copies.upload(numbers())
    z = CARD.add(x, 1.0)
    y = copies.upload(numbers())
    assert not waits_for_kernels(copies)
    np.testing.assert_array_equal(to_host(z + y), 2 * numbers() + 1.0)


def test_memory_that_kernels_may_read_is_not_overwritten(copies: CardCopies) -> None:
    x = copies.upload(numbers())
    z = CARD.add(x, 1.0)
    del x  # whose memory the next copy may have
    copies.upload(numbers())
    assert waits_for_kernels(copies)
    copies.finish()
    copies.upload(numbers(3.0))
    x = copies.upload(numbers(3.0))
    assert x.sum() is not z


def test_after_the_host_has_waited_nothing_is_in_use(copies: CardCopies) -> None:
    x = copies.upload(numbers())
    z = CARD.add(x, 1.0)
    del x
    copies.finish()
    z = z + 1.0
    copies.upload(numbers())
    assert not waits_for_kernels(copies)
    np.testing.assert_array_equal(to_host(z), numbers(2.0))


@pytest.mark.parametrize("has_waited", ["the host", "the stream"])
def test_kernels_launched_after_a_wait_may_still_read(
    copies: CardCopies, has_waited: str
) -> None:
    """An array outlives a run, as those of session handles and eager tensors do."""
    x = copies.upload(numbers())
    if has_waited == "the host":
        copies.finish()
    else:
        copies.upload(numbers())  # freed at once, so that the next copy waits
        kept = copies.upload(numbers())
        assert kept is not None
    z = CARD.add(x, 1.0)
    del x
    y = copies.upload(numbers())
    assert waits_for_kernels(copies)
    np.testing.assert_array_equal(to_host(z + y), 2 * numbers() + 1.0)


def test_pinned_memory_is_kept_as_long_as_it_is_read(copies: CardCopies) -> None:
    for start in range(4):
        copies.upload(numbers(start))
    assert len(copies._staged) == 4
    copies.finish()
    copies.upload(numbers())
    assert len(copies._staged) == 1


# ---- to the host


def test_the_host_waits_once_for_all(copies: CardCopies) -> None:
    arrays = [CARD.full((3,), i, "float32") for i in range(4)]
    counts = POOL.waits, POOL.ends
    downloads = [copies.download(array) for array in arrays]
    assert (POOL.waits, POOL.ends) == counts
    found = [download.wait().tolist() for download in downloads]
    assert found == [[i] * 3 for i in range(4)]
    assert (POOL.waits, POOL.ends) == (counts[0], counts[1] + 1)


def test_what_is_not_waited_for_is_kept(copies: CardCopies) -> None:
    """As of a run that fails after it has begun to copy."""
    copies.download(CARD.ones(3, "float32"))
    copies.finish()
    copies.download(CARD.ones(3, "float32"))
    assert len(copies._staged) == 1


def test_a_number_is_a_number(copies: CardCopies) -> None:
    found = copies.download(CARD.asarray(np.float32(2.5))).wait()
    assert type(found) is np.float32


@pytest.mark.usefixtures("copies")
@pytest.mark.parametrize("is_traced", [False, True])
def test_fetches_of_a_session(is_traced: bool) -> None:
    x = tf.placeholder(tf.float32, [LARGE])
    y = tf.placeholder(tf.float32, [LARGE])
    v = tf.Variable(tf.zeros([LARGE]))
    z = x * 2.0
    fetches = [z, tf.assign_add(v, z + y), tf.reduce_max(z), tf.constant("text")]
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    more: dict[str, Any] = {}
    if is_traced:
        more = {"options": options, "run_metadata": tf.RunMetadata()}
    with tf.Session() as sess:
        sess.run(v.initializer)
        for i in range(1, 20):
            counts = POOL.waits, POOL.ends
            found = sess.run(fetches, {x: numbers(), y: numbers(1.0)}, **more)
            if not is_traced:
                assert (POOL.waits, POOL.ends) == (counts[0], counts[1] + 2)
            np.testing.assert_array_equal(found[0], 2 * numbers())
            np.testing.assert_array_equal(found[1], i * (3 * numbers() + 1.0))
            found[0][:] = 0.0  # it is the caller's
            assert found[2:] == [2.0 * LARGE - 2.0, b"text"]


@pytest.mark.usefixtures("copies")
def test_what_the_host_reads_as_well_is_not_queued() -> None:
    x = tf.placeholder(tf.float32, [LARGE])
    z = x * 2.0
    total = tf.py_func(np.sum, [z], tf.float32)  # takes the array that is fetched
    with tf.Session() as sess:
        for _ in range(14):
            found = sess.run([z, total], {x: numbers()})
            np.testing.assert_array_equal(found[0], 2 * numbers())
            assert found[1] == np.sum(2 * numbers())


# ---- the stand-in itself


def begun(copies: CardCopies) -> tuple[Any, Any, Any]:
    """Pinned memory, the array that it is being copied into, and the copy's end."""
    stream = CARD.cuda.Stream(non_blocking=True)
    staging = TRANSFERS.transfers.empty_pinned((3,), np.float32)
    staging[:] = 1.0
    with stream:
        made = CARD.empty((3,), np.float32)
        made.set(staging, stream=stream)
        return staging, made, stream.record(CARD.cuda.Event())


def test_a_kernel_that_does_not_wait(copies: CardCopies) -> None:
    _, made, copied = begun(copies)
    with pytest.raises(AssertionError, match="may still use that memory"):
        made + 1.0
    CARD.cuda.get_current_stream().wait_event(copied)
    assert to_host(made + 1.0).tolist() == [2.0] * 3


def test_pinned_memory_that_changes_too_early(copies: CardCopies) -> None:
    staging, made, copied = begun(copies)
    staging[:] = 2.0
    with pytest.raises(AssertionError, match="was changed before"):
        copied.synchronize()
    del made


def test_pinned_memory_that_is_freed_too_early(copies: CardCopies) -> None:
    staging, made, copied = begun(copies)
    del staging
    with pytest.raises(AssertionError, match="was freed before"):
        copied.synchronize()
    del made


def test_a_copy_of_other_memory_makes_the_host_wait(copies: CardCopies) -> None:
    array = CARD.ones(3, "float32")
    with pytest.raises(AssertionError, match="not pinned"):
        array.get(out=np.empty(3, np.float32), blocking=False)
    with pytest.raises(AssertionError, match="not pinned"):
        array.set(np.ones(3, np.float32), stream=CARD.cuda.Stream())


def test_a_result_that_is_read_too_early(copies: CardCopies) -> None:
    staging = TRANSFERS.transfers.empty_pinned((3,), np.float32)
    CARD.ones(3, "float32").get(out=staging, blocking=False)
    assert staging.tolist() != [1.0] * 3
    CARD.cuda.get_current_stream().synchronize()
    assert staging.tolist() == [1.0] * 3
