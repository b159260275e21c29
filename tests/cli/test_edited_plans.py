"""Plans that were edited by hand, and durations and rates that nobody means, at the command line."""

import json
from pathlib import Path

import pytest

from helpers import refused
from planned import planar
from vigor.cli import main as cli
from vigor.planning import plan_files


@pytest.fixture
def plan(tmp_path) -> Path:
    planar().save(tmp_path / "plan.json")
    return tmp_path / "plan.json"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seconds", "1e-12"], "a movement takes from 0.01 to 3600 seconds, not 1e-12"),
        (["--seconds", "nan"], "a movement takes from 0.01 to 3600 seconds, not nan"),
        (["--rate", "1e-9"], "the rate must be from 0.1 to 10,000 samples a second, not 1e-09"),
        (["--rate", "inf"], "the rate must be from 0.1 to 10,000 samples a second, not inf"),
    ],
)
def test_senseless_durations_and_rates_are_refused(plan, tmp_path, capsys, words, said):
    assert said in refused(capsys, "export", plan, "--format", "csv", *words)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


@pytest.mark.parametrize("seconds", ["1e-12", "0", "-1", "nan"])
def test_plans_have_a_duration_that_can_be_meant(trained, capsys, seconds):
    said = refused(capsys, "plan", trained, "--context", "1", "2", "3", "4", "--seconds", seconds)
    assert "a movement takes from 0.01 to 3600 seconds" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda read: read["constraints"]["keep_out"][0].update(centre=[2.5, 0.0]), "violates keep-out 1: a link is"),
        (lambda read: read["contexts"][0]["solutions"][0]["margins"].update(velocity=float("nan")), "NaN is no finite"),
        (lambda read: read["contexts"][0]["solutions"][0].pop("margins"), "margins is missing"),
        (lambda read: read["contexts"][0]["solutions"][0]["movement"].__setitem__(0, 1e12), "is wilder than any robot"),
        (lambda read: read["contexts"][0]["solutions"][0]["movement"].__setitem__(0, "1"), "must be a number"),
    ],
)
def test_an_edited_plan_is_not_exported(plan, tmp_path, capsys, change, said):
    read = json.loads(plan.read_text())
    change(read)
    plan.write_text(json.dumps(read))
    assert "something in it was changed" in refused(capsys, "export", plan, "--format", "csv") or "NaN" in said
    plan.write_text(json.dumps(resealed(read)))  # By somebody who knows how.
    for kind in ("csv", "ros2", "mcap"):
        assert said in refused(capsys, "export", plan, "--format", kind)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def resealed(read: dict) -> dict:
    """A plan with the digest that belongs to it."""
    return plan_files.sealed({name: part for name, part in read.items() if name not in ("format", "version", "digest")})


def test_a_weight_that_was_changed_is_noticed(plan, capsys):
    read = json.loads(plan.read_text())
    read["contexts"][0]["solutions"][0]["movement"][0] += 1e-9
    plan.write_text(json.dumps(read))
    said = refused(capsys, "export", plan, "--format", "csv")
    assert said == f"vigor: {plan} is not as `vigor plan` wrote it: something in it was changed; plan again"


def test_a_plan_of_another_version_says_so(plan, capsys):
    read = json.loads(plan.read_text()) | {"program": "0.0.1"}
    plan.write_text(json.dumps(resealed(read)))
    cli.main(["export", str(plan), "--format", "csv"])
    assert f"{plan} was written by vigor 0.0.1" in capsys.readouterr().err


def test_a_plan_is_exported_as_it_is(plan, tmp_path, capsys):
    cli.main(["export", str(plan), "--format", "csv", "--context", "2", "--solution", "2", "--rate", "20"])
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'plan_2_2.csv'}: 61 samples, 3.00 s; largest jerk ")
