"""Planning in a thread: the latest context wins, errors end nothing, and what is asked for is asked for once."""

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from studio_runs import wait_for
from vigor.basics.errors import UserError
from vigor.motion.shapes import Sphere
from vigor.studio import planning_thread
from vigor.studio.planning import alike, exported
from vigor.studio.planning_thread import PlanningThread, Question

RUN = Path("run")
PLANS = SimpleNamespace(plans=[None])


@pytest.fixture(autouse=True)
def nothing_in_common(monkeypatch):
    monkeypatch.setattr(planning_thread, "essentials", lambda planner, plan: ())


class Planner:
    """Plans for contexts that begin with a number of at least 0."""

    def __init__(self, error):
        self.begun, self.go = threading.Event(), threading.Event()
        self._error = error

    def plan(self, context, limits, samples):
        self.begun.set()
        self.go.wait()
        if context[0] < 0:
            raise self._error
        return PLANS


def test_the_latest_context_is_planned_for():
    answers, planner = [], Planner(UserError("out of reach"))
    thread = PlanningThread(answers.append, lambda run: planner)
    thread.ask(Question(RUN, 1, np.array([0.0])))
    planner.begun.wait()
    for x in (1.0, 2.0, -3.0):
        thread.ask(Question(RUN, 1, np.array([x])))
    planner.go.set()
    wait_for(lambda: not thread.busy)
    thread.close()
    assert [answer.question.context[0] for answer in answers] == [0.0, -3.0]
    assert [answer.problem for answer in answers] == [None, "out of reach"]


def test_planning_goes_on_after_any_error(capsys):
    answers, planner = [], Planner(RuntimeError("out of memory\nand a page of details"))
    planner.go.set()
    thread = PlanningThread(answers.append, lambda run: planner)
    for x in (-1.0, 1.0):
        thread.ask(Question(RUN, 1, np.array([x])))
        wait_for(lambda: not thread.busy)
    thread.close()
    assert [(answer.plans, answer.problem) for answer in answers] == [
        (None, "RuntimeError: out of memory"),
        (PLANS, None),
    ]
    assert "in plan\n" in capsys.readouterr().err  # Where it came from is in the terminal.


def test_a_run_is_loaded_once_and_again_when_it_has_gone_on():
    loaded, answers, planner = [], [], Planner(None)
    planner.go.set()
    thread = PlanningThread(answers.append, lambda run: loaded.append(run) or planner)
    for run, iteration in (("one", 10), ("one", 10), ("one", 20), ("two", 20)):
        thread.ask(Question(Path(run), iteration, np.zeros(1)))
        wait_for(lambda: not thread.busy)
    thread.close()
    assert loaded == [Path("one"), Path("one"), Path("two")]
    assert [answer.question.run for answer in answers] == [Path("one")] * 3 + [Path("two")]


def test_a_context_on_its_way_is_planned_for_with_few_ensembles():
    @dataclass(frozen=True)
    class Rough:
        every: int = 1
        stored: int = 60

        def plan(self, context, limits, samples):
            used.append(self.every)
            return PLANS

    used: list[int] = []
    thread = PlanningThread(lambda answer: None, lambda run: Rough())
    for rough in (True, False):
        thread.ask(Question(RUN, 1, np.zeros(1), rough=rough))
        wait_for(lambda: not thread.busy)
    thread.close()
    assert used == [60 // planning_thread.ROUGHLY, 1]


def test_a_way_keeps_its_colour():
    paths = np.random.default_rng(0).normal(size=(4, 10, 3))
    moved = paths + 0.05
    assert alike(paths[:3], [7, 0, 2], moved[[2, 0, 1]]) == [2, 7, 0]
    assert alike(paths[:2], [1, 0], moved[[3, 1, 0]]) == [2, 0, 1]
    assert alike(paths, [0, 1, 2, 3], moved[[3, 1]]) == [3, 1]


def test_what_is_asked_for_again_is_the_same():
    question = Question(RUN, 1, np.zeros(2), (Sphere((0.0, 0.0, 0.0), 1.0),))
    assert question.same(Question(RUN, 1, np.zeros(2), (Sphere((0.0, 0.0, 0.0), 1.0),)))
    assert not question.same(None)
    for other in ({"iteration": 2}, {"context": np.ones(2)}, {"obstacles": ()}, {"samples": 3}, {"rough": True}):
        assert not question.same(replace(question, **other))


def test_an_exported_plan_that_fails_is_called_so():
    assert exported(RUN, True) == "Exported to run."
    assert exported(RUN, False) == "Exported to run; this plan is predicted to fail."
