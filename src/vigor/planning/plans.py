"""Plans: ranked movements for a context, what they promise, and the file that holds them.

A solution is the mean of a mixture's component, a single movement. Whether it solves its context is predicted: by the
task's own measure on the planned movement, in simulation for a task that only a simulation can judge.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.evaluation import evaluation
from vigor.evaluation.policies import Policies
from vigor.learning import mixture
from vigor.learning.mixture import Mixture
from vigor.motion.promp import rollout
from vigor.motion.robots import Robot
from vigor.motion.shapes import Box, Sphere
from vigor.motion.trajectories import distinct_solutions
from vigor.planning import constraints as constraint
from vigor.planning.constraints import Constraints
from vigor.tasks import check_stored, load_task
from vigor.tasks.task import Task

FORMAT, VERSION = "vigor-plan", 1
FAR = 1.0
"""A context is far out when it lies further beyond the trained range than the range is wide."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A movement for a context."""

    movement: tuple[float, ...]
    """[D]: ProMP weights."""
    component: int
    """Of the mixture, that it is the mean or a sample of."""
    weight: float
    """Of this component in the mixture."""
    reward: float | None
    """Expected by the last networks over the component, with costs of constraints; None for a sample."""
    success: float | None
    """Share of the component's samples that solve the context; None for a sample, or if nothing can judge it here."""
    distance: float | None
    """Of the component's samples from solving the context, on average; a sample's own."""
    solves: bool | None
    """Whether the movement itself solves the context; None if nothing can judge it here."""
    group: int
    """Solutions of the same number are alike; counted from 1 by rank."""
    targets: dict[str, dict[str, float]]
    """By the label of the task's regions: distance of the end effector to the region's boundary, `closest` and at the
    `end`; negative inside."""
    margins: dict[str, float]
    """By constraint: the smallest distance to a violation, negative if there is one. Radians for `position`, a part of
    the largest speed for `velocity`, metres for a keep-out."""
    violated: str | None
    """The violated constraint, in words."""

    @property
    def holds(self) -> bool:
        """It violates nothing, and nothing says that it does not solve the context."""
        return self.violated is None and self.solves is not False


@dataclass(frozen=True, eq=False)
class Plan:
    """Ranked solutions for one context."""

    context: tuple[float, ...]
    outside: float
    """How far the context lies beyond the training contexts, see `beyond`."""
    warning: str | None
    """Says in words if it is far out, or if every movement begins in a keep-out."""
    solutions: tuple[Solution, ...]
    """One for each component, the best first."""
    samples: tuple[Solution, ...] = ()
    """Further movements, drawn from the mixture."""

    @property
    def failure(self) -> str | None:
        """Why no solution holds, in words; None if one does."""
        best = self.solutions[0]
        if best.holds:
            return None
        return f"violates {best.violated}" if best.violated else "no solution is predicted to solve the context"


@dataclass(frozen=True, eq=False)
class Plans:
    """Plans for some contexts of a task."""

    task: str
    """As `load_task` takes it."""
    constraints: Constraints
    plans: tuple[Plan, ...]
    run: str = ""
    """Folder of the run that they come from."""
    loaded: Task | None = field(default=None, repr=False)
    """The task itself, if it is at hand."""

    def load_task(self) -> Task:
        return load_task(self.task) if self.loaded is None else self.loaded

    def save(self, path: Path, new: bool = False) -> None:
        """new: raise FileExistsError if there is such a file already."""
        files.write_json(path, _to_json(self), new)


def beyond(task: Task, trained: np.ndarray, contexts: np.ndarray) -> tuple[np.ndarray, list[str | None]]:
    """How far contexts [n, C] lie beyond the training contexts [m, C], [n], and a warning for those far out.

    By coordinate: the distance to the interval that the training contexts span, in widths of this interval; the
    largest of all coordinates. So 0 lies within, and at 1 a coordinate is as far beyond as the interval is wide.
    """
    low, high = trained.min(axis=0), trained.max(axis=0)
    # Where all training contexts have the same value, any other is far out.
    width = np.maximum(high - low, 1e-6 * (1 + np.abs(high)))
    by_name = np.maximum(np.maximum(low - contexts, contexts - high), 0.0) / width
    worst = by_name.argmax(axis=1)
    outside = by_name.max(axis=1)
    spans = [
        f"{far:.1f} times the trained range ({low[i]:g} to {high[i]:g}) beyond it"
        if high[i] > low[i]
        else f"away from {low[i]:g}, the only value trained with"
        for i, far in zip(worst, outside, strict=True)
    ]
    warnings = [
        f"{task.context_names[i]} = {context[i]:g} lies {span}; trust the plan less" if far > FAR else None
        for i, far, context, span in zip(worst, outside, contexts, spans, strict=True)
    ]
    return outside, warnings


def judge(
    task: Task,
    contexts: np.ndarray,
    mixtures: Mixture,
    rewards: np.ndarray | None,
    constraints: Constraints,
    trained: np.ndarray,
    samples: int = 0,
    seed: int = 0,
) -> tuple[Plan, ...]:
    """Ranked solutions and samples of mixtures [context, ...] for contexts [context, C].

    rewards: [context, component]; trained: [m, C], contexts with demonstrations; samples: drawn from each mixture.
    """
    count, components = mixtures.means.shape[:2]
    weights = np.exp(np.asarray(mixtures.log_weights, np.float64))
    judged = _evaluate(task, Policies(contexts, 0, mixtures))
    movements = np.asarray(mixtures.means)
    owners = np.broadcast_to(np.arange(components), (count, components))
    if samples:
        keys = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(seed), i))(np.arange(count))
        drawn, chosen = jax.vmap(lambda key, own: mixture.sample_with_components(key, own, samples))(keys, mixtures)
        movements = np.concatenate([movements, np.asarray(drawn)], axis=1)
        owners = np.concatenate([owners, np.asarray(chosen)], axis=1)
    found = _predict(task, contexts, movements, constraints, judged is not None)
    joints = np.asarray(rollout(task.promp, mixtures.means))
    outside, warnings = beyond(task, trained, contexts)
    blocked = _blocked(task, constraints)
    plans = []
    for i in range(count):
        groups = distinct_solutions(joints[i], task.judge.distinct)
        rows = []
        for j, (movement, owner) in enumerate(zip(movements[i], owners[i], strict=True)):
            is_mean, (distance, targets, margins, violated) = j < components, found[i][j]
            rows.append(
                Solution(
                    movement=tuple(movement.tolist()),
                    component=int(owner),
                    weight=float(weights[i, owner]),
                    reward=float(rewards[i, owner]) if is_mean and rewards is not None else None,
                    success=float(judged.success[i, owner]) if is_mean and judged is not None else None,
                    distance=float(judged.distance[i, owner]) if is_mean and judged is not None else distance,
                    solves=None if distance is None else bool(task.succeeds(np.asarray(distance))),
                    group=int(groups[owner]),
                    targets=targets,
                    margins=margins,
                    violated=violated,
                )
            )
        ranked, order = _rank(rows[:components])
        further = tuple(_renumber(row, order) for row in rows[components:])
        context = tuple(map(float, contexts[i]))
        warning = "; ".join(said for said in (warnings[i], blocked) if said) or None
        plans.append(Plan(context, float(outside[i]), warning, ranked, further))
    return tuple(plans)


def _evaluate(task: Task, policies: Policies) -> evaluation.Evaluation | None:
    """Success of all components; None for a task whose simulation is not installed."""
    try:
        return evaluation.evaluate(task, policies)
    except UserError:
        if task.judge.simulate is None:
            raise
        return None


def _predict(
    task: Task, contexts: np.ndarray, movements: np.ndarray, constraints: Constraints, judged: bool
) -> list[list[tuple[float | None, dict[str, dict[str, float]], dict[str, float], str | None]]]:
    """Distance, distances to targets, margins and violation of movements [context, n, D]."""
    count, each = movements.shape[:2]
    flat = jnp.asarray(movements.reshape(count * each, -1))
    joints = np.asarray(rollout(task.promp, flat))
    owners = np.repeat(contexts, each, axis=0).astype(np.float32)
    distances: Sequence[Any] = task.distances(joints, owners).tolist() if judged else [None] * len(joints)
    effector = np.asarray(jax.jit(task.kinematics)(joints))[..., -1, :]
    limits = constraint.bounds(task, constraints)
    found = jax.tree.map(np.asarray, constraint.margins(task, limits, flat))
    rows = []
    for i in range(count * each):
        targets = {}
        for region in task.display.regions(contexts[i // each]):
            away = np.linalg.norm(effector[i] - np.asarray(region.centre), axis=-1) - region.radius
            targets[region.label] = {"closest": float(away.min()), "end": float(away[-1])}
        own = jax.tree.map(lambda leaf, i=i: leaf[i], found)
        rows.append(
            (distances[i], targets, constraint.smallest(constraints, own), constraint.violation(constraints, own))
        )
    return [rows[i : i + each] for i in range(0, len(rows), each)]


def _blocked(task: Task, constraints: Constraints) -> str | None:
    """Says in words if the pose that all movements start from is in a keep-out, so that none can avoid it."""
    if not constraints.keep_out or task.promp.free_start:
        return None
    still = jnp.zeros((1, task.promp.weights))
    found = constraint.margins(task, constraint.bounds(task, constraints), still)
    inside = np.flatnonzero(np.asarray(found.clearance)[0] < 0)
    return f"every movement starts inside keep-out {inside[0] + 1}; none can avoid it" if len(inside) else None


def _rank(solutions: list[Solution]) -> tuple[tuple[Solution, ...], dict[int, int]]:
    """Solutions, the best first: those that hold, by success and reward, then others; and the groups' new numbers."""

    def merit(solution: Solution) -> tuple[float, ...]:
        return (
            solution.holds,
            solution.solves is not False,
            solution.violated is None,
            solution.success or 0.0,
            solution.reward or 0.0,
        )

    ranked = sorted(solutions, key=merit, reverse=True)
    order: dict[int, int] = {}
    for solution in ranked:
        order.setdefault(solution.group, len(order) + 1)
    return tuple(_renumber(solution, order) for solution in ranked), order


def _renumber(solution: Solution, order: dict[int, int]) -> Solution:
    return Solution(**{**solution.__dict__, "group": order[solution.group]})


# Files

_LISTED = {"success": "success", "distance": "distance", "weight": "weights"}
"""Fields of solutions that a context lists by component, and their names there."""


def _to_json(plans: Plans) -> dict[str, Any]:
    contexts = []
    for plan in plans.plans:
        rows = [asdict(solution) for solution in plan.solutions]
        listed = {name: [row.pop(own) for row in rows] for own, name in _LISTED.items()}
        contexts.append(
            {
                "context": plan.context,
                **listed,
                "outside": plan.outside,
                "warning": plan.warning,
                "failure": plan.failure,
                "solutions": rows,
                "samples": [asdict(sample) for sample in plan.samples],
            }
        )
    limits = plans.constraints
    return {
        "format": FORMAT,
        "version": VERSION,
        "task": plans.task,
        "run": plans.run,
        "seconds": limits.seconds,
        "robot": None if limits.robot is None else _robot_to_json(limits.robot),
        "keep_out": [asdict(shape) for shape in limits.keep_out],
        "contexts": contexts,
    }


def _robot_to_json(robot: Robot) -> dict[str, Any]:
    """A joint without limits has null for both."""
    bounded = [pair if np.all(np.isfinite(pair)) else None for pair in robot.position]
    return asdict(robot) | {"position": bounded}


def load(path: Path) -> Plans:
    """Read plans from a file that `Plans.save` wrote."""
    read = files.read_json(path)
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise UserError(f"{path} holds no plans; name a file that `vigor plan` wrote")
    if read.get("version") != VERSION:
        raise UserError(f"{path} has version {read.get('version')}; this program reads version {VERSION}")
    try:
        plans = Plans(
            read["task"],
            Constraints(_robot(read["robot"]), read["seconds"], tuple(map(_shape, read["keep_out"]))),
            tuple(map(_plan, read["contexts"])),
            read["run"],
        )
        check_stored(plans.task, path)
        task = plans.load_task()
        for plan in plans.plans:
            for solution in (*plan.solutions, *plan.samples):
                if len(solution.movement) != task.promp.weights or not np.all(np.isfinite(solution.movement)):
                    raise ValueError(f"a movement of {task.name} has {task.promp.weights} finite weights")
            if len(plan.context) != task.context_dimension or not plan.solutions:
                raise ValueError(f"a context of {task.name} has {task.context_dimension} numbers and a solution")
        return plans
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path} is damaged: {type(error).__name__}: {error}; plan again") from None


def _plan(row: dict[str, Any]) -> Plan:
    lists = zip(*(row[name] for name in _LISTED.values()), row["solutions"], strict=True)
    solutions = [_solution(rest | dict(zip(_LISTED, values, strict=True))) for *values, rest in lists]
    samples = tuple(map(_solution, row["samples"]))
    return Plan(tuple(row["context"]), row["outside"], row["warning"], tuple(solutions), samples)


def _solution(row: dict[str, Any]) -> Solution:
    return Solution(**row | {"movement": tuple(map(float, row["movement"]))})


def _robot(row: dict[str, Any] | None) -> Robot | None:
    if row is None:
        return None
    free = (-np.inf, np.inf)
    lists = {name: tuple(row[name]) for name in ("joints", "velocity")}
    acceleration = None if row["acceleration"] is None else tuple(row["acceleration"])
    position = tuple(free if pair is None else (float(pair[0]), float(pair[1])) for pair in row["position"])
    return Robot(**row | lists | {"position": position, "acceleration": acceleration})


def _shape(row: dict[str, Any]) -> Sphere | Box:
    row = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return Sphere(**row) if "radius" in row else Box(**row)
