"""Attempts: movements that were planned and tried, searches that begin at near misses, and what is kept of both."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vigor.basics import evolution
from vigor.basics.contents import Contents, Numbers
from vigor.basics.errors import UserError
from vigor.evaluation import ways
from vigor.evaluation.policies import Policies
from vigor.learning import prediction
from vigor.learning.starts import Starts
from vigor.motion.promp import rollout
from vigor.motion.trajectories import apart, distinct_solutions
from vigor.planning import constraints
from vigor.planning.planner import Planner
from vigor.tasks.task import Task

Trial = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Trial of movements: distances [n] from success of trajectories [n, T, dimensions] in contexts [n, C]."""

GENERATIONS = 6
"""Generations after which a search is given up."""
STRAY = 0.4
"""Deviation of a search's first candidates, in rooms of a component that begins at a demonstration."""
CONTENT = 1 / 2
"""Share of the largest distance of a success at which a search is content."""
FAITHFUL = 0.02
"""Cost of a movement that is a room away from where its search began, in largest distances of a success: a search stays
near what was learned."""


class Attempts(NamedTuple):
    """Movements that were tried in some contexts, and how they went."""

    contexts: np.ndarray
    """[context, C]"""
    context_of: np.ndarray
    """[attempt]: number of each attempt's context."""
    weights: np.ndarray
    """[attempt, D]"""
    distances: np.ndarray
    """[attempt]: from success; infinite where a movement breaks the robot's limits or cannot be judged."""
    shares: np.ndarray
    """[attempt]: how likely the plan for the context is to do this; 0 for what a search did."""

    def of(self, context: int) -> np.ndarray:
        """Indices of a context's attempts."""
        return np.flatnonzero(self.context_of == context)

    def planned(self, task: Task) -> np.ndarray:
        """Success [context] of what was planned, before any search."""
        return np.bincount(self.context_of, self.shares * task.succeeds(self.distances), len(self.contexts))


CONTENTS: Contents = {
    "contexts": Numbers(("context", "coordinate")),
    "context_of": Numbers(("attempt",), 0, whole=True),
    "weights": Numbers(("attempt", "weight")),
    "distances": Numbers(("attempt",), -np.inf, np.inf),
    "shares": Numbers(("attempt",), 0.0, 1.0),
}
"""Arrays of a round's attempts."""


def tried(task: Task, trial: Trial, weights: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Distances [n] of movements with weights [n, D] in contexts [n, C]."""
    count, movements = len(weights), _padded(weights)
    found = np.asarray(trial(_joints(task, weights), np.asarray(contexts, np.float32)), float)
    if found.shape != (count,):
        raise UserError(f"a trial must give a distance for each of {count} movements; it gave {found.shape}")
    margins = constraints.margins(task, constraints.bounds(task, constraints.of_task(task)), movements)
    least = np.min([np.min(part, axis=-1, initial=np.inf) for part in (margins.position, margins.velocity)], axis=0)
    held = ((least >= 0) & (np.asarray(margins.itself) >= 0))[:count]
    return np.where(held & np.isfinite(found), found, np.inf)


def _padded(weights: np.ndarray) -> np.ndarray:
    """Movements [n, D], some of them again: few programs serve all numbers of movements."""
    return np.asarray(weights, np.float32)[np.arange(1 << (len(weights) - 1).bit_length()) % len(weights)]


def _joints(task: Task, weights: np.ndarray) -> np.ndarray:
    """Trajectories [n, T, dimensions] of movements [n, D]."""
    return np.asarray(rollout(task.promp, _padded(weights)))[: len(weights)]


def of_plans(planner: Planner, trial: Trial, contexts: np.ndarray, samples: int, seed: int) -> Attempts:
    """Attempts in contexts [n, C] at what is planned for them: of every way its middle, then samples around it."""
    task = planner.task
    mixtures, _ = planner.mixtures(contexts, constraints.of_task(task), seed)
    distinct = prediction.distinct_of(task, planner.common)
    learned, _ = ways.likeliest(task, Policies(contexts, 0, mixtures), distinct)
    means, roots = (np.asarray(part, float) for part in (learned.mixtures.means, learned.mixtures.roots))
    noise = np.random.default_rng(seed).normal(size=(*means.shape[:2], samples, means.shape[2]))
    noise[:, :, 0] = 0.0
    weights = means[:, :, None] + np.einsum("ckij,cksj->cksi", roots, noise)
    shares = np.exp(np.asarray(learned.mixtures.log_weights, float))[..., None] / samples
    flat, owner = weights.reshape(-1, means.shape[2]), np.repeat(np.arange(len(contexts)), weights[0, ..., 0].size)
    likely = np.broadcast_to(shares, weights.shape[:3]).reshape(-1)
    return Attempts(contexts, owner, flat, tried(task, trial, flat, contexts[owner]), likely)


def refined(
    task: Task, at: Starts, trial: Trial, attempts: Attempts, distinct: float, wanted: int, seed: int
) -> Attempts:
    """Attempts, with those of searches where fewer ways than wanted have succeeded: from the nearest of other ways.

    at: demonstrations, whose room says how far a search may stray; distinct: smallest difference of two ways.
    """
    joints = _joints(task, attempts.weights)
    begin = [
        (context, near)
        for context in range(len(attempts.contexts))
        for near in _near_misses(task, attempts, joints, context, distinct, wanted)
    ]
    if not begin:
        return attempts
    owners, first = (np.array(part) for part in zip(*begin, strict=True))
    points, room = attempts.weights[first], np.asarray(at.room, float)
    largest, made = task.judge.success_distance, []

    def judge(weights: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        distances = tried(task, trial, weights, attempts.contexts[owners[which]])
        made.append((owners[which], weights, distances))
        away = np.mean(((weights - points[which]) / room) ** 2, axis=1)
        return distances + FAITHFUL * (largest or 1.0) * away, distances

    seeds = np.random.default_rng([seed, 1]).integers(2**31, size=len(points)).tolist()
    evolution.search(seeds, points, STRAY * room, judge, CONTENT * largest, GENERATIONS)
    of, weights, distances = (np.concatenate(part) for part in zip(*made, strict=True))
    return Attempts(
        attempts.contexts,
        np.concatenate([attempts.context_of, of]),
        np.concatenate([attempts.weights, weights]),
        np.concatenate([attempts.distances, distances]),
        np.concatenate([attempts.shares, np.zeros(len(of))]),
    )


def _near_misses(
    task: Task, attempts: Attempts, joints: np.ndarray, context: int, distinct: float, wanted: int
) -> list[int]:
    """Attempts of a context that searches begin at: the nearest to success, each another way than all successes.

    As many as there are ways too few. joints: trajectories [attempt, T, dimensions].
    """
    own = attempts.of(context)
    own = own[np.argsort(attempts.distances[own], kind="stable")]
    own = own[np.isfinite(attempts.distances[own])]
    points = apart(joints[own])
    known: list[int] = []
    chosen: list[int] = []
    for i in range(len(own)):
        if len(known) == wanted:
            break
        if all(np.linalg.norm(points[i] - points[j]) >= distinct for j in known):
            known.append(i)
            if not task.succeeds(attempts.distances[own[i]]):
                chosen.append(int(own[i]))
    return chosen


def kept(task: Task, attempts: Attempts, distinct: float, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Successes to learn from, as indices into the attempts, and the number of ways [context] that succeeded.

    Of every context as many as wanted, or none: the best of each way first, then the best others, and where there are
    fewer some of them again.
    """
    chosen, found, joints = [], np.zeros(len(attempts.contexts), int), _joints(task, attempts.weights)
    for context in range(len(attempts.contexts)):
        own = attempts.of(context)
        own = own[task.succeeds(attempts.distances[own])]
        if not len(own):
            continue
        own = own[np.argsort(attempts.distances[own], kind="stable")]
        way = distinct_solutions(joints[own], distinct)
        firsts = np.sort(np.unique(way, return_index=True)[1])
        others = np.setdiff1d(np.arange(len(own)), firsts)
        found[context] = len(firsts)
        chosen.append(own[np.resize(np.concatenate([firsts, others])[:wanted], wanted)])
    return np.concatenate(chosen) if chosen else np.zeros(0, int), found
