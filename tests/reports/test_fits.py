"""Recordings against their fits: a panel for every dimension, and what stands out in a colour of its own."""

import numpy as np
import pytest

from helpers import POINT, movement
from recorded import GRIPPING, POINTED
from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.preprocessing import fit
from vigor.reports import fits


def some(task, recordings) -> Demonstrations:
    weights = fit(task, recordings)
    return Demonstrations(task.name, np.eye(2), np.zeros(len(recordings), int), weights, tuple(recordings), "test")


def test_every_dimension_has_a_panel_with_all_recordings_and_fits():
    recordings = [movement((1.0, y)) for y in np.linspace(-0.02, 0.02, 6)]
    for task, names in ((POINT, ["dimension 1", "dimension 2"]), (POINTED, ["x", "y"]), (GRIPPING, ["x", "claw"])):
        figure = fits.figure(task, some(task, recordings))
        assert [ax.get_title(loc="left") for ax in figure.axes] == names
        for number, ax in enumerate(figure.axes):
            usual, apart, grey = (collection.get_segments() for collection in ax.collections)
            assert (len(usual), len(apart), len(grey)) == (6, 0, 6)
            low, high = ax.get_ylim()
            drawn = np.concatenate(grey)[:, 1]
            assert low <= drawn.min() <= drawn.max() <= high
            np.testing.assert_allclose(drawn.max(), np.max([item[:, number].max() for item in recordings]), atol=1e-9)


def test_what_stands_out_is_marked():
    figure = fits.figure(POINT, some(POINT, [movement((1.0, 0.0))] * 6 + [movement((1.0, 2.0))]))
    assert [len(collection.get_segments()) for collection in figure.axes[0].collections] == [6, 1, 7]


def test_without_recordings_there_is_nothing_to_draw():
    without = Demonstrations("point", np.eye(2), [0], fit(POINT, [movement((1.0, 0.0))]), None, "published")
    with pytest.raises(UserError, match="hold no recordings to draw"):
        fits.figure(POINT, without)
