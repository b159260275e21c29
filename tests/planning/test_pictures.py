"""Plans as a figure."""

from dataclasses import replace

from matplotlib import pyplot

from planned import PLANAR, failing, planar
from vigor.planning import pictures

PLANS = planar()


def texts(figure) -> list[str]:
    titles = [ax.get_title(loc) for ax in figure.axes for loc in ("left", "center")]
    keys = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return titles + keys + [text.get_text() for text in figure.findobj(pyplot.Text)]


def test_a_figure_shows_every_context_and_what_fails():
    drawn = texts(failing().plot())
    assert any("context 1: no solution holds" in text for text in drawn)
    assert any(text.endswith("context 2") for text in drawn)
    assert {"solution 1", "solution 2", "keep out"} <= set(drawn)
    assert not pyplot.get_fignums()


def test_a_solution_is_drawn_alone():
    drawn = texts(PLANS[0].solutions[1].plot())
    assert "solution 1" in drawn
    assert "solution 2" not in drawn


def test_a_figure_of_many_contexts_says_how_many_it_shows():
    many = replace(PLANS, plans=PLANS.plans * 10)
    assert any("of 20 contexts shown" in text for text in texts(many.plot()))


def test_nothing_to_draw_is_an_empty_array():
    assert len(pictures._movements(PLANAR, ())) == 0
