"""A plan as a page to turn: it holds the robot, its paths and what is around it, and needs no network."""

import base64
import re

import numpy as np
import pytest

import vigor
from vigor.motion.shapes import Box, Sphere
from vigor.reports.viewer import Movement, Scene

turntable = pytest.importorskip("vigor.studio.turntable")
zstandard = pytest.importorskip("zstandard")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> bytes:
    """Messages that viser's page plays, of two solutions and a demonstration of the planar reacher."""
    path = tmp_path_factory.mktemp("page") / "plan.html"
    task = vigor.load_task("planar-reacher")
    ways = [np.linspace(np.zeros(5), side * np.full(5, 0.5), 20) for side in (-1, 1, 0.5)]
    names = ("solutions/1", "solutions/2", "demonstrations/1")
    moved = tuple(Movement(name, way, "#0072B2") for name, way in zip(names, ways, strict=True))
    around = (Sphere((3.0, -2.0), 0.25), Box((1.0, 1.0), (2.0, 2.0)))
    turntable.write(path, task, Scene(np.array([0.5, 2.2, 0.3, -2.8]), moved, around))
    page = path.read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="https?:', page)
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', page)[1])
    return zstandard.ZstdDecompressor().decompress(data[8:], max_output_size=int.from_bytes(data[:8], "little"))


def test_everything_is_there(recorded):
    for name in ("/robot/link4", "/robot/tool", "/targets/1", "/keep out/0", "/keep out/1", "/demonstrations/1"):
        assert name.encode() in recorded


def test_the_robot_makes_the_solutions_alone(recorded):
    """A movement of 3 s has as many pictures as it should; what was demonstrated is not played."""
    seconds = vigor.load_task("planar-reacher").arm.seconds
    pictures = recorded.count(b"/robot/tool")
    assert 2 * 0.8 * turntable.FRAMES * seconds < pictures < 2 * 1.3 * turntable.FRAMES * seconds
