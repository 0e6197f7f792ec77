from __future__ import annotations

import atexit
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets.widgets import widget
from traitlets.config import Config

import tfteach as tf


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    InteractiveShell.clear_instance()
    without_history = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell.instance(config=without_history)
    shell.run_line_magic("load_ext", "tfteach")
    shell.user_ns["tf"] = tf
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("tfteach.jupyter.display.publish", shown.append)
    shell.shown = shown
    yield shell
    tf.unload_ipython_extension(shell)
    InteractiveShell.clear_instance()
    # Hundreds of shells would each collect all garbage when Python exits.
    atexit.unregister(shell.atexit_operations)


def kinds(shell: Any) -> list[str]:
    return ["live" if "text/plain" not in bundle else "still" for bundle in shell.shown]


def stopped_at(shell: Any) -> Any:
    """What the first view that was shown says of the error that ended its cell."""
    live = shell.shown[0]["application/vnd.jupyter.widget-view+json"]
    return widget._instances[live["model_id"]].stopped_at


def run(shell: Any, cell: str) -> Any:
    return shell.run_cell(cell, store_history=True)


def test_a_cell_in_a_fresh_graph(shell: Any) -> None:
    before = tf.get_default_graph()
    result = run(shell, "%%graph g\nx = tf.constant(1., name='x')\nsame = x.graph is g")
    assert result.success
    assert shell.user_ns["same"] is True
    assert shell.user_ns["x"].name == "x:0"  # names come back
    assert tf.get_default_graph() is before
    assert kinds(shell) == ["live", "still"]
    assert shell.shown[1]["text/plain"].startswith("1 op\n")
    run(shell, "%%graph g\nx = tf.constant(1.0, name='x')")
    assert shell.user_ns["x"].name == "x:0"  # fresh again


def test_keep_and_default(shell: Any) -> None:
    run(shell, "%%graph --keep net\na = tf.constant(1.0, name='a')")
    run(shell, "%%graph --keep net\nb = tf.add(a, a, name='b')")
    assert shell.user_ns["b"].graph is shell.user_ns["a"].graph
    with tf.Graph().as_default() as graph:
        run(shell, "%%graph --default\nc = tf.constant(1.0)")
    assert shell.user_ns["c"].graph is graph
    result = run(shell, "%%graph --default --keep net\nd = 1")
    assert isinstance(result.error_in_exec, UsageError)


def test_fetch_feed_depth_static(shell: Any) -> None:
    run(
        shell,
        "%%graph --fetch y --feed x --static --depth 2\n"
        "with tf.name_scope('s'):\n"
        "    tf.constant(1.0, name='c')\n"
        "x = tf.placeholder(tf.float32, name='x')\n"
        "y = tf.add(x, x, name='y')",
    )
    assert kinds(shell) == ["still"]
    text = shell.shown[0]["text/plain"]
    assert text.startswith("3 ops in 1 scope; 1 of 3 run for y when x is fed\n")
    assert "      c" in text  # depth 2 opens the scope


def test_an_error_shows_the_part_and_the_line(shell: Any, capsys: Any) -> None:
    result = run(
        shell,
        "%%graph\nx = tf.constant(1., name='x')\nraise ValueError('my mistake')\ny = 1",
    )
    assert isinstance(result.error_in_exec, ValueError)
    assert kinds(shell) == ["live", "still"]
    assert stopped_at(shell) == "In [1] line 3: raise ValueError('my mistake')"
    assert shell.shown[1]["text/plain"].startswith("1 op\n")
    printed = capsys.readouterr().out
    assert printed.count("my mistake") == 2  # the line and the message, once
    assert "line 3" in printed  # counted with the magic's own line
    assert "magics.py" not in printed
    assert "_showtraceback" not in vars(shell)


@pytest.mark.parametrize("magic", ["%%graph", "%%lazy", "%%run", "%%diff"])
def test_a_syntax_error_is_one_and_shows_the_line_alone(
    shell: Any, capsys: Any, magic: str
) -> None:
    result = run(shell, f"{magic}\nx = = 1")
    assert isinstance(result.error_in_exec, SyntaxError)
    if magic == "%%graph":
        assert stopped_at(shell) == "In [1] line 2: x = = 1"
    printed = capsys.readouterr().out
    assert printed.count("SyntaxError") == 1
    assert "line 2" in printed
    assert "magics" not in printed
    assert "run_cell_magic" not in printed
    assert "showsyntaxerror" not in vars(shell)
    # one that was caught has no part in the next
    shell.user_ns["magic"] = magic
    caught = "get_ipython().run_cell_magic(magic[2:], '', 'y = = 2')"
    run(shell, f"try:\n    {caught}\nexcept SyntaxError:\n    pass")
    capsys.readouterr()
    run(shell, "z = = 3")
    printed = capsys.readouterr().out
    assert "z = = 3" in printed
    assert "y = = 2" not in printed


def test_the_last_expression_is_shown_as_in_any_cell(shell: Any, capsys: Any) -> None:
    run(shell, "%%graph\nx = tf.constant(1.0, name='x')\nx.name")
    assert "'x:0'" in capsys.readouterr().out
    run(shell, "%%graph\nx = tf.constant(1.0, name='x')\nx.name;  # hidden")
    assert "'x:0'" not in capsys.readouterr().out
    run(shell, "'shown'")
    assert "'shown'" in capsys.readouterr().out


def test_line_magic(shell: Any) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="here")
        run(shell, "%graph")
        assert "here" in shell.shown[-1]["text/plain"]
        shell.user_ns["sess"] = tf.Session()
    run(shell, "%graph sess")
    run(shell, "%graph sess.graph")
    assert len(shell.shown) == 6
    shell.user_ns["data"] = graph.as_graph_def()
    run(shell, "%graph data --static")
    assert "here" in shell.shown[-1]["text/plain"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%graph nowhere", "name 'nowhere' is not defined"),
        ("plan = tf.Graph()\n%graph plam", "Did you mean plan?"),
        ("plan = tf.Graph()\n%graph plan plan", "invalid syntax"),
        (
            "plan = tf.Graph()\n%graph plan --fetch a",
            "'a' is not an op or tensor: the graph is empty",
        ),
        ("%why x --feed x", "--feed x says more of a run: name also what it fetches"),
        ("%why x --fetch x", "the graph is empty"),
        ("%step x --session 1/0", "1/0: ZeroDivisionError: division by zero"),
        ("s = tf.Session()\ns.close()\n%timeline x --session s", "s is closed"),
        ("%graph 3", "not int"),
        ("%graph 'a'", "not the string"),
        ("%graph --keep a", "belong to %%graph"),
        ("%%graph two words\nx = 1", "one Python name"),
        ("%%graph 3d\nx = 1", "one Python name"),
        ("%%graph --depth 0\nx = 1", "from 1, got 0"),
        ("%%graph --depht 2\nx = 1", "unrecognized arguments"),
    ],
)
def test_misuse_is_told(shell: Any, cell: str, words: str) -> None:
    result = run(shell, cell)
    assert isinstance(result.error_in_exec, UsageError)
    assert words in str(result.error_in_exec)
    assert shell.shown == []


def test_loading_twice_and_help(shell: Any) -> None:
    run(shell, "%%graph --keep net\na = tf.constant(1.0, name='a')")
    run(shell, "%reload_ext tfteach\n%load_ext tfteach")
    assert run(shell, "%%graph --keep net\nb = tf.add(a, a)").success
    help_text = shell.find_line_magic("graph").__doc__
    for word in ("--fetch", "--feed", "--depth", "--static", "--keep", "--default"):
        assert word in help_text


NET = """%%graph net
with tf.name_scope("qlayer"):
    out = tf.constant(1.0, name="out")
loss = tf.add(out, 1.0, name="qtotal")"""


def completed(shell: Any, line: str) -> list[str]:
    """What Tab offers behind this line."""
    word = line.split(" ")[-1]
    shell.Completer.line_buffer = shell.Completer.text_until_cursor = line
    return shell.Completer.dispatch_custom_completer(word) or []


def test_names_and_options_are_completed(shell: Any) -> None:
    run(shell, NET)
    run(shell, "feed = {}; other = tf.Graph()")
    run(shell, "with other.as_default(): qlayout = tf.constant(1.0, name='qlayer_9')")
    assert completed(shell, "%why qla") == ["qlayer/out", "qlayer_9", "qlayout"]
    assert completed(shell, "%why qlayer/") == ["qlayer/out"]
    assert completed(shell, "%schedule lo") == ["loss"]  # Python's name of qtotal
    assert completed(shell, "%%graph --fetch qtot") == ["qtotal/y", "qtotal"]
    run(shell, "sess = tf.Session(graph=net)")
    assert completed(shell, "%step --session sess qla") == ["qlayer/out"]
    assert completed(shell, "%timeline qtotal --session s") == ["sess"]
    assert completed(shell, "%timeline qtotal --feed-dict f") == ["feed"]
    assert completed(shell, "%step qtotal --br") == ["--break", "--break-nan"]
    assert completed(shell, "%%lazy --f") == ["--fresh"]
    assert completed(shell, "%checkpoint --be") == ["--before"]
    assert completed(shell, "%collections --se") == ["--session"]
    assert completed(shell, "%graph o") == ["other"]
    assert completed(shell, "%graph --feed qlayer/out qto") == ["qtotal/y", "qtotal"]
    assert completed(shell, "%diff ne") == ["net"]
    assert completed(shell, "%sessions s") == ["sess"]
    shell.user_ns["sess"].close()


def test_an_op_is_found_where_it_is(shell: Any, capsys: Any) -> None:
    run(shell, NET)
    run(shell, "%why qlayer/out --fetch qtotal")
    assert "'qlayer/out' runs" in capsys.readouterr().out
    run(shell, "with tf.Graph().as_default() as more: tf.constant(1.0, name='qtotal')")
    result = run(shell, "%why qlayer/out --fetch qtotal")
    assert "'qtotal' is an op of 2 graphs" in str(result.error_in_exec)


def test_a_cell_that_ran_twice_leaves_no_doubt(shell: Any, capsys: Any) -> None:
    run(shell, f"{NET}\nsess = tf.Session(graph=net)")
    before = shell.user_ns["sess"]  # a view that is still shown holds it as well
    run(shell, f"{NET}\nsess = tf.Session(graph=net)")
    assert shell.user_ns["sess"].graph is not before.graph
    run(shell, "%why qlayer/out --fetch qtotal")
    assert "'qlayer/out' is needed" in capsys.readouterr().out
    run(shell, "%why qlayer/out --fetch loss")  # the Python name says which
    assert "'qlayer/out' is needed" in capsys.readouterr().out


def test_a_fetch_that_the_cell_did_not_build(shell: Any, capsys: Any) -> None:
    assert run(shell, NET.replace("net", "net --fetch qtotla")).success
    said = "'qtotla' is not an op or tensor of the graph. Did you mean qtotal"
    assert said in capsys.readouterr().out
