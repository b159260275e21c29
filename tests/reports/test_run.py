"""Figures of a run: which there are, for which contexts, and those of a task's own."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from helpers import POINT, SPLIT
from pretended import NAME, PretendedSettings, pretended
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations
from vigor.reports.run import draw
from vigor.runs import run
from vigor.runs.setup import Setup
from vigor.tasks.task import Display, Region

pytestmark = pytest.mark.usefixtures("undrawn")
SETUP = Setup("point", method=NAME, settings=PretendedSettings(), **SPLIT)


@pytest.fixture(autouse=True)
def _method():
    with pretended():
        yield


@pytest.fixture(scope="module")
def demonstrations() -> Demonstrations:
    return Demonstrations.generate(POINT, contexts=3, per_context=3)


def drawn(task, folder: Path, demonstrations: Demonstrations, **changes) -> set[str]:
    """Names of the figures of a run."""
    run.train(replace(SETUP, **changes), folder, task=task, demonstrations=demonstrations)
    assert draw(folder, task) == folder / "report.html"
    return {path.stem for path in (folder / "figures").iterdir()}


def test_every_kind_of_context_has_its_traces(tmp_path, demonstrations):
    assert drawn(POINT, tmp_path / "run", demonstrations) == {"learning_curves", "traces_train", "traces_test"}
    text = (tmp_path / "run" / "report.html").read_text()
    assert text.count("<figure>") == 1, "what charts show is not shown twice"
    assert "<th>x</th>" in text
    assert len(re.findall(r'<svg class="chart"', text)) >= 5, "movements of three and two contexts"
    assert text.index('<svg class="chart"') < text.index("<h2>Success"), "pictures come first"
    assert not re.search(r"https?://|@import|url\(|<link", text)
    assert "What this run cannot do" in text
    assert drawn(POINT, tmp_path / "other", demonstrations, test_contexts=0) == {"learning_curves", "traces_train"}


def test_ways_are_drawn_where_demonstrations_were_held_out(tmp_path, demonstrations):
    shown = {tuple(context) for context in demonstrations.contexts[demonstrations.demonstrated].tolist()}
    made = drawn(POINT, tmp_path / "run", demonstrations, test_contexts=tuple(shown))
    assert "ways" in made
    assert "Ways in test contexts" in (tmp_path / "run" / "report.html").read_text()


def test_a_task_adds_regions_and_pictures(tmp_path, demonstrations):
    seen = []

    def pictures(contexts, means, success):
        seen.append((contexts.shape, means.shape, success.shape))
        return {"final_states": Figure()}

    display = Display(
        regions=lambda context: (Region(tuple(map(float, context)), 0.1, "goal"),),
        pictures=pictures,
        captions={"final_states": "The end & the goal."},
    )
    names = drawn(replace(POINT, display=display), tmp_path / "run", demonstrations)
    assert {"distances_test", "final_states"} <= names
    ways = seen[0][2][1]
    assert seen == [((2, 2), (2, ways, POINT.promp.steps, 2), (2, ways))], "test contexts alone, their ways"
    assert "The end &amp; the goal." in (tmp_path / "run" / "report.html").read_text()


def test_an_unfinished_run_is_not_drawn(tmp_path, demonstrations):
    folder = tmp_path / "run"
    run.train(SETUP, folder, task=POINT, demonstrations=demonstrations)
    (folder / "result.json").unlink()
    with pytest.raises(UserError, match="has not finished"):
        draw(folder, POINT)
    assert not (folder / "figures").exists()
