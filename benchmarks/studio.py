"""Speed of the studio, used by mouse in a browser on the same machine.

Run it with:  python benchmarks/studio.py [--iterations 100] [--out FILE.json]

For each task, the updates of the robot a second that a second page receives while the first one drags. For the planar
reacher, after a run on the task's own demonstrations: how often a second the plans on the page are made anew while a
target is dragged, and the seconds from letting go of it to the plans for where it is. The load of the machine before is
said, since all of this shares it.
"""

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from studio_page import Hand, chromium, opened, studio
from vigor.basics import files
from vigor.tasks import TASKS, load_task
from vigor.tasks.stage import load_stage

AWAY = {"planar-reacher": (-1.5, 2.0, 0.0), "panda-reacher": (-0.15, 0.2, 0.1), "box-pusher": (-0.05, 0.1, 0.0)}
"""Distance that the robot is dragged from where it starts."""
SECONDS = 6.0
"""Duration of dragging to and fro."""


class Listener:
    """A second page, without a picture: notes when something in the scene is moved or drawn anew."""

    def __init__(self, url: str, node: str) -> None:
        self.times: list[float] = []
        self._node = node
        self._socket = connect(
            url.replace("http", "ws"), subprotocols=[f"viser-v{viser.__version__}"], max_size=None, compression=None
        )
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        unpack = zstandard.ZstdDecompressor()
        try:
            for frame in self._socket:
                length = int.from_bytes(frame[8:16], "little")
                messages = msgspec.msgpack.decode(unpack.decompress(frame[16 : 16 + length]))["messages"]
                if any(part.get("name") == self._node for part in messages):
                    self.times.append(time.monotonic())
        except ConnectionClosed:
            pass

    def close(self) -> None:
        self._socket.close()
        self._thread.join()


def rate(name: str, folder: Path) -> tuple[float, float]:
    """Updates a second while the robot is dragged to and fro, and the time between two that 95% keep to, in seconds."""
    robot = load_stage(load_task(name))
    points = robot.picture().points
    number = robot.grips[-1] % len(points)
    with studio(name, folder) as (url, _), chromium() as browser, opened(browser, url) as page:
        hand = Hand(page, robot.view)
        begin = points[number]
        away = begin + np.array(AWAY[name])
        listener = Listener(url, f"/robot/joint{number}")
        time.sleep(1.0)
        listener.times.clear()
        hand.drag([begin, *[away, begin] * 3], SECONDS / 6, 0.0)
        times = np.array(listener.times)
        listener.close()
    times = times[(times > times[0] + 0.5) & (times < times[-1] - 0.5)]
    return (len(times) - 1) / (times[-1] - times[0]), float(np.quantile(np.diff(times), 0.95))


def plans(folder: Path, iterations: int, count: int = 5) -> tuple[float, list[float]]:
    """Plans a second while a target is dragged, and seconds from letting go of it to the plans on the page."""
    robot = load_stage(load_task("planar-reacher"))
    taken, often = [], []
    with studio("planar-reacher", folder) as (url, _), chromium() as browser, opened(browser, url) as page:
        hand = Hand(page, robot.view)
        hand.tab("Learn")
        page.get_by_role("combobox", name="From").click()
        page.get_by_role("option", name="the task's own").click()
        page.get_by_role("textbox").last.fill(str(iterations))
        page.keyboard.press("Enter")
        hand.press("Learn")
        hand.says("finished, iteration", 600)
        hand.tab("Plan")
        hand.says("planned in", 120)
        time.sleep(10)  # The report is drawn.
        listener = Listener(url, "/traces/0")
        for turn in range(count):
            target = robot.layout.marks(hand.context())[0].position
            away = target + (-1) ** turn * np.array([0.4, -0.3, 0.0])
            time.sleep(1.0)
            listener.times.clear()
            begun = time.monotonic()
            hand.drag([target, away, target, away], SECONDS / 3, 0.0)
            let_go = time.monotonic()
            often.append(sum(begun < at < let_go for at in listener.times) / (let_go - begun))
            hand.says("planned in", 30)
            taken.append(time.monotonic() - let_go)
        listener.close()
    return statistics.median(often), taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=100, help="of the run that is planned with")
    parser.add_argument("--out", type=Path, help="file for the figures")
    given = parser.parse_args()
    found: dict[str, Any] = {"load": os.getloadavg()[0], "hand": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name in TASKS:
            often, apart = rate(name, Path(folder) / name)
            found["hand"][name] = {"updates a second": round(often, 1), "95% apart, ms": round(1000 * apart)}
        often, taken = plans(Path(folder) / "plans", given.iterations)
    found["plans a second"] = round(often, 2)
    found["let go, s"] = {"median": round(statistics.median(taken), 2), "most": round(max(taken), 2)}
    print(text := json.dumps(found, indent=2))
    if given.out:
        files.write_text(given.out, text + "\n")


if __name__ == "__main__":
    main()
