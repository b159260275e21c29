"""Figures and report of a run."""

from pathlib import Path

import numpy as np

from vigor.demonstrations import dataset
from vigor.reports import figures
from vigor.reports.page import write_report
from vigor.runs import run
from vigor.tasks.task import Task


def draw(folder: Path, task: Task | str | None = None) -> Path:
    """Draw the figures of a finished run and write its `report.html`; returns the report's path."""
    setup, loaded, learned = run.load_policies(folder, task)
    result = run.read_result(folder)
    _, _, demonstrations, split = run.prepare_again(setup, folder, loaded)
    joints = dataset.trajectories(loaded, demonstrations)
    seen = [joints[rows] for rows in split.demonstrations]
    measure = "success" if loaded.judged else "predicted"
    success = np.array([row[measure] for part in ("train", "test") for row in result[part].get("contexts", ())])
    metrics, place = run.read_metrics(folder), folder / "figures"
    if metrics:
        figures.save(figures.learning_curves(metrics, loaded), place / "learning_curves.png")
    train, test = range(learned.training), range(learned.training, len(learned.contexts))
    for name, rows in {"train": train, "test": test}.items():
        if len(rows):
            traces = figures.traces(loaded, learned, seen, contexts=rows, success=success)
            figures.save(traces, place / f"traces_{name}.png")
    if len(test) and loaded.display.regions(learned.contexts[0]):
        figures.save(figures.distances(loaded, learned, seen, contexts=test), place / "distances_test.png")
    if len(test) and loaded.display.pictures is not None:
        means = learned.movements(loaded, slice(test.start, test.stop), samples=1, seed=0).means
        made = loaded.display.pictures(learned.contexts[test.start :], means, success[test.start :])
        for title, figure in made.items():
            figures.save(figure, place / f"{title}.png")
    return write_report(folder, loaded.context_names, loaded.display.captions)
