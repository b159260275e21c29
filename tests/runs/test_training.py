"""The one training loop: all steps are done, from wherever it begins, on whatever device."""

from dataclasses import replace
from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

from helpers import POINT, SPLIT, assert_same
from pretended import NAME, PretendedSettings, pretended
from vigor.demonstrations.dataset import Demonstrations
from vigor.runs.methods import METHODS
from vigor.runs.setup import Setup, prepare
from vigor.runs.training import EVERY, Training


@pytest.fixture(autouse=True)
def calls():
    with pretended() as calls:
        yield calls


@cache
def demonstrations() -> Demonstrations:
    return Demonstrations.generate(POINT, contexts=3, per_context=3)


def training_of(seeds=(0,), iterations=12) -> Training:
    setup = Setup("point", method=NAME, settings=PretendedSettings(iterations), **SPLIT)
    return Training([prepare(replace(setup, seed=seed), POINT, demonstrations()) for seed in seeds])


@pytest.mark.parametrize("iterations", [1, EVERY - 1, EVERY, EVERY + 1, 3 * EVERY + 7])
def test_all_steps_are_done(calls, iterations):
    training = training_of(iterations=iterations)
    assert training.steps == iterations
    seen = [done for done, _, _ in training.advance(training.start())]
    assert seen[-1] == sum(calls.steps) == iterations
    assert calls.steps == [1] * iterations, "on a CPU one after the other"
    assert calls.prepared == 1


def test_a_method_that_does_fewer_steps_than_asked_for_is_asked_again():
    slow = METHODS[NAME]
    halves = iter([0, 1] * 24)

    def advance(task, settings, data, states, count):
        return slow.advance(task, settings, data, states, next(halves))

    METHODS[NAME] = replace(slow, advance=advance)
    training = training_of()
    *_, (done, states, _) = training.advance(training.start())
    assert done == int(states.iteration[0]) == training.steps


def test_it_goes_on_from_any_state():
    training = training_of()
    every = list(training.advance(training.start()))
    for done, states, _ in (every[0], every[EVERY - 1], every[EVERY]):
        rest = list(training.advance(states))
        assert [step for step, _, _ in rest] == [*range(done + 1, training.steps + 1)]
        assert_same(rest[-1][1], every[-1][1])
    assert not list(training.advance(every[-1][1]))


def test_a_run_whose_promise_has_stalled_keeps_its_state_while_others_go_on():
    """The first run rises up to step 20, the second up to step 40."""

    def promise(task, settings, data, states):
        return jnp.minimum(jnp.max(states.iteration), jnp.array([20, 40])) * 0.1

    METHODS[NAME] = replace(METHODS[NAME], promise=promise)
    setup = Setup("point", method=NAME, settings=PretendedSettings(100, stall=20), **SPLIT)
    training = Training([prepare(replace(setup, seed=seed), POINT, demonstrations()) for seed in (0, 1)])
    *_, (done, states, _) = training.advance(training.start())
    assert done == 60
    assert states.iteration.tolist() == [40, 60]
    assert training.stalled() == [True, True]
    assert "hardly risen in the last 20" in training.why_stopped()
    assert not list(training.advance(states)), "it has ended, also for a run that is resumed"


def test_a_run_that_never_stops_by_itself_does_all_its_steps():
    METHODS[NAME] = replace(METHODS[NAME], promise=lambda *given: jnp.zeros(1))
    training = training_of(iterations=50)
    assert [done for done, _, _ in training.advance(training.start())][-1] == 50
    assert training.why_stopped() == "all iterations are done"


def test_every_run_of_a_batch_has_its_own_policies():
    training = training_of(seeds=(0, 1, 2))
    states = training.start()
    numbers = jnp.broadcast_to(jnp.arange(3.0)[:, None, None, None], states.mixtures.means.shape)
    states = states._replace(mixtures=states.mixtures._replace(means=numbers))
    found = training.policies(states)
    for number, (learned, prepared) in enumerate(zip(found, training.prepared, strict=True)):
        split = prepared.split
        np.testing.assert_array_equal(learned.contexts, [*split.train_contexts, *split.test_contexts])
        assert learned.training == 2
        np.testing.assert_array_equal(learned.mixtures.means, np.full((4, 2, POINT.promp.weights), number))


def test_policies_are_compared_with_demonstrations_that_are_held_out():
    shown = demonstrations()
    setup = Setup("point", method=NAME, settings=PretendedSettings(12), **SPLIT)
    (left,) = set(shown.demonstrated.tolist()) - set(prepare(setup, POINT, shown).split.train.tolist())
    test = (tuple(shown.contexts[left].tolist()), (9.0, 9.0))
    training = Training([prepare(replace(setup, test_contexts=test), POINT, shown)])
    (judged,) = training.evaluate(training.start())
    assert "resemblance" not in judged.train, "all demonstrations of training contexts are learned from"
    assert judged.test["resemblance"]["contexts"] == 1
    assert ["resemblance" in context for context in judged.test["contexts"]] == [True, False]
    assert sum(judged.test["contexts"][0]["resemblance"]["demonstrations"]) == pytest.approx(1)
