"""Traces: a way that fails is dotted, and what stays the same is not sent again."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from vigor.studio.shared import Trace
from vigor.studio.traces import DOTS, POINTED, WIDTHS, Traces, segments
from vigor.tasks.stage import Block, Body

WAY = Trace(np.linspace(0, 1, 301)[:, None] * np.ones(3), 2, "way", rank=0)


class Scene:
    """Keeps what is drawn."""

    def __init__(self):
        self.drawn, self.removed = [], []

    def add_line_segments(self, name, points, colour, thickness):
        self.drawn.append((name, thickness))
        return SimpleNamespace(remove=lambda: self.removed.append(name))


def test_a_way_that_fails_is_dotted():
    assert len(segments(WAY)) == 300
    slowed = WAY.points * WAY.points  # Dots are as long where a movement is slow.
    dotted = segments(replace(WAY, points=slowed, holds=False))
    gaps = np.linalg.norm(dotted[1:, 0] - dotted[:-1, 1], axis=1)
    long = gaps[gaps > 1e-6]
    assert len(long) == DOTS - 1
    np.testing.assert_allclose(long, np.sqrt(3) / DOTS / 2, atol=0.012)


def test_a_body_is_outlined_where_a_way_leaves_it():
    body = Body((Block((0.4, 0.2, 0.1), (0.0, 0.0, 0.05)),), np.array([1.0, 2.0, np.pi / 2]))
    added = segments(replace(WAY, end=(body,)))[len(segments(WAY)) :]
    np.testing.assert_allclose(added.min(axis=(0, 1)), [0.9, 1.8, 0.1], atol=1e-6)
    np.testing.assert_allclose(added.max(axis=(0, 1)), [1.1, 2.2, 0.1], atol=1e-6)


def test_only_changes_are_sent():
    scene = Scene()
    traces, other = Traces(scene, 2.0), replace(WAY, kind="demonstration", rank=None)
    traces.draw([WAY, other], None)
    traces.draw([WAY, other], 0)
    traces.draw([WAY], 0)
    wide = 2.0 * WIDTHS["way"]
    shown = [("/traces/0", wide), ("/traces/1", 2.0 * WIDTHS["demonstration"]), ("/traces/0", POINTED * wide)]
    assert scene.drawn == shown
    assert scene.removed == ["/traces/1"]
