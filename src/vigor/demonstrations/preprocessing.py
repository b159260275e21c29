"""From recordings to demonstrations: the paper's preprocessing, for what people recorded and what tasks generate."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations, check_shapes, checked_contexts, checked_recordings, numbers
from vigor.motion.promp import rollout
from vigor.motion.trajectories import resample
from vigor.tasks.task import Task

REST = 0.01
"""Share of a recording's largest excursion up to which the robot counts as still resting."""
HOLD = 0.15
"""Share of a recording's length for which its last pose is repeated, so that the fit ends there."""
FIT_STEPS = 200
"""Steps that recordings of different lengths are resampled to, to be fitted together."""
REPAIR_STEPS = 30
"""Most steps by which a ProMP is moved to where its recording was."""
BEYOND = 1.2
"""Length of such a step, in units of the one after which the distance seems to vanish."""
ROUNDS = 30
"""Times that a generator is asked again for what still lacks in a context."""


def preprocess(
    task: Task,
    contexts: np.ndarray,
    recordings: Sequence[np.ndarray],
    context_of: np.ndarray,
    source: str,
    report: Callable[[int, float], None] = lambda number, missed: None,
) -> Demonstrations:
    """Fit ProMPs to recordings [T, dimensions] of any lengths, and keep those that succeed when rolled out.

    The rest before a movement is dropped, and its last pose held for a while, so that the fit ends near the goal. The
    ProMP of a recording that succeeds is moved a little if it does not (see `repair`). What a task leaves open is
    decided by the recordings that are kept.
    report(number, missed): called for each that is not kept, with its number from 0 and how far it is from success.
    """
    count = len(recordings)
    if not count:
        raise UserError("there are no recordings to make demonstrations of; record at least one movement")
    contexts, context_of = checked_contexts(contexts, context_of, count)
    moving = [without_rest(recording) for recording in checked_recordings(recordings)]
    check_shapes(task, contexts, moving)
    recorded_in, opened, task = contexts[context_of], task, _settled(task, moving, contexts[np.unique(context_of)])
    weights = fit(task, moving)
    away = np.array(distances(task, weights, recorded_in))
    near = _near_misses(task, moving, recorded_in, away)
    if len(near):
        weights[near], away[near] = repair(task, weights[near], recorded_in[near])
    kept = np.flatnonzero(task.succeeds(away))
    for number in np.setdiff1d(np.arange(count), kept):
        report(int(number), float(away[number]) - task.judge.success_distance)
    if not len(kept):
        raise UserError(
            f"none of the {count} recordings solves {task.name} (the best is {away.min():.3g} away); "
            "check units, context indices and the start pose"
        )
    if len(kept) < count and opened.settle is not None:  # Those that are kept decide, and may decide otherwise.
        left = [recordings[i] for i in kept.tolist()]
        return preprocess(opened, contexts, left, context_of[kept], f"{source}, {len(kept)} of {count} recordings kept")
    repaired = len(np.intersect1d(near, kept))
    if len(kept) < count:
        source = f"{source}, {len(kept)} of {count} recordings kept"
    if repaired:
        source = f"{source}, {repaired} of {count} recordings moved a little to succeed"
    return Demonstrations(task.name, contexts, context_of[kept], weights[kept], tuple(moving[i] for i in kept), source)


def settled(task: Task, demonstrations: Demonstrations) -> Task:
    """The task with all that its demonstrations decide; a task that leaves them nothing to decide is as it was."""
    if task.settle is None:
        return task
    if demonstrations.recordings is None:
        raise UserError(f"recordings decide how {task.name} moves, and these demonstrations hold none")
    return _settled(task, demonstrations.recordings, demonstrations.contexts[demonstrations.demonstrated])


def _settled(task: Task, recordings: Sequence[np.ndarray], contexts: np.ndarray) -> Task:
    if task.settle is None:
        return task
    return task.settle(np.stack([resample(held(recording), FIT_STEPS) for recording in recordings]), contexts)


def _near_misses(task: Task, recordings: Sequence[np.ndarray], contexts: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Numbers of the recordings that solve their contexts [n, C], but whose ProMPs, this far away [n], do not."""
    missed = np.flatnonzero(~task.succeeds(away))
    if task.judge.distance is None or not len(missed):
        return np.zeros(0, int)
    movements = np.stack([resample(recordings[number], task.promp.steps) for number in missed.tolist()])
    return missed[task.succeeds(task.distances(movements, contexts[missed]))]


def without_rest(recording: np.ndarray) -> np.ndarray:
    """The recording from its last step at rest on."""
    excursion = np.linalg.norm(recording - recording[0], axis=1)
    return recording[max(int(np.argmax(excursion > REST * excursion.max())) - 1, 0) :]


def fit(task: Task, recordings: Sequence[np.ndarray], hold: float = HOLD) -> np.ndarray:
    """Weights [n, D] of recordings [T, dimensions] whose last poses are held for a share of their length."""
    return task.promp.fit(np.stack([resample(held(recording, hold), FIT_STEPS) for recording in recordings]))


def held(recording: np.ndarray, hold: float = HOLD) -> np.ndarray:
    """A recording [T, dimensions] whose last pose is held for a share of its length."""
    return np.pad(recording, ((0, max(1, round(hold * len(recording))) if hold else 0), (0, 0)), "edge")


def distances(task: Task, weights: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Distance [n] of each ProMP [n, D] from solving its context [n, C]."""
    return task.distances(rollout(task.promp, weights), contexts)


def repair(task: Task, weights: np.ndarray, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ProMPs [n, D] moved until they solve their contexts [n, C], and their distances [n] from it in the end.

    A ProMP rounds off corners, and so can miss by a little what its recording has hit. Those that miss are moved by
    steps along the gradient of the distance d, each as long as would bring it to zero if it were linear: d / |grad|. A
    task that only a simulation can judge has no gradient, and keeps its least squares.
    """
    weights, away = weights.copy(), distances(task, weights, contexts)
    if task.judge.distance is None:
        return weights, away
    for _ in range(REPAIR_STEPS):
        missed = ~task.succeeds(away)
        if not np.any(missed):
            break
        distance, slope = map(np.asarray, _slopes(task, jnp.asarray(weights), jnp.asarray(contexts)))
        steepness = np.sum(slope**2, axis=1)
        missed &= steepness > 0
        weights[missed] -= (BEYOND * distance[missed] / steepness[missed])[:, None] * slope[missed]
        away = distances(task, weights, contexts)
    return weights, away


@partial(jax.jit, static_argnums=0)
@partial(jax.vmap, in_axes=(None, 0, 0))
def _slopes(task: Task, weights: jax.Array, context: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Distances [n] of ProMPs [n, D] from solving their contexts [n, C], and their gradients [n, D]."""
    judge = task.judge.distance
    assert judge is not None
    return jax.value_and_grad(lambda moved: judge(task.motion(task.promp.rollout(moved), context)))(weights)


def generate(
    task: Task,
    seed: int,
    contexts: int = 12,
    per_context: int = 10,
    spare: int = 60,
    report: Callable[[int, int], None] = lambda done, contexts: None,
) -> Demonstrations:
    """Demonstrations of the task's own generator, all successful, and spare contexts without any.

    report(done, contexts): called before the first context and after each.
    """
    if task.source.generate is None:
        raise UserError(f"{task.name} has no generator of demonstrations; give some with --demos")
    if not 0 <= seed < 2**32 or contexts < 1 or per_context < 1 or spare < 0:
        raise UserError("seed must be from 0 to 2**32 - 1, contexts and demonstrations per context at least 1")
    if contexts * per_context > 10**6 or spare > 10**6:
        raise UserError("at most a million demonstrations and spare contexts can be generated")
    drawn = np.asarray(task.sample_contexts(np.random.default_rng(seed), contexts + spare), float)
    # Every context has random numbers of its own, so that one hard context changes no other.
    randomness = [np.random.default_rng([seed, index]) for index in range(contexts)]
    found: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in range(contexts)]
    report(0, contexts)
    for round_ in range(1 if task.source.exact else ROUNDS):
        moving: list[np.ndarray] = []
        context_of: list[int] = []
        for index in range(contexts):
            lacking = per_context - len(found[index])
            fresh = _generated(task, randomness[index], drawn[index], lacking) if lacking else []
            moving += [item if task.source.exact else without_rest(item) for item in fresh[:lacking]]
            context_of += [index] * len(fresh[:lacking])
            if round_ == 0:
                report(index + 1, contexts)
        if not moving:
            break
        weights = fit(task, moving, 0.0 if task.source.exact else HOLD)
        for i in np.flatnonzero(task.succeeds(distances(task, weights, drawn[context_of]))):
            found[context_of[i]].append((weights[i], moving[i]))
    _check_found(task, drawn, found, per_context)
    chosen = [pair for pairs in found for pair in pairs]
    return Demonstrations(
        task.name,
        drawn,
        np.repeat(np.arange(contexts), [len(pairs) for pairs in found]),
        np.stack([weights for weights, _ in chosen]),
        tuple(recording for _, recording in chosen),
        f"generated with seed {seed}",
    )


def _check_found(task: Task, drawn: np.ndarray, found: list[list[Any]], per_context: int) -> None:
    """Refuse contexts with fewer demonstrations than asked for, unless a search gives what it finds."""
    short = next((index for index, pairs in enumerate(found) if len(pairs) < per_context), None)
    if short is not None and not (task.source.exact and any(found)):
        raise UserError(
            f"only {len(found[short])} of {per_context} demonstrations of context {np.round(drawn[short], 3).tolist()} "
            "could be generated; take another seed or fewer demonstrations"
        )


def _generated(task: Task, rng: np.random.Generator, context: np.ndarray, count: int) -> list[np.ndarray]:
    """Recordings of the task's generator, checked."""
    assert task.source.generate is not None
    try:
        recordings = [numbers(item, 2, "a recording") for item in task.source.generate(rng, context, count)]
    except UserError as error:
        raise UserError(f"generate of {task.name}: {error}") from None
    except Exception as error:
        raise UserError(f"generate of {task.name} fails: {type(error).__name__}: {error}") from None
    if any(item.shape[1] != task.promp.dimensions or len(item) < 2 for item in recordings):
        raise UserError(
            f"generate of {task.name} must make recordings [T, {task.promp.dimensions}] of at least 2 steps"
        )
    return recordings
