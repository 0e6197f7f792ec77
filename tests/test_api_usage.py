"""The `tf.*` names that 31 public TF 1 courses use most: TF 1.15's exist here.

golden/api_usage.csv ranks them; `in_tf_1_15` is what TensorFlow 1.15.5 says.
"""

from __future__ import annotations

import csv
import operator
from pathlib import Path

import pytest

import tfteach as tf

TABLE = (Path(__file__).parent / "golden" / "api_usage.csv").read_text()
ROWS = list(csv.DictReader(TABLE.splitlines()))
KNOWN = [row["symbol"] for row in ROWS if row["in_tf_1_15"] == "1"]

# What is to come: reason -> names, or packages with all that is in them.  A name that
# exists by now must leave the list.
LATER = {
    "old estimators": """
       """,
    "Keras": "tf.keras tf.contrib.keras",
}
PREFIXES = [prefix for names in LATER.values() for prefix in names.split()]


def is_below(symbol: str, prefix: str) -> bool:
    return symbol == prefix or symbol.startswith(prefix + ".")


def exists(symbol: str) -> bool:
    try:
        operator.attrgetter(symbol.removeprefix("tf."))(tf)
    except AttributeError:
        return False
    return True


def test_the_names_that_courses_use_exist() -> None:
    expected = [s for s in KNOWN if not any(is_below(s, p) for p in PREFIXES)]
    assert len(expected) > 200
    assert [symbol for symbol in expected if not exists(symbol)] == []


@pytest.mark.parametrize("prefix", PREFIXES)
def test_what_exists_is_not_to_come(prefix: str) -> None:
    symbols = [symbol for symbol in KNOWN if is_below(symbol, prefix)]
    assert symbols, f"{prefix} is none of the names"
    assert not all(exists(symbol) for symbol in symbols), f"take {prefix} off the list"


@pytest.mark.parametrize(
    "symbol", [row["symbol"] for row in ROWS if row["in_tf_1_15"] == "0"]
)
def test_names_that_1_15_does_not_have(symbol: str) -> None:
    with pytest.raises(AttributeError, match="has no attribute"):
        operator.attrgetter(symbol.removeprefix("tf."))(tf)
