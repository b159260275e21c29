"""Suggestions: contexts of the task, different ones, where success is missing."""

import numpy as np
import pytest

import vigor
from vigor.basics.errors import UserError
from vigor.planning import suggestions


def test_suggestions_are_contexts_apart_from_those_known(trained):
    run = vigor.load(trained)
    found = run.suggest(3)
    assert len({item.context for item in found}) == 3
    drawn = run.task.sample_contexts(np.random.default_rng(0), suggestions.CANDIDATES)
    for item in found:
        assert np.min(np.abs(drawn - item.context).max(axis=1)) < 1e-9
        assert item.away > 0
        assert 0 <= item.predicted <= 1
        assert f"{item.predicted:.2f}" in item.reason


@pytest.mark.parametrize("seed", [-1, 2**32, 10**30])
def test_the_seed_is_checked(trained, seed):
    with pytest.raises(UserError, match="the seed must be from 0 to"):
        vigor.load(trained).suggest(seed=seed)


def test_how_many_is_checked(trained):
    with pytest.raises(UserError, match="from 1 to 128 contexts can be suggested, not 0"):
        vigor.load(trained).suggest(0)
