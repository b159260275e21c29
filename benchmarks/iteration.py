"""Time of an iteration of VIGOR against an earlier revision, side by side on the same cores.

    taskset -c 0,1 python benchmarks/iteration.py PATH EARLIER [--rounds 5] [--out FILE.json]

PATH is a clone of github.com/NiklasFreymuth/VIGOR, EARLIER a folder with the earlier sources:

    git archive REVISION src | tar -x --one-top-level=EARLIER

Both take turns, in processes of their own, with the same demonstrations and their own default settings; ours also with
as many components as the earlier has. Times are medians over rounds, in calibration units (see speed.py).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

REACHERS = ("planar-reacher", "panda-reacher")
WARM, TIMED = 10, 10
"""Iterations before, and those that are timed; as many as one compiled program takes."""
COMPONENTS = 5
"""Components that earlier defaults had."""


def timed(name: str, stored: Path, components: int, rounds: int) -> float:
    """Seconds of an iteration, with whichever sources are imported; components: 0 for their default."""
    import jax

    from vigor.basics.settings import with_values
    from vigor.demonstrations import splits
    from vigor.demonstrations.dataset import Demonstrations
    from vigor.learning import algorithm, problem
    from vigor.runs.presets import preset
    from vigor.tasks import load_task

    task, settings = load_task(name), preset(name)
    if components:
        settings = with_values(settings, components=components)
    with np.load(stored) as arrays:
        shown = Demonstrations(name, arrays["contexts"], arrays["context_of"], arrays["weights"], None, "published")
    problems = problem.batch([problem.problem(task, shown, splits.draw(shown, task, 0, 6, 6, 5), 0)])
    states, _ = algorithm.advance(task, settings, problems, algorithm.start(task, settings, problems), WARM)
    jax.block_until_ready(states)
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        states, _ = algorithm.advance(task, settings, problems, states, TIMED)
        jax.block_until_ready(states)
        times.append((time.perf_counter() - begun) / TIMED)
    return float(np.median(times))


def store(name: str, path: Path, folder: Path) -> Path:
    """A file with the published demonstrations of a task, which any revision can read."""
    from vigor.demonstrations.formats import published
    from vigor.tasks import load_task

    shown = published.load(load_task(name), path)
    place = folder / f"{name}.npz"
    np.savez(place, contexts=shown.contexts, context_of=shown.context_of, weights=shown.weights)
    return place


def apart(sources: Path, name: str, stored: Path, components: int, rounds: int) -> dict[str, float]:
    """`timed` in a process of its own, with these sources, and the calibration unit before and after it."""
    from speed import calibration_unit

    call = [sys.executable, __file__, "--timed", name, str(stored), str(components), str(rounds)]
    environment = os.environ | {"PYTHONPATH": f"{sources}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    before = calibration_unit()
    done = subprocess.run(call, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return {"iteration": float(done.stdout.split()[-1]), "unit": (before + calibration_unit()) / 2}


def main() -> None:
    if sys.argv[1:2] == ["--timed"]:
        name, stored, components, rounds = sys.argv[2:]
        print(timed(name, Path(stored), int(components), int(rounds)))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("earlier", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("docs/results/iteration.json"))
    given = parser.parse_args()
    ours = Path(__file__).parents[1] / "src"
    kinds = {"earlier": (given.earlier / "src", 0), "same components": (ours, COMPONENTS), "defaults": (ours, 0)}
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        for name in REACHERS:
            stored = store(name, given.path, Path(place))
            for turn in range(2):
                for kind, (sources, components) in kinds.items():
                    found = apart(sources, name, stored, components, given.rounds)
                    rows.append({"task": name, "kind": kind, "turn": turn} | found)
                    units = found["iteration"] / found["unit"]
                    print(f"{name}, {kind}: {found['iteration']:.3f} s, {units:.4f} units", flush=True)
                    given.out.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
