"""Files of plans: they come back, what is wrong is one sentence, and what was edited is worked out anew."""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planned import CONTEXT, LIMITS, PLANAR, ROBOT, planar
from vigor.basics.errors import UserError
from vigor.planning import display, plan_files
from vigor.planning.constraints import Constraints
from vigor.planning.plans import Plans
from vigor.planning.violations import Violation

PLANS = planar()


@pytest.fixture
def path(tmp_path) -> Path:
    PLANS.save(tmp_path / "plan.json")
    return tmp_path / "plan.json"


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> dict[str, Any]:
    """The content of the plans' file."""
    file = tmp_path_factory.mktemp("plans") / "plan.json"
    PLANS.save(file)
    return json.loads(file.read_text())


def test_plans_come_back(path, tmp_path):
    back = Plans.load(path)
    back.save(tmp_path / "again.json")
    assert path.read_bytes() == (tmp_path / "again.json").read_bytes()
    with pytest.raises(FileExistsError):
        back.save(tmp_path / "again.json", new=True)
    assert back.constraints == LIMITS
    assert back.load_task() is PLANAR
    for plan, own in zip(back, PLANS, strict=True):
        assert plan.context == own.context
        for one, other in zip((*plan.solutions, *plan.samples), (*own.solutions, *own.samples), strict=True):
            assert replace(one, situation=None).__dict__ == replace(other, situation=None).__dict__


def test_a_violation_comes_back(tmp_path):
    broken = Violation("velocity", "a", 0.5, 4.5)
    plan = replace(PLANS[0], solutions=tuple(replace(row, violated=broken) for row in PLANS[0].solutions))
    replace(PLANS, plans=(plan,)).save(tmp_path / "plan.json")
    assert Plans.load(tmp_path / "plan.json")[0].best.violated == broken


def test_limits_on_one_side_come_back(tmp_path):
    robot = replace(ROBOT, position=((-1.0, np.inf), *ROBOT.position[1:]))
    replace(PLANS, constraints=Constraints(robot, 4.0)).save(tmp_path / "plan.json")
    assert Plans.load(tmp_path / "plan.json").constraints == Constraints(robot, 4.0)


def test_readers_find_the_figures_of_a_context_in_lists(written):
    assert written["version"] == plan_files.VERSION
    for entry in written["contexts"]:
        assert entry["context"] == list(CONTEXT)
        assert {len(entry[name]) for name in ("predicted", "success", "distance", "weights")} == {2}
        assert entry["failure"] is None


def read_back(path: Path, read: Any) -> Plans:
    """Plans of a file that says this, with the digest that belongs to it."""
    bare = {name: part for name, part in read.items() if name not in ("format", "version", "digest")}
    path.write_text(json.dumps(read | {"digest": plan_files.sealed(bare)["digest"]}))
    return Plans.load(path)


def test_the_task_of_a_plan_may_be_given(path, written):
    unknown = written | {"task": "elsewhere.py:TASK"}
    with pytest.raises(UserError, match=r"needs its task elsewhere\.py, which is not there; give --task FILE:NAME"):
        read_back(path, unknown)
    assert Plans.load(path, PLANAR).load_task() is PLANAR
    assert Plans.load(path, "planar-reacher").load_task() is PLANAR
    with pytest.raises(UserError, match="5 joints where panda-reacher moves 7"):
        Plans.load(path, "panda-reacher")
    with pytest.raises(UserError, match="is of the task mine, which is in no file; give the task itself"):
        read_back(path, written | {"task": "mine"})


def changed(read: dict[str, Any], change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """The content of a file after a change."""
    read = copy.deepcopy(read)
    change(read)
    return read


def first(read: dict[str, Any]) -> dict[str, Any]:
    return read["contexts"][0]["solutions"][0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda read: read.pop("format"), "holds no plans"),
        (lambda read: read.update(version=9), "has version 9; this program reads version 4"),
        (lambda read: read.pop("contexts"), "plans is missing"),
        (lambda read: read.update(contexts=[]), "it has no contexts"),
        (lambda read: read["contexts"][0].update(context=[1.0]), "has 4 numbers, not 1"),
        (lambda read: read["contexts"][0].update(context=[1e30] * 4), "contexts must be from"),
        (lambda read: read["contexts"][0].update(solutions=[]), "needs solutions of different components"),
        (lambda read: read["contexts"][0]["solutions"][1].update(component=0), "of different components"),
        (lambda read: read["contexts"][0]["samples"][0].update(component=7), "of a component that has no solution"),
        (lambda read: first(read).update(movement=[1.0]), "has 25 weights, not 1"),
        (lambda read: first(read).pop("margins"), "margins is missing"),
        (lambda read: first(read).update(colour="red"), "has unknown fields: colour"),
        (lambda read: first(read).update(violated="fast"), "violated must be an object"),
        (lambda read: read["constraints"].update(seconds="long"), "constraints.seconds must be a number"),
        (lambda read: read["constraints"].update(seconds=1e-12), "seconds, not 1e-12"),
        (lambda read: read["constraints"]["robot"].update(joints="abcde"), "robot.joints must be a list"),
        (lambda read: read["constraints"]["robot"].update(velocity=[1.0]), "needs limits for each of its 5 joints"),
        (lambda read: read["constraints"]["robot"]["position"].pop(), "needs limits for each of its 5 joints"),
        (lambda read: read["constraints"]["keep_out"][0].update(radius=-1), "positive radius"),
        (
            lambda read: read["constraints"]["keep_out"][0].update(centre=[1, 2, 3]),
            "3 coordinates where",
        ),
    ],
)
def test_a_damaged_file_is_one_sentence(path, written, change, said):
    with pytest.raises(UserError) as error:
        read_back(path, changed(written, change))
    assert said in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def places(value: Any, way: tuple = ()) -> Iterator[tuple]:
    """Ways to all parts of what JSON holds; of a list, to its first."""
    yield way
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*way, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*way, 0))


WRONG = (None, True, -1, 1e300, 10**400, "x", "\0", [[]], {})


@pytest.mark.filterwarnings("ignore::vigor.basics.errors.Notice")
def test_wrong_values_anywhere_are_one_sentence(path, written, monkeypatch, capsys):
    """Plans are loaded, or a sentence says what is wrong; whatever is loaded can be shown."""
    monkeypatch.chdir(path.parent)
    refusals = 0
    for way in places(written):
        if not way:
            continue
        for wrong in WRONG:
            read = copy.deepcopy(written)
            inner = read
            for step in way[:-1]:
                inner = inner[step]
            inner[way[-1]] = wrong
            try:
                plans = read_back(path, read)
            except UserError as error:
                assert "\n" not in str(error), (way, wrong)  # noqa: PT017
                assert len(str(error)) < 400, (way, wrong)  # noqa: PT017
                refusals += 1
            else:
                display.html(plans)
                display.print_table(plans)
                capsys.readouterr()
    assert refusals > 300


@pytest.mark.parametrize("content", ["", "[]", "3", '"x"', "null", "{}", '{"format": "vigor-plan"}', "[" * 10_000])
def test_other_files_are_one_sentence(path, content):
    path.write_text(content)
    with pytest.raises(UserError) as error:
        Plans.load(path)
    assert "\n" not in str(error.value)


# Edited files


def on_the_path(read: dict[str, Any]) -> None:
    """Move the first keep-out onto the way of the best solution."""
    tip = PLANS[0].best.trajectory(rate=20).points[30, -1]
    read["constraints"]["keep_out"][0]["centre"] = tip.tolist()


def larger(factor: float) -> Callable[[dict[str, Any]], None]:
    def change(read: dict[str, Any]) -> None:
        first(read)["movement"][20] *= factor

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (on_the_path, "this movement violates keep-out 1: a link is"),
        (larger(1000.0), "this movement violates the limit of a by"),
        (larger(1e12), "this movement is wilder than any robot's"),
        (larger(1e300), "this movement is"),
        (lambda read: first(read)["margins"].update(velocity=float("nan")), "NaN is no finite number"),
        (lambda read: first(read)["movement"].__setitem__(3, float("nan")), "NaN is no finite number"),
        (lambda read: first(read)["movement"].__setitem__(3, float("inf")), "Infinity is no finite number"),
        (lambda read: first(read).pop("margins"), "margins is missing"),
    ],
)
def test_an_edited_plan_is_refused(path, written, change, said):
    with pytest.raises(UserError, match=said):
        read_back(path, changed(written, change))[0].best.trajectory().save(path.with_name("out.csv"))
    assert [item.name for item in path.parent.iterdir()] == ["plan.json"]


def test_nothing_is_taken_from_an_edited_plan_but_its_movement(path, written):
    """Whatever a file promises: the limits of the robot hold, and no link enters a keep-out."""

    def boast(read: dict[str, Any]) -> None:
        first(read)["margins"] = {}
        first(read)["violated"] = None
        on_the_path(read)

    with pytest.raises(UserError, match="violates keep-out 1"):
        read_back(path, changed(written, boast))[0].best.trajectory()

    def denounce(read: dict[str, Any]) -> None:
        first(read)["violated"] = {"kind": "keep-out", "name": "1", "amount": 0.1, "seconds": None}
        first(read)["margins"] = {"keep-out 1": -0.1}

    assert read_back(path, changed(written, denounce))[0].best.trajectory().seconds == pytest.approx(3.0)
    moved = read_back(path, changed(written, larger(10.0)))[0].best.trajectory()
    assert np.all(np.abs(moved.velocities) <= ROBOT.velocity)
    assert np.linalg.norm(moved.points - np.array([-4.0, 0.0]), axis=-1).min() > 0.21
