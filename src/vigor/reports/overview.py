"""First part of a run's report: its movements, its course and its calibration as charts, and what it cannot do."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax
import numpy as np

from vigor.basics.colours import PALETTE, QUIET
from vigor.evaluation.policies import Learned
from vigor.reports import drawing
from vigor.reports.charts import Chart, Circle, Dot, Line
from vigor.reports.figures import link_points
from vigor.tasks.task import Task

CONTEXTS, SAMPLES, STEPS = 6, 6, 50
"""Contexts that are shown, samples of each component, and steps of a movement in a page that anybody can send."""
LINES = 60
"""Samples of all components of a context together, at most."""
FEW = 1 / 2
"""Share of its samples in which a component must succeed to count as working."""


@dataclass(frozen=True, eq=False)
class Charts:
    """Charts beside each other, with one legend."""

    charts: Sequence[Chart]
    keys: Sequence[tuple[str, str, str]]
    """Key, label and colour of what the legend switches."""
    note: str

    @property
    def marks(self) -> dict[str, str]:
        """Mark of a key's dots in the legend, if it is not a line."""
        return {dot.key: dot.mark for one in self.charts for dot in one.dots}


def movements(task: Task, learned: Learned, rows: range, shown: Sequence[np.ndarray], kinds: np.ndarray) -> Charts:
    """Paths of the end effector in some contexts: means thick over their samples, demonstrations grey.

    shown: demonstrations [n, T, dimensions] of each training context; kinds: [component], which have a colour each; the
    first of a kind is thick.
    """
    unit = f" [{task.display.unit}]" if task.display.unit else ""
    flat = jax.eval_shape(task.kinematics, jax.ShapeDtypeStruct((task.promp.dimensions,), np.float32)).shape[-1] == 2
    count = min(len(rows), CONTEXTS if flat else CONTEXTS // 2)
    samples = max(1, min(SAMPLES, LINES // learned.components))
    weights, means, drawn = learned.movements(task, slice(rows.start, rows.start + count), samples, seed=0, steps=STEPS)
    # One program for means and samples: [context, component, 1 + samples, T, space].
    paths = link_points(task, np.concatenate([means[:, :, None], drawn], axis=2))[..., -1, :]
    views = {"": [0, 1]} if flat else {", from above": [0, 1], ", from the side": [0, 2]}
    made: dict[str, list[Chart]] = {words: [] for words in views}
    for index, own_weights, own_paths in zip(rows, weights, paths, strict=False):
        known = link_points(task, np.asarray(shown[index]))[..., -1, :] if index < len(shown) else own_paths[0, :0]
        number = index - learned.training
        title = f"training context {index + 1}" if number < 0 else f"test context {number + 1}"
        for words, axes in views.items():
            names = ["xyz"[axis] + unit for axis in axes]
            own = [Line("", QUIET, path[:, axes], "quiet", "shown") for path in known]
            own += _lines(own_weights, own_paths[:, 0][..., axes], own_paths[:, 1:][..., axes], kinds)
            circles = _circles(task, learned.contexts[index], axes)
            made[words].append(Chart(title + words, names[0], names[1], own, (), circles, equal=True))
    word, usual = drawing.kind_name(kinds), np.bincount(kinds, np.mean(weights, axis=0))
    keys = [
        (f"{word} {i + 1}", f"{word} {i + 1}, {100 * share:.0f}%", drawing.colour(i)) for i, share in enumerate(usual)
    ]
    keys += [("samples", "samples", "#b5b5b5")]
    keys += [("shown", "demonstrations", QUIET)] if any(index < len(shown) for index in rows) else []
    some = f", {count} of {len(rows)} contexts" if count < len(rows) else ""
    lines = "Thick: the mean of a way; thin: samples of it"
    if word == "kind":
        thick = "Thick: the likeliest way of a kind; thinner: its other ways, and samples"
        lines = f"{len(kinds)} ways of {len(usual)} kinds. {thick}"
    note = f"{lines}{some}. Point at a name or a line; draw a rectangle to zoom."
    return Charts([one for charts in made.values() for one in charts], keys, note)


def _lines(weights: np.ndarray, means: np.ndarray, clouds: np.ndarray, kinds: np.ndarray) -> list[Line]:
    """Lines of all components: samples below the means, and those of the first of each kind above the others."""
    made: dict[str, list[Line]] = {"thin": [], "side": [], "main": []}
    word = drawing.kind_name(kinds)
    for kind, first, weight, mean, cloud in zip(
        kinds, drawing.first_of_kind(kinds), weights, means, clouds, strict=True
    ):
        name, colour = f"{word} {kind + 1}", drawing.colour(kind)
        made["thin"] += [Line("", colour, path, "thin", f"{name}|samples") for path in cloud]
        style: Literal["main", "side"] = "main" if first else "side"
        made[style].append(Line(f"{name}, weight {100 * weight:.0f}%", colour, mean, style, name))
    return [line for lines in made.values() for line in lines]


def _circles(task: Task, context: np.ndarray, axes: Sequence[int]) -> list[Circle]:
    return [
        Circle(region.label, (region.centre[axes[0]], region.centre[axes[1]]), region.radius)
        for region in task.display.regions(context)
        if len(region.centre) > max(axes)
    ]


def course(metrics: Sequence[Mapping[str, Any]], task: Task) -> Charts | None:
    """Success and ways over the iterations; None where a run has fewer than two evaluations."""
    if len(metrics) < 2:
        return None
    kind = "success" if task.judged else "predicted"
    made: list[Chart] = []
    for split, label in (("test", "test contexts"), ("train", "training contexts")):
        if not any(row.get(split) for row in metrics):
            continue
        parts = {"best way": f"{kind}_best", "any movement drawn": f"{kind}_mixture"}
        parts |= {"any movement, predicted": "predicted_mixture"} if task.judged else {}
        lines = [
            Line(words, colour, _course(metrics, split, name), "dashed" if "predicted" in words else "main", words)
            for (words, name), colour in zip(parts.items(), (PALETTE[0], PALETTE[1], PALETTE[1]), strict=False)
        ]
        title = f"{'success' if task.judged else 'predicted success'}, {label}"
        made.append(Chart(title, "iteration", "share", lines, y_range=(-0.03, 1.03), height=260))
    keys = list(dict.fromkeys((line.key, line.key, line.colour) for one in made for line in one.lines))
    return Charts(made, keys, "Evaluations on the way; training itself sees nothing of success.")


def _course(metrics: Sequence[Mapping[str, Any]], split: str, name: str) -> np.ndarray:
    rows = [(row["iteration"], (row.get(split) or {}).get(name)) for row in metrics]
    return np.array([(step, np.nan if value is None else value) for step, value in rows], float)


def calibration(result: Mapping[str, Any]) -> Charts | None:
    """Predicted beside measured success of every way; None for a task that is not judged."""
    dots, wrong = [], []
    for split, label, colour in (("test", "test", PALETTE[0]), ("train", "training", PALETTE[1])):
        for number, row in enumerate(result.get(split, {}).get("contexts", ()), start=1):
            for way, (said, true) in enumerate(zip(row.get("predicted", ()), row.get("success", ()), strict=False), 1):
                name = f"{label} context {number}, way {way}: predicted {100 * said:.0f}%, measured {100 * true:.0f}%"
                dots.append(Dot(name, colour, (said, true), key=f"{label} contexts"))
                wrong.append(abs(said - true))
    if not dots:
        return None
    line = Line("as predicted", QUIET, np.array([(0.0, 0.0), (1.0, 1.0)]), "dashed")
    span = (-0.05, 1.05)
    made = Chart("success of each way", "predicted", "measured", [line], dots, x_range=span, y_range=span)
    keys = list(dict.fromkeys((dot.key, dot.key, dot.colour) for dot in dots))
    apart = f"{100 * np.mean(wrong):.1f}% apart on average"
    note = f"Predicted from demonstrations alone, measured by the task's own criterion: {apart}."
    return Charts([made], keys, note)


def cannot(task: Task, learned: Learned, result: Mapping[str, Any]) -> list[str]:
    """Sentences about what a run cannot do, or does not know."""
    said = []
    kind = "success" if task.judged else "predicted"
    for split, label in (("test", "test"), ("train", "training")):
        rows = result.get(split, {}).get("contexts", ())
        lost = [str(i) for i, row in enumerate(rows, start=1) if max(row.get(kind, [0.0])) < FEW]
        if lost:
            which = f"{label} context{'s' if len(lost) > 1 else ''} {', '.join(lost)}"
            said.append(f"In {which} no way works in half of its samples.")
    shown = learned.contexts[: learned.training]
    if len(shown):
        spans = zip(task.context_names, shown.min(axis=0), shown.max(axis=0), strict=True)
        ranges = ", ".join(f"{name} from {_near(low, high)} to {_near(high, low)}" for name, low, high in spans)
        said.append(f"It was shown {ranges}. A plan for a context outside of this says how far outside it lies.")
    if not task.judged:
        said.append(
            "Nothing measures success here: all figures are predictions from what demonstrations have in common."
        )
    if task.arm.robot is None:
        said.append("The task names no robot: plans keep to no joint limits, and exports need a robot or limits.")
    elif not task.arm.robot.capsules:
        said.append(
            "The robot's body is not known: plans keep its lines out of keep-outs, not its links from each other."
        )
    if not task.promp.free_start:
        said.append("Movements begin in one pose; from elsewhere plan with --start.")
    said.append("It has not been tried on a robot: training and plans compute with kinematics alone.")
    return said


def _near(value: float, other: float) -> str:
    """A value with the digits in which it differs from another, and one more."""
    apart = abs(value - other)
    decimals = max(0, 1 - math.floor(math.log10(apart))) if apart > 0 else 3
    return f"{round(value, decimals) + 0.0:g}"
