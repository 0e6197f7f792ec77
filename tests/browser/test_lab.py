"""The ground the other browser tests stand on: Lab runs cells and shows widgets."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab
from tests.jupyter.test_all_magics import BUILD, CALLS

pytestmark = pytest.mark.browser

COUNTER = '''
import anywidget, traitlets

class Counter(anywidget.AnyWidget):
    """A button that counts its clicks, in the page and in the kernel."""
    _esm = """
    export default { render({ model, el }) {
        const button = document.createElement("button");
        button.className = "counter";
        const show = () => { button.textContent = `clicks: ${model.get("clicks")}`; };
        button.onclick = () => {
            model.set("clicks", model.get("clicks") + 1);
            model.save_changes();
        };
        model.on("change:clicks", show);
        show();
        el.append(button);
    } };
    """
    clicks = traitlets.Int(0).tag(sync=True)

counter = Counter()
counter
'''


def test_a_widget_and_its_kernel_talk(lab: Lab) -> None:
    lab.open_cells(
        "counter.ipynb",
        "import tfteach; print('tfteach', tfteach.__version__)",
        COUNTER,
        "print('the kernel saw', counter.clicks)",
    )
    lab.run_cell(0)
    lab.run_cell(1)
    button = lab.output(1).locator("button.counter")
    button.click()
    button.get_by_text("clicks: 1").wait_for()
    lab.run_cell(2)

    import tfteach

    assert lab.cell_errors() == []
    assert lab.output(0).inner_text().strip() == f"tfteach {tfteach.__version__}"
    assert lab.output(2).inner_text().strip() == "the kernel saw 1"
    assert lab.screenshot("counter").stat().st_size > 10_000


def test_a_failing_cell_is_noticed(lab: Lab) -> None:
    lab.open_cells("failing.ipynb", "x = 1", "x / 0", "print('never')")
    lab.run_all()
    assert lab.cell_errors() == ["ZeroDivisionError: division by zero"]
    assert lab.output(2).count() == 0


def test_both_themes_can_be_looked_at(lab: Lab) -> None:
    lab.open_cells("themes.ipynb", "print('text')")
    lab.run_all()
    pictures = []
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        lab.set_theme(theme)
        pictures.append(lab.screenshot(theme.replace(" ", "_"), lab.cell(0)))
    dark, light = (path.read_bytes() for path in pictures)
    assert dark != light


def test_a_request_that_leaves_the_machine_is_noticed(lab: Lab) -> None:
    lab.open_cells("leaving.ipynb", "1")
    lab.page.evaluate("() => fetch('https://example.org/').catch(() => null)")
    assert lab.foreign_requests == ["https://example.org/"]
    lab.foreign_requests.clear()


# As course notes have it.
NOTES = """\
import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data
import tensorflow.contrib.slim as slim

x = tf.Variable(10, name='x')
y = tf.Variable(20, name='y')
z = tf.add(x, y)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        total = sess.run(z)
print(total, tf.__version__)
"""


def test_a_cell_of_course_notes_runs_as_it_stands(lab: Lab) -> None:
    lab.open_cells("notes.ipynb", "%load_ext tfteach", NOTES, NOTES, "%tfteach")
    lab.run_all()
    assert lab.cell_errors() == []
    assert lab.output(0).count() == 0
    told, printed = lab.output(1).all_inner_texts()
    assert told.startswith("`import tensorflow` imports tfteach")
    assert printed.strip() == "30 1.15.5"
    assert [text.strip() for text in lab.output(2).all_inner_texts()] == ["30 1.15.5"]
    assert "import tensorflow" in lab.output(3).inner_text()
    lab.screenshot("notes")


@pytest.mark.parametrize("option", ["--text", "--static"])
def test_the_console_says_nothing_of_views_that_are_not_live(
    lab: Lab, option: str
) -> None:
    setup = "import tfteach as tf\n%load_ext tfteach\n" + BUILD
    lines = [call.format(option) for name, call in CALLS.items() if name != "%tfteach"]
    if option == "--static":
        lines = [line for line in lines if not line.startswith("%why")]
    lab.open_cells("printed.ipynb", setup, *lines)
    lab.run_all()
    assert not (errors := lab.cell_errors()), errors
    lab.page.wait_for_timeout(500)  # the page makes models when it has time
    assert [text for text in lab.console_errors if "model" in text] == []
