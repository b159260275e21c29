"""The report of a run: one HTML file that opens anywhere, without a network."""

import base64
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from vigor.basics import files
from vigor.basics.errors import UserError

FIGURES = {
    "traces_test.png": "Movements in test contexts, which have no demonstrations.",
    "traces_train.png": "Movements in training contexts; their demonstrations are grey.",
    "distances_test.png": "Distance to the targets in test contexts; demonstrations of all training contexts are grey.",
    "planned_and_executed.png": "What the components plan in the test context that goes best, and what the rod does.",
    "final_states.png": "Where the box ends with the best component of each test context; the goal is green.",
    "learning_curves.png": "Success, distance and versatility over the iterations.",
}
"""Figures of a run in the order of the report, with their captions."""
SPLITS = {"test": "test contexts", "train": "training contexts"}
FACTS = ("date", "seed", "demos", "iterations", "seconds", "device", "version")
VERSATILITY = ("distinct_solutions", "working_components", "entropy")


def write_report(run_folder: Path) -> Path:
    """Write `report.html` into a run's folder from what the run left there, and return its path."""
    if not (run_folder / "result.json").is_file():
        raise UserError(
            f"{run_folder / 'result.json'} does not exist: the run has not finished; finish it with "
            f"`vigor train --resume {run_folder}`, or name the folder of a finished run"
        )
    result, config = _read(run_folder / "result.json"), _read(run_folder / "config.json")
    title = f"{word(result.get('task'))}: {word(result.get('method'))}"
    body = [_cards(result), section("Success and versatility", _splits_table(result))]
    for split, name in SPLITS.items():
        contexts = _get(result, split, "contexts")
        body += [section(name.capitalize(), _contexts_table(contexts))] if contexts else []
    body += [_figures(run_folder / "figures"), _settings(config)]
    page = PAGE.substitute(title=title, facts=_facts({**config, **result}), body="\n".join(body))
    files.write_text(run_folder / "report.html", page)
    return run_folder / "report.html"


def _read(path: Path) -> dict[str, Any]:
    value = files.read_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path} is not the JSON object that a run leaves; train again")
    return value


def _get(value: Any, *keys: str) -> Any:
    """What lies under nested keys, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def word(value: Any) -> str:
    """A value as HTML: numbers short, everything else escaped, a dash for nothing."""
    if value is None:
        return "&ndash;"
    return f"{round(value, 3):g}" if isinstance(value, float) else escape(str(value))


def _words(values: Any) -> str:
    return ", ".join(map(word, values)) if isinstance(values, list) else word(values)


def percent(value: Any) -> str:
    return f"{100 * value:.1f}%" if isinstance(value, int | float) else word(value)


def _plain(name: str) -> str:
    return escape(name.replace("_", " "))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    top = "".join(f"<th>{cell}</th>" for cell in head)
    lines = ("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>"


def rate_cells(rates: Any) -> str:
    """Success rates in percent as small cells, from white for 0 to blue for 1."""
    if not isinstance(rates, list):
        return word(rates)
    cells = []
    for rate in rates:
        share = min(max(float(rate), 0.0), 1.0) if isinstance(rate, int | float) else 0.0
        colour = ", ".join(str(round(255 + share * (full - 255))) for full in (0, 95, 158))
        style = f"background: rgb({colour}); color: {'#fff' if share > 0.5 else '#1d2329'}"
        text = f"{100 * rate:.0f}" if isinstance(rate, int | float) else word(rate)
        cells.append(f'<span class="cell" style="{style}">{text}</span>')
    return "".join(cells)


def _facts(known: Mapping[str, Any]) -> str:
    """One line on how the run was made."""
    return " · ".join(f"{_plain(name)} <b>{word(known[name])}</b>" for name in FACTS if known.get(name) is not None)


def _cards(result: Mapping[str, Any]) -> str:
    """The numbers that matter, of test contexts where there are any; success stands beside versatility."""
    split = "test" if result.get("test") else "train"
    best, mixture = (percent(_get(result, split, f"success_{name}")) for name in ("best", "mixture"))
    solutions = word(_get(result, split, "versatility", "distinct_solutions"))
    cards = (
        (best, "success of the best component", f"mean over {SPLITS[split]}"),
        (mixture, "success of the mixture", "what a plan gives, without knowing which component is best"),
        (solutions, "distinct solutions per context", f"with {mixture} success of the mixture, {best} of the best"),
    )
    inner = (
        f'<div class="card"><b>{value}</b><span>{name}</span><small>{note}</small></div>' for value, name, note in cards
    )
    return f'<div class="cards">{"".join(inner)}</div>'


def _splits_table(result: Mapping[str, Any]) -> str:
    head = ["", "best component", "mixture", "components, ranked (%)", "distance", *map(_plain, VERSATILITY)]
    rows = (
        [
            name,
            percent(_get(result, split, "success_best")),
            percent(_get(result, split, "success_mixture")),
            rate_cells(_get(result, split, "success_components")),
            word(_get(result, split, "distance_best")),
            *(word(_get(result, split, "versatility", key)) for key in VERSATILITY),
        ]
        for split, name in SPLITS.items()
        if result.get(split)
    )
    return table(head, rows)


def _contexts_table(contexts: Sequence[Mapping[str, Any]]) -> str:
    head = ["", "context", "success by component (%)", "distance by component", "distinct solutions"]
    rows = (
        [
            str(number),
            _words(_get(entry, "context")),
            rate_cells(_get(entry, "success")),
            _words(_get(entry, "distance")),
            word(_get(entry, "versatility", "distinct_solutions")),
        ]
        for number, entry in enumerate(contexts, start=1)
    )
    return table(head, rows)


def _figures(folder: Path) -> str:
    """The figures that exist, inside the page."""
    parts = []
    for name, caption in FIGURES.items():
        if (folder / name).is_file():
            parts.append(picture(folder / name, caption))
    return section("Figures", "".join(parts)) if parts else ""


def picture(path: Path, caption: str) -> str:
    """A PNG inside the page."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    image = f'<img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def _settings(config: Mapping[str, Any]) -> str:
    """How to repeat the run, and every setting under its dotted name."""
    command = config.get("command")
    text = shlex.join(map(str, command)) if isinstance(command, list) else command
    repeat = section("Repeat this run", f"<pre>{word(text)}</pre>") if text else ""
    rows = ((escape(name), f"<code>{escape(str(value))}</code>") for name, value in _flat(config))
    settings = table(["setting", "value"], rows)
    return f"{repeat}<section><details><summary>Settings</summary>{settings}</details></section>"


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
:root { --ink: #1d2329; --quiet: #66707a; --line: #e3e7eb; --accent: #005f9e; }
body { margin: 0; background: #f5f7f9; color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 36px 20px 60px; }
h1 { margin: 0; font-size: 28px; }
h2, summary { margin: 0 0 12px; font-size: 17px; font-weight: 600; }
h3 { margin: 20px 0 6px; font-size: 15px; font-weight: 600; }
.facts { margin: 4px 0 24px; color: var(--quiet); }
.facts b { color: var(--ink); font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); gap: 16px; }
.card, section { background: #fff; border: 1px solid var(--line); border-radius: 10px; padding: 18px 22px; }
.card b { display: block; font-size: 34px; line-height: 1.2; color: var(--accent); }
.card span { display: block; font-weight: 600; }
.card small, figcaption { color: var(--quiet); font-size: 13px; }
section { margin-top: 16px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { color: var(--quiet); font-size: 13px; font-weight: 500; text-align: left; }
th, td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); }
tbody tr:last-child td { border-bottom: 0; }
.cell { display: inline-block; min-width: 32px; margin: 1px 3px 1px 0; padding: 1px 4px; border: 1px solid var(--line);
  border-radius: 4px; font-size: 13px; text-align: center; }
figure { margin: 0 0 28px; text-align: center; }
img { max-width: 100%; }
summary { margin: 0; cursor: pointer; }
pre { margin: 0; padding: 12px 16px; background: #f5f7f9; border-radius: 6px; white-space: pre-wrap; }
code, pre { font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
</style>
</head>
<body>
<main>
<h1>$title</h1>
<p class="facts">$facts</p>
$body
</main>
</body>
</html>
""")
