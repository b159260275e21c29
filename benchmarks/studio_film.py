"""The moving picture of the studio in the README: record, learn, drag a target, see plans go around an obstacle.

Run it with:  python benchmarks/studio_film.py docs/pictures/studio.gif

It begins with generated demonstrations and records one more by mouse. The pictures are taken one by one while the mouse
moves, so that the film is smoother and quicker than it was. Beside the film it writes a picture of each step.
"""

import argparse
import io
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page

from studio_page import Hand, chromium, opened, studio
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import preprocessing as recordings
from vigor.tasks import load_task
from vigor.tasks.stage import load_stage

SIZE = (1100, 660)
SHOWN = (880, 528)
FRAME = 90
"""Milliseconds that a picture stays."""
COLOURS = 200
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

    def take(self, count: int = 1) -> None:
        for _ in range(count):
            picture = Image.open(io.BytesIO(self._page.screenshot()))
            self._pictures.append(picture.convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS))

    def hold(self, count: int) -> None:
        """Show the last picture for longer."""
        self._pictures += [self._pictures[-1]] * count

    def keep(self, name: str) -> None:
        """Keep the last picture as one of its own."""
        self._stills[name] = self._pictures[-1]

    def save(self, path: Path) -> None:
        everything = Image.new("RGB", (SHOWN[0], SHOWN[1] * 3))
        for i, share in enumerate((0.1, 0.5, 0.95)):
            everything.paste(self._pictures[int(share * len(self._pictures))], (0, i * SHOWN[1]))
        palette = everything.quantize(COLOURS)
        first, *rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in self._pictures)
        first.save(path, save_all=True, append_images=rest, duration=FRAME, loop=0, optimize=True)
        for name, still in self._stills.items():
            still.quantize(COLOURS).save(path.with_name(f"{path.stem}_{name}.png"), optimize=True)
        print(f"{path}: {len(self._pictures)} pictures, {path.stat().st_size / 1e6:.1f} MB")


def drag(hand: Hand, film: Film, places: list[np.ndarray], steps: int) -> None:
    """Drag along places, with a picture at every step."""
    hand.page.mouse.move(*hand.pixel(places[0]))
    film.take()
    hand.page.mouse.down()
    for begin, end in pairwise(places):
        for share in np.linspace(0, 1, steps + 1)[1:]:
            hand.page.mouse.move(*hand.pixel(begin + (end - begin) * share))
            film.take()
    film.take(2)
    hand.page.mouse.up()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="of the moving picture, a .gif")
    path = parser.parse_args().path
    task = load_task("planar-reacher")
    robot = load_stage(task)
    with tempfile.TemporaryDirectory() as folder:
        demonstrations.save(
            recordings.generate(task, seed=0, contexts=4, per_context=4), Path(folder) / "demonstrations"
        )
        with (
            studio("planar-reacher", Path(folder)) as (url, _),
            chromium() as browser,
            opened(browser, url, SIZE) as page,
        ):
            page.locator("button.mantine-Notification-closeButton").first.click()  # About the missing graphics card.
            page.evaluate(CURSOR)
            hand, film = Hand(page, robot.view), Film(page)
            first, last = (mark.position for mark in robot.layout.marks(hand.context()))
            film.take()
            drag(hand, film, [robot.picture().points[-1], first, np.array([2.0, 0.0, 0.0]), last], 10)
            hand.says("Solved. Save it")
            film.take()
            film.keep("show")
            hand.press("Save")
            hand.says("Saved: 5 in this context.")
            film.take()
            film.hold(6)

            hand.tab("Learn")
            hand.press("Learn")
            while not page.get_by_text("finished, iteration").is_visible():
                page.wait_for_timeout(2500)
                film.take()
            film.keep("learn")
            hand.tab("Plan")
            hand.says("planned in", 60)
            film.take()
            film.hold(8)

            drag(hand, film, [first, first + np.array([0.9, 0.5, 0.0])], 8)
            hand.says("planned in", 60)
            page.wait_for_timeout(500)
            film.take()
            film.hold(8)
            hand.press("Ball")
            film.take()
            hand.says("obstacle 1", 120)
            page.wait_for_timeout(500)
            film.take()
            film.hold(8)
            page.locator('[data-click="play 1"]').hover()
            page.wait_for_timeout(500)
            film.take()
            film.keep("plan")
            film.hold(6)
            hand.card("play", 0)
            hand.says("playing")
            while page.get_by_role("button", name="Pause").is_visible():
                film.take()
            film.keep("play")
            film.hold(8)
            hand.press("Export plan")
            page.wait_for_timeout(500)
            film.take()
            film.hold(16)
            film.save(path)


if __name__ == "__main__":
    main()
