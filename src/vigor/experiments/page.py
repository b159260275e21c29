"""What a benchmark leaves to look at: figures, `results.csv`, `table.md`, and `report.html` with everything in it."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from vigor.basics import files
from vigor.basics.errors import UserError
from vigor.experiments import charts, tables
from vigor.experiments.statistics import interval_words
from vigor.experiments.store import Row, Store
from vigor.experiments.tables import Group
from vigor.reports import figures
from vigor.reports.page import PAGE, percent, picture, rate_cells, section, table

SORTABLE = """<style>
main { max-width: 1320px; }
th, td { white-space: nowrap; }
th { cursor: pointer; user-select: none; }
th::after { content: " \\2195"; color: var(--line); }
</style>
<script>
const number = cell => {
  const text = cell.textContent.trim(), value = parseFloat(text);
  return isNaN(value) ? text : value;
};
document.querySelectorAll("th").forEach(head => head.onclick = () => {
  const column = head.cellIndex, body = head.closest("table").tBodies[0], up = head.dataset.up !== "1";
  head.dataset.up = up ? "1" : "0";
  const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
  [...body.rows].sort((a, b) => (up ? 1 : -1) * order(number(a.cells[column]), number(b.cells[column])))
    .forEach(row => body.append(row));
});
</script>
"""
"""A click on a column's head sorts its table."""
MERITS: dict[tuple[tables.Figure, str], str] = {
    ("success", "test"): "Success of the best component, test contexts",
    ("distance", "test"): "Distance of the best component, test contexts",
    ("distance", "train"): "Distance of the best component, training contexts",
}


def write_report(folder: Path) -> Path:
    """Draw the figures of a benchmark and write its tables and its report; returns the report's path."""
    store = Store(folder)
    rows, failures = store.rows(), store.failures()
    if not rows and not failures:
        raise UserError(f"the benchmark in {folder} has no results yet; start it again with the same command")
    found = tables.groups(rows)
    store.write_table()
    files.write_text(folder / "table.md", tables.markdown(found))
    body = [_overview(found), *_by_task(folder, found), *_contexts(folder, found), *_ablations(folder, found)]
    body += [_failed(failures), _cells(rows), SORTABLE]
    page = PAGE.substitute(title="Benchmark", facts=_facts(rows, failures), body="\n".join(body))
    files.write_text(folder / "report.html", page)
    return folder / "report.html"


def _facts(rows: Sequence[Row], failures: Sequence[Row]) -> str:
    """What was run, when and where."""

    def listed(name: str) -> str:
        return escape("; ".join(value for value, _ in Counter(row[name] for row in rows).most_common()))

    facts = [f"<b>{len(rows)}</b> cells", f"<b>{len(failures)}</b> failed"]
    if rows:
        dates = sorted(row["date"] for row in rows)
        first, last = (escape(date[:16].replace("T", " ")) for date in (dates[0], dates[-1]))
        facts += [f"from <b>{first}</b> to <b>{last}</b>", f"device <b>{listed('device')}</b>"]
        facts += [f"machine <b>{listed('machine')}</b>", f"version <b>{listed('version')}</b>"]
    return " · ".join(facts)


def _overview(found: Sequence[Group]) -> str:
    """All methods with their usual settings."""
    head = ["task", "method", "seeds", "success", "paper", "mixture", "components, ranked (%)", "distance", "paper"]
    head += ["working", "distinct", "seconds"]
    rows = []
    for name, group in tables.titled(found):
        theirs, far = group.paper("success"), group.paper("distance")
        rows.append(
            [
                escape(name),
                escape(group.name),
                str(len(group.rows)),
                f"<b>{percent(group.summary('success').mean)}</b>",
                percent(theirs.mean if theirs else None),
                percent(group.summary("mixture").mean),
                rate_cells(group.ranked.tolist()),
                f"<b>{group.summary('distance').mean:.4f}</b>",
                f"{far.mean:.4f}" if far else "&ndash;",
                f"{group.versatility('working_components'):.2f}",
                f"{group.versatility('distinct_solutions'):.2f}",
                f"{group.seconds:.1f}",
            ]
        )
    note = (
        "Test contexts, means over seeds. Success and distance are of the best component, chosen with ground truth, as "
        "in the paper; the mixture's success is what a plan gives without it. Working: components that succeed in at "
        "least half their samples; distinct: different solutions among them; seconds: a seed's share of the time that "
        "the seeds trained together took, on whatever device each ran. Settings are the project's defaults, not the "
        "paper's; the box pusher has other contexts, demonstrations and simulation than the paper's. Shortened runs "
        "(quick) only show that everything works. Click on a column to sort by it."
    )
    return section("Ours and the paper's", f"{table(head, rows)}<p class='facts'>{note}</p>") if rows else ""


def _by_task(folder: Path, found: Sequence[Group]) -> list[str]:
    """Box plots and statistics of each task."""
    parts = []
    for title, groups in tables.usual(found).items():
        path = folder / "figures" / f"{_file(title)}.png"
        figures.save(charts.compared(groups), path)
        sources = escape("; ".join(sorted({group.demonstrations for group in groups})))
        body = f"<p class='facts'>Demonstrations: {sources}.</p>"
        body += picture(path, "Methods over seeds, as in the paper's Figures 3, 4, 8 and 12.")
        for (figure, split), name in MERITS.items():
            if split == "test" or any(group.paper(figure, split) for group in groups):
                body += f"<h3>{name}</h3>{_statistics(groups, figure, split)}"
        parts.append(section(escape(title), body))
    return parts


def _statistics(groups: Sequence[Group], figure: tables.Figure, split: str) -> str:
    head = [
        "method",
        "seeds",
        "mean",
        "95% interval",
        "paper's mean",
        "median",
        "paper's",
        "quartiles",
        "paper's",
        "IQM",
    ]
    digits = 3 if figure == "success" else 4
    rows = []
    for group in groups:
        ours, theirs = group.summary(figure, split), group.paper(figure, split)
        rows.append(
            [
                escape(group.name),
                str(ours.seeds),
                f"<b>{ours.mean:.{digits}f}</b>",
                interval_words(ours.interval, digits),
                f"{theirs.mean:.{digits}f}" if theirs else "&ndash;",
                f"{ours.median:.{digits}f}",
                f"{theirs.median:.{digits}f}" if theirs else "&ndash;",
                f"{ours.q1:.{digits}f}, {ours.q3:.{digits}f}",
                f"{theirs.q1:.{digits}f}, {theirs.q3:.{digits}f}" if theirs else "&ndash;",
                f"{ours.interquartile_mean:.{digits}f}",
            ]
        )
    return table(head, rows)


def _contexts(folder: Path, found: Sequence[Group]) -> list[str]:
    """Curves over the number of training contexts, where the usual methods have been run with others."""
    parts = []
    for title, groups in tables.usual(found).items():
        curves = [group for group in groups if len(tables.ablation(found, group, "train_contexts")) > 1]
        if groups[0].task == "box-pusher" and curves:
            path = folder / "figures" / f"{_file(title)}_contexts.png"
            figures.save(charts.over_contexts(found, curves), path)
            parts.append(
                section(f"Training contexts, {escape(title)}", picture(path, "As in the paper's Figure 4, right."))
            )
    return parts


def _ablations(folder: Path, found: Sequence[Group]) -> list[str]:
    """Bars of every method with ablations, and what became of the paper's findings."""
    parts = []
    for title, reference in tables.titled(found):
        settings = [name for name in _varied(found) if len(tables.ablation(found, reference, name)) > 1]
        if settings and reference.task != "box-pusher":
            path = folder / "figures" / f"{_file(title)}_{reference.method}_ablations.png"
            figures.save(charts.bars(found, reference, settings), path)
            body = picture(path, "As in the paper's Figures 13 to 16.") + _ablation_table(found, reference, settings)
            parts.append(section(f"Ablations of {escape(reference.name)}, {escape(title)}", body))
    checked = tables.findings(found)
    if checked:
        head = ["task", "the paper finds", "of", "better", "worse", "95% interval", "here"]
        rows = (
            [
                escape(tables.title(found, one.reference)),
                escape(one.finding.words),
                one.components,
                percent(one.better),
                percent(one.worse),
                "-" if one.interval is None else "{:+.1f} to {:+.1f}%".format(*(100 * end for end in one.interval)),
                f"<b>{one.verdict}</b>",
            ]
            for one in checked
        )
        note = (
            "Success on test contexts, of the best component as in the paper, and of all; the interval is of the "
            "difference, paired by seed (with another number of training contexts a seed has other test contexts too)."
        )
        parts.append(section("The paper's findings", f"{table(head, rows)}<p class='facts'>{note}</p>"))
    return parts


def _varied(found: Sequence[Group]) -> list[str]:
    """Settings that were changed, in the order of the suite."""
    from vigor.experiments.suites import ABLATIONS

    order = [name for settings in ABLATIONS.values() for name in settings]
    return sorted({group.varied for group in found if group.varied}, key=order.index)


def _ablation_table(found: Sequence[Group], reference: Group, settings: Sequence[str]) -> str:
    head = ["setting", "value", "seeds", "success", "95% interval", "mixture", "components, ranked (%)", "distance"]
    rows = []
    for name in settings:
        for group in tables.ablation(found, reference, name):
            success = group.summary("success")
            rows.append(
                [
                    tables.plain(name),
                    escape(tables.word(group.setting(name))) + (" (usual)" if group is reference else ""),
                    str(success.seeds),
                    f"<b>{percent(success.mean)}</b>",
                    interval_words(success.interval, 3),
                    percent(group.summary("mixture").mean),
                    rate_cells(group.ranked.tolist()),
                    f"{group.summary('distance').mean:.4f}",
                ]
            )
    return table(head, rows)


def _failed(failures: Sequence[Row]) -> str:
    if not failures:
        return ""
    head = ["task", "method", "setting", "seed", "error"]
    rows = ([*_labels(row), f"<code>{escape(row['error'])}</code>"] for row in failures)
    note = "They are run again when the benchmark is started again."
    return section("Failed cells", f"{table(head, rows)}<p class='facts'>{note}</p>")


def _labels(row: Row) -> list[str]:
    group = Group((row,))
    value = f"{tables.plain(group.varied)} {tables.word(group.setting(group.varied))}" if group.varied else "usual"
    return [
        *map(escape, (group.task, group.name, value + (", quick" if group.quick else ""))),
        str(group.setup["seed"]),
    ]


def _cells(rows: Sequence[Row]) -> str:
    head = [
        "task",
        "method",
        "setting",
        "seed",
        "success",
        "mixture",
        "distance",
        "seconds",
        "together",
        "date",
        "cell",
    ]
    lines = (
        [
            *_labels(row),
            percent(row["test"]["success_best"]),
            percent(row["test"]["success_mixture"]),
            f"{row['test']['distance_best']:.4f}",
            f"{row['seconds']:.1f}",
            str(row["together"]),
            escape(row["date"]),
            f"<code>{escape(row['id'])}</code>",
        ]
        for row in rows
    )
    what = f"All {len(rows)} cells; their full configuration is in results.csv and cells/"
    return f"<section><details><summary>{what}</summary>{table(head, lines)}</details></section>"


def _file(task: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in task)
