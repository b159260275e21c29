"""Suites list the cells of the paper's experiments, each with the settings that it says, and find their data."""

from dataclasses import replace
from pathlib import Path

import pytest

from standins import FakeData
from vigor.basics.errors import UserError
from vigor.basics.settings import value_of, with_values
from vigor.experiments import suites
from vigor.experiments.cell import Cell
from vigor.experiments.data import Data
from vigor.experiments.suites import ABLATIONS, Choice
from vigor.runs.methods import METHODS
from vigor.runs.presets import preset
from vigor.runs.setup import Setup
from vigor.tasks import TASKS, load_task


def ids(cells):
    return [cell.id for cell in cells]


def test_the_paper_is_every_method_on_every_task():
    cells = suites.paper(Choice(), FakeData())
    carried = [name for name in TASKS if load_task(name).transfer.carry]
    assert {cell.setup.task for cell in cells if cell.setup.method == "carried"} == set(carried) == {"box-pusher"}
    pairs = len(TASKS) * (len(METHODS) - 1) + len(carried)
    assert len(set(ids(cells))) == len(cells) == pairs * 10
    assert len({cell.batch for cell in cells}) == pairs
    for cell in cells:
        setup = cell.setup
        assert setup.settings == preset(setup.task, "default", setup.method)
        assert (setup.train_contexts, setup.test_contexts) == (6, 6)
        assert setup.demos_per_context == (3 if setup.task == "box-pusher" else 5)
        assert (cell.varied, cell.quick) == ("", False)


def test_a_suite_can_be_narrowed():
    cells = suites.paper(Choice(("panda-reacher",), ("bc-t", "vigor"), 3), FakeData())
    assert [(cell.setup.task, cell.setup.method, cell.setup.seed) for cell in cells] == [
        ("panda-reacher", method, seed) for method in ("bc-t", "vigor") for seed in range(3)
    ]
    quick = suites.paper(Choice(quick=True), FakeData())
    assert {cell.setup.task for cell in quick} == {"planar-reacher"}
    assert {cell.setup.seed for cell in quick} == {0, 1}
    assert all(cell.quick for cell in quick)
    usual = {cell.setup.method: cell for cell in suites.paper(Choice(("planar-reacher",)), FakeData())}
    assert all(cell.id != usual[cell.setup.method].id for cell in quick)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"seeds": 0}, "--seeds must be from 1 to 1000"),
        ({"methods": ("nonsense",)}, "there is no method 'nonsense'"),
        ({"tasks": ("nonsense",)}, "there is no task 'nonsense'"),
    ],
)
def test_what_does_not_exist_is_refused(wrong, sentence):
    with pytest.raises(UserError, match=sentence):
        Choice(**wrong)
    with pytest.raises(UserError, match="no ablations of bc-t"):
        suites.ablations(Choice(methods=("bc-t",)), FakeData())


def test_contexts_are_the_papers_numbers():
    cells = suites.contexts(Choice(methods=("vigor",), seeds=1), FakeData())
    assert [cell.setup.train_contexts for cell in cells] == [3, 6, 12, 18, 24]
    assert [cell.varied for cell in cells] == ["train_contexts", "", *["train_contexts"] * 3]
    assert cells[1].id == suites.paper(Choice(("box-pusher",), ("vigor",), 1), FakeData())[0].id


@pytest.mark.parametrize("task", suites.REACHERS)
@pytest.mark.parametrize("method", ABLATIONS)
def test_an_ablation_differs_from_the_usual_in_one_setting(task, method):
    cells = suites.ablations(Choice((task,), (method,), 1), FakeData())
    usual = cells[0]
    assert usual.varied == ""
    for name, values in ABLATIONS[method].items():
        changed = [cell for cell in cells if cell.varied == name]
        own = value_of(usual.setup, name)
        assert [value_of(cell.setup, name) for cell in changed] == [value for value in values if value != own]
        for cell in changed:
            back = with_values(cell.setup, **{name: own})
            if name == "network":
                back = with_values(back, width=value_of(usual.setup, "width"))
            assert replace(back, fingerprint=usual.setup.fingerprint) == usual.setup


def test_presets_stand_side_by_side_where_they_differ():
    found = suites.paper(
        suites.Choice(("planar-reacher",), ("vigor", "bc-t"), 1, 400, ("default", "paper")), FakeData()
    )
    assert [(cell.setup.method, cell.preset, cell.setup.seed) for cell in found] == [
        ("vigor", "default", 400),
        ("vigor", "paper", 400),
        ("bc-t", "default", 400),
        ("bc-t", "default", 400),
    ]
    assert value_of(found[1].setup, "iterations") == 301
    assert found[2].id == found[3].id  # It is run once.


def test_additions_are_removed_from_ours_and_alone_with_the_papers():
    found = suites.additions(suites.Choice(("planar-reacher",), seeds=1), FakeData())
    changed = {(cell.preset, cell.varied): value_of(cell.setup, cell.varied) for cell in found if cell.varied}
    assert changed[("default", "begin")] == "normal"
    assert changed[("paper", "begin")] == "demonstrations"
    assert changed[("default", "invariants")] is False
    assert changed[("paper", "invariants")] is True
    assert changed[("paper", "scaled")] is True
    assert changed[("default", "ratio")] is False
    assert ("paper", "ratio") not in changed
    with pytest.raises(UserError, match="additions are VIGOR's alone"):
        suites.additions(suites.Choice(methods=("bc-t",)), FakeData())


def test_ablations_that_the_demonstrations_do_not_allow_are_left_out():
    cells = suites.ablations(Choice(("panda-reacher",), ("vigor",), 1), FakeData(6, recordings=False))
    assert not [cell for cell in cells if cell.setup.raw]
    assert {cell.setup.train_contexts for cell in cells} == {2, 4, 6}
    cells = suites.ablations(Choice(("box-pusher",), ("vigor",), 1), FakeData())
    assert {cell.setup.descriptors for cell in cells} == {"geometric"}


def test_quick_ablations_are_few():
    cells = suites.ablations(Choice(quick=True), FakeData())
    assert {cell.setup.task for cell in cells} == {"planar-reacher"}
    assert {cell.varied for cell in cells} == {"", *suites.QUICK_ABLATIONS}


def test_other_networks_are_about_as_large_as_the_usual_one():
    def parameters(inputs, width, kind):
        """By hand, of two layers and an output."""
        if kind == "cnn":
            return 5 * inputs * width + width + 5 * width * width + width + 5 * width + 1
        if kind == "mlp":
            return inputs * width + width + width * width + width + width + 1
        return sum(4 * width * (own + width) + 4 * width for own in (inputs, width)) + width + 1

    aim = parameters(7, 32, "cnn")
    for kind in ("mlp", "lstm"):
        width = suites._similar_width(4, preset("planar-reacher").density_ratio.training.architecture, kind)
        assert abs(parameters(7, width, kind) / aim - 1) < 0.07


def test_a_cells_id_is_its_configuration():
    setup = Setup("planar-reacher", "a/folder", seed=1, fingerprint="data", version="1", date="today")
    cell = Cell(setup)
    same = replace(setup, demos="elsewhere", version="2", date="tomorrow", command="vigor")
    assert Cell(same, "components", True).id == cell.id
    for change in ({"seed": 2}, {"fingerprint": "other"}, {"raw": True}):
        assert Cell(replace(setup, **change)).id != cell.id
    assert Cell(replace(setup, seed=2)).batch == cell.batch
    assert Cell(replace(setup, raw=True)).batch != cell.batch
    assert str(Cell(with_values(setup, components=3), "components")) == "planar-reacher vigor components=3 seed 1"


def test_published_data_is_taken_where_there_is_any(tmp_path, published):
    data = Data(tmp_path, published)
    for name, contexts in (("planar-reacher", 12), ("panda-reacher", 6)):
        placed = data.of(name)
        assert placed.place == f"data/published/{name}"
        assert placed.suffice(contexts, 10)
        assert not placed.suffice(contexts + 1, 10)
    assert data.of("planar-reacher", raw=True).place == "data/published-raw/planar-reacher"
    assert data.of("panda-reacher", raw=True) is None
    assert data.of("box-pusher").place == "data/own/box-pusher"
    assert not list(tmp_path.iterdir())
    data.save()
    again = Data(tmp_path)
    assert again.of("box-pusher").shown.source == data.of("box-pusher").shown.source
    assert (tmp_path / "data" / "published" / "planar-reacher").is_dir()


def test_a_path_without_published_data_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match="holds no published demonstrations"):
        suites.paper(Choice(), Data(tmp_path / "out", Path(tmp_path)))
    assert not list(tmp_path.iterdir())
