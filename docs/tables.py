"""Tables of README and docs that stored results make: python docs/tables.py writes them, --check says if they are true.

A table stands in its page between the comments `table: NAME` and `end`, where NAME is one of TABLES. Measured figures
stand nowhere else.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import row_tables
from row_tables import table
from stored import RESULTS

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("paper.md", "performance.md")),
    *sorted(RESULTS.glob("*.md")),
]
BLOCK = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def result(name: str) -> Any:
    """A stored file of docs/results."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def invariants() -> str:
    names = {"success_best": "best", "success_chosen": "chosen", "success_mixture": "mixture"}
    names["predicted_mixture"] = "mixture, predicted"

    def line(part: dict[str, Any]) -> dict[str, str]:
        rates = {label: f"{mean(run[name] for run in part['runs']):.3f}" for name, label in names.items()}
        return rates | {"calibration": f"{part['calibration']['error']:.3f}"}

    words = {"test": "test", "new": "plans, new", "far": "plans, far"}
    lines = [
        {"task": one["task"], "reward": one["variant"], "contexts": words[name]} | line(part)
        for one in result("invariants")
        for name, part in {"test": one, "new": one.get("new"), "far": one.get("far")}.items()
        if part
    ]
    return table(lines)


def plans() -> str:
    from plans import table

    return table(result("plans")).replace(".\n", ".\n\n") + "\n"


def box_ways() -> str:
    from box_ways import load_task, summary

    return summary(result("box_ways"), load_task("box-pusher").judge.success_distance) + "\n"


def gail_crosscheck() -> str:
    from gail_crosscheck import table

    return table(RESULTS) + "\n"


def gail_speed() -> str:
    found = result("gail_speed")
    names = {
        "seconds_a_million_steps": "a million steps, seconds of the clock",
        "seconds_an_update": "an update, seconds of the clock",
        "cpu_seconds_an_update": "an update, seconds of the processor",
    }
    return table(
        [
            {"": words}
            | {way: f"{found[key][way]:.3g}" for way in ("vectorised", "plain")}
            | {"times as fast": f"{found[key]['plain'] / found[key]['vectorised']:.1f}"}
            for key, words in names.items()
        ]
    )


def speed() -> str:
    """Two cores, in calibration units but where seconds or megabytes are named."""
    tasks = result("speed")["tasks"]

    def units(seconds: float, task: dict[str, Any]) -> str:
        return f"{seconds / task['unit']:.3g}"

    def until(task: dict[str, Any]) -> str:
        solved = task.get("until_solved")
        return f"{units(solved['seconds'], task)} (iteration {solved['iterations']:.0f})" if solved else ""

    def growth(task: dict[str, Any], what: str) -> str:
        grown = [item for item in task["growth"] if item["what"] == what]
        return ", ".join(f"{item['value']}: {item['iteration'] / task['unit']:.2g}" for item in grown)

    lines: dict[str, Callable[[dict[str, Any]], str]] = {
        "the unit, seconds": lambda task: f"{task['unit']:.2f}",
        "until mean test success keeps .98": until,
        "one iteration": lambda task: units(task["iteration"], task),
        "compilation, first time, seconds": lambda task: f"{task['compilation']:.1f}",
        "peak memory, MB": lambda task: f"{task['peak_memory_mb']:.0f}",
    }
    for part in tasks[0]["parts"]:
        lines[f"of an iteration: {part}"] = lambda task, part=part: units(task["parts"][part], task)
    for what in dict.fromkeys(item["what"] for item in tasks[0]["growth"]):
        lines[f"one iteration by {what}"] = partial(growth, what=what)
    return table([{"": words} | {task["task"]: value(task) for task in tasks} for words, value in lines.items()])


def gpu() -> str:
    found = result("gpu")
    return table(
        [
            {"task": row["task"], found["device"]: row["what"], "iterations": str(row["iterations"])}
            | {"time": f"{row['seconds']:.2f} s", "compilation": f"{row['compilation']:.0f} s"}
            | {"memory": f"{row['peak_memory_gib']:.2f} GiB", "best component": f"{row['success_best']:.3f}"}
            for row in found["rows"]
        ]
    )


def torture() -> str:
    from torture_processes import table

    return table(result("torture"))


ROWS = ("headline", "presets", "methods", "verdicts", "contexts", "findings", "sensitivity", "ablations")
TABLES: dict[str, Callable[[], str]] = {
    **{name: getattr(row_tables, name) for name in ROWS},
    **{
        maker.__name__: maker
        for maker in (invariants, plans, box_ways, gail_crosscheck, gail_speed, speed, gpu, torture)
    },
}


def written(text: str) -> str:
    """A page with its tables made anew."""

    def block(found: re.Match[str]) -> str:
        return f"<!-- table: {found[1]} -->\n{TABLES[found[1]]()}<!-- end -->"

    return BLOCK.sub(block, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the tables are true")
    check, wrong = parser.parse_args().check, []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (now := written(text)) != text:
            wrong.append(page.name)
            if not check:
                page.write_text(now, encoding="utf-8")
    if check and wrong:
        sys.exit(f"{', '.join(wrong)}: no longer true; run: python docs/tables.py")


if __name__ == "__main__":
    main()
