"""The session in words: a recording's length, a plan's promises and failures."""

import numpy as np

from planned import solution
from vigor.planning.plans import Approach
from vigor.planning.violations import Violation
from vigor.studio.cards import RED, cards, clearance, distance, essentials, failure, margin, recorded
from vigor.studio.planning_thread import Essential
from vigor.studio.shared import Trace

NAMES = ["target 1", "target 2"]
WAY = Trace(np.array([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]), 1, "way")


def test_a_recording_says_in_time_that_it_ends():
    assert recorded(12.4) == "recording 12 s"
    assert recorded(45.0) == "recording 45 s, ends by itself at 60 s"


def test_a_card_says_what_a_way_promises_or_why_it_fails():
    near, far = Approach(-0.1, 0.4), Approach(-0.05, 0.04)
    fails = solution(solves=False, targets={"first": near, "last": far}, margins={})
    holds = solution(solves=True, targets={"first": near, "last": Approach(-0.2, -0.2)}, margins={})
    shown = cards((holds, fails), [WAY, WAY], NAMES, 1, [False, True])
    assert shown.count("5.0 m") == 1
    assert "20 cm to spare" in shown
    assert "misses target 2 by 4.0 cm" in shown
    assert "misses target 1" not in shown
    assert [shown.count(f'data-click="{word} {rank}"') for word in ("play", "hide") for rank in (0, 1)] == [1] * 4


def test_the_smallest_margin_is_said():
    margins = {"position": 0.5, "velocity": 0.2, "itself": 0.05, "keep-out 2": 0.012}
    assert clearance(solution(margins=margins)) == ["1.2 cm to obstacle 2"]
    assert margin(solution(margins=margins)) == ["80% of the largest speed"]
    assert clearance(solution(margins=margins | {"keep-out 2": -0.3})) == clearance(solution(margins={})) == []


def test_a_violation_is_the_reason():
    over = Violation("position", "joint4", 0.1)
    assert failure(solution(violated=over), NAMES) == "joint4 beyond its limit by 0.10 rad"
    fast = Violation("velocity", "joint1", 0.5, 4.5)
    assert failure(solution(violated=fast), NAMES) == "joint1 too fast; it would need 4.5 s"


def test_distances_in_words():
    assert [distance(metres) for metres in (12.34, 0.25, 0.031, -0.02)] == ["12.3 m", "25 cm", "3.1 cm", "-2.0 cm"]


def test_what_is_essential_stands_beside_a_way():
    common = (Essential("end to target, at the end", 0.02, 0.01, (0.03, 0.5)),)
    assert RED not in essentials(common, 0)
    assert RED in essentials(common, 1)
    assert "0.02 &plusmn; 0.01" in essentials(common, 0)
    assert essentials(common, 2) == essentials((), 0) == ""
