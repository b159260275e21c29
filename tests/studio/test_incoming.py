"""Values from a page: what is no number or place is left out, the rest kept within bounds."""

import numpy as np
import pytest

from vigor.studio import incoming


@pytest.mark.parametrize(
    "junk", [None, "x", [1, 2], [1, 2, "a"], [1, 2, np.nan], [1, 2, np.inf], [[1, 2, 3]], {}, 10**400]
)
def test_what_is_no_place_is_left_out(junk):
    assert incoming.place(junk) is None


def test_values_are_drawn_between_their_bounds():
    np.testing.assert_array_equal(incoming.vector([-1e300, 0.5, 1e300], (0, 0, 0), (1, 1, 1)), [0, 0.5, 1])
    assert incoming.whole(1e300, 10, 20) == 20
    assert incoming.whole(-3, 10, 20) == 10
    assert [incoming.whole(junk, 0, 9) for junk in (None, "7", np.nan, np.inf, True, [1])] == [None] * 6
