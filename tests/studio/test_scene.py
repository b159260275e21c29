"""The scene: links point from joint to joint."""

import numpy as np
import pytest
from viser.transforms import SO3

from vigor.studio.scene import about_upright, turn_to


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (-3, 4, 0), (0.1, -2, 0.5), (0, 1e-9, -1)])
def test_the_upright_axis_is_turned_into_a_direction(direction):
    turned = SO3(turn_to(np.array(direction, float))).apply(np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(turned, np.array(direction) / np.linalg.norm(direction), atol=1e-6)


def test_a_turn_about_the_upright_axis():
    np.testing.assert_allclose(SO3(about_upright(0.3)).apply(np.array([1.0, 0.0, 2.0])), [np.cos(0.3), np.sin(0.3), 2])
