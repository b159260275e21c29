"""Ranked solutions out of mixtures: which is best of all that movements promise."""

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.contents import LARGEST
from vigor.basics.errors import OutOfRange, UserError
from vigor.evaluation import evaluation
from vigor.evaluation.evaluation import Evaluation
from vigor.evaluation.policies import Policies
from vigor.learning import invariants, mixture, prediction
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.learning.starts import Starts
from vigor.motion.trajectories import distinct_solutions
from vigor.planning import bodies, dropped, promises
from vigor.planning import constraints as constraint
from vigor.planning.choice import ALL, Choice, mixed
from vigor.planning.constraints import Constraints
from vigor.planning.plans import Plan, Solution, of_situation
from vigor.planning.promises import Promise
from vigor.tasks.task import Judge, Task

LIKELY = 0.5
"""Predicted success below which a way to solve a context is not known."""
FAR = 1.0
"""Distance at which a context is far out: as far beyond the trained range as the range is wide."""


def rank(
    task: Task,
    contexts: np.ndarray,
    mixtures: Mixture,
    rewards: jax.Array | np.ndarray | None,
    common: Invariants,
    constraints: Constraints,
    trained: np.ndarray,
    at: Starts,
    samples: int = 0,
    seed: int = 0,
    choice: Choice = ALL,
) -> tuple[Plan, ...]:
    """Ranked solutions and samples of mixtures [context, ...] for contexts [context, C].

    rewards: [context, component]; common: what demonstrations have in common; trained: [m, C], contexts with
    demonstrations; at: these demonstrations; samples: drawn from each mixture.
    """
    limits, asked = constraint.bounds(task, constraints), jax.device_put(contexts.astype(np.float32))
    shown = dropped.demonstrated(task, at, asked, mixtures.means.shape[1])
    rolled = promises.rolled(task, limits, mixtures.means)
    rewards = checked(mixtures, rewards)  # Waits until they are computed; what is above is compiled meanwhile.
    judged = _evaluate(task, Policies(contexts, 0, mixtures), common)
    found = promises.of(task, contexts, rolled, common, constraints)
    joints = [np.stack([promise.joints for promise in own]) for own in found]
    distinct = prediction.distinct_of(task, common)
    ways = [distinct_solutions(own, distinct) for own in joints]
    weights, drawn_from = _mixed(choice, mixtures, judged, ways)
    drawn = _drawn(task, contexts, drawn_from, samples, seed, common, constraints)
    (outside, warnings), blocked = beyond(task, trained, contexts), _blocked(task, constraints)
    means, shown = np.asarray(mixtures.means), np.asarray(shown)
    plans = []
    for i, context in enumerate(contexts):
        rows, sampled = (
            [
                _solution(task, movement, k, float(weights[i, k]), int(ways[i][k]), promise)
                for movement, k, promise in some
            ]
            for some in (zip(means[i], range(len(means[i])), found[i], strict=True), drawn[i])
        )
        own = [_of_component(row, judged, rewards, i) for row in rows]
        preferred = choice.preferred(task, context, joints[i])
        best = choice.among(_ranked(own, preferred), joints[i])
        ranked = tuple(best.values())
        unknown, missed = _unknown(task, common, context, ranked[0]), choice.missed(ranked, preferred, distinct)
        left_out = dropped.in_words(distinct, shown[i % len(shown)], joints[i], np.array([row.holds for row in own]))
        warning = "; ".join(filter(None, (unknown, missed, left_out, warnings[i], blocked))) or None
        plan = Plan(tuple(map(float, context)), float(outside[i]), warning, ranked, _among(best, sampled))
        plans.append(of_situation(plan, task, constraints))
    return tuple(plans)


def checked(mixtures: Mixture, rewards: jax.Array | np.ndarray | None) -> np.ndarray | None:
    """The rewards [context, component] of mixtures [context, ...]; refused if networks that lead nowhere made them."""
    log_weights, means, roots = map(np.asarray, mixtures)
    good = [~np.isnan(log_weights), np.abs(means) <= LARGEST, np.abs(roots) <= LARGEST]
    good += [] if rewards is None else [np.isfinite(np.asarray(rewards))]
    finite = np.all([part.reshape(len(part), -1).all(axis=1) for part in good], axis=0)
    if not np.all(finite):
        context = int(np.argmin(finite)) + 1
        raise OutOfRange(
            f"the plan for context {context} is not finite: the run's networks have diverged; "
            "train it again with a lower --learning-rate"
        )
    return None if rewards is None else np.asarray(rewards)


def _mixed(
    choice: Choice, mixtures: Mixture, judged: Evaluation, ways: Sequence[np.ndarray]
) -> tuple[np.ndarray, Mixture]:
    """Weights [context, component] in the mix that is chosen, and mixtures with them. ways: [context][component]."""
    predicted = np.ones_like(judged.weights) if judged.predicted is None else judged.predicted
    weights = np.stack([mixed(choice.mix, *own, LIKELY) for own in zip(judged.weights, ways, predicted, strict=True)])
    return weights, mixtures if choice.mix == "learned" else mixtures._replace(log_weights=jnp.log(weights))


def _among(best: dict[int, Solution], samples: Sequence[Solution]) -> tuple[Solution, ...]:
    """Samples that go the way of a solution, numbered as these are."""
    return tuple(
        replace(row, group=best[row.group].group, component=best[row.group].component)
        for row in samples
        if row.group in best
    )


def _solution(
    task: Task, movement: np.ndarray, component: int, weight: float, group: int, promise: Promise
) -> Solution:
    """A movement [D] with what it promises by itself."""
    return Solution(
        movement=tuple(movement.tolist()),
        component=component,
        weight=weight,
        reward=None,
        predicted=promise.predicted,
        success=None,
        distance=promise.distance,
        solves=_solves(task, promise),
        group=group,
        targets=promise.targets,
        margins=promise.margins,
        violated=promise.violated,
    )


def _of_component(row: Solution, judged: Evaluation, rewards: np.ndarray | None, i: int) -> Solution:
    """The mean of a component of context i, with what the samples around it promise."""

    def own(values: np.ndarray | None) -> float | None:
        return None if values is None else float(values[i, row.component])

    return replace(
        row,
        reward=own(rewards),
        predicted=row.predicted if judged.predicted is None else float(judged.predicted[i, row.component]),
        success=own(judged.success),
        distance=row.distance if judged.distance is None else own(judged.distance),
    )


def _drawn(
    task: Task,
    contexts: np.ndarray,
    mixtures: Mixture,
    samples: int,
    seed: int,
    common: Invariants,
    constraints: Constraints,
) -> list[list[tuple[np.ndarray, int, Promise]]]:
    """Samples [context][n] of the mixtures: movement [D], component, and what it promises."""
    if not samples:
        return [[] for _ in contexts]
    keys = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(seed), i))(np.arange(len(contexts)))
    drawn, chosen = jax.vmap(lambda key, own: mixture.sample_with_components(key, own, samples))(keys, mixtures)
    rolled = promises.rolled(task, constraint.bounds(task, constraints), drawn)
    found = promises.of(task, contexts, rolled, common, constraints)
    parts = zip(np.asarray(drawn), np.asarray(chosen).tolist(), found, strict=True)
    return [list(zip(*own, strict=True)) for own in parts]


def beyond(task: Task, trained: np.ndarray, contexts: np.ndarray) -> tuple[np.ndarray, list[str | None]]:
    """Distances [n] of contexts [n, C] beyond the training contexts [m, C], and a warning for those far out.

    By coordinate: the distance to the interval that the training contexts span, in widths of this interval; the
    largest of all coordinates. So 0 lies within, and at 1 a coordinate is as far beyond as the interval is wide.
    """
    trained = task.contexts_near(trained, trained[0])
    contexts = task.contexts_near(contexts, trained.mean(axis=0))
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


def _solves(task: Task, promise: Promise) -> bool | None:
    """Whether a movement solves its context: by the task's own measure, or for one that has none by prediction."""
    if not task.judged:
        return promise.predicted >= LIKELY
    return None if promise.distance is None else bool(task.succeeds(np.asarray(promise.distance)))


def _unknown(task: Task, common: Invariants, context: np.ndarray, best: Solution) -> str | None:
    """Warning in words if even the best solution is likely to fail: by which quantity it differs most."""
    if best.predicted >= LIKELY:
        return None
    described = task.describe_weights(jnp.asarray(best.movement), jnp.asarray(context, jnp.float32))
    which, value, usual = invariants.most_missed(common, described)
    when = "ends at" if which < task.features else "comes down to"
    return (
        f"no way is known to solve this context (predicted success {best.predicted:.2f}): "
        f"{task.feature_names[which % task.features]} {when} {value:.3g} where demonstrations have {usual:.3g}"
    )


def _evaluate(task: Task, policies: Policies, common: Invariants) -> Evaluation:
    """Figures of all components, without those of a simulation that is not installed."""
    try:
        return evaluation.evaluate(task, policies, common=common)
    except UserError:
        if task.judge.simulate is None:
            raise
        unjudged = Judge(distinct=task.judge.distinct, samples=task.judge.samples)
        return evaluation.evaluate(replace(task, judge=unjudged), policies, common=common)


def _blocked(task: Task, constraints: Constraints) -> str | None:
    """Warning in words if the pose that all movements start from is in a keep-out, so that none can avoid it."""
    if not constraints.keep_out or (task.promp.free_start and task.promp.begin is None):
        return None
    first = task.promp.at(jnp.zeros(task.promp.weights), jnp.zeros(1))
    found = constraint.clearances(constraint.bounds(task, constraints), bodies.body(task, first))
    inside = np.flatnonzero(np.asarray(found).min(axis=(0, 1)) < 0)
    return f"every movement starts inside keep-out {inside[0] + 1}; none can avoid it" if len(inside) else None


def _ranked(solutions: list[Solution], preferred: np.ndarray | None = None) -> dict[int, Solution]:
    """The best solution of every way, by the number of its group, with the weight of all that go it and a new number.

    The best first: those that hold, by success (predicted where nothing judges it) and reward, or by how much each
    component is preferred [component] if that is given, then others.
    """

    def merit(solution: Solution) -> tuple[float, ...]:
        return (
            solution.holds,
            solution.solves is not False,
            solution.violated is None,
            0.0 if preferred is None else float(preferred[solution.component]),
            solution.predicted if solution.success is None else solution.success,
            solution.reward or 0.0,
        )

    best: dict[int, Solution] = {}
    for solution in sorted(solutions, key=merit, reverse=True):
        best.setdefault(solution.group, solution)
    weights = {group: sum(row.weight for row in solutions if row.group == group) for group in best}
    return {group: replace(row, group=i, weight=weights[group]) for i, (group, row) in enumerate(best.items(), 1)}
