"""A report is one file that shows what a run left, and nothing that it should not."""

import json
import os
import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from pages import tags
from vigor.basics.errors import UserError
from vigor.reports.page import CAPTIONS, write_report

HOSTILE = "<script>alert('x')</script>\"&"
PNG = b"\x89PNG\r\n\x1a\n"
SPLIT = {
    "success_best": 0.9876,
    "success_mixture": 0.5,
    "success_components": [0.9876, 0.0124],
    "distance_best": 0.25,
    "versatility": {"working_components": 1.5, "distinct_solutions": 1.25, "entropy": 0.75},
    "contexts": [
        {"context": [0.125, -2.0], "success": [1.0, 0.0], "distance": [0.0, 0.5], "weights": [0.5, 0.5]},
        {"context": [3.0, 4.0], "success": [0.97, 0.02], "distance": [0.1, 0.7], "weights": [0.5, 0.5]},
    ],
}
RESULT = {"task": "planar-reacher", "method": "vigor", "seed": 3, "iterations": 10, "test": SPLIT, "train": SPLIT}
CONFIG = {"command": "vigor train planar-reacher --seed 3", "settings": {"components": 2, "network": {"width": 32}}}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "result.json").write_text(json.dumps(RESULT))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return tmp_path


def page(run: Path) -> str:
    return write_report(run).read_text(encoding="utf-8")


def captions(text: str) -> list[str]:
    return re.findall(r"<figcaption>(.*?)</figcaption>", text)


def test_the_numbers_that_matter_are_there(run: Path):
    text = page(run)
    assert "<title>planar-reacher: vigor</title>" in text
    assert "<b>98.8%</b><span>success of the best component</span>" in text
    assert "<b>50.0%</b><span>success of the mixture</span>" in text
    versatility = re.search(r"<b>1.25</b><span>distinct solutions per context</span><small>(.*?)</small>", text)
    assert versatility is not None
    assert "50.0%" in versatility[1], "success stands beside versatility"
    assert "0.125, -2" in text
    assert "seed <b>3</b>" in text
    assert "<pre>vigor train planar-reacher --seed 3</pre>" in text
    assert "<td>settings.network.width</td><td><code>32</code></td>" in text


def test_ways_stand_beside_those_of_demonstrations_where_some_were_held_out(run: Path):
    assert "Ways of the demonstrations" not in page(run)
    ways = [{"name": f"left {HOSTILE}", "demonstrations": 0.31, "samples": 0.27}]
    ways += [{"name": "nobody's", "demonstrations": 0.0, "samples": 0.0}]
    figures = {"coverage": 0.625, "precision": 0.875, "contexts": 2, "ways": ways}
    (run / "result.json").write_text(json.dumps({**RESULT, "test": {**SPLIT, "resemblance": figures}}))
    text = page(run)
    assert "<td>62.5%</td>\n<td>87.5%</td>" in text
    assert "<td>31.0%</td><td>27.0%</td>" in text
    assert HOSTILE not in text
    assert "nobody" not in text


def test_what_demonstrations_have_in_common_has_bars(run: Path):
    """As long as the logarithm of how many times as much a quantity differs elsewhere; the longest is all of it."""
    one = {"quantity": "distance to first, smallest", "value": 0.25, "deviation": 0.01, "elsewhere": 1.0}
    common = [one, one | {"quantity": HOSTILE, "deviation": 0.1}, one | {"deviation": 2.0}]
    (run / "result.json").write_text(json.dumps(RESULT | {"common": common}))
    text = page(run)
    assert re.findall(r'class="bar" style="--share: (\d+)"></span>(\S+)</td>', text) == [
        ("100", "100"),
        ("50", "10"),
        ("0", "0.5"),
    ]
    assert HOSTILE not in text


def test_every_component_of_every_context_has_a_cell(run: Path):
    cells = re.findall(r'<span class="rate[^>]*>(\d+)</span>', page(run))
    ranked, by_context = ["99", "1"], ["100", "0", "97", "2"]
    assert cells == ranked * 2 + by_context * 2


def test_equal_values_are_one_sentence(run: Path):
    same = {"context": [0.0, 1.0], "success": [1.0, 1.0], "distance": [0.0, 0.0], "weights": [0.25, 0.75]}
    split = SPLIT | {"success_best": 1.0, "success_mixture": 1.0, "contexts": [same, same]}
    (run / "result.json").write_text(json.dumps(RESULT | {"test": split, "train": split}))
    text = page(run)
    assert "Every way succeeds in 100% of its samples, in all 2 test contexts." in text
    assert 'class="rate' not in text
    assert 'class="card"' not in text
    assert re.search(r"<td class=\"few\">\s*25, 75\s*</td>", text), "weights stay"


def test_it_is_one_file_without_a_network(run: Path):
    (run / "figures").mkdir()
    for name in reversed(CAPTIONS):
        (run / "figures" / f"{name}.png").write_bytes(PNG + name.encode())
    before = set(run.iterdir())
    text = page(run)
    assert set(run.iterdir()) - before == {run / "report.html"}
    assert tags(text).count("img") == len(CAPTIONS)
    assert not re.search(r"https?://|@import|url\(|<script|<link", text)
    assert all(source.startswith("data:image/png;base64,") for source in re.findall(r'src="([^"]*)"', text))
    assert captions(text) == list(CAPTIONS.values())


def test_every_figure_of_a_run_is_shown_with_the_tasks_caption_or_its_own_name(run: Path):
    (run / "figures").mkdir()
    for name in ("learning_curves", "final_states", "a_view_from_above", "<script>"):
        (run / "figures" / f"{name}.png").write_bytes(PNG)
    (run / "figures" / ".half_written.png").write_bytes(PNG)
    text = write_report(run, captions={"final_states": "The end & the goal."}).read_text(encoding="utf-8")
    first = CAPTIONS["learning_curves"]
    assert captions(text) == [first, "The end &amp; the goal.", "&lt;script&gt;.", "A view from above."]


def test_links_and_pipes_among_figures_are_left_out(run: Path, tmp_path_factory: pytest.TempPathFactory):
    elsewhere = tmp_path_factory.mktemp("mine")
    (elsewhere / "secret.png").write_bytes(b"secret")
    (run / "figures").mkdir()
    (run / "figures" / "mine.png").symlink_to(elsewhere / "secret.png")
    (run / "figures" / "zeros.png").symlink_to("/dev/zero")
    (run / "figures" / "folder.png").mkdir()
    assert "img" not in tags(page(run))
    os.mkfifo(run / "figures" / "pipe.png")
    assert "img" not in tags(page(run))
    shutil.rmtree(run / "figures")
    (run / "figures").symlink_to(elsewhere)
    assert "img" not in tags(page(run))


def test_a_figure_that_is_no_picture_by_its_size_is_refused(run: Path):
    (run / "figures").mkdir()
    with (run / "figures" / "huge.png").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(UserError, match=r"huge\.png holds 1,048,576 MiB; at most 32 MiB can be read"):
        page(run)


def test_figures_that_are_missing_are_left_out(run: Path):
    assert "img" not in tags(page(run))


def test_contexts_count_from_one_and_their_numbers_have_names(run: Path):
    text = write_report(run, ("goal x", "<b>")).read_text(encoding="utf-8")
    assert text.count("<th></th><th>goal x</th><th>&lt;b&gt;</th>") == 2
    assert len(re.findall(r"<tr>\s*<td>1</td>\s*<td>0.125</td>\s*<td>-2</td>", text)) == 2
    assert len(re.findall(r"<tr>\s*<td>2</td>\s*<td>3</td>\s*<td>4</td>", text)) == 2
    other = write_report(run, ("x", "y", "z")).read_text(encoding="utf-8")
    assert "<th>context</th>" in other, "names that do not fit are not shown"


def test_hostile_words_are_escaped(tmp_path: Path):
    split = {
        "success_best": HOSTILE,
        "success_components": [HOSTILE],
        "versatility": {"entropy": HOSTILE},
        "contexts": [{"context": [HOSTILE], "success": [HOSTILE], "distance": HOSTILE}],
    }
    facts = dict.fromkeys(("task", "method", "seed", "demos", "device", "date"), HOSTILE)
    (tmp_path / "result.json").write_text(json.dumps({**facts, "test": split}))
    (tmp_path / "config.json").write_text(json.dumps({"command": HOSTILE, HOSTILE: {HOSTILE: [HOSTILE]}}))
    text = page(tmp_path)
    assert "script" not in tags(text)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 12


def test_a_run_without_test_contexts_or_versatility(tmp_path: Path):
    (tmp_path / "result.json").write_text(json.dumps({"task": "t", "method": "m", "train": {"success_best": 1.0}}))
    (tmp_path / "config.json").write_text("{}")
    text = page(tmp_path)
    tags(text)
    assert "mean over training contexts" in text
    assert "Repeat this run" not in text


def test_a_run_that_nothing_judges_has_no_columns_of_ground_truth(run: Path):
    judged = page(run)
    entry = {"context": [0.0, 1.0], "predicted": [0.9, 0.5], "weights": [0.5, 0.5], "versatility": {}}
    part = {"predicted_best": 0.9, "predicted_mixture": 0.7, "versatility": {}, "contexts": [entry]}
    (run / "result.json").write_text(json.dumps({"task": "t", "method": "m", "test": part, "train": part}))
    text = page(run)
    tags(text)
    for words in ("chosen by prediction", "mixture, predicted", "their distances"):
        assert words in judged
        assert words not in text
    assert "<h2>Predicted success and versatility</h2>" in text
    for row in re.findall(r"<thead>.*?</tbody>", text, re.DOTALL):
        head, *body = re.findall(r"<tr>.*?</tr>", row, re.DOTALL)
        assert {line.count("<td") for line in body} == {head.count("<th>")}


def test_a_command_as_a_list_is_quoted(run: Path):
    (run / "config.json").write_text(json.dumps({"command": ["vigor", "train", "my task.py:T"]}))
    assert "<pre>vigor train 'my task.py:T'</pre>" in unescape(page(run))


def test_it_is_written_whole_or_not_at_all(run: Path):
    (run / "report.html").mkdir()  # So that nothing can take its place.
    (run / "report.html" / "old").touch()
    with pytest.raises(OSError, match=r"report\.html"):
        write_report(run)
    assert [file.name for file in (run / "report.html").iterdir()] == ["old"]
    assert sorted(file.name for file in run.iterdir()) == ["config.json", "report.html", "result.json"]


def test_a_run_without_a_result_says_what_to_do(tmp_path: Path):
    with pytest.raises(UserError) as caught:
        write_report(tmp_path)
    assert str(tmp_path / "result.json") in str(caught.value)
    assert "--resume" in str(caught.value)


def test_a_result_that_is_no_object_is_refused(run: Path):
    (run / "result.json").write_text("[]")
    with pytest.raises(UserError, match=r"result\.json is not the JSON object"):
        write_report(run)
