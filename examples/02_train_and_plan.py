"""Train once, then plan for contexts that nobody demonstrated and training never saw.

Run it with:  python examples/02_train_and_plan.py [RUN]

RUN is a new folder for the run, runs/example by default. The examples that follow plan with it.
"""

import sys
from pathlib import Path

from vigor.learning import algorithm
from vigor.planning import planner as plan
from vigor.runs import run

TASK = f"{Path(__file__).with_name('01_own_task.py')}:TASK"


def main(folder: Path, iterations: int = 50) -> None:
    run.train(run.Setup(task=TASK, config=algorithm.Config(iterations=iterations)), folder)

    planner = plan.load(folder)  # From here on neither demonstrations nor training.
    context = (0.42, -0.08, 1.0, 0.05)  # Gate and obstacle, x and y each.
    made = planner.plan(context, samples=10)

    (best, *_) = made.plans
    print(best.failure or "a solution holds")
    for rank, solution in enumerate(best.solutions, start=1):
        print(
            f"{rank}: kind {solution.group}, weight {solution.weight:.2f}, reward {solution.reward:.1f}, "
            f"success of samples {solution.success:.2f}, to the goal at the end {solution.targets['goal']['end']:.3f}"
        )

    far = planner.plan((0.42, -0.08, 2.5, 0.05)).plans[0]
    print(far.warning)
    made.save(folder / "plan.json")  # For vigor show and vigor export.


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/example"))
