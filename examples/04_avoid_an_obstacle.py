"""Put something in the way of the best plan, and plan around it.

Run it with:  python examples/04_avoid_an_obstacle.py [RUN]

RUN is the folder of the run of example 02. Writes plan_around.png into it.
"""

import sys
from pathlib import Path

import numpy as np

import vigor

CONTEXT = (0.42, -0.08, 1.0, 0.05)


def main(folder: Path) -> vigor.Plan:
    run = vigor.load(folder)
    best = run.plan(CONTEXT)[0].best

    # On the path of the best solution, halfway between obstacle and goal.
    path = best.joints()
    post = vigor.Sphere(path[np.argmin(np.abs(path[:, 0] - 1.27))], 0.05)

    plans = run.plan(CONTEXT, avoid=[post])
    for rank, solution in enumerate(plans[0].solutions, start=1):
        print(f"{rank}: kind {solution.group}, keeps {solution.margins['keep-out 1']:.3f} away, {solution}")
    print(plans[0].failure or "a solution holds")
    plans.plot().savefig(folder / "plan_around.png")
    return plans[0]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/example"))
