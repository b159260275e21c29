"""Speed of GAIL with its episodes side by side in the vectorised environment, over that in one plain environment.

    python benchmarks/gail_speed.py [--updates 40] [--out runs/gail_speed.json]

Both do the same run on the planar reacher with the paper's settings and generated demonstrations: 68 episodes an
update, 489 updates for a million steps. Updates of both alternate, so that whatever else the machine does hits both;
compilation is left out. Needs `pip install "vigor-skills[baselines]"`.
"""

import argparse
import json
import os
import platform
import time
from dataclasses import replace
from pathlib import Path

from vigor import __version__
from vigor.demonstrations import preprocessing as recordings
from vigor.demonstrations import splits
from vigor.learning.problem import batch, problem
from vigor.runs.methods import method
from vigor.runs.presets import preset
from vigor.tasks import load_task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=40, help="of both; 489 are the whole run")
    parser.add_argument("--out", type=Path, default=Path("runs/gail_speed.json"))
    given = parser.parse_args()
    task, way, settings = load_task("planar-reacher"), method("gail"), preset("planar-reacher", "paper", "gail")
    shown = recordings.generate(task, seed=0)
    data = way.prepare(task, settings, batch([problem(task, shown, splits.draw(shown, task, 0, 6, 6, 5), 0)]))
    ways = {"vectorised": settings, "plain": replace(settings, vectorised=False)}
    states = {name: way.advance(task, own, data, way.start(task, own, data), 1)[0] for name, own in ways.items()}
    wall, cpu = (dict.fromkeys(ways, 0.0) for _ in range(2))
    for _ in range(given.updates):
        for name, own in ways.items():
            clocks = time.perf_counter(), time.process_time()
            states[name], _ = way.advance(task, own, data, states[name], 1)
            wall[name] += time.perf_counter() - clocks[0]
            cpu[name] += time.process_time() - clocks[1]
    total, done = way.steps(settings), given.updates
    found = {
        "machine": f"{os.cpu_count()} cores, {platform.processor() or platform.machine()}",
        "version": __version__,
        "updates_of_a_run": total,
        "updates_measured": done,
        "seconds_an_update": {name: wall[name] / done for name in ways},
        "cpu_seconds_an_update": {name: cpu[name] / done for name in ways},
        "seconds_a_million_steps": {name: total * wall[name] / done for name in ways},
    }
    each, busy = found["seconds_an_update"], found["cpu_seconds_an_update"]
    found["times_as_fast"] = each["plain"] / each["vectorised"]
    found["times_as_fast_in_cpu_time"] = busy["plain"] / busy["vectorised"]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
