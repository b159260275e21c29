"""Thumbnails: small pictures show what the scene shows."""

import numpy as np

from vigor.studio.thumbnails import FILLED, SIZE, Drawing, Frame, button, corner, picture, row
from vigor.tasks.stage import Mark, View

ABOVE = View((1, 2, 10), (1, 2, 0), (0, 1, 0), 0.8, True, 0.1, 0.16, (0, 0, 0), (1, 1, 1))


def test_all_that_is_drawn_is_in_the_pictures_and_fills_them():
    path = np.array([[0.0, 0.0, 0.0], [2.0, 1.0, 0.0]])
    moved = path + np.array([1.0, 0.0, 0.0])
    drawings = [Drawing([Mark("a", np.array([2.0, 3.0, 0.0]), 0.5)], [path]), Drawing([], [moved])]
    frame = Frame.around(ABOVE, drawings)
    pixels = frame.pixels(np.array([[0.0, 0.0, 0.0], [3.0, 3.5, 0.0]]))
    wide, high = SIZE
    np.testing.assert_allclose(pixels.mean(axis=0), [wide / 2, high / 2])
    np.testing.assert_allclose(pixels[0, 1] - pixels[1, 1], FILLED * high)  # Up is up.
    assert 0 < pixels[0, 0] < pixels[1, 0] < wide


def test_a_row_of_pictures():
    shown = Drawing([Mark("a", np.zeros(3), 0.5)], [np.zeros((100, 3))] * 2)
    svg = picture(Frame.around(ABOVE, [shown]), shown)
    assert (svg.count("<circle"), svg.count("<polyline")) == (1, 2)
    html = row(
        "Shown", [button(svg, "1", "replay 0", corner("x", "red", "delete 0", "delete")), button(svg, "2", "go 1")]
    )
    assert [html.count(f'data-click="{said}"') for said in ("replay 0", "delete 0", "go 1")] == [1, 1, 1]
    assert row("Shown", []) == ""
