"""Plans as a figure, a table and HTML."""

from dataclasses import replace

from matplotlib import pyplot

from planned import PLANAR, planar
from vigor.planning import display
from vigor.planning.plans import Plans
from vigor.planning.violations import Violation

PLANS = planar()


def failing() -> Plans:
    """The same with a first context that fails, and words that look like HTML and like markup."""
    broken = tuple(replace(row, violated=Violation("keep-out", "<b>1</b>", 0.1)) for row in PLANS[0].solutions)
    return replace(PLANS, plans=(replace(PLANS[0], solutions=broken, warning="far [out]"), PLANS[1]))


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


def test_a_table_has_a_row_for_every_solution_and_fits_a_terminal(capsys):
    display.print_table(failing())
    said = capsys.readouterr().out
    assert all(len(line) <= 80 for line in said.splitlines())
    assert "1 of 2 contexts have a solution that holds" in said
    assert "context 1: far [out]" in said
    assert "context 1: no solution holds; of the best" in said.replace("\n", " ")
    rows = [line.split() for line in said.splitlines() if line.startswith("      ")][1:]
    assert [row[:2] for row in rows] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]
    assert [row[-1] for row in rows] == ["no", "no", "yes", "yes"]


def test_a_table_of_many_contexts_has_the_best_solution_of_each(capsys):
    display.print_table(replace(PLANS, plans=PLANS.plans * 2))
    said = capsys.readouterr().out
    rows = [line.split() for line in said.splitlines() if line.startswith("      ")][1:]
    assert [row[:2] for row in rows] == [["1", "1"], ["2", "1"], ["3", "1"], ["4", "1"]]
    assert "4 of 4 contexts have a solution that holds" in said


def test_html_is_escaped():
    page = failing()._repr_html_()
    assert page.count("<tr>") == 3
    assert "&lt;b&gt;1&lt;/b&gt;" in page
    assert "<b>" not in page
    assert replace(PLANS, task="<i>")._repr_html_().count("<i>") == 0


def test_nothing_to_draw_is_an_empty_array():
    assert len(display._movements(PLANAR, ())) == 0
