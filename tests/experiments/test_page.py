"""The report of a benchmark: groups, findings, figures, the table and the page."""

import re
from dataclasses import asdict

import numpy as np
import pytest

import standins
from pages import tags
from standins import FakeData
from vigor.basics.errors import UserError
from vigor.basics.settings import value_of
from vigor.cli import main as cli
from vigor.experiments import charts, overview, page, paper, suites, tables
from vigor.experiments.cell import row
from vigor.experiments.store import Store
from vigor.runs.methods import METHODS
from vigor.tasks import TASKS


def success(cell):
    """Geometric descriptors are best, MLPs as good as the CNN, more components worse; seeds differ a little."""
    fewer = 5 - value_of(cell.setup, "components") if cell.varied == "components" else 0
    worse = {"descriptors": 0.3, "components": -0.01 * fewer}.get(cell.varied, 0.0)
    better = {"vigor": 0.9, "em-drex": 0.6}.get(cell.setup.method, 0.1)
    return better - worse - 0.01 * cell.setup.seed


def rows_of(cells):
    """Rows that the cells might have left."""
    rows = {}
    for cell in cells:
        fixed = cell.setup.method in ("gail", "copied", "carried")  # They have no number of components to set.
        part = standins.judged(success(cell), 1 if fixed else value_of(cell.setup, "components"))
        facts = {"seconds": 20.0, "together": 2, "demonstrations": "<made up>", "device": "none"}
        rows[cell.id] = row(cell, facts | {"train": part, "test": part})
    return list(rows.values())


@pytest.fixture(scope="module")
def rows():
    choice = suites.Choice(seeds=5)
    return rows_of(
        [cell for suite in (suites.paper, suites.ablations, suites.contexts) for cell in suite(choice, FakeData(30))]
    )


@pytest.fixture(scope="module")
def groups(rows):
    return tables.groups(rows)


@pytest.fixture(scope="module")
def box_plots(groups):
    """Figure of each task."""
    return {task: charts.compared(of_task) for task, of_task in tables.usual(groups).items()}


def test_groups_are_configurations_in_the_order_of_the_paper(rows, groups):
    assert sum(len(group.rows) for group in groups) == len(rows)
    assert all([one["setup"]["seed"] for one in group.rows] == [0, 1, 2, 3, 4] for group in groups)
    usual = tables.usual(groups)
    assert list(usual) == list(TASKS)
    for task, of_task in usual.items():
        order = [group.method for group in of_task]
        assert order == [name for name in paper.NAMES if name != "carried" or task == "box-pusher"]
    group = usual["panda-reacher"][0]
    assert group.summary("success").mean == pytest.approx(0.88)
    assert group.paper("success").mean == 0.9965
    assert group.paper("distance") is None
    assert group.seconds == 10


def test_quick_rows_stay_apart():
    choice = suites.Choice(("planar-reacher",), ("vigor",), 2)
    cells = suites.paper(choice, FakeData()) + suites.paper(
        suites.Choice(**asdict(choice) | {"quick": True}), FakeData()
    )
    found = tables.groups(rows_of(cells))
    assert [(group.quick, len(group.rows)) for group in found] == [(False, 2), (True, 2)]
    assert list(tables.usual(found)) == ["planar-reacher", "planar-reacher (quick)"]


def published(row):
    """A row that learned from the published demonstrations, of which recordings lie apart, and failed."""
    kind, source = ("published-raw", "others, recordings") if row["setup"]["raw"] else ("published", "others")
    setup = row["setup"] | {"fingerprint": kind, "demos": f"data/{kind}/planar-reacher"}
    return row | {"setup": setup, "demonstrations": source, "test": row["test"] | {"success_best": 0.0}}


def test_other_demonstrations_stay_apart(rows):
    planar = [row for row in rows if row["setup"]["task"] == "planar-reacher" and row["setup"]["method"] == "vigor"]
    found = tables.groups(planar + [published(row) for row in planar])
    comparable = tables.usual(found)
    assert list(comparable) == [f"planar-reacher, demonstrations {source}" for source in ("<made up>", "others")]
    for (reference,) in comparable.values():
        for group in tables.ablation(found, reference, "components"):
            assert group.demonstrations == reference.demonstrations
        fitted, raw = tables.ablation(found, reference, "raw")
        assert fitted is reference
        assert (raw.summary("success").mean == 0) == (reference.summary("success").mean == 0)
    assert comparable["planar-reacher, demonstrations others"][0].summary("success").mean == 0
    assert tables.markdown(found).count("demonstrations others") == 1


def test_rows_of_version_0_1_are_compared_like_others(rows):
    old = [
        row
        | {"setup": {"config" if name == "settings" else name: value for name, value in row["setup"].items()}}
        | {"varied": f"density_ratio.{row['varied']}" if row["varied"] in ("network", "loss") else row["varied"]}
        for row in rows
        if row["setup"]["task"] == "planar-reacher" and row["setup"]["method"] == "vigor"
    ]
    found = tables.groups(old)
    [[reference]] = tables.usual(found).values()
    networks = [group.setting("network") for group in tables.ablation(found, reference, "network")]
    assert networks == ["cnn", "mlp", "lstm"]


def test_few_seeds_have_no_interval_and_prove_nothing():
    cells = suites.ablations(suites.Choice(("planar-reacher",), ("vigor",), 2), FakeData(30))
    found = tables.groups(rows_of(cells))
    assert {one.verdict for one in tables.findings(found)} == {"too few seeds"}
    assert "| - |" in tables.markdown(found)


def test_both_presets_are_rows_of_their_own_and_additions_belong_to_one():
    cells = suites.additions(suites.Choice(("planar-reacher",), seeds=2), FakeData())
    groups = tables.groups(rows_of(cells))
    assert [group.name for _, group in tables.titled(groups)] == ["VIGOR", "VIGOR, paper's settings"]
    ours, theirs = (group for group in groups if not group.varied)
    assert [group.setting("begin") for group in tables.ablation(groups, ours, "begin")] == ["demonstrations", "normal"]
    assert [group.setting("begin") for group in tables.ablation(groups, theirs, "begin")] == [
        "normal",
        "demonstrations",
    ]


def test_an_ablation_has_the_usual_value_among_the_others(groups):
    reference = tables.usual(groups)["planar-reacher"][0]
    for name, values in suites.ABLATIONS["vigor"].items():
        found = [group.setting(name) for group in tables.ablation(groups, reference, name)]
        assert sorted(map(str, found)) == sorted(map(str, {*values, reference.setting(name)}))
    assert [g.setting("components") for g in tables.ablation(groups, reference, "components")] == [1, 2, 3, 4, 5, 30]


def test_findings_are_judged_by_pairs_of_seeds(groups):
    planar = [one for one in tables.findings(groups) if one.reference.task == "planar-reacher"]
    best = {one.finding.words: one for one in planar if one.components == "best component"}
    held = best["geometric descriptors are better than joint angles"]
    assert held.verdict == "holds"
    assert held.better - held.worse == pytest.approx(0.3)
    assert held.interval == pytest.approx((0.3, 0.3))
    assert best["more components help"].verdict == "does not hold"
    assert best["the CNN is at least as good as an MLP"].verdict == "no clear difference"


def test_findings_are_judged_by_all_components_as_well(groups):
    every = [one for one in tables.findings(groups) if one.components == "all components"]
    assert {one.finding for one in every} == {one.finding for one in tables.findings(groups)}
    for one in every:
        if one.reference.setting(one.finding.setting) != one.finding.better:
            continue  # Of other settings than the usual ones.
        means = [np.mean(row["test"]["success_components"]) for row in one.reference.rows]
        assert np.mean(means) == pytest.approx(one.better)


def test_the_papers_numbers_are_those_of_its_plots():
    """Order within each box, and the two means that its text names."""
    for methods in paper.BOXES.values():
        assert list(methods) == [name for name in paper.NAMES if name not in ("carried", "copied")]
        for box in methods.values():
            assert box.low <= box.q1 <= box.median <= box.q3 <= box.high
            assert min((box.low, *box.outliers)) <= box.mean <= max((box.high, *box.outliers))
    for task, curves in paper.CONTEXTS.items():
        for method, curve in curves.items():
            assert tuple(curve) == suites.CONTEXTS
            if method != "gail":
                assert curve[6] == paper.BOXES[task, "distance", "test"][method].mean
    settings = {finding.setting for finding in paper.FINDINGS}
    assert settings <= suites.ABLATIONS["vigor"].keys()
    for finding in paper.FINDINGS:
        assert {finding.better, finding.worse} <= set(suites.ABLATIONS[finding.method][finding.setting])


def test_box_plots_show_ours_and_the_papers(groups, box_plots):
    for task, of_task in tables.usual(groups).items():
        axes = box_plots[task].axes
        assert len(axes) == (3 if task == "box-pusher" else 2)
        names = [label.get_text() for label in axes[0].get_xticklabels()]
        assert names == [group.name for group in of_task]
        boxes = [len(ax.patches) for ax in axes]
        both = len(of_task) + sum(group.method not in ("copied", "carried") for group in of_task)
        assert boxes == ([both] * 3 if task == "box-pusher" else [len(of_task), both])


def test_bars_end_at_the_best_component(groups):
    reference = tables.usual(groups)["planar-reacher"][0]
    figure = charts.bars(groups, reference, ["components", "raw"])
    panels = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title(loc="left") for ax in panels] == ["components", "raw"]
    heights = {round(bar.get_height(), 4) for bar in panels[0].patches}
    expected = {value for group in tables.ablation(groups, reference, "components") for value in group.ranked.round(4)}
    assert heights == expected
    assert [label.get_text() for label in panels[1].get_xticklabels()] == ["no", "yes"]


def test_curves_over_contexts_have_all_numbers(groups):
    references = [group for group in tables.usual(groups)["box-pusher"] if group.method in suites.WITH_CONTEXTS]
    ax = charts.over_contexts(groups, references).axes[0]
    ours = {line.get_label(): list(line.get_xdata()) for line in ax.lines if line.get_label() in paper.NAMES.values()}
    assert ours == {group.name: list(suites.CONTEXTS) for group in references}


def test_distances_to_compare_with_are_those_that_the_paper_has_of_a_task(box_plots):
    for task, figure in box_plots.items():
        (legend,) = figure.legends
        labels = {text.get_text() for text in legend.get_texts()}
        assert {label for label in labels if "(paper)" in label} == set(paper.LINES.get(task, ()))


def test_ablations_are_bars_for_every_task_but_for_those_that_are_curves(tmp_path):
    """Also where the paper has a curve over training contexts."""
    choice = suites.Choice(("box-pusher",), ("vigor",), 2)
    data = FakeData(30)
    store = Store(tmp_path)
    store.begin()
    for one in rows_of(suites.ablations(choice, data) + suites.contexts(choice, data)):
        store.add(one)
    text = page.write_report(tmp_path).read_text()
    assert "<h2>Training contexts, box-pusher</h2>" in text
    assert "<h2>Ablations of VIGOR, box-pusher</h2>" in text
    assert "<td>layers</td>" in text
    assert "<td>train contexts</td>" not in text


def test_the_markdown_table_has_the_papers_mean_beside_ours(groups):
    head, rule, *lines = tables.markdown(groups).splitlines()
    assert head.count("|") == rule.count("|") == lines[0].count("|")
    assert len(lines) == len(TASKS) * (len(METHODS) - 1) + 1  # Nothing is carried on the reachers.
    assert lines[0].startswith("| planar-reacher | VIGOR | 5 | 0.991 | **0.880** | ")


def test_resemblance_is_a_mean_over_the_rows_that_have_it(rows):
    usual = [one for one in rows if not one["varied"]][:2]
    assert tables.Group(tuple(usual)).resemblance("coverage") is None
    compared = {**usual[0], "train": {**usual[0]["train"], "resemblance": {"coverage": 0.75}}}
    assert tables.Group((compared, usual[1])).resemblance("coverage") == 0.75


@pytest.mark.usefixtures("undrawn")
def test_the_report_is_one_page_with_everything(tmp_path, rows, capsys):
    store = Store(tmp_path)
    store.begin()
    some = [one for one in rows if one["setup"]["seed"] < 2]
    for one in some[1:]:
        store.add(one)
    store.fail(some[0] | {"error": "ValueError: <b>stone</b>"})
    cli.main(["report", str(tmp_path)])
    assert capsys.readouterr().out.strip() == str(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "<script>" in text
    assert not re.search(r"(src|href)=[\"']?(http|//|file)", text)
    assert "&lt;b&gt;stone" in text
    assert "&lt;made up&gt;" in text
    assert text.count("<figure>") == len(list((tmp_path / "figures").glob("*.png"))) == 3 + 1 + 4
    assert tags(text).count("table") > 8
    for words in ("too few seeds", "99.1%", "IQM", "Linux", f"{len(some) - 1}</b> cells"):
        assert words in text
    assert len((tmp_path / "results.csv").read_text().splitlines()) == len(some)
    assert (tmp_path / "table.md").read_text().startswith("| task | method |")


def test_a_benchmark_without_results_is_one_sentence(tmp_path):
    Store(tmp_path).begin()
    with pytest.raises(UserError, match="has no results yet"):
        page.write_report(tmp_path)


# The command line -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["paper", "--backend", "dask"], "belong together"),
        (["paper", "--scheduler", "tcp://nowhere:1"], "belong together"),
        (["paper", "--workers", "0"], "--workers must be from 1"),
        (["ablations", "--methods", "bc-t", "--tasks", "box-pusher"], "no ablations of bc-t"),
        (["paper", "--data", "published", "nowhere"], "nowhere does not exist"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(tmp_path, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(["benchmark", *arguments])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_benchmark_is_run_shown_and_reported(tmp_path, monkeypatch, capsys):
    """Through the command line, with cells that only pretend."""
    monkeypatch.setattr("vigor.experiments.cell.measure", standins.pretend)
    arguments = ["--tasks", "box-pusher", "--methods", "vigor", "bc-t", "--seeds", "2", "--workers", "1"]
    with pytest.raises(SystemExit) as stop:
        cli.main(["benchmark", "contexts", *arguments, "--device", "cpu", "--out", str(tmp_path / "out")])
    assert stop.value.code == 1
    said = capsys.readouterr()
    assert "10 cells failed" in said.err
    assert "0 of 20 cells done" in said.out
    assert "10 of 20 cells done, 10 failed" in said.out
    assert "failed: ValueError: a stone" in said.out
    found = Store(tmp_path / "out").rows()
    assert {one["setup"]["train_contexts"] for one in found} == set(suites.CONTEXTS)
    assert np.all([one["setup"]["demos"] == "data/own/box-pusher" for one in found])
    assert (tmp_path / "out" / "report.html").exists()


def test_methods_are_dots_with_intervals_by_task_and_over_tasks(groups):
    shown = overview.by_task(groups)
    assert list(shown) == list(TASKS)
    for group in shown.values():
        assert {dot.key for one in group.charts for dot in one.dots} == {key for key, _, _ in group.keys}
    success, mixture, distance = shown["planar-reacher"].charts
    assert [one.log for one in (success, mixture, distance)] == [False, False, True]
    vigor = next(dot for dot in success.dots if dot.name.startswith("VIGOR, success"))
    assert vigor.at[0] == pytest.approx(0.88)
    assert vigor.across[0] < 0.88 < vigor.across[1]
    assert "the paper's VIGOR: 0.991" in [dot.name for dot in success.dots]
    assert not [dot for dot in mixture.dots if dot.key == "reported"], "the paper has no such figure"


def test_the_papers_settings_have_marks_and_lines_of_their_own():
    cells = suites.additions(suites.Choice(("planar-reacher",), seeds=2), FakeData())
    groups = tables.groups(rows_of(cells))
    success, *_ = overview.by_task(groups)["planar-reacher"].charts
    marks = {(dot.key, dot.mark) for dot in success.dots}
    assert marks == {("default", "full"), ("paper", "hollow"), ("reported", "diamond")}
    over = overview.over_tasks(groups)
    assert over.marks == {"VIGOR": "full", "VIGOR, paper's settings": "hollow"}
    assert [line.kind for line in over.charts[2].lines] == ["main", "dashed"]


def test_a_task_of_one_method_alone_does_not_hide_the_others(groups):
    some = [group for group in groups if group.task != "box-pusher" or group.method == "gail"]
    assert "Over planar-reacher and panda-reacher, " in overview.over_tasks(some).note


def test_a_method_that_is_always_better_is_better_with_certainty(groups):
    means, better, profile = overview.over_tasks(groups).charts
    assert means.rows[0] == "VIGOR"
    assert set(better.rows) == set(means.rows[1:])
    assert all(dot.at[0] == 1.0 for dot in better.dots)
    assert all(np.all(np.diff(line.points[:, 1]) <= 0) for line in profile.lines), "profiles fall"
    assert overview.over_tasks([groups[0]]) is None
