"""From recordings to demonstrations: the paper's preprocessing, for what people recorded and what tasks generate."""

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations, check_fits, numbers
from vigor.motion.promp import rollout
from vigor.motion.trajectories import resample
from vigor.tasks.task import Task

REST = 0.01
"""Share of a recording's largest excursion up to which the robot counts as still resting."""
HOLD = 0.15
"""Share of a recording's length for which its last pose is repeated, so that the fit ends there."""
FIT_STEPS = 200
"""Steps that recordings of different lengths are resampled to, to be fitted together."""
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

    The rest before a movement is dropped, and its last pose held for a while, so that the fit ends near the goal.
    report(number, missed): called for each that is not kept, with its number from 0 and how far it is from success.
    """
    if not len(recordings):
        raise UserError("there are no recordings to make demonstrations of; record at least one movement")
    whole = Demonstrations(
        task.name, contexts, context_of, np.zeros((len(recordings), task.promp.weights)), tuple(recordings), source
    )
    check_fits(whole, task)
    moving = [without_rest(recording) for recording in whole.recordings or ()]
    weights = fit(task, moving)
    away = distances(task, weights, whole.contexts[whole.context_of])
    kept = np.flatnonzero(task.succeeds(away))
    if not len(kept):
        raise UserError(
            f"none of the {len(recordings)} recordings solves {task.name} (the best is {away.min():.3g} away); "
            "check units, context indices and the start pose"
        )
    for number in np.setdiff1d(np.arange(len(recordings)), kept):
        report(int(number), float(away[number]) - task.judge.success_distance)
    if len(kept) < len(recordings):
        source = f"{source}, {len(kept)} of {len(recordings)} recordings kept"
    return Demonstrations(
        task.name, whole.contexts, whole.context_of[kept], weights[kept], tuple(moving[i] for i in kept), source
    )


def without_rest(recording: np.ndarray) -> np.ndarray:
    """The recording from its last step at rest on."""
    excursion = np.linalg.norm(recording - recording[0], axis=1)
    return recording[max(int(np.argmax(excursion > REST * excursion.max())) - 1, 0) :]


def fit(task: Task, recordings: Sequence[np.ndarray], hold: float = HOLD) -> np.ndarray:
    """Weights [n, D] of recordings [T, dimensions] whose last poses are held for a share of their length."""
    held = [
        np.pad(recording, ((0, max(1, round(hold * len(recording))) if hold else 0), (0, 0)), "edge")
        for recording in recordings
    ]
    return task.promp.fit(np.stack([resample(recording, FIT_STEPS) for recording in held]))


def distances(task: Task, weights: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """How far each ProMP [n, D] is from solving its context [n, C]: [n]."""
    return task.distances(rollout(task.promp, jnp.asarray(weights)), contexts)


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
    short = next((index for index in range(contexts) if len(found[index]) < per_context), None)
    if short is not None and not (task.source.exact and any(found)):
        raise UserError(
            f"only {len(found[short])} of {per_context} demonstrations of context {np.round(drawn[short], 3).tolist()} "
            "could be generated; take another seed or fewer demonstrations"
        )
    chosen = [pair for pairs in found for pair in pairs]
    return Demonstrations(
        task.name,
        drawn,
        np.repeat(np.arange(contexts), [len(pairs) for pairs in found]),
        np.stack([weights for weights, _ in chosen]),
        tuple(recording for _, recording in chosen),
        f"generated with seed {seed}",
    )


def _generated(task: Task, rng: np.random.Generator, context: np.ndarray, count: int) -> list[np.ndarray]:
    """What the task's generator makes, checked."""
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
