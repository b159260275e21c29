"""The studio in a real browser, used by mouse."""

import json
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import fast_tasks
from studio_page import CHROMIUM, Hand, chromium, opened, studio
from studio_runs import FAST, PUSHER_CONTEXT, program, pusher_runs, row, wait_for
from vigor.basics.colours import PALETTE
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import preprocessing as recordings
from vigor.runs.run import METRICS
from vigor.runs.training import EVERY
from vigor.studio.cards import RED
from vigor.studio.traces import rgb
from vigor.tasks import Task
from vigor.tasks.reachers import panda_reacher
from vigor.tasks.stage import Stage, load_stage

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="there is no chromium"),
]


TABLET, PHONE = (768, 1024), (390, 844)
HASTY = program("trainer.NICE = 0")
"""Program whose runs give way to nothing."""
LOOK = """
window.scenes = [];
window.__THREE_DEVTOOLS__ = new EventTarget();
window.__THREE_DEVTOOLS__.addEventListener("observe", (event) => {
  if (event.detail.isScene) window.scenes.push(event.detail);
});
"""
"""Script that keeps what a page draws, to be looked at."""
LINES = """() => {
  const lines = [];
  for (const scene of window.scenes) scene.traverse((part) => {
    const {instanceStart, instanceEnd} = part.geometry?.attributes ?? {};
    if (!instanceStart) return;
    const pieces = Array.from({length: instanceStart.count}, (_, i) =>
      [instanceStart, instanceEnd].map((ends) => [ends.getX(i), ends.getY(i), ends.getZ(i)]));
    lines.push(["#" + part.material.color.getHexString().toUpperCase(), pieces]);
  });
  return lines;
}"""
"""Colours and pieces of all lines that a page draws."""
FILLED = """() => [...document.querySelectorAll("button")].filter((button) => button.offsetParent
  && getComputedStyle(button).backgroundColor === "rgb(34, 139, 230)").map((button) => button.innerText)"""
"""Words on the filled buttons of a page."""
CURVE = """(colour) => {
  const canvas = document.querySelector(".uplot canvas"), plot = document.querySelector(".u-over");
  const {width, height} = canvas, pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const scale = canvas.getBoundingClientRect().height / height, rows = [];
  for (let row = 0; row < height; row++)
    for (let column = width / 2; column < width / 2 + 4; column++) {
      const at = 4 * (row * width + Math.floor(column));
      if (Math.hypot(...colour.map((part, i) => part - pixels[at + i])) < 30 && pixels[at + 3] > 200) rows.push(row);
    }
  return [Math.min(...rows) * scale - plot.offsetTop, Math.max(...rows) * scale - plot.offsetTop];
}"""
"""Upper and lower edge of a curve of a colour at the middle of the page's chart, below the chart's own upper edge."""


@pytest.fixture(scope="module")
def browser():
    with chromium(seldom=True, coarse=True) as opened_browser:
        opened_browser.add_init_script(LOOK)
        yield opened_browser


def record(hand: Hand, robot: Stage, places, seconds: float) -> None:
    hand.take([robot.picture().points[robot.grips[-1]], *places], seconds)
    hand.says("Solved: let go.")
    hand.page.mouse.up()
    hand.says("let go, solved")
    hand.press("Save")
    hand.says("Saved: 2 in this context.")


def prepare(folder: Path, task: Task, context: np.ndarray) -> None:
    """A first demonstration, so that the studio opens with its context."""
    weights = recordings.fit(task, [np.tile(task.promp.start or np.zeros(task.promp.dimensions), (2, 1))])
    first = demonstrations.Demonstrations(task.name, context[None], np.zeros(1, int), weights, None, "test")
    demonstrations.save(first, folder / "demonstrations")


def check_saved(folder: Path, task: Task) -> None:
    """A second demonstration is on disk, and solves its context."""
    saved = demonstrations.load(folder / "demonstrations", task)
    assert saved.context_of.tolist() == [0, 0]
    assert task.succeeds(task.distances(demonstrations.trajectories(task, saved)[1:], saved.contexts))


def learn(hand: Hand, iterations: int) -> None:
    hand.tab("Learn")
    hand.page.get_by_role("textbox").last.fill(str(iterations))
    hand.page.keyboard.press("Enter")
    hand.press("Learn")
    hand.says(re.compile(r"(preparing|compiling).*: \d+ s so far, "))


def ways(hand: Hand) -> dict[str, np.ndarray]:
    """Pieces [n, 2, 3] of the ways that a page draws, by their colours."""
    return {colour: np.array(pieces) for colour, pieces in hand.page.evaluate(LINES) if colour in PALETTE}


def apart(path: np.ndarray, other: np.ndarray) -> float:
    """Mean distance from the pieces of a path to those of another."""
    return np.linalg.norm(path[:, None, 0] - other[:, 0], axis=-1).min(axis=1).mean()


def check_context(hand: Hand, expected, tolerance: float, seconds: float = 60.0) -> None:
    """The page shows a context, perhaps after a while."""
    end = time.monotonic() + seconds
    while not np.allclose(hand.context(), expected, rtol=0, atol=tolerance):
        assert time.monotonic() < end, f"the context is {hand.context()}"
        hand.page.wait_for_timeout(100)


def check_exported(hand: Hand, folder: Path) -> None:
    """The plan on the page can be exported, and is on disk."""
    hand.press("Export plan")
    hand.says("Exported to")
    (path,) = (folder / "runs" / "1" / "plans").glob("*.json")
    plan = json.loads(path.read_text())["contexts"][0]
    np.testing.assert_allclose(plan["context"], hand.context(), atol=1e-3)
    assert 1 <= len(plan["weights"]) <= fast_tasks.SETTINGS["default", "vigor"]["components"]


def test_record_learn_and_plan(browser, tmp_path):
    robot = load_stage(fast_tasks.PLANAR)
    prepare(tmp_path, robot.task, np.array([0.5, 2.5, 0.5, -2.5]))
    with studio(f"{FAST}:PLANAR", tmp_path, program=HASTY) as (url, _), opened(browser, url, TABLET) as page:
        hand = Hand(page, robot.view)
        marks = [mark.position for mark in robot.layout.marks(hand.context())]
        assert page.title() == "planar-reacher: vigor studio"
        hand.says("Show another way")
        assert page.evaluate(FILLED) == ["New context"]
        check_what_fails_stays(hand, robot)
        check_nothing_is_clipped(hand, robot, TABLET)
        record(hand, robot, [marks[0], np.array([2.0, 0.0, 0.0]), marks[1]], 1.0)
        check_saved(tmp_path, robot.task)
        check_undone_elsewhere(hand)
        check_out_of_reach(hand, marks[0])

        hand.tab("View")
        hand.check("Dark")
        page.wait_for_selector("[data-mantine-color-scheme=dark]")
        hand.check("Dark")
        hand.tab("Show")
        with opened(browser, url, PHONE) as other:
            second = Hand(other, robot.view)
            second.says("1: 2")
            check_nothing_is_clipped(second, robot, PHONE)
            second.card("delete", 1)
            second.says("Deleted; undo brings it back.")
            hand.says("Undo: demonstration deleted here")
            hand.press("Undo: demonstration deleted here")
            second.says("Undone: demonstration deleted here.")
        check_saved(tmp_path, robot.task)

        learn(hand, 1000)
        curve = page.locator(".uplot")
        assert curve.count() == 0
        hand.says("learning, iteration", 300)
        curve.first.wait_for()
        hand.press("Stop")
        hand.says("stopped, iteration", 120)
        (checkpoint,) = (tmp_path / "runs" / "1").glob("state.json")
        stopped = json.loads(checkpoint.read_text())["iteration"]
        assert 0 < stopped < 1000
        hand.tab("Plan")  # What was stopped can plan.
        hand.says("planned in", 180)
        check_planned_anew(hand, marks[0])
        check_obstacle(hand)
        check_played(hand, robot.task.arm.seconds)
        with page.expect_download() as given:
            check_exported(hand, tmp_path)
        assert given.value.suggested_filename == "planar-reacher_plan1_way1.csv"
        hand.says("The plan is written.")
        hand.tab("Learn")
        hand.press("Resume")
        hand.says(re.compile(rf"learning, iteration (?!{stopped - stopped % EVERY} )"), 300)


def check_what_fails_stays(hand: Hand, robot: Stage) -> None:
    """A movement that misses a target stays until it is dropped, and the page says what it misses and by how much.

    As long as it is there, nothing goes to another context; and whoever misses the ball turns nothing.
    """
    beside = [np.array([-1.5, 0.5, 0.0]), np.array([-0.5, -1.5, 0.0])]
    hand.drag(beside, 0.3, 0.1)
    hand.press("Suggest")
    hand.says("Show something here: it is far from all that was shown.")
    suggested = hand.context()
    hand.drag([robot.picture().points[-1], robot.layout.marks(suggested)[0].position], 0.7)
    hand.says("Not there yet")
    hand.says(re.compile(r"let go, \d\.\d m from target [12]"))
    hand.drag(beside, 0.3, 0.1)
    hand.card("go", 0)
    hand.says("save the recording or drop it first")
    np.testing.assert_array_equal(hand.context(), suggested)
    chosen = hand.page.locator('[data-click="go 0"]')
    assert "border:1px" in chosen.get_attribute("style")
    hand.press("Again")
    hand.says("Drag the orange ball through target 1, then into target 2.")
    hand.card("go", 0)
    hand.says("Show another way")
    assert "border:2px" in chosen.get_attribute("style")


def check_undone_elsewhere(hand: Hand) -> None:
    """What is undone is named, with its context, and shown."""
    there = hand.context()
    hand.press("New")
    hand.says("Undo: demonstration saved in context 1")
    hand.page.keyboard.press("Control+z")
    hand.says("Undone: demonstration saved here.")
    np.testing.assert_array_equal(hand.context(), there)
    hand.press("Redo: demonstration saved here")
    hand.says("Again: demonstration saved here.")


def check_out_of_reach(hand: Hand, target: np.ndarray) -> None:
    """A target that no arm reaches is called so."""
    hand.drag([target, np.array([4.4, 4.4, 0.0])], 0.5)
    hand.says("Target 1 is out of the arm's reach; drag it nearer.")
    hand.card("go", 0)
    hand.says("Show another way")


def check_planned_anew(hand: Hand, target: np.ndarray) -> None:
    """Where a target is dragged to, there are other plans; ways keep their colours, and have no corners."""
    before, context, aside = ways(hand), hand.context(), np.array([0.5, -0.4, 0.0])
    hand.drag([target, target + aside], 0.5)
    check_context(hand, context + np.append(aside, 0.0), 0.1)
    hand.page.wait_for_selector('[style="opacity:.5"]', state="detached")  # Cards of rough plans are faint.
    after = ways(hand)
    assert after.keys() == before.keys()
    kept, others = [
        sum(apart(after[c], before[o]) for c, o in zip(after, order, strict=True)) for order in (after, [*after][::-1])
    ]
    assert 0 < kept < others
    for path in after.values():
        lengths = np.linalg.norm(path[:, 1] - path[:, 0], axis=1)
        assert lengths.max() < max(0.1, 0.03 * lengths.sum())  # A hundredth of the view; longer where a way is long.


def check_obstacle(hand: Hand) -> None:
    """An obstacle is on the cards; a way can be hidden."""
    hand.press("Ball")
    hand.says("obstacle 1", 60)
    count = len(ways(hand))
    hand.card("hide", 0)
    hand.page.wait_for_selector('[data-click="play 0"][style*="opacity"]')
    hand.page.mouse.move(10, 10, steps=100)  # Ways that are pointed at are drawn.
    wait_for(lambda: len(ways(hand)) == count - 1, 60)


def check_played(hand: Hand, seconds: float) -> None:
    """A way is played as fast as the robot is to move, with no red light; Space plays it again."""
    began = time.monotonic()
    hand.card("play", 0)
    hand.says("angle of each joint")
    assert not hand.page.locator(f'[style*="border-radius:50%;background:{RED}"]').count()
    hand.says("played to its end, ")
    assert time.monotonic() - began > 0.95 * seconds
    hand.page.keyboard.press("Space")
    hand.says(re.compile("^playing, "))


def check_nothing_is_clipped(hand: Hand, robot: Stage, size: tuple[int, int]) -> None:
    """The ball is in the scene, where it can be dragged, and the panel in the page."""
    tip = robot.picture().points[robot.grips[-1]]
    hand.drag([tip, tip - np.array([1.0, 0.0, 0.0])])
    hand.says("Not there yet")
    hand.press("Again")
    for name in ("Suggest", "New", "New context"):
        box = hand.page.get_by_role("button", name=name, exact=True).bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= size[0]


def test_teach_a_panda_until_the_studio_is_killed(browser, tmp_path):
    robot = load_stage(panda_reacher.TASK)
    prepare(tmp_path, robot.task, np.array(panda_reacher.CENTRES))
    with studio("panda-reacher", tmp_path) as (url, process), opened(browser, url) as page:
        hand = Hand(page, robot.view)
        marks = [mark.position for mark in robot.layout.marks(hand.context())]
        record(hand, robot, marks, 2.0)
        check_saved(tmp_path, robot.task)
        away = np.array([0.0, 0.1, 0.05])
        hand.drag([marks[1], marks[1] + away], 0.5)
        check_context(hand, [*marks[0], *(marks[1] + away)], 0.06)
        # What was finished is kept, whatever happens.
        tip = robot.picture().points[robot.grips[-1]]
        hand.drag([tip, tip + np.array([0.0, 0.1, 0.1])], 0.5)
        hand.says("let go")
        page.reload()
        hand.says("let go")
        hand.press("Again")
        page.wait_for_timeout(1500)  # Until the scene is drawn.
        hand.drag([tip, tip + np.array([0.0, 0.1, 0.1])], 0.5)
        hand.says("Not there yet")
        process.kill()
        process.wait()
    check_saved(tmp_path, robot.task)


def test_push_a_box(browser, tmp_path, tmp_path_factory):
    """With a run that an earlier studio has left."""
    robot = load_stage(fast_tasks.PUSHER)
    context = PUSHER_CONTEXT
    prepare(tmp_path, robot.task, context)
    shutil.copytree(pusher_runs(tmp_path_factory), tmp_path / "runs")
    best = [json.dumps(row(iteration, train={"success_mixture": 1.0})) for iteration in (5, 10)]
    (tmp_path / "runs" / "1" / METRICS).write_text("\n".join(best))
    with studio(f"{FAST}:PUSHER", tmp_path) as (url, _), opened(browser, url) as page:
        hand = Hand(page, robot.view)
        record(hand, robot, [robot.picture().points[-2] + np.array([0.11, 0.0, 0.0])], 2.5)
        check_saved(tmp_path, robot.task)
        hand.tab("Learn")
        hand.says("finished, iteration 10 of 10")
        check_whole_curve(hand)
        hand.tab("Plan")
        hand.says("planned in", 180)
        goal, knob = (mark.position for mark in robot.layout.marks(context))
        hand.drag([knob, robot.layout.marks(np.array([0.07, 0.0, 0.4]))[1].position], 0.5)
        check_context(hand, [0.07, 0.0, 0.4], 0.05)
        edge = np.array([0.09, -0.02, 0.0])  # Edge of the goal, clear of the box.
        hand.drag([goal + edge, goal + edge + np.array([0.03, 0.05, 0.0])], 0.5)
        check_context(hand, [0.1, 0.05, 0.4], 0.05)
        hand.says("planned in", 180)
        check_exported(hand, tmp_path)


def check_whole_curve(hand: Hand) -> None:
    """A success of 100% is inside the chart."""
    hand.page.locator(".u-over").wait_for()
    curve = f"({CURVE})({list(rgb(PALETTE[0]))})"
    hand.page.wait_for_function(f"(([upper, lower]) => 2 <= upper && upper <= lower)({curve})")
