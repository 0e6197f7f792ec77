from __future__ import annotations

import pytest

from tests.jupyter.fixtures import FIXTURES, NAMES, fixture_text


@pytest.mark.parametrize("name", NAMES)
def test_the_front_end_is_tested_on_the_golden_graphs(name: str) -> None:
    stored = (FIXTURES / f"{name}.json").read_text()
    assert stored == fixture_text(name), "run python -m tests.jupyter.fixtures"
