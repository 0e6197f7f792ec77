"""An estimator's `predict` in a loop, and held open, in a real JupyterLab."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab
from tests.browser.test_graph_view import SETUP
from tests.browser.test_growth_view import shots, view_of

pytestmark = pytest.mark.browser

MODEL = """\
import numpy as np

tf.logging.set_verbosity(tf.logging.ERROR)
rows = np.linspace(0, 1, 32, dtype=np.float32).reshape(8, 4)

def model_fn(features, labels, mode):
    y = tf.layers.dense(features["x"], 1, name="out")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
    loss = tf.losses.mean_squared_error(labels, y)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

estimator = tf.estimator.Estimator(model_fn)
train_fn = tf.estimator.inputs.numpy_input_fn(
    {"x": rows}, rows[:, :1], shuffle=True, num_epochs=None)
estimator.train(train_fn, steps=20)
"""

IN_A_LOOP = """\
%%lazy
found = []
for row in rows:
    input_fn = tf.estimator.inputs.numpy_input_fn({"x": row[None]}, shuffle=False)
    for prediction in estimator.predict(input_fn):
        found.append(prediction["y"])
"""

# What the view of the loop proposes, as a learner types it.
KEPT = """\
%%lazy
class FastPredict:
    def __init__(self, estimator):
        self.predictions = estimator.predict(self.input_fn)

    def input_fn(self):
        dataset = tf.data.Dataset.from_generator(
            self.elements, {"x": tf.float32},
            {"x": [4]})
        return dataset.batch(1)

    def elements(self):
        while True:
            yield self.element

    def __call__(self, element):
        self.element = element
        return next(self.predictions)

predict = FastPredict(estimator)
for row in rows:
    prediction = predict({"x": row})
predict.predictions.close()  # closes the session
"""


def test_predict_in_a_loop_and_its_cure(lab: Lab) -> None:
    lab.open_cells("predict.ipynb", SETUP, MODEL, IN_A_LOOP, KEPT)
    for index in range(4):
        lab.run_cell(index)
    view = view_of(lab, 2)
    view.locator(".tft-sign-word", has_text="Built 8 times").wait_for()
    assert view.locator(".tft-lives li").count() == 8
    finding = view.locator(".tft-waste-found")
    headline = finding.locator(".tft-headline")
    expect(headline).to_contain_text("In [3] line 5, estimator.predict(input_fn), made")
    expect(headline).to_contain_text("8 sessions, and restored 8 times, for 8 runs")
    expect(finding.locator(".tft-culprit code")).to_have_text(
        "for prediction in estimator.predict(input_fn):"
    )
    cards = finding.locator(".tft-cost")
    assert cards.count() == 6
    expect(finding.locator(".tft-costs")).to_contain_text("and 2 more")
    for number, card in enumerate(cards.all()):
        name = card.locator(".tft-cost-name b")
        assert name.inner_text() == f"predict {number + 1}"
        words = card.inner_text()
        for part in ("ops built", "1 session opened", "checkpoint restored", "1 run"):
            assert part in words
    finding.locator("summary").press("Enter")
    proposed = finding.locator("pre").inner_text()
    assert proposed.strip() == KEPT.partition("\n")[2].strip()
    shots(lab, view, "growth_predict_in_a_loop")
    # typed as proposed, it says so
    kept = view_of(lab, 3)
    said = kept.locator(".tft-finding .tft-headline")
    expect(said).to_contain_text(
        "Kept: In [4] line 4, estimator.predict(self.input_fn)"
    )
    expect(said).to_contain_text("one session and restored once, for 8 runs")
    assert kept.locator(".tft-waste-found").count() == 0
    assert kept.locator(".tft-cost").count() == 1
    shots(lab, kept, "growth_predict_kept")
    printed = lab.cell(3).locator('[data-mime-type$="stdout"]')
    printed.get_by_text("Kept: In [4] line 4").wait_for()
    assert lab.cell_errors() == []
