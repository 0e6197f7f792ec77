"""`%tfteach`, its switch for `import tensorflow`, and what `%unload_ext` undoes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.compat import finder
from tfteach.framework import deprecation
from tfteach.jupyter.magics.status import STANDS_IN, TfteachMagics


@pytest.fixture(autouse=True)
def not_told(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(TfteachMagics, "_is_told", False)
    yield
    finder.uninstall()


def imports(shell: Any) -> bool:  # noqa: F811
    """Whether a cell can import tensorflow, and gets tfteach."""
    result = run(shell, "import tensorflow; found = tensorflow.Graph")
    if result.success:
        assert shell.user_ns["found"] is tf.Graph
    else:
        assert isinstance(result.error_in_exec, ModuleNotFoundError)
    return bool(result.success)


def test_the_first_line_of_a_course(shell: Any) -> None:  # noqa: F811
    assert shell.shown == []  # nothing is told before it matters
    assert imports(shell)
    assert shell.shown == [{"text/plain": STANDS_IN}]
    run(shell, "%reload_ext tfteach")
    assert imports(shell)
    assert len(shell.shown) == 1


def test_the_switch(shell: Any, capsys: Any) -> None:  # noqa: F811
    run(shell, "%tfteach tensorflow off")
    assert "tfteach does not stand in for it" in capsys.readouterr().out
    assert not imports(shell)
    run(shell, "%tfteach tensorflow on")
    assert "tfteach, because no TensorFlow is installed" in capsys.readouterr().out
    assert imports(shell)
    run(shell, "%tfteach tensorflow off")
    assert not imports(shell)
    assert "import tensorflow\n  nothing" in run_status(shell)


def test_the_option(shell: Any) -> None:  # noqa: F811
    run(shell, "%config TfteachMagics.import_tensorflow = False")
    assert not imports(shell)
    run(shell, "%reload_ext tfteach")
    assert not imports(shell)
    run(shell, "%config TfteachMagics.import_tensorflow = True")
    assert imports(shell)


def test_unloaded(shell: Any) -> None:  # noqa: F811
    before = len(shell.configurables)
    run(shell, "%reload_ext tfteach")
    assert len(shell.configurables) == before
    assert deprecation._PRINT_DEPRECATION_WARNINGS is False
    run(shell, "%unload_ext tfteach")
    assert not imports(shell)
    for kind in ("line", "cell"):
        for method in shell.magics_manager.magics[kind].values():
            assert "tfteach" not in str(getattr(method, "__module__", ""))
    assert deprecation._PRINT_DEPRECATION_WARNINGS is True
    run(shell, "%load_ext tfteach")
    assert imports(shell)


def test_unloading_leaves_what_a_program_asked_for(shell: Any) -> None:  # noqa: F811
    run(shell, "%unload_ext tfteach\ntf.install_as_tensorflow()\n%load_ext tfteach")
    run(shell, "%unload_ext tfteach")
    assert imports(shell)
    assert shell.shown == []
    run(shell, "%load_ext tfteach\n%tfteach tensorflow off")
    assert not imports(shell)


def test_the_state(shell: Any) -> None:  # noqa: F811
    text = run_status(shell)
    assert "import tensorflow\n  tfteach, because no TensorFlow is installed\n" in text
    assert "<b>import tensorflow</b>" in shell.shown[-1]["text/html"]
    assert "tensorflow" not in sys.modules


@pytest.mark.parametrize("line", ["numpy", "tensorflow maybe", "--fetch x"])
def test_misuse_is_told(shell: Any, line: str) -> None:  # noqa: F811
    with pytest.raises(UsageError):
        shell.run_line_magic("tfteach", line)


def run_status(shell: Any) -> str:  # noqa: F811
    run(shell, "%tfteach")
    text: str = shell.shown[-1]["text/plain"]
    return text


def test_options_of_sessions_stand_beside_each_other(shell: Any) -> None:  # noqa: F811
    run(
        shell,
        "import tfteach as tf\nplain = tf.Session()\n"
        "soft = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))",
    )
    run(shell, "%tfteach")
    page, text = (shell.shown[-1][kind] for kind in ("text/html", "text/plain"))
    soft = shell.user_ns["soft"].number
    assert f">soft (session {soft})</th>" in page
    assert "title='allow_soft_placement'>≠ allow_soft_placement</td>" in page
    assert ">opt_level</td>" in page  # not marked: both are L1
    assert f"soft (session {soft})" in text
    for name in ("plain", "soft"):
        shell.user_ns[name].close()
