"""Units of joints: what is converted comes back, and percent are of a range."""

import numpy as np
import pytest

from vigor.basics.errors import UserError
from vigor.motion import units

LIMITS = ((-1.0, 3.0), (0.0, 2.0))


@pytest.mark.parametrize("unit", ["rad", "deg", "percent"])
def test_what_is_converted_comes_back(unit):
    values = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(units.to_radians(units.from_radians(values, unit, LIMITS), unit, LIMITS), values)


def test_units_are_what_they_are():
    np.testing.assert_allclose(units.to_radians(np.array([[180.0, -90.0]]), "deg"), [[np.pi, -np.pi / 2]])
    np.testing.assert_allclose(
        units.to_radians(np.array([[-100.0, 100.0], [0.0, 50.0]]), "percent", LIMITS), [[-1, 2], [1, 1.5]]
    )


@pytest.mark.parametrize("limits", [(), ((-np.inf, np.inf), (0.0, 1.0))])
def test_percent_needs_limits(limits):
    for convert in (units.to_radians, units.from_radians):
        with pytest.raises(UserError, match="percent needs joints that have limits"):
            convert(np.zeros((1, 2)), "percent", limits)
