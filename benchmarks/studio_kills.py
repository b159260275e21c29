"""Kills of a studio while it records, saves and learns, reloads and second pages: is anything lost that was finished?

Run it with:  python benchmarks/studio_kills.py --tries 20 [--out docs/results/studio_kills.json]

A process has a studio's session, without a page, drags the planar arm through both targets and saves, again and again;
it says when a save has returned. It is killed (SIGKILL) at a random moment of what is tried: while a movement is being
recorded, while demonstrations are saved one after the other, or while a run learns from them. Then a new session opens
the folder: all that was said to be saved must be there, whole, and a run must come to its end.

In a browser, a page is reloaded at a random moment of a recording, which must go on from there; and two pages drag the
arm at once and both press Save, one of them closed and opened again now and then: each movement must be saved once.
"""

import argparse
import io
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import BrowserContext, Page

from studio_page import Hand, chromium, opened, studio, wait_for_studio
from vigor.demonstrations import dataset
from vigor.studio.session import Session
from vigor.studio.shared import Held
from vigor.tasks import load_task
from vigor.tasks.stage import Stage, load_stage

TASK = f"{Path(__file__).resolve().parents[1] / 'tests' / 'fast_tasks.py'}:PLANAR"
EYE = np.array([0.0, 0.0, 10.0])
TARGETS = ((0.5, 2.5, 0.0), (0.5, -2.5, 0.0))
BETWEEN = np.array([2.0, 0.0, 0.0])
"""Place on the way from the first target to the last, around the base."""
SOLVED = re.compile("^Solved: let go|^Solved. Save it")
"""Said of a movement that is held or, after a minute, no more."""
KINDS = ("recording", "saving", "learning", "reload", "two pages")
LATEST = {"recording": 1.0, "saving": 2.0, "learning": 20.0}
"""Seconds after which the kill comes at the latest."""


def work(kind: str, folder: Path) -> None:
    """Use a session as a page does, until somebody ends it."""
    session = Session(load_stage(load_task(TASK)), folder)
    session.shared.context = np.array([*TARGETS[0][:2], *TARGETS[1][:2]])
    now, saved = 0.0, 0
    session.tick(now)
    while True:
        now = record(session, now, 0.0)
        session.recording.save()
        saved += 1
        say("saved", saved)
        if saved == 3 and kind == "recording":
            say("begin", saved)
            record(session, now, 0.05)
        if saved == 3 and kind == "learning":
            session.learn("recorded", 10)
            say("begin", saved)
            while True:
                session.watch()
                time.sleep(0.1)
        if saved == 1 and kind == "saving":
            say("begin", saved)


def record(session: Session, now: float, pause: float) -> float:
    """Drag the end effector through both targets, a step of 0.02 s after the other; the time after it."""
    robot, held = session.shared.robot, Held("grip", session.shared.stage.grips[-1])
    place = robot.picture.points[held.number]
    session.drag(0, "start", (EYE, place, place), held)
    for target in map(np.array, TARGETS):
        for share in np.linspace(0, 1, 60):
            now += 0.02
            session.drag(0, "update", (EYE, place, place + share * (target - place)), held)
            session.tick(now)
            time.sleep(pause)
        place = target
    for _ in range(40):
        now += 0.02
        session.tick(now)
    session.drag(0, "end", (EYE, place, place), held)
    return now


def say(word: str, number: int) -> None:
    print(word, number, flush=True)


def killed(kind: str, folder: Path, rng: random.Random) -> str:
    """Kill a session, and say what was lost; nothing if all is there."""
    command = [sys.executable, __file__, "--work", kind, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = ""
    while not line.startswith("begin"):
        if not (line := process.stdout.readline()):
            return "it did not begin"
    time.sleep(rng.uniform(0.0, LATEST[kind]))
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read()
    process.wait()
    said = max([int(part.split()[1]) for part in (line, *rest.splitlines())])
    if process.returncode != -signal.SIGKILL:
        return "it ended by itself"
    return lost(kind, folder, said)


def lost(kind: str, folder: Path, said: int) -> str:
    """Words for what is missing in a folder that so many demonstrations were saved in; nothing if all is there."""
    count, problem = saved(folder)
    if problem or count < said:
        return problem or f"{count} demonstrations of {said}"
    if kind != "learning":
        return ""
    session = Session(load_stage(load_task(TASK)), folder)
    due = time.monotonic() + 240
    while time.monotonic() < due:
        progress = session.learning.trainer.progress()
        if progress is not None and progress.finished:
            break
        time.sleep(0.2)
    session.close()
    return "" if progress is not None and progress.finished else f"the run: {progress}"


def saved(folder: Path) -> tuple[int, str]:
    """Number of demonstrations that a folder holds, and what is wrong with them; nothing if all is well."""
    task = load_task(TASK)
    kept = dataset.load(folder / "demonstrations", task)
    solved = task.succeeds(task.distances(dataset.trajectories(task, kept), kept.contexts[kept.context_of]))
    return len(kept.weights), "" if np.all(solved) else "a demonstration does not solve its context"


# In a browser


def used(attempt: Callable[[BrowserContext, str, random.Random, int], None], tries: int, rng: random.Random) -> int:
    """Tries in one studio after which all demonstrations of a folder are there, each once."""
    kept = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        studio(TASK, Path(folder)) as (url, _),
        chromium(seldom=True, coarse=True) as browser,
    ):
        for number in range(1, tries + 1):
            attempt(browser, url, rng, number)
            count, problem = saved(Path(folder))
            if problem or count != number:
                print(f"{attempt.__name__} {number}: {problem or f'{count} demonstrations of {number}'}", flush=True)
                return kept
            kept += 1
    return kept


def reload(browser: BrowserContext, url: str, rng: random.Random, number: int) -> None:
    """Reload a page at a random moment of a recording, go on with it, and save it."""
    robot = load_stage(load_task(TASK))
    with opened(browser, url) as page:
        hand = Hand(page, robot.view)
        tip, (first, last) = robot.picture().points[-1], places(hand, robot)
        hand.take([tip, tip + rng.uniform(0.2, 1.0) * (first - tip)], rng.uniform(0.3, 1.0))
        page.reload()
        wait_for_studio(page)
        hand.says("let go, ")
        hand.take([ball(hand), first, BETWEEN, last])
        hand.says(SOLVED, 180)
        page.mouse.up()
        save(number, page)


def two_pages(browser: BrowserContext, url: str, rng: random.Random, number: int) -> None:
    """Drag the ball in one page while another tries to, and press Save in both at once."""
    robot = load_stage(load_task(TASK))
    with opened(browser, url) as page, opened(browser, url) as other:
        hand, second = Hand(page, robot.view), Hand(other, robot.view)
        tip, (first, last) = robot.picture().points[-1], places(hand, robot)
        hand.take([tip, first], rng.uniform(0.3, 1.0))
        second.drag([first, last], rng.uniform(0.1, 0.5))
        hand.lead([first, BETWEEN, last])
        hand.says(SOLVED, 180)
        page.mouse.up()
        second.says("Solved. Save it")
        save(number, page, other)


def places(hand: Hand, robot: Stage) -> list[np.ndarray]:
    """Places [3] of the targets."""
    return [mark.position for mark in robot.layout.marks(hand.context())]


def ball(hand: Hand) -> np.ndarray:
    """Place [3] of the ball, by its colour: a hand that is let go in the middle does not know how far the arm came."""
    hand.page.locator("button.mantine-Notification-closeButton").first.click()  # About the missing graphics card.
    hand.page.wait_for_timeout(3000)  # Until the scene is drawn.
    shot = Image.open(io.BytesIO(hand.page.screenshot(timeout=120_000))).convert("RGB")
    red, green, blue = np.moveaxis(np.asarray(shot, int), -1, 0)
    y, x = np.nonzero((red > 200) & (green > 70) & (green < 170) & (blue < 80))
    return hand.place(float(np.median(x)), float(np.median(y)))


def save(number: int, *pages: Page) -> None:
    """Press Save in pages as nearly at once as can be, and wait until so many demonstrations are said to be there."""
    Hand(pages[0], load_stage(load_task(TASK)).view).says("Solved. Save it")
    for page in pages:
        page.evaluate("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Save')?.click()")
    pages[-1].get_by_text(re.compile(rf"1 Show \({number}\b")).wait_for()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=20, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="file for the counts, a .json, added to what it holds")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work[0], Path(given.work[1]))
    rng = random.Random(given.seed)
    counts = json.loads(given.out.read_text()) if given.out and given.out.exists() else {}
    for kind in given.kinds:
        if kind in LATEST:
            kept = kills(kind, given.tries, rng)
        else:
            kept = used({"reload": reload, "two pages": two_pages}[kind], given.tries, rng)
        counts[kind] = {"kept": kept, "tries": given.tries}
        print(f"{kind}: nothing lost in {kept} of {given.tries} tries", flush=True)
        if given.out:
            given.out.write_text(json.dumps(counts, indent=2) + "\n")


def kills(kind: str, tries: int, rng: random.Random) -> int:
    """Kills after which nothing is lost."""
    kept = 0
    for number in range(tries):
        with tempfile.TemporaryDirectory() as folder:
            problem = killed(kind, Path(folder), rng)
        kept += not problem
        if problem:
            print(f"{kind} {number}: lost {problem}", flush=True)
    return kept


if __name__ == "__main__":
    main()
