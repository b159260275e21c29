"""The guide: one step, one sentence and one button for every state, and none that contradicts it."""

from pathlib import Path

import pytest

from vigor.studio import guide
from vigor.studio.guide import EXPORT, LEARN, PLAN, SHOW
from vigor.studio.trainer import Progress


def run(running: bool, iterations: int = 10, stopping: bool = False, problem: str | None = None) -> Progress:
    metrics = ({"iteration": iterations},) if iterations else ()
    return Progress(Path(), running, stopping, False, 100, metrics, problem)


@pytest.mark.parametrize(
    ("state", "step", "said", "button"),
    [
        ({}, SHOW, "Drag the ball.", "(Save)"),
        ({"unreachable": "Too far."}, SHOW, "Too far.", "New context"),
        ({"recording": True, "held": True}, SHOW, "Drag the ball. Then let go.", "(Save)"),
        ({"recording": True, "held": True, "solved": True}, SHOW, "Solved: let go.", "(Save)"),
        ({"recording": True}, SHOW, "Not there yet", "Again"),
        ({"recording": True, "solved": True}, SHOW, "Save it", "Save"),
        ({"demonstrations": 2}, SHOW, "Drag the ball.", "(Save)"),
        ({"demonstrations": 2, "here": 1}, SHOW, "Show another way", "New context"),
        ({"demonstrations": 9}, LEARN, "enough to learn from", "Learn"),
        ({"progress": run(True)}, LEARN, "It is learning.", "Stop"),
        ({"progress": run(True, stopping=True)}, LEARN, "keeps what it has learned", "(Stop)"),
        ({"progress": run(True, 0, stopping=True)}, LEARN, "it cannot plan yet", "(Stop)"),
        ({"progress": run(True), "recording": True, "solved": True}, SHOW, "Save it", "Save"),
        ({"progress": run(False)}, PLAN, "It is planning.", "(Export plan)"),
        ({"progress": run(False, 0)}, LEARN, "ended before it could plan. Learn again", "Learn"),
        ({"progress": run(False, 0, problem="no memory")}, LEARN, "could plan: no memory. Learn again", "Learn"),
        ({"progress": run(False), "moving": True}, PLAN, "plans are rough", "(Export plan)"),
        ({"progress": run(False), "moving": True, "holds": True}, PLAN, "Drag a target", "Export plan"),
        ({"progress": run(False), "unplanned": "no memory"}, PLAN, "No plan: no memory.", "New context"),
        ({"progress": run(False), "holds": True}, PLAN, "Drag a target", "Export plan"),
        ({"progress": run(False), "holds": True, "movable": "the goal"}, PLAN, "Drag the goal, or", "Export plan"),
        ({"progress": run(False), "holds": False}, PLAN, "No way solves this", "New context"),
        ({"progress": run(False), "holds": False, "obstacles": 1}, PLAN, "move the obstacle", "New context"),
        ({"progress": run(False), "holds": False, "unreachable": "Too far."}, PLAN, "Too far.", "New context"),
        ({"progress": run(False), "holds": True, "exported": True}, EXPORT, "The plan is written.", "New context"),
    ],
)
def test_what_to_do_next(state, step, said, button):
    advice = guide.advise(guide.State("Drag the ball.", **state))
    assert (advice.step, advice.button if advice.ready else f"({advice.button})") == (step, button)
    assert said in advice.sentence
    assert guide.line(advice, 3).count("font-weight:bold") == 1


def test_how_many_demonstrations_are_enough_is_said():
    advice = guide.Advice(SHOW, "Show it.", "Save")
    assert "(2 of 5)" in guide.line(advice, 2)
    assert "(7)" in guide.line(advice, 7)
