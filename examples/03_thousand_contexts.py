"""Plan for a thousand contexts at once, in one batched program, and see how many are solved.

Run it with:  python examples/03_thousand_contexts.py [RUN] [COUNT]

RUN is the folder of the run of example 02. A GPU takes seconds, two cores some minutes.
"""

import sys
import time
from pathlib import Path

import numpy as np

from vigor.planning import planner as plan


def main(folder: Path, count: int = 1000) -> float:
    """Share of contexts with a solution that holds."""
    planner = plan.load(folder)
    contexts = planner.task.sample_contexts(np.random.default_rng(7), count)
    begun = time.perf_counter()
    made = planner.plan(contexts)
    seconds = time.perf_counter() - begun

    held = [one.failure is None for one in made.plans]
    kinds = [len({solution.group for solution in one.solutions if solution.holds}) for one in made.plans]
    print(f"{count} contexts in {seconds:.1f} s with compilation")
    print(f"{np.mean(held):.1%} have a solution that holds, {np.mean(kinds):.2f} kinds of them on average")
    for one in made.plans:
        if one.failure:
            print(f"{np.round(one.context, 2)}, {one.outside:.2f} beyond the trained range: {one.failure}")
    return float(np.mean(held))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0] if given else "runs/example"), int(given[1]) if len(given) > 1 else 1000)
