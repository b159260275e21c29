"""Splits: the contexts and demonstrations that a run learns from, and the contexts it is tested on."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations, check_size, numbers
from vigor.tasks.task import Task

MOST = 30
"""Most contexts that are learned from unless more are asked for: each takes its time."""
MANY = 10**6
"""Most test contexts."""


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test contexts of a run, and the demonstrations it sees."""

    train: np.ndarray
    """[c]: training contexts, as indices into the set's contexts."""
    train_contexts: np.ndarray
    """[c, C]: their values."""
    test_contexts: np.ndarray
    """[t, C]"""
    demonstrations: np.ndarray
    """[c, per context]: demonstrations of each training context, as indices into the set's demonstrations."""


def largest(demonstrations: Demonstrations) -> tuple[int, int]:
    """Numbers of contexts and of demonstrations of each with which most demonstrations are learned from."""
    counts = np.unique(demonstrations.context_of, return_counts=True)[1]
    return max(
        ((int(np.sum(counts >= each)), int(each)) for each in np.unique(counts)), key=lambda pair: pair[0] * pair[1]
    )


def suited(
    demonstrations: Demonstrations, contexts: int, each: int, say: Callable[[str], None] = lambda sentence: None
) -> tuple[int, int]:
    """So many contexts with so many demonstrations of each, or as the set has them if it has fewer, which is said.

    Recordings that nobody planned for a run often have a context of their own.
    """
    counts = np.unique(demonstrations.context_of, return_counts=True)[1]
    if np.sum(counts >= each) >= contexts:
        return contexts, each
    most, each = largest(demonstrations)
    contexts = min(most, MOST)
    say(f"{contexts} contexts with {each} of their demonstrations are learned from, as the recordings have them")
    return contexts, each


def draw(
    demonstrations: Demonstrations,
    task: Task,
    seed: int,
    train_contexts: int,
    test_contexts: int | np.ndarray,
    per_context: int,
) -> Split:
    """Draw training contexts, demonstrations of each, and test contexts; the same for the same seed.

    Training contexts are drawn among those with enough demonstrations. Test contexts are those given, or are drawn
    among all other contexts of the set, and from the task's distribution once these are used up. Both are drawn evenly
    from the task's groups of contexts, if it has any.
    """
    if not 0 <= seed < 2**32 or train_contexts < 1 or per_context < 1:
        raise UserError(
            "a run needs a seed from 0 to 2**32 - 1, at least 1 training context and 1 demonstration per context"
        )
    rng = np.random.default_rng(seed)
    indices, counts = np.unique(demonstrations.context_of, return_counts=True)
    enough = indices[counts >= per_context]
    if len(enough) < train_contexts:
        most, each = largest(demonstrations)
        raise UserError(
            f"{train_contexts} training contexts with {per_context} demonstrations each were asked for, but only "
            f"{len(enough)} have that many, and {most} have {each} or more: try --train-contexts {most} "
            f"--demos-per-context {each}"
        )
    train = _in_turn(task, demonstrations.contexts, rng.permutation(enough))[:train_contexts]
    chosen = np.stack([rng.permutation(demonstrations.of(context))[:per_context] for context in train])
    if isinstance(test_contexts, np.ndarray):
        test = numbers(test_contexts, 2, "the test contexts")
        if test.shape[1] != task.context_dimension:
            raise UserError(
                f"the test contexts have {test.shape[1]} numbers each where {task.name} has {task.context_dimension}: "
                f"{', '.join(task.context_names)}"
            )
        check_size(test, "the test contexts")
    else:
        if not 0 <= test_contexts <= MANY:
            raise UserError(f"the number of test contexts must not be negative, nor above {MANY:,}")
        others = np.setdiff1d(np.arange(len(demonstrations.contexts)), train)
        others = _in_turn(task, demonstrations.contexts, rng.permutation(others))
        test = demonstrations.contexts[others[:test_contexts]]
        if len(test) < test_contexts:
            test = np.concatenate([test, task.sample_contexts(rng, test_contexts - len(test))])
    return Split(train, demonstrations.contexts[train], test, chosen)


def _in_turn(task: Task, contexts: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Indices into contexts [m, C], reordered so that they come in turn from the task's groups."""
    if task.source.group is None or not len(indices):
        return indices
    groups = task.source.group(contexts[indices])
    place = np.zeros(len(indices), int)
    for group in np.unique(groups):
        place[groups == group] = np.arange(np.sum(groups == group))
    return indices[np.argsort(place, kind="stable")]
