"""A studio in a process of its own and a browser that uses it by mouse, for tests, measurements and films."""

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vigor.studio.scene import field_for
from vigor.tasks.stage import View

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
OPTIONS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
SELDOM = """
const draw = window.requestAnimationFrame.bind(window), waiting = new Map();
let pause = 100, last = 0;
const wait = (number, frame) => waiting.set(number,
  [frame, setTimeout(() => { waiting.delete(number); draw(frame); }, pause)]);
window.requestAnimationFrame = (frame) => { wait(++last, frame); return last; };
window.cancelAnimationFrame = (number) => { clearTimeout(waiting.get(number)?.[1]); waiting.delete(number); };
window.drawEvery = (milliseconds) => {
  pause = milliseconds;
  for (const [number, [frame, timer]] of [...waiting]) { clearTimeout(timer); wait(number, frame); }
};
"""
"""Script that has a page drawn ten times a second at most, or as often as it is told."""
COARSE = """
const query = new URLSearchParams(location.search);
query.set("fixedDpr", "0.2");
history.replaceState(null, "", "?" + query);
"""
"""Script that has a page drawn coarsely."""
WAITING, DRAGGING = 1000, 250
"""Milliseconds from one frame to the next of a page that is drawn seldom."""


@contextmanager
def studio(
    task: str, folder: Path, *options: str, program: Sequence[str] = ("-m", "vigor")
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `vigor studio` and give its address and process; program: Python's arguments that run `vigor`."""
    command = [sys.executable, *program, "studio", task, "--out", str(folder), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, "the studio did not start"
        yield found.group(), process
    finally:
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.wait(60)
        process.stdout.close()


@contextmanager
def chromium(seldom: bool = False, coarse: bool = False) -> "Iterator[BrowserContext]":
    """A browser, without a window.

    seldom, coarse: draw open pages now and then, and coarsely; without a graphics card drawing takes longest of all.
    """
    from playwright.sync_api import sync_playwright  # It takes a second to load.

    with sync_playwright() as playwright:
        options = [*OPTIONS, *(["--disable-gpu-compositing"] if coarse else [])]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        context = browser.new_context()
        for script in [SELDOM] * seldom + [COARSE] * coarse:
            context.add_init_script(script)
        try:
            yield context
        finally:
            browser.close()


@contextmanager
def opened(browser: "BrowserContext", url: str, size: tuple[int, int] = (1100, 700)) -> "Iterator[Page]":
    """Open an address, wait until it shows the studio, and close it again."""
    page = browser.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    try:
        page.goto(url)
        wait_for_studio(page)
        yield page
    finally:
        page.close()


def wait_for_studio(page: "Page") -> None:
    """Wait until a page shows the studio."""
    page.get_by_role("button", name="Suggest").wait_for(timeout=60_000)
    page.wait_for_function("document.querySelectorAll('canvas').length > 0")
    page.wait_for_timeout(1000)  # Until the scene is drawn.
    draw_every(page, WAITING)


def draw_every(page: "Page", milliseconds: int) -> None:
    """Draw a page of a browser that draws seldom so often from now on."""
    page.evaluate("(pause) => window.drawEvery?.(pause)", milliseconds)


class Hand:
    """Moves the mouse to places in the scene, as long as nobody turns the view."""

    def __init__(self, page: "Page", view: View) -> None:
        self.page, self._view = page, view
        self._eye, look, up = (np.array(part, float) for part in (view.camera, view.look_at, view.up))
        self._forward = (look - self._eye) / np.linalg.norm(look - self._eye)
        right = np.cross(self._forward, up)
        self._right = right / np.linalg.norm(right)
        self._down = np.cross(self._forward, self._right)
        self._measure()

    def _measure(self) -> None:
        """Measure the scene's window, which is narrower once the panel has come."""
        box = self.page.locator("canvas:not(.uplot canvas)").last.bounding_box()
        assert box is not None
        self._middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
        field = field_for(self._view.field, box["width"] / box["height"])
        self._scale = box["height"] / 2 / np.tan(field / 2)

    def pixel(self, place: Sequence[float] | np.ndarray) -> tuple[float, float]:
        """Pixel of the page that shows a place [3] of the scene."""
        offset = np.asarray(place, float) - self._eye
        x, y = self._middle + self._scale * np.array([offset @ self._right, offset @ self._down]) / (
            offset @ self._forward
        )
        return float(x), float(y)

    def place(self, x: float, y: float) -> np.ndarray:
        """Place [3] on the ground that a pixel of the page shows."""
        right, down = (np.array([x, y]) - self._middle) / self._scale
        ray = self._forward + right * self._right + down * self._down
        return self._eye - ray * self._eye[2] / ray[2]

    def drag(self, places: Sequence[np.ndarray], seconds: float = 1.0, hold: float = 0.5) -> None:
        """Press at the first place, move along the others for so many seconds each, hold still and let go."""
        self.take(places, seconds)
        self.page.wait_for_timeout(1000 * hold)
        self.page.mouse.up()
        draw_every(self.page, WAITING)

    def take(self, places: Sequence[np.ndarray], seconds: float = 1.0) -> None:
        """Press at the first place, and move along the others for so many seconds each."""
        draw_every(self.page, DRAGGING)
        self._measure()
        self.page.mouse.move(*self.pixel(places[0]))
        self._see()
        self.page.mouse.down()
        self._see()
        self.lead(places, seconds)

    def lead(self, places: Sequence[np.ndarray], seconds: float = 1.0) -> None:
        """Move along places for so many seconds each."""
        for begin, end in pairwise(places):
            began = time.monotonic()
            while (share := (time.monotonic() - began) / seconds) < 1:
                self.page.mouse.move(*self.pixel(begin + (end - begin) * (3 * share**2 - 2 * share**3)))
                self.page.wait_for_timeout(15)
            self.page.mouse.move(*self.pixel(end))

    def _see(self) -> None:
        """Wait until the page was drawn again, so that it knows what is under the mouse."""
        for _ in range(2):  # In the first frame it hears of the mouse.
            self.page.evaluate("() => new Promise(requestAnimationFrame)")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def card(self, word: str, number: int) -> None:
        """Click a part of a card or of a list."""
        self.page.locator(f'[data-click="{word} {number}"]').first.click(position={"x": 4, "y": 4})

    def check(self, name: str) -> None:
        """Press a check box."""
        self.page.get_by_role("checkbox", name=name).click()

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def says(self, text: str | re.Pattern[str], seconds: float = 60.0) -> None:
        """Wait until the page shows a text."""
        from playwright.sync_api import TimeoutError

        try:
            self.page.get_by_text(text).first.wait_for(timeout=1000 * seconds)
        except TimeoutError as error:
            raise AssertionError(f"nothing says {text!r}: {self.page.locator('body').inner_text()}") from error

    def context(self) -> np.ndarray:
        """The numbers of the context that the page shows."""
        line = self.page.get_by_text(re.compile(r"^(\w+ ?\w* -?\d+\.\d+(, )?)+$")).first.inner_text()
        return np.array([float(number) for number in re.findall(r"-?\d+\.\d+", line)])
