"""Plan for a thousand contexts at once, in one batched program, and see how many are solved.

Run it with:  python examples/03_thousand_contexts.py [RUN] [COUNT]

RUN is the folder of the run of example 02. A GPU takes seconds, two cores some minutes.
"""

import sys
import time
from pathlib import Path

import numpy as np

import vigor


def main(folder: Path, count: int = 1000) -> float:
    """Share of contexts with a solution that holds."""
    run = vigor.load(folder)
    contexts = run.task.sample_contexts(np.random.default_rng(7), count)
    begun = time.perf_counter()
    plans = run.plan(contexts)
    print(f"{count} contexts in {time.perf_counter() - begun:.1f} s with compilation")

    held = np.mean([plan.failure is None for plan in plans])
    kinds = np.mean([len({solution.group for solution in plan.solutions if solution.holds}) for plan in plans])
    print(f"{held:.1%} have a solution that holds, {kinds:.2f} kinds of them on average")
    for plan in plans:
        if plan.failure:
            print(f"{np.round(plan.context, 2)}, {plan.outside:.2f} beyond the trained range: {plan.failure}")
    return float(held)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0] if given else "runs/example"), int(given[1]) if len(given) > 1 else 1000)
