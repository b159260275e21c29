"""Ghosts: one line from joint to joint for each way, moved as long as there are as many."""

from types import SimpleNamespace

import numpy as np

from vigor.studio.ghosts import Ghosts
from vigor.studio.shared import Trace
from vigor.studio.traces import colour_of, rgb
from vigor.tasks.stage import Picture


class Scene:
    """Keeps what is drawn."""

    def __init__(self):
        self.shown = []

    def add_line_segments(self, name, points, colour, thickness):
        part = SimpleNamespace(points=points, colour=colour, remove=lambda: self.shown.remove(part))
        self.shown.append(part)
        return part


def test_ghosts_are_moved_added_and_removed():
    scene, ways = Scene(), [Trace(np.zeros((2, 3)), colour, "way") for colour in (3, 5)]
    now, later = (Picture(np.arange(12.0).reshape(4, 3) + step, np.zeros(2)) for step in (0, 1))
    ghosts = Ghosts(scene, 1.0)
    ghosts.draw([])
    assert scene.shown == []
    ghosts.draw([(ways[0], now), (ways[1], later)])
    first, second = scene.shown
    assert first.points.shape == second.points.shape == (3, 2, 3)
    assert [part.colour for part in scene.shown] == [rgb(colour_of(way)) for way in ways]
    ghosts.draw([(ways[0], later), (ways[1], later)])
    assert scene.shown == [first, second]
    np.testing.assert_array_equal(first.points, second.points)
    ghosts.draw([])
    assert scene.shown == []
