"""Put something in the way of the best plan, and plan around it.

Run it with:  python examples/04_avoid_an_obstacle.py [RUN]

RUN is the folder of the run of example 02. Writes plan_around.png into it.
"""

import sys
from pathlib import Path

import numpy as np

from vigor.motion.shapes import Sphere
from vigor.planning import constraints
from vigor.planning import planner as plan
from vigor.planning.plans import Plan
from vigor.reports import figures

CONTEXT = (0.42, -0.08, 1.0, 0.05)


def main(folder: Path) -> Plan:
    planner = plan.load(folder)
    task = planner.task
    (free,) = planner.plan(CONTEXT).plans

    # On the path of the best solution, halfway between obstacle and goal.
    path = np.asarray(task.promp.rollout(np.array(free.solutions[0].movement, np.float32)))
    halfway = path[np.argmin(np.abs(path[:, 0] - 1.27))]
    post = Sphere((float(halfway[0]), float(halfway[1])), 0.05)

    made = planner.plan(CONTEXT, constraints.of_task(task, keep_out=(post,)))
    (around,) = made.plans
    for rank, solution in enumerate(around.solutions, start=1):
        said = solution.violated or ("" if solution.solves else "misses")
        print(f"{rank}: kind {solution.group}, keeps {solution.margins['keep-out 1']:.3f} away {said}")
    print(around.failure or "a solution holds")
    figures.save(figures.plans(made), folder / "plan_around.png")
    return around


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/example"))
