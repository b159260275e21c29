"""The guide: one step and one sentence for every state, and none that contradicts it."""

from pathlib import Path

import pytest

from vigor.studio import guide
from vigor.studio.trainer import Progress


def run(running: bool, iterations: int = 10) -> Progress:
    metrics = ({"iteration": iterations},) if iterations else ()
    return Progress(Path(), running, False, False, 100, metrics, None)


@pytest.mark.parametrize(
    ("state", "step", "said"),
    [
        ({}, guide.SHOW, "Press Start. Drag the ball."),
        ({"recording": True}, guide.SHOW, "Drag the ball. Then press Stop and save."),
        ({"demonstrations": 2}, guide.SHOW, "Show another way"),
        ({"demonstrations": 9}, guide.LEARN, "Press Learn"),
        ({"progress": run(True)}, guide.LEARN, "It is learning."),
        ({"progress": run(True), "recording": True}, guide.SHOW, "Stop and save"),
        ({"progress": run(False)}, guide.PLAN, "It is planning."),
        ({"progress": run(False, 0)}, guide.SHOW, "Press Start."),
        ({"progress": run(False), "holds": True}, guide.PLAN, "Drag a target"),
        ({"progress": run(False), "holds": False}, guide.PLAN, "No plan solves this context"),
        ({"progress": run(False), "holds": True, "exported": True}, guide.EXPORT, "The plan is written."),
    ],
)
def test_what_to_do_next(state, step, said):
    nothing = {"demonstrations": 0, "recording": False, "progress": None, "holds": None, "exported": False}
    found, sentence = guide.advise("Drag the ball.", **(nothing | state))
    assert found == step
    assert said in sentence
    assert guide.line(found, sentence, 3).count("<b>") == 1
