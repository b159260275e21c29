"""Train once, then plan for contexts that nobody demonstrated and training never saw.

Run it with:  python examples/02_train_and_plan.py [RUN]

RUN is a new folder for the run, runs/example by default. The examples that follow plan with it.
"""

import sys
from pathlib import Path

import vigor

TASK = f"{Path(__file__).with_name('01_own_task.py')}:TASK"


def main(folder: Path, iterations: int = 50, **settings: int) -> vigor.Run:
    # From demonstrations that the task generates.
    run = vigor.train(TASK, out=folder, iterations=iterations, **settings)
    print(run)

    context = (0.42, -0.08, 1.0, 0.05)  # Gate and obstacle, x and y each. From here on nothing is trained.
    plans = run.plan(context, samples=10)
    print(plans[0].failure or "a solution holds")
    for rank, solution in enumerate(plans[0].solutions, start=1):
        print(
            f"{rank}: kind {solution.group}, weight {solution.weight:.2f}, success of samples {solution.success:.2f}, "
            f"ends {solution.targets['goal'].end:.3f} from the goal"
        )
    plans.save(folder / "plan.json")  # For vigor show, vigor export, and example 05.

    far = run.plan((0.42, -0.08, 2.5, 0.05))
    print(far[0].warning)
    return run


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/example"))
