"""Figures and report of a run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from vigor.basics.errors import UserError
from vigor.demonstrations import dataset
from vigor.demonstrations.repertoire import Repertoire
from vigor.evaluation import ways
from vigor.evaluation.policies import Learned, Policies
from vigor.learning.prediction import distinct_of
from vigor.reports import drawing, figures, overview, side_by_side
from vigor.reports.page import write_report
from vigor.runs import checkpoints, run
from vigor.tasks.task import Task


def draw(folder: Path, task: Task | str | None = None, formats: Sequence[str] = (), practice: Any = None) -> Path:
    """Draw the figures of a finished run and write its `report.html`; returns the report's path.

    formats: others than PNG that the figures are drawn in as well, "pdf" or "svg"; practice: account of the practice
    that the run came of.
    """
    setup, loaded, learned = run.load_policies(folder, task)
    result = run.read_result(folder)
    _, _, demonstrations, split = run.prepare_again(setup, folder, loaded)
    joints = dataset.trajectories(loaded, demonstrations)
    seen = [joints[rows] for rows in split.demonstrations]
    metrics = run.read_metrics(folder)
    known = run.repertoire_of(folder, setup, loaded)
    drawn, success = _by_way(folder, loaded, learned, result)
    every = slice(0, len(drawn.contexts))
    kinds = ways.kinds(drawn.movements(loaded, every, samples=1, seed=0, steps=overview.STEPS), drawing.KINDS)
    for name, figure in (*_figures(loaded, drawn, seen, success, kinds, metrics), *_ways(loaded, learned, known)):
        for ending in ("png", *formats):
            figures.save(figure, folder / "figures" / f"{name}.{ending}")
    rows = {"train": range(learned.training), "test": range(learned.training, len(learned.contexts))}
    moved = {name: overview.movements(loaded, drawn, own, seen, kinds) for name, own in rows.items() if len(own)}
    return write_report(
        folder,
        loaded.context_names,
        loaded.display.captions,
        moved,
        overview.course(metrics, loaded),
        overview.calibration(result),
        overview.cannot(loaded, learned, result),
        practice,
        loaded.display.unit,
    )


def _by_way(folder: Path, task: Task, learned: Learned, result: Any) -> tuple[Learned, np.ndarray]:
    """Policies as they are drawn, with the likeliest component of every way, and the success [context, way] of each.

    Of mixtures the ways are aligned.
    """
    measure = "success" if task.judged else "predicted"
    success = np.array([row[measure] for part in ("train", "test") for row in result[part].get("contexts", ())])
    if not isinstance(learned, Policies):
        return learned, success
    distinct = distinct_of(task, checkpoints.load_invariants(folder, task.features))
    if success.shape != np.shape(learned.mixtures.log_weights):
        raise UserError(f"{folder / run.RESULT} is of other policies than {run.POLICIES}; train the run again")
    likeliest, kept = ways.likeliest(task, learned, distinct)
    drawn, order = ways.aligned(task, likeliest)
    return drawn, np.take_along_axis(success, np.take_along_axis(kept, order, axis=1), axis=1)


def _figures(
    task: Task,
    learned: Learned,
    seen: Sequence[np.ndarray],
    success: np.ndarray,
    kinds: np.ndarray,
    metrics: Sequence[Any],
) -> Iterator[tuple[str, Figure]]:
    """Figures of a run by name. seen: demonstrations [n, T, dimensions] of each training context."""
    if metrics:
        yield "learning_curves", figures.learning_curves(metrics, task)
    train, test = range(learned.training), range(learned.training, len(learned.contexts))
    for name, rows in {"train": train, "test": test}.items():
        if len(rows):
            yield f"traces_{name}", figures.traces(task, learned, seen, contexts=rows, success=success, kinds=kinds)
    if len(test) and task.display.regions(learned.contexts[0]):
        yield "distances_test", figures.distances(task, learned, seen, contexts=test, kinds=kinds)
    if len(test) and task.display.pictures is not None:
        means = learned.movements(task, slice(test.start, test.stop), samples=1, seed=0).means
        yield from task.display.pictures(learned.contexts[test.start :], means, success[test.start :]).items()


def _ways(task: Task, learned: Learned, known: Repertoire | None) -> Iterator[tuple[str, Figure]]:
    """Ways of demonstrations that were held out beside those learned, in test contexts that have such."""
    if known is not None:
        test = range(learned.training, len(learned.contexts))
        compared = [index for index in test if len(known.of(learned.contexts[index]))]
        if compared:
            yield "ways", side_by_side.figure(task, known, learned, compared)
