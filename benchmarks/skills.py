"""Cost of a skill's 8 bits and of thinning: success of plans for new contexts by a run, and by its skills.

python benchmarks/skills.py RUN [--every 0 1 2] [--first 0] [--contexts 60] [--seed 330] [--out FILE.json]: a row for
each, with the size of the skill, which --out adds to a file; 0 is the run itself. The contexts are drawn anew from the
task, and the same for all; --first and --contexts choose among them, so that a long measurement can be made in pieces.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from vigor import api
from vigor.basics.device import use_device
from vigor.planning.plans import Plans


def figures(plans: Plans) -> dict[str, float]:
    """Mean success of the best solution, of the one with the highest predicted success, and of the mixture."""
    rows = []
    for plan in plans:
        success = np.array([solution.success for solution in plan.solutions], float)
        weights = np.array([solution.weight for solution in plan.solutions])
        chosen = int(np.argmax([solution.predicted for solution in plan.solutions]))
        rows.append((success.max(), success[chosen], float(weights @ success / weights.sum())))
    return dict(zip(("best", "chosen", "mixture"), np.mean(rows, axis=0).round(4).tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--every", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--contexts", type=int, default=60)
    parser.add_argument("--seed", type=int, default=330)
    parser.add_argument("--out", type=Path, help="file of rows that are added to")
    asked = parser.parse_args()
    use_device("auto")
    run = api.load_run(asked.run)
    drawn = run.task.sample_contexts(np.random.default_rng(asked.seed), asked.first + asked.contexts)
    contexts = drawn[asked.first :]
    with tempfile.TemporaryDirectory() as folder:
        for every in asked.every:
            path = Path(folder) / f"{every}.vigor"
            begun = time.process_time()
            found = figures((run.pack(path, every=every) if every else run).plan(contexts))
            size = round(path.stat().st_size / 1e6, 2) if every else None
            told = {
                "task": run.task.name,
                "run": run.setup.seed,
                "iterations": run.result["iterations"],
                "every": every,
            }
            told |= {"seed": asked.seed, "first": asked.first, "contexts": asked.contexts, "MB": size}
            row = told | found | {"cpu_s": round(time.process_time() - begun)}
            print(json.dumps(row), flush=True)
            if asked.out:
                rows = json.loads(asked.out.read_text()) if asked.out.exists() else []
                asked.out.write_text(json.dumps([*rows, row], indent=1) + "\n")


if __name__ == "__main__":
    main()
