"""Every sentence of the studio as a picture: each task from an empty folder to an exported plan, by mouse.

Run it with:  python benchmarks/studio_tour.py docs/pictures/studio [--tasks planar-reacher ...] [--iterations 60]

A picture is taken when the page says the sentence that belongs to what has just been done; if it says another one, the
tour fails. One more visit goes out of its way, to see what is said then. Sentences, buttons and pictures are listed in
`tour.json` beside the pictures, by task, with the load of the machine.
"""

import argparse
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page

from studio_page import WAITING, Hand, chromium, draw_every, opened, studio
from vigor.studio.shared import Shared
from vigor.tasks import load_task
from vigor.tasks.stage import Stage, load_stage

ROOT = Path(__file__).resolve().parents[1]
SIZE, SHOWN = (1024, 640), (720, 450)
QUALITY = 60
"""Quality of pictures, of 100: words stay sharp, and colours are those of the page."""
DRAWN = 3000
"""Milliseconds until all that has changed is drawn."""
HELD = 10_000
"""Milliseconds that a page is held still, which hears what is new when it is drawn."""
SLOW = 900.0
"""Seconds that a run or a first plan may take."""


@dataclass(frozen=True)
class Visit:
    """A task of the tour."""

    task: str
    movements: Callable[[Hand, Stage], list[np.ndarray]]
    """Places that the robot is dragged along to solve the context on the screen."""
    own: bool = True
    """Learn from the task's own demonstrations; else from five that are recorded."""


class Tour:
    """A page that is used and looked at."""

    def __init__(self, page: Page, robot: Stage, folder: Path, name: str) -> None:
        self.page, self.robot, self.hand = page, robot, Hand(page, robot.view)
        self._folder, self._name = folder, name
        self.seen: list[dict[str, str]] = []

    def see(self, picture: str, sentence: str, button: str, seconds: float = 120.0, wait: int = DRAWN) -> None:
        """Wait for a sentence and the button that belongs to it, and keep a picture.

        wait: milliseconds until it is taken; none for what the page soon says no more, which is held for that long.
        """
        self.hand.says(sentence, seconds)
        pressed = self.page.get_by_role("button", name=button, exact=True).first
        pressed.wait_for(timeout=1000 * seconds)
        ready = "" if pressed.is_enabled() else " (not yet)"
        draw_every(self.page, 0 if wait else HELD)
        self.page.wait_for_timeout(wait)
        name = f"{self._name}_{picture}.webp"
        shot = Image.open(io.BytesIO(self.page.screenshot(timeout=120_000))).convert("RGB")
        assert self.page.get_by_text(sentence).first.is_visible(), f"{sentence!r} has gone while its picture was taken"
        draw_every(self.page, WAITING)
        self.page.wait_for_timeout(0 if wait else HELD)
        shot.resize(SHOWN, Image.Resampling.LANCZOS).save(self._folder / name, quality=QUALITY, method=6)
        self.seen.append({"picture": name, "sentence": sentence, "button": button + ready})
        print(f"{name}: {sentence} [{button}{ready}]", flush=True)

    @property
    def tip(self) -> np.ndarray:
        """Place of the ball where movements begin."""
        return self.robot.picture().points[self.robot.grips[-1]]

    @property
    def movable(self) -> str:
        return Shared(self.robot, self.hand.context()).movable

    def marks(self) -> list[np.ndarray]:
        return [mark.position for mark in self.robot.layout.marks(self.hand.context())]

    def record(self, places: list[np.ndarray]) -> None:
        """Drag along places, and save."""
        self.page.wait_for_timeout(DRAWN)
        self.hand.drag([self.tip, *places], 1.2, 1.0)
        self.hand.says("Solved. Save it")
        self.hand.press("Save")
        self.hand.says("Saved: ")


def through_targets(hand: Hand, robot: Stage) -> list[np.ndarray]:
    """Through both targets; in the plane around the base."""
    first, last = (mark.position for mark in robot.layout.marks(hand.context()))
    return [first, np.array([2.0, 0.0, 0.0]), last] if robot.view.from_above else [first, last]


def around_obstacle(hand: Hand, robot: Stage) -> list[np.ndarray]:
    """Through the gate, above the obstacle, to the goal."""
    gate, obstacle, goal = (mark.position for mark in robot.layout.marks(hand.context()))
    above, along = np.array([0.0, 0.32, 0.0]), np.array([0.15, 0.0, 0.0])
    return [gate, obstacle + above - along, obstacle + above + along, goal]


def straight(hand: Hand, robot: Stage) -> list[np.ndarray]:
    """Straight ahead, which pushes the box onto a goal in front of it."""
    return [robot.picture().points[robot.grips[-1]] + np.array([0.11, 0.0, 0.0])]


VISITS = (
    Visit("planar-reacher", through_targets, own=False),
    Visit("panda-reacher", through_targets),
    Visit("box-pusher", straight),
    Visit("examples/01_own_task.py:TASK", around_obstacle),
    Visit("examples/08_two_targets.toml", through_targets, own=False),
)
ASTRAY = "planar-reacher"


@contextmanager
def _opened(reference: str, pictures: Path, name: str = "") -> Iterator[Tour]:
    """A tour of a task, in an empty folder; name: of its pictures, the task's if empty."""
    path, _, inside = reference.partition(":")
    task = reference if "." not in reference else f"{ROOT / path}{':' if inside else ''}{inside}"
    robot = load_stage(load_task(task))
    with (
        tempfile.TemporaryDirectory() as folder,
        studio(task, Path(folder)) as (url, _),
        chromium(seldom=True) as browser,
        opened(browser, url, SIZE) as page,
    ):
        page.locator("button.mantine-Notification-closeButton").first.click()  # About the missing graphics card.
        yield Tour(page, robot, pictures, name or robot.task.name.replace(" ", "_"))


def visit(found: Visit, pictures: Path, iterations: int) -> list[dict[str, str]]:
    """From an empty folder to an exported plan."""
    with _opened(found.task, pictures) as tour:
        _show(tour, found)
        _learn(tour, found, iterations)
        _plan(tour)
        return tour.seen


def go_astray(pictures: Path) -> list[dict[str, str]]:
    """A visit of somebody who does other things than the page advises."""
    with _opened(ASTRAY, pictures, "astray") as tour:
        _show_astray(tour)
        _learn_astray(tour)
        _plan_astray(tour)
        return tour.seen


def _show_astray(tour: Tour) -> None:
    hand, instruction = tour.hand, tour.robot.layout.instruction
    hand.drag([tour.marks()[0], np.array([4.4, 4.4, 0.0])], 1.0)
    tour.see("out_of_reach", "Target 1 is out of the arm's reach; drag it nearer.", "New context")
    hand.press("New context")
    hand.says(instruction)
    hand.take([tour.tip, *through_targets(hand, tour.robot)], 2.0)
    tour.see("let_go", "Solved: let go.", "Save")
    tour.see("too_long", "ends by itself at 60 s", "Save")
    tour.see("ended", "A movement takes 60 s at most: save this one or drop it.", "Save")
    tour.page.mouse.up()
    hand.press("New")
    tour.see("refused", "save the recording or drop it first", "Save")
    hand.press("Again")
    tour.record(through_targets(hand, tour.robot))
    hand.press("Undo: demonstration saved here")
    tour.see("undone", "Undone: demonstration saved here.", "Save")
    hand.press("Redo: demonstration saved here")
    tour.see("again", "Again: demonstration saved here.", "New context")
    hand.card("replay", 0)
    tour.see("replayed", "played to its end, solved", "New context")
    hand.card("delete", 0)
    tour.see("deleted", "Deleted; undo brings it back.", "Save")
    hand.press("Undo: demonstration deleted here")
    hand.press("Suggest")
    tour.see("suggested", "Show something here: it is far from all that was shown.", "Save")


def _learn_astray(tour: Tour) -> None:
    hand, page = tour.hand, tour.page
    hand.tab("Learn")
    page.get_by_role("combobox", name="From").click()
    page.get_by_role("option", name="the task's own").click()
    hand.press("Learn")
    hand.says("compiling, and the first", SLOW)
    hand.press("Stop")
    tour.see("stopping_early", "It stops after this iteration; it cannot plan yet.", "Stop", wait=0)
    tour.see("stopped_early", "The last run ended before it could plan. Learn again, or show more.", "Learn", SLOW)
    hand.press("Learn")
    hand.says("learning, iteration", SLOW)
    hand.press("Stop")
    tour.see("stopping", "It stops after this iteration, and keeps what it has learned.", "Stop", wait=0)
    tour.see("planning", "It is planning.", "Export plan", SLOW, wait=0)


def _plan_astray(tour: Tour) -> None:
    hand, page = tour.hand, tour.page
    hand.tab("Plan")
    hand.says("planned in", SLOW)
    target = tour.marks()[0]
    hand.take([target, target + np.array([0.3, -0.3, 0.0])])
    tour.see("rough", "While you drag, plans are rough: let go for better ones.", "Export plan")
    page.mouse.up()
    hand.says("planned in", SLOW)
    page.locator('[data-point="point 1"]').hover()
    sentence = "Drag a target, or add an obstacle: it plans anew. Click a way to play it."
    tour.see("pointed", sentence, "Export plan")
    hand.tab("Show")
    hand.press("Suggest")
    tour.see("looking", "Looking for a context where showing something would help most", "Export plan", wait=0)
    tour.see("helpful", "Show something here: ", "Export plan", SLOW)


def _show(tour: Tour, found: Visit) -> None:
    hand, page, instruction = tour.hand, tour.page, tour.robot.layout.instruction
    tour.see("start", instruction, "Save")
    if found.movements is straight:
        _put_goal_ahead(tour)
    places = found.movements(hand, tour.robot)
    hand.take([tour.tip, places[0]])
    if found.movements is not straight:
        tour.see("held", f"{instruction} Then let go.", "Save")
        page.mouse.up()
        tour.see("not_yet", "Not there yet: grab the robot once more to go on, or start again.", "Again")
        hand.press("Again")
        hand.says(instruction)
        hand.drag([tour.tip, *places], 1.2, 1.0)
    else:
        page.wait_for_timeout(2000)
        page.mouse.up()
    tour.see("solved", "Solved. Save it, or press Again to start anew.", "Save")
    hand.press("Save")
    another = "Show another way to do it here, or press New context and show it there."
    tour.see("saved", another, "New context")
    for _ in range(0 if found.own else 4):
        hand.press("New context")
        hand.says(instruction)
        tour.record(found.movements(hand, tour.robot))
    if not found.own:
        tour.see("enough", "That is enough to learn from. More can be shown, too.", "Learn")


def _put_goal_ahead(tour: Tour) -> None:
    """Drag the goal and its knob to where the box comes to when it is pushed straight ahead."""
    while tour.hand.context()[0] < 0.05:  # The goal's edge is under the box.
        tour.hand.press("New")
        tour.page.wait_for_timeout(DRAWN)
    for number in (0, 1):
        wanted = tour.robot.layout.marks(np.array([0.07, 0.0, 0.0]))[number].position
        edge = np.array([0.09, -0.02, 0.0]) if number == 0 else np.zeros(3)  # Clear of the box.
        tour.page.wait_for_timeout(DRAWN)
        tour.hand.drag([tour.marks()[number] + edge, wanted + edge], 1.0)


def _learn(tour: Tour, found: Visit, iterations: int) -> None:
    hand, page = tour.hand, tour.page
    hand.tab("Learn")
    if found.own:
        page.get_by_role("combobox", name="From").click()
        page.get_by_role("option", name="the task's own").click()
    page.get_by_role("textbox").last.fill(str(iterations))
    page.keyboard.press("Enter")
    hand.press("Learn")
    tour.see("learning", "It is learning. More can be shown meanwhile, for the next run.", "Stop")
    hand.says("learning, iteration", SLOW)
    tour.see("course", "It is learning. More can be shown meanwhile, for the next run.", "Stop")
    hand.says("finished, iteration", SLOW)


def _plan(tour: Tour) -> None:
    hand, page, movable = tour.hand, tour.page, tour.movable
    drag = f"Drag {movable}, or add an obstacle: it plans anew. Click a way to play it."
    hand.tab("Plan")
    hand.says("planned in", SLOW)
    if not page.get_by_text(drag).is_visible():
        tour.see("no_way", f"No way solves this. Drag {movable}, or show it here and learn again.", "New context")
        return
    tour.see("plans", drag, "Export plan")
    hand.press("Ball")
    hand.says("obstacle 1", SLOW)
    blocked = f"No way solves this. Drag {movable}, move the obstacle, or show it here and learn again."
    held = page.get_by_text(drag).is_visible()
    tour.see("obstacle", drag if held else blocked, "Export plan" if held else "New context")
    hand.press("Remove")
    page.get_by_text("obstacle 1").first.wait_for(state="detached", timeout=1000 * SLOW)
    hand.says(drag, SLOW)
    hand.card("play", 0)
    hand.says("played to its end", 300.0)
    tour.see("played", drag, "Export plan")
    hand.press("Close")
    hand.press("Export plan")
    tour.see("exported", f"The plan is written. Drag {movable} for another, or press New context.", "New context")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the pictures")
    parser.add_argument("--tasks", nargs="+", default=[*(part.task for part in VISITS), "astray"], help="to visit")
    parser.add_argument("--iterations", type=int, default=60, help="of each run")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    listing = given.folder / "tour.json"
    seen = json.loads(listing.read_text()) if listing.exists() else {}
    visits = {part.task: partial(visit, part, iterations=given.iterations) for part in VISITS} | {"astray": go_astray}
    for name in given.tasks:
        load = round(os.getloadavg()[0], 1)
        seen[name] = {"load": load, "seen": visits[name](pictures=given.folder)}
        listing.write_text(json.dumps(seen, indent=1) + "\n")


if __name__ == "__main__":
    main()
