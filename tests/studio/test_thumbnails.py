"""Thumbnails: small pictures show what the scene shows."""

import numpy as np

from vigor.studio.thumbnails import SIZE, ZOOM, button, corner, flat, picture, row
from vigor.tasks.stage import Mark, View

ABOVE = View((1, 2, 10), (1, 2, 0), (0, 1, 0), 0.8, True, 0.1, 0.16, (0, 0, 0), (1, 1, 1))


def test_what_the_camera_looks_at_is_in_the_middle():
    half = 10 * np.tan(0.4) / ZOOM
    pixels = flat(ABOVE, np.array([[1.0, 2.0, 0.0], [1.0, 2.0 + half, 0.0], [1.0 + half, 2.0, 0.0]]))
    wide, high = SIZE
    np.testing.assert_allclose(
        pixels, [(wide / 2, high / 2), (wide / 2, 0), (wide / 2 + high / 2, high / 2)], atol=1e-9
    )


def test_a_row_of_pictures():
    svg = picture(ABOVE, [Mark("a", np.zeros(3), 0.5)], [np.zeros((100, 3))] * 2)
    assert (svg.count("<circle"), svg.count("<polyline")) == (1, 2)
    shown = row(
        "Shown", [button(svg, "1", "replay 0", corner("x", "red", "delete 0", "delete")), button(svg, "2", "go 1")]
    )
    assert [shown.count(f'data-click="{said}"') for said in ("replay 0", "delete 0", "go 1")] == [1, 1, 1]
    assert row("Shown", []) == ""
