"""Plans as a table and HTML."""

from dataclasses import replace

from planned import failing, planar
from vigor.planning import display

PLANS = planar()


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
