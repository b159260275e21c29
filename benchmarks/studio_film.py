"""The moving picture of the studio in the README: record, learn, drag a target, see plans go around an obstacle.

Run it with:  python benchmarks/studio_film.py docs/pictures/studio.gif

It begins with generated demonstrations and records one more by mouse. The pictures are taken one by one while the mouse
moves, so that the film is smoother and quicker than it was. Beside the film it writes pictures of plans and of one
that is played.
"""

import argparse
import io
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page

from studio_page import WAITING, Hand, chromium, draw_every, opened, studio
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import preprocessing as recordings
from vigor.tasks import load_task
from vigor.tasks.stage import load_stage

SIZE = (920, 560)
"""Size of the page, in pixels; pictures are as large, so that words stay sharp."""
FRAME = 80
"""Milliseconds that a picture stays."""
COLOURS = 160
SLOW = 900.0
"""Seconds that a run or a first plan may take."""
COURSE = 14
"""Most pictures of the course of learning."""
CURSOR = """
const dot = document.createElement("div");
dot.style = "position:fixed;z-index:9999;pointer-events:none;width:14px;height:14px;border-radius:50%;" +
    "border:2px solid #222;margin:-9px 0 0 -9px;left:-50px";
document.body.append(dot);
const move = (event) => { dot.style.left = event.clientX + "px"; dot.style.top = event.clientY + "px"; };
window.addEventListener("pointermove", move, true);
window.addEventListener("pointerdown", (event) => { move(event); dot.style.background = "#2228"; }, true);
window.addEventListener("pointerup", () => { dot.style.background = "none"; }, true);
"""


class Film:
    """Pictures of a page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._pictures: list[Image.Image] = []
        self._stills: dict[str, Image.Image] = {}

    def picture(self) -> Image.Image:
        """A picture of the page as it is now, which is not in the film yet."""
        return Image.open(io.BytesIO(self._page.screenshot(timeout=120_000))).convert("RGB")

    def add(self, pictures: Sequence[Image.Image]) -> None:
        self._pictures += pictures

    def take(self) -> None:
        self.add([self.picture()])

    def hold(self, count: int) -> None:
        """Show the last picture for longer."""
        self._pictures += [self._pictures[-1]] * count

    def keep(self, name: str) -> None:
        """Keep the last picture as one of its own."""
        self._stills[name] = self._pictures[-1]

    def save(self, path: Path) -> None:
        everything = Image.new("RGB", (SIZE[0], SIZE[1] * 4))
        for i, share in enumerate((0.1, 0.45, 0.7, 0.97)):
            everything.paste(self._pictures[int(share * len(self._pictures))], (0, i * SIZE[1]))
        palette = everything.quantize(COLOURS)
        first, *rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in self._pictures)
        first.save(path, save_all=True, append_images=rest, duration=FRAME, loop=0, optimize=True)
        for name, still in self._stills.items():
            still.quantize(COLOURS).save(path.with_name(f"{path.stem}_{name}.png"), optimize=True)
        seconds = len(self._pictures) * FRAME / 1000
        print(f"{path}: {len(self._pictures)} pictures, {seconds:.0f} s, {path.stat().st_size / 1e6:.1f} MB")


def drag(hand: Hand, film: Film, places: list[np.ndarray], steps: int) -> None:
    """Drag along places, slowly at their ends, with a picture at every step."""
    draw_every(hand.page, 0)
    hand.page.mouse.move(*hand.pixel(places[0]))
    hand.page.wait_for_timeout(300)
    film.take()
    hand.page.mouse.down()
    for begin, end in pairwise(places):
        for share in np.linspace(0, 1, steps + 1)[1:]:
            hand.page.mouse.move(*hand.pixel(begin + (end - begin) * (3 * share**2 - 2 * share**3)))
            film.take()
    hand.page.wait_for_timeout(500)
    film.take()
    hand.page.mouse.up()


def show(hand: Hand, film: Film, places: list[np.ndarray]) -> None:
    """Record a demonstration along places, and save it."""
    film.take()
    film.hold(8)
    drag(hand, film, places, 8)
    hand.says("Solved. Save it")
    hand.page.mouse.move(*_middle(hand, "Save"))
    film.take()
    film.hold(5)
    hand.press("Save")
    hand.says("Saved: ")
    film.take()
    film.hold(8)


def learn(hand: Hand, film: Film) -> None:
    """Learn, with a picture whenever the page shows something new."""
    hand.tab("Learn")
    film.take()
    film.hold(3)
    hand.press("Learn")
    hand.says("so far")
    film.take()
    film.hold(5)
    draw_every(hand.page, WAITING)
    hand.says("learning, iteration", SLOW)
    course = []
    while not hand.page.get_by_text("finished, iteration").is_visible():
        course.append(film.picture())
        hand.page.wait_for_timeout(1500)
    draw_every(hand.page, 0)
    film.add(course[:: max(1, -(-len(course) // COURSE))])
    film.take()
    film.hold(5)


def plan(hand: Hand, film: Film, target: np.ndarray) -> None:
    """Plan, drag a target, put an obstacle in the way, play a way and export it."""
    page = hand.page
    hand.tab("Plan")
    hand.says("planned in", SLOW)
    page.wait_for_timeout(500)
    film.take()
    film.hold(8)
    drag(hand, film, [target, target + np.array([0.9, -0.5, 0.0])], 14)
    hand.says("planned in", SLOW)
    page.wait_for_timeout(500)
    film.take()
    film.hold(5)
    hand.press("Ball")
    film.take()
    hand.says("obstacle 1", SLOW)
    page.wait_for_timeout(500)
    film.take()
    film.hold(8)
    page.locator('[data-click="play 1"]').hover()
    page.wait_for_timeout(500)
    film.take()
    film.hold(6)
    film.keep("plan")
    hand.card("play", 0)
    page.get_by_role("button", name="Pause").wait_for()
    while page.get_by_role("button", name="Pause").is_visible():
        film.take()
    film.take()
    film.hold(6)
    film.keep("play")
    hand.press("Export plan")
    hand.says("The plan is written.")
    page.wait_for_timeout(500)
    film.take()
    film.hold(20)


def _middle(hand: Hand, button: str) -> tuple[float, float]:
    """Pixel in the middle of a button."""
    box = hand.page.get_by_role("button", name=button, exact=True).first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="of the moving picture, a .gif")
    path = parser.parse_args().path
    task = load_task("planar-reacher")
    robot = load_stage(task)
    with tempfile.TemporaryDirectory() as folder:
        made = recordings.generate(task, seed=0, contexts=4, per_context=4)
        first = replace(made, contexts=made.contexts[: made.context_of.max() + 1])  # None without a demonstration.
        demonstrations.save(first, Path(folder) / "demonstrations")
        with (
            studio("planar-reacher", Path(folder)) as (url, _),
            chromium(seldom=True) as browser,
            opened(browser, url, SIZE) as page,
        ):
            page.locator("button.mantine-Notification-closeButton").first.click()  # About the missing graphics card.
            page.evaluate(CURSOR)
            draw_every(page, 0)
            hand, film = Hand(page, robot.view), Film(page)
            marks = [mark.position for mark in robot.layout.marks(hand.context())]
            show(hand, film, [robot.picture().points[-1], marks[0], np.array([2.0, 0.0, 0.0]), marks[1]])
            learn(hand, film)
            plan(hand, film, marks[0])
            film.save(path)


if __name__ == "__main__":
    main()
