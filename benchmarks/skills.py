"""Cost of what a skill leaves out and rounds: success in new contexts of a run's plans, and of its skills'.

python benchmarks/skills.py RUN [--every 0 1 2] [--first 0] [--contexts 60] [--seed 330] [--out FILE.json]: a row for
each, with the size of the skill, which --out adds to a file; 0 is the run itself, 1 the skill as it is packed. Robots'
limits do not count. The contexts are drawn anew from the task, and the same for all; --first and --contexts choose
among them, so that a long measurement can be made in pieces.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from vigor import api
from vigor.basics.device import use_device
from vigor.evaluation import evaluation
from vigor.evaluation.policies import Policies
from vigor.planning.constraints import Constraints
from vigor.planning.planner import Planner


def figures(planner: Planner, contexts: np.ndarray) -> dict[str, float]:
    """Mean success of the best component, of the one with the highest predicted success, and of the mixture."""
    mixtures, _ = planner.mixtures(contexts, Constraints())
    found = evaluation.evaluate(planner.task, Policies(contexts, 0, mixtures), common=planner.common)
    means = found.summary(slice(None))
    return {name: round(means[f"success_{name}"], 4) for name in ("best", "chosen", "mixture")}


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
            planned = run.pack(path, every=every) if every else run
            found = figures(planned.planner(), contexts)
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
