"""The session in words: a recording's length, a plan's promises and failures."""

from dataclasses import replace

import numpy as np

from planned import solution
from vigor.planning.plans import Approach
from vigor.planning.violations import Violation
from vigor.studio.cards import RED, cards, clearance, essentials, failure, margin, recorded
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
    assert "20 cm inside target 2" in shown
    assert "misses target 2 by 4.0 cm" in shown
    assert "misses target 1" not in shown
    assert [shown.count(f'data-click="{word} {rank}"') for word in ("play", "hide") for rank in (0, 1)] == [1] * 4


def test_the_smallest_margin_is_said():
    margins = {"position": 0.5, "velocity": 0.2, "itself": 0.05, "keep-out 2": 0.012}
    assert clearance(solution(margins=margins)) == ["1.2 cm to obstacle 2"]
    assert margin(solution(margins=margins), WAY, NAMES) == ["80% of the largest speed"]
    assert clearance(solution(margins=margins | {"keep-out 2": -0.3})) == clearance(solution(margins={})) == []


def test_a_violation_is_the_reason():
    over = Violation("position", "joint4", 0.1)
    assert failure(solution(violated=over), WAY, NAMES) == "joint4 beyond its limit by 0.10 rad"
    assert failure(solution(violated=replace(over, amount=0.002)), WAY, NAMES).endswith("by 0.0020 rad")
    parts = solution(success=1.0), solution(success=1.0, violated=over)
    promised = [cards((part,), [WAY], NAMES, 0, [False]) for part in parts]
    assert ["100%" in html for html in promised] == [True, False]
    fast = Violation("velocity", "joint1", 0.5, 4.5)
    assert failure(solution(violated=fast), WAY, NAMES) == "joint1 too fast; it would need 4.5 s"


def test_where_a_body_ends_is_said_before_any_margin():
    left = replace(WAY, off="3.1 cm and 8 degrees off the goal")
    assert margin(solution(margins={"position": 0.5}), left, NAMES) == ["3.1 cm and 8 degrees off the goal"]
    assert failure(solution(solves=False), left, ["goal"]) == "ends 3.1 cm and 8 degrees off the goal"


def test_kinds_are_told_apart_where_there_are_several():
    one, other = solution(group=1), solution(group=2)
    assert "kind 1" not in cards((one, other), [WAY] * 2, NAMES, 0, [False] * 2)
    assert "kind 2" in cards((one, other, other), [WAY] * 3, NAMES, 0, [False] * 3)


def test_what_is_essential_stands_beside_a_way():
    common, names = (Essential("distance to last, at the end", 0.02, 0.01, (0.03, 0.5)),), {"last": "target 2"}
    assert RED not in essentials(common, 0, names)
    assert RED in essentials(common, 1, names)
    assert "0.02 &plusmn; 0.01" in essentials(common, 0, names)
    assert "distance to target 2, at the end" in essentials(common, 0, names)
    assert essentials(common, 2, names) == essentials((), 0, names) == ""


def test_what_is_next_to_nothing_is_nothing():
    common = Essential("box to goal, x, at the end", -7.6e-8, 0.03, (-0.013,))
    assert ">0 &plusmn; 0.03<" in essentials((common,), 0, {})
