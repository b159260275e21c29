"""Problems: the demonstrations that a split has chosen, and batches of runs."""

import jax
import numpy as np

from helpers import assert_same, member
from two_targets import CONTEXTS, TASK, TRAINING, demonstrations, describe, problem, rollout
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.splits import Split
from vigor.learning import problem as problems


def test_a_problem_holds_the_chosen_demonstrations():
    rng = np.random.default_rng(0)
    contexts = TASK.sample_contexts(rng, CONTEXTS)
    weights, _ = demonstrations(rng, contexts[:TRAINING], 4)
    known = Demonstrations(TASK.name, contexts, np.repeat(np.arange(TRAINING), 4), weights, None, "a test")
    split = Split(
        train=np.array([2, 0]),
        train_contexts=contexts[[2, 0]],
        test_contexts=contexts[3:],
        demonstrations=np.array([[9, 8], [0, 3]]),
    )
    made = problems.problem(TASK, known, split, seed=5)
    np.testing.assert_allclose(made.contexts, contexts[[2, 0, 3, 4]], rtol=1e-6)
    chosen = weights[[9, 8, 0, 3]]
    np.testing.assert_allclose(made.starts.weights, chosen, rtol=1e-6)
    np.testing.assert_allclose(made.trajectories, rollout(chosen), atol=1e-5)
    np.testing.assert_allclose(
        made.demonstrations, describe(chosen, contexts[[2, 2, 0, 0]].astype(np.float32)), atol=1e-5
    )
    np.testing.assert_array_equal(jax.random.key_data(made.key), jax.random.key_data(jax.random.key(5)))


def test_a_batch_is_its_runs():
    runs = [problem(), problem()._replace(trajectories=2 * problem().trajectories)]
    together = problems.batch(runs)
    for number, run in enumerate(runs):
        found = member(together, number)
        assert_same(found._replace(key=0), run._replace(key=0), rtol=0)
        np.testing.assert_array_equal(jax.random.key_data(found.key), jax.random.key_data(run.key))
