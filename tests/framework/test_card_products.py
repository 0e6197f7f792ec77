"""Products by cuBLAS: how matrices are handed over, on a stand-in for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_arrays import to_card, to_host
from tests.card_blas import Cublas
from tests.strict_card import CARD
from tfteach.framework import card_products

M, K, N = 3, 4, 5
SIZES = r"Matrix size-incompatible: In\[0\]: \[2,3\], In\[1\]: \[2,3\]"


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)


def drawn(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def views(shape: tuple[int, ...]) -> dict[str, Any]:
    """Matrices of a shape, in several layouts, on the card."""
    *batch, rows, columns = shape
    axes = (*range(len(batch)), len(batch) + 1, len(batch))
    return {
        "by rows": to_card(drawn(*shape)),
        "by columns": to_card(drawn(*batch, columns, rows)).transpose(axes),
        "a part": to_card(drawn(*batch, rows + 1, columns + 2))[..., 1:, 2:],
        "a part by columns": to_card(drawn(*batch, columns + 2, rows + 1))[
            ..., 2:, 1:
        ].transpose(axes),
        "each second": to_card(drawn(*batch, 2 * rows, 2 * columns))[..., ::2, ::2],
        "one row": CARD.broadcast_to(to_card(drawn(*batch, 1, columns)), shape),
        "one column": CARD.broadcast_to(to_card(drawn(*batch, rows, 1)), shape),
        "backwards": to_card(drawn(*shape))[..., ::-1, :],
    }


LAYOUTS = (
    "by rows|by columns|a part|a part by columns|each second|one row|one column|"
    "backwards"
).split("|")


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)], ids=str)
@pytest.mark.parametrize("of_a", LAYOUTS)
@pytest.mark.parametrize("of_b", LAYOUTS)
def test_all_layouts(of_a: str, of_b: str, batch: tuple[int, ...]) -> None:
    a, b = views((*batch, M, K))[of_a], views((*batch, K, N))[of_b]
    found = to_host(card_products.matmul(CARD, a, b))
    np.testing.assert_allclose(found, to_host(a) @ to_host(b), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((1, K), (K, N)),
        ((M, K), (K, 1)),
        ((M, 1), (1, N)),
        ((1, 1), (1, 1)),
        ((2, M, K), (K, N)),
        ((M, K), (2, K, N)),
        ((2, 1, M, K), (3, K, N)),
        ((1, M, K), (4, K, N)),
        ((M, 0), (0, N)),
        ((0, K), (K, N)),
    ],
    ids=str,
)
def test_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    first, second = drawn(*a), drawn(*b)
    found = to_host(card_products.matmul(CARD, to_card(first), to_card(second)))
    expected = first @ second
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "complex64", "int32"]
)
def test_types(dtype: str) -> None:
    a, b = (10 * drawn(M, K)).astype(dtype), (10 * drawn(K, N)).astype(dtype)
    out = CARD.empty((M, N), dtype)
    assert card_products.matmul(CARD, to_card(a), to_card(b), out) is out
    wide = np.promote_types(dtype, np.float32) if dtype == "float16" else dtype
    right = (a.astype(wide) @ b.astype(wide)).astype(dtype)
    np.testing.assert_allclose(to_host(out), right, rtol=1e-5)


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="matmul"):
        card_products.matmul(CARD, to_card(drawn(2, 3)), to_card(drawn(2, 3)))


def test_a_step_on_the_card_is_told_the_sizes() -> None:
    with tf.Graph().as_default(), tf.device("/gpu:0"):
        a = tf.placeholder(tf.float32, [None, None])
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match=SIZES),
        ):
            session.run(tf.matmul(a, a), {a: np.ones((2, 3))})


@pytest.mark.parametrize("override", [None, "0"])
def test_tf32_for_float32_only(
    override: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if override:
        monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", override)
    blas = Cublas()
    monkeypatch.setattr(card_products, "library", lambda: blas)
    for dtype in ("float32", "float64", "float16"):
        array = CARD.ones((2, 2), dtype)
        card_products.matmul(CARD, array, array)
    assert blas.in_tf32 == (override is None)


def test_cards_with_tf32() -> None:
    allowed = [card_products.allows_tf32(c) for c in ("60", "75", "80", "90", "120")]
    assert allowed == [False, False, True, True, True]
