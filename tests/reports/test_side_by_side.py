import numpy as np
from matplotlib.colors import to_hex

from helpers import POINT
from vigor.basics.colours import PALETTE, QUIET
from vigor.demonstrations.repertoire import Repertoire
from vigor.evaluation.policies import Policies
from vigor.learning.mixture import Mixture
from vigor.reports import side_by_side


def test_a_way_has_one_colour_on_both_sides():
    """Two ways were demonstrated, one of them was learned, and another that nobody has shown."""
    ends = np.array([[1.0, 1.0], [1.05, 1.0], [-3.0, 1.0], [9.0, 9.0]])
    line = np.linspace(0, 1, POINT.promp.steps)[None, :, None] * ends[:, None]
    movements = line[:3]
    known = Repertoire(
        movements,
        contexts=np.ones((3, 2)),
        shown=np.zeros(3, bool),
        way=np.array([0, 0, 1]),
        names=("way 1", "way 2"),
        distinct=0.5,
    )
    means = np.asarray(POINT.promp.fit(line[[0, 3]]), np.float32)[None]
    roots = np.broadcast_to(1e-4 * np.eye(means.shape[-1], dtype=np.float32), (1, 2, means.shape[-1], means.shape[-1]))
    weights = np.log(np.full((1, 2), 0.5, np.float32))
    made = side_by_side.figure(POINT, known, Policies(np.ones((1, 2)), 0, Mixture(weights, means, roots)), [0])
    left, right = made.axes
    assert {to_hex(item.get_color()).upper() for item in left.lines} == {PALETTE[0], PALETTE[1]}
    assert {to_hex(item.get_color()).upper() for item in right.lines} == {PALETTE[0]}, "the other one fails"
    assert left.get_title("left") == "3 demonstrations, never learned from"
    assert right.get_title("left").startswith("60 movements drawn, ")
    assert QUIET not in {item.get_color() for item in right.lines}
