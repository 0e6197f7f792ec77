"""What holds for every magic and every view, also for those that come later."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError
from ipywidgets.widgets import widget

import tfteach as tf
from tests.browser.views import CELLS, SETUP
from tests.golden.checkpoints import FOLDER
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.jupyter import widgets
from tfteach.jupyter.magics import MAGICS
from tfteach.jupyter.widgets.explore import Explorer
from tfteach.jupyter.widgets.view_base import Shown

BUILD = """
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None], name="x")
    z = tf.placeholder(tf.float32, [None], name="z")
    w = tf.Variable(2.0, name="w")
    e = tf.Variable([1.0, 2.0], name="e")
    loss = tf.add(x * w, z, name="loss")
sess = tf.Session(graph=graph)
other = tf.Session(graph=graph)
sess.run([w.initializer, e.initializer])
feed = {x: [1.0], z: [2.0]}
traced = tf.function(lambda x: x * 2.0)
"""
# A session on a server, for the one magic that shows clusters.
FAR = """
server = tf.train.Server.create_local_server()
far = tf.Session(server.target, graph=graph)
far.run([w.initializer, e.initializer])
"""
# What to run for each magic, with its options; a cell magic has a cell below.
CALLS = {
    "%checkpoint": f"%checkpoint {FOLDER}/all {{}}",
    "%cluster": "%cluster --fetch loss --feed-dict feed --session far {}",
    "%diff": "%diff graph graph {}",
    "%%diff": "%%diff graph {}\nq = tf.constant(1.0)",
    "%elements": "%elements tf.data.Dataset.range(4).map(tf.square) -n 2 {}",
    "%graph": "%graph graph {}",
    "%%graph": "%%graph {}\nq = tf.constant(1.0)",
    "%%lazy": "%%lazy {}\nfor _ in range(3): sess.run(tf.add(w, 1.0))",
    "%optimizing": "%optimizing loss --session sess {}",
    "%pipeline": "%pipeline {}",
    "%%pipeline": "%%pipeline {}\nfor _ in range(3): sess.run(w)",
    "%placement": "%placement loss --session sess {}",
    "%collections": "%collections {}",
    "%%rows": "%%rows {}\nq = sess.run(tf.gather(e, [1]))",
    "%%run": "%%run {}\nq = sess.run(loss, feed)",
    "%schedule": "%schedule loss {}",
    "%sessions": "%sessions sess other {}",
    "%sharing": "%sharing {}",
    "%%step": "%%step {}\nq = tf.square(2.0)",
    "%step": "%step loss --session sess --feed-dict feed {}",
    "%tfteach": "%tfteach {}",
    "%timeline": "%timeline loss --session sess --runs 1 --feed-dict feed --memory {}",
    "%trace": "%trace traced {}",
    "%%trace": "%%trace {}\nq = traced(tf.constant(2.0))",
    "%why": "%why w --fetch loss {}",
}
SESSIONLESS = ("%tfteach", "%%step", "%trace", "%%trace")
TEXT_ONLY = ("%elements", "%tfteach", "%why")


def magics() -> dict[str, Any]:
    """Every magic, as it is written, with its method."""
    found = {}
    for module, name in MAGICS.items():
        owner = getattr(
            importlib.import_module(f"tfteach.jupyter.magics.{module}"), name
        )
        for kind, sign in (("line", "%"), ("cell", "%%")):
            for magic, method in owner.magics[kind].items():
                found[sign + magic] = getattr(owner, method)
    return found


def view_classes() -> set[type]:
    """Every class of views that has a page of its own, in whatever module."""
    found = set()
    for name in pkgutil.iter_modules(widgets.__path__):
        module = importlib.import_module(f"tfteach.jupyter.widgets.{name.name}")
        for value in vars(module).values():
            is_view = isinstance(value, type) and issubclass(value, Shown)
            if (
                is_view
                and value.__module__ == module.__name__
                and "_esm" in vars(value)
            ):
                found.add(value)
    return found


def options(method: Any) -> dict[str, Any]:
    """The options and arguments of a magic by name."""
    actions = method.parser._actions
    return {(action.option_strings or [action.dest])[-1]: action for action in actions}


@pytest.fixture
def built(shell: Any, request: pytest.FixtureRequest) -> Iterator[Any]:  # noqa: F811
    assert run(shell, BUILD).success
    names = ["sess", "other"]
    if "[%cluster" in request.node.name or "-%cluster" in request.node.name:
        assert run(shell, FAR).success
        names.append("far")
    yield shell
    for name in names:
        shell.user_ns[name].close()
    if "far" in names:
        shell.user_ns["server"]._stop()


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of views that are printed."""
    texts: list[str] = []

    def text(view: Any) -> str:
        texts.append(view.to_text())
        return texts[-1]

    monkeypatch.setattr(Shown, "__str__", text)
    return texts


@pytest.mark.parametrize("magic", magics())
def test_text_is_what_the_view_prints(
    built: Any, capsys: Any, printed: list[str], magic: str
) -> None:
    assert "--text" in options(magics()[magic])
    assert run(built, CALLS[magic].format("--text")).success
    out = capsys.readouterr().out
    assert built.shown == []
    if magic in TEXT_ONLY:
        assert out
    else:
        assert printed
        assert out == "\n".join([*printed, ""])


@pytest.mark.parametrize("magic", magics())
@pytest.mark.parametrize("option", ["--text", "--static"])
def test_the_page_gets_no_model_of_what_is_not_live(
    built: Any, tmp_path: Any, magic: str, option: str
) -> None:
    if option not in options(magics()[magic]):
        assert magic in TEXT_ONLY
        return
    page = tmp_path / "page.html"
    saves = "--save" in options(magics()[magic])
    words = f"{option} --save {page}" if saves else option
    before = dict(widget._instances)
    assert run(built, CALLS[magic].format(words)).success
    assert widget._instances == before
    assert page.exists() is saves


@pytest.mark.parametrize("magic", magics())
def test_a_usage_error_shows_the_usage(built: Any, capsys: Any, magic: str) -> None:
    for words, said in [
        ("--nonsense", "unrecognized arguments: --nonsense"),
        ("'open", "No closing quotation"),
    ]:
        result = run(built, CALLS[magic].format(words))
        assert isinstance(result.error_in_exec, UsageError)
        told = capsys.readouterr().err
        assert told.startswith(f"UsageError: {magic}: {said}\nUsage: {magic}")
        assert "Traceback" not in told
    assert built.shown == []


@pytest.mark.parametrize("magic", magics())
def test_runs_are_named_the_same_way_everywhere(magic: str) -> None:
    found = options(magics()[magic])
    assert "--session" in found or magic in SESSIONLESS
    if "fetch" in found or "--fetch" in found:
        assert {"--feed", "--feed-dict"} <= found.keys()
    for name in ("fetch", "--fetch", "--feed"):
        assert name not in found or found[name].nargs in ("+", "*")


OP_TYPES = {"VariableV", "Identity", "Mul", "Add"}  # digits are cut
FETCHING = [
    name for name, m in magics().items() if {"fetch", "--fetch"} & options(m).keys()
]


@pytest.mark.parametrize("magic", FETCHING)
def test_several_feeds_behind_one_option(built: Any, capsys: Any, magic: str) -> None:
    head = {"%graph": "%graph", "%%graph": "%%graph", "%why": "%why w"}.get(
        magic, magic
    )
    cell = "\npass" if magic.startswith("%%") else ""
    fetch = "--fetch loss" if "--fetch" in options(magics()[magic]) else "loss"
    texts = []
    for feeds in (
        "--feed x=[1.0] z=[2.0]",
        "--feed x=[1.0] --feed 'z = [2.0]'",
        "--feed-dict feed",
        "--feed-dict {x:[1.0]} --feed z=[2.0]",
    ):
        session = "far" if magic == "%cluster" else "sess"
        line = f"{head} {fetch} {feeds} --session {session} --text{cell}"
        assert run(built, line).success, line
        out = capsys.readouterr().out
        words = "".join(c for c in out if not c.isdigit()).split()
        if magic == "%timeline":  # times decide what else it says, and the order
            words = sorted(OP_TYPES.intersection(words))
        texts.append([word for word in words if word not in ("us,", "ms,")])
    assert texts[1:] == texts[:-1]
    assert texts[0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%step loss --feed x z=[1.0] --session sess", "--feed x: say what to feed"),
        ("%timeline loss --feed x --session sess", "--feed x: say what to feed"),
        ("%placement --feed x loss --session sess", "--feed x loss says more of a run"),
        ("%schedule loss --feed-dict {3:4}", "Cannot interpret feed_dict key"),
        ("%schedule loss --feed-dict x", "is not a dict"),
        ("%why w --feed-dict feed", "--feed-dict says more of a run"),
        (
            "%step --feed x=[1.0] loss --session sess",
            "Usage: %step fetch [fetch ...] [",
        ),
        ("%graph graph --session sess", "which, graph or the graph of --session sess?"),
        ("%diff graph graph --session sess", "graph or that of --session sess?"),
        ("%%graph --default --session sess\npass", "exclude each other"),
        (
            "%step loss --feed init/x=1 --session sess",
            "'init/x' is not an op or tensor",
        ),
        ("%step loss --feed x=1/0 --session sess", "--feed x=1/0: division by zero"),
        ("%step loss --feed w/Assign=1 --session nope", "nope"),
    ],
)
def test_misuse_is_told(built: Any, line: str, said: str) -> None:
    result = run(built, line)
    assert isinstance(result.error_in_exec, UsageError)
    assert said in str(result.error_in_exec)
    assert built.shown == []


def test_a_session_stands_for_its_graph(built: Any, capsys: Any) -> None:
    assert run(built, "%graph --session sess --text").success
    assert "loss" in capsys.readouterr().out
    assert run(built, "%%graph --session sess --text\nq = tf.add(w, 1.0)").success
    assert built.user_ns["q"].graph is built.user_ns["graph"]
    capsys.readouterr()
    line = "%%diff --session sess --text\nq = tf.constant(1.0, name='new')"
    assert run(built, line).success
    assert "+ new (Const)" in capsys.readouterr().out
    assert run(built, "before = graph.as_graph_def()").success
    assert run(built, "%diff before --session sess --text").success
    assert "The graphs are the same" in capsys.readouterr().out
    assert run(built, "%sessions --session sess other --text").success
    assert "2 sessions" in capsys.readouterr().out
    cell = "with tf.Graph().as_default(): tf.constant(1.0)\nsess.run(w)"
    assert run(built, f"%%lazy --session sess --text\n{cell}").success
    assert capsys.readouterr().out.count(" added, ") == 1
    assert run(built, "%why w --session sess --fetch loss").success
    cell = "for s in (sess, other):\n    s.run(w.initializer)"
    assert run(built, f"%%run --session other --text\n{cell}").success
    assert capsys.readouterr().out.count(" of 15 ops run") == 1
    assert run(built, "%%run --session other --text\nq = sess.run(w)").success
    assert "No Session.run of other in this cell." in capsys.readouterr().out


@pytest.fixture
def views(shell: Any) -> Iterator[dict[str, Any]]:  # noqa: F811
    """One view of each class."""
    result = run(shell, SETUP)
    assert result.success
    found: dict[str, Any] = {}
    for name, cell in CELLS.items():
        lines, _, last = cell.rpartition("\n")
        assert run(shell, f"{lines}\nview = {last}").success
        found[name] = shell.user_ns["view"]
    panel = tf.jupyter.explore(shell.user_ns["sess"])
    found["Explorer"] = panel
    yield found
    tf.simulate_gpus(0)
    for name in ("sess", "other"):
        shell.user_ns[name].close()


def test_printing_a_view_prints_its_text(views: dict[str, Any]) -> None:
    made = {each for view in views.values() for each in type(view).__mro__}
    assert view_classes() <= made
    assert Explorer in made
    for view in views.values():
        text = str(view)
        assert text == view.to_text()
        assert text
        assert "\n" not in repr(view)
        assert len(repr(view)) < 200
        assert repr(view) != text
