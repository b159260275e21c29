"""`vigor plan`: files, tables and exit codes."""

import json
import shutil

import numpy as np
import pytest

import vigor
from helpers import refused
from vigor.cli import main as cli
from vigor.demonstrations.dataset import trajectories
from vigor.motion.shapes import Sphere
from vigor.planning.plans import Plans


def test_plans_are_written_with_a_figure(planned, contexts):
    plans = Plans.load(planned)
    assert plans.constraints.keep_out == (Sphere((0.8, 0.9), 0.1),)
    np.testing.assert_array_equal([plan.context for plan in plans], contexts)
    assert [len(plan.samples) for plan in plans] == [2, 2]
    assert planned.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_contexts_come_as_a_table_or_as_an_array(trained, planned, planning, contexts, tmp_path, capsys):
    np.save("new.npy", contexts)
    cli.main(["plan", str(trained), *planning, "--contexts-file", "new.npy", "--out", "plan.json"])
    assert json.loads((tmp_path / "plan.json").read_text()) == json.loads(planned.read_text())
    output = capsys.readouterr().out
    assert "2 of 2 contexts have a solution that holds" in output
    assert output.splitlines()[-2:] == ["plan.json", "plan.png"]
    assert max(map(len, output.splitlines())) <= 80


def test_the_exit_code_is_3_where_nothing_holds(trained, planning, contexts, tmp_path, capsys):
    words = [str(trained), *planning, "--contexts-file", "new.npy", "--out"]
    np.save("new.npy", contexts + np.array([[9.0], [0.0]]))
    cli.main(["plan", *words, "one.json"])
    assert "1 of 2 contexts have a solution that holds" in capsys.readouterr().out
    np.save("new.npy", contexts + 9)
    with pytest.raises(SystemExit) as stop:
        cli.main(["plan", *words, "none.json"])
    assert stop.value.code == 3
    said = capsys.readouterr()
    assert "context 1: no solution holds; of the best, it does not solve the context" in " ".join(said.out.split())
    assert "beyond it; trust the plan less" in " ".join(said.out.split())
    assert said.err == ""
    assert len(Plans.load(tmp_path / "none.json")) == 2, "they are written all the same"


def test_ways_are_chosen_by_number_and_by_demonstration(trained, planning):
    chosen = {
        "ways": ["--ways", "1"],
        "like": ["--like", "2"],
        "unlike": ["--unlike", "2"],
        "surest": ["--mix", "surest"],
    }
    for name, more in chosen.items():
        cli.main(["plan", str(trained), *planning, *more, "--out", f"{name}.json"])
    made = {name: Plans.load(f"{name}.json") for name in chosen}
    run = vigor.load(trained)
    model = trajectories(run.task, run.demonstrations)[1]
    for number, surest in enumerate(made["surest"]):
        assert len(made["ways"][number]) == 1
        like, unlike = (np.linalg.norm(made[name][number].best.joints() - model) for name in ("like", "unlike"))
        assert like <= unlike
        assert sorted(item.weight for item in surest.solutions) == [0.0] * (len(surest) - 1) + [1.0]
        assert len({sample.group for sample in surest.samples}) == 1


def test_without_a_place_plans_are_kept_in_the_run(trained, planning, tmp_path, capsys):
    folder = shutil.copytree(trained, tmp_path / "run")
    for number in (1, 2):
        cli.main(["plan", str(folder), *planning])
        made = [str(folder / "plans" / f"{number}{ending}") for ending in (".json", ".png")]
        assert capsys.readouterr().out.splitlines()[-2:] == made
    assert len(list((folder / "plans").iterdir())) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say what to plan for: either --context NUMBER ... or --contexts-file FILE"),
        (["--context", "1", "2", "3", "4", "--contexts-file", "x.npy"], "either"),
        (
            ["--context", "1", "2"],
            "a context of gate-and-obstacle has 4 numbers (gate x, gate y, obstacle x, obstacle y)",
        ),
        (["--context", "1", "2", "3", "1e9"], "the contexts must be from -1e+06 to 1e+06"),
        (["--context", "1", "2", "3", "nan"], "the contexts must be finite"),
        (["--contexts-file", "x.npy"], "x.npy does not exist"),
        (["--contexts-file", "x.csv"], "x.csv does not exist"),
        (["--context", "1", "2", "3", "4", "--keep-out", "ball:1"], "is no keep-out"),
        (["--context", "1", "2", "3", "4", "--seconds", "0"], "seconds"),
        (["--context", "1", "2", "3", "4", "--ways", "0"], "the number of ways must be from 1 to 10,000, not 0"),
        (["--context", "1", "2", "3", "4", "--like", "0"], "the run has demonstrations 1 to "),
        (["--context", "1", "2", "3", "4", "--like", "1", "--unlike", "2"], "a plan is ranked by one demonstration"),
        (["--context", "1", "2", "3", "4", "--samples", "-1"], "--samples must be from 0 to 10,000"),
        (["--context", "1", "2", "3", "4", "--seed", "-1"], "--seed from 0 to 2**32 - 1"),
        (["--context", "1", "2", "3", "4", "--out", "x.txt"], "--out must be a .json file, not x.txt"),
        (["--context", "1", "2", "3", "4", "--every", "99"], "every must be from 1 to the run's 12 iterations, not 99"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(trained, tmp_path, capsys, words, said):
    before = sorted(trained.rglob("*"))
    assert said in refused(capsys, "plan", trained, *words)
    assert sorted(trained.rglob("*")) == before
    assert not list(tmp_path.iterdir())


def test_a_folder_without_a_run_is_refused(capsys):
    assert "nowhere holds no run" in refused(capsys, "plan", "nowhere", "--context", "1")


@pytest.mark.parametrize("name", ["mine.json", "mine.png"])
def test_a_plan_is_not_written_over(trained, tmp_path, capsys, name):
    (tmp_path / name).write_text("mine")
    said = refused(capsys, "plan", trained, "--context", 1, 2, 3, 4, "--out", tmp_path / "mine.json")
    assert f"{name} exists already; choose another --out" in said
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"
