"""Tables of what the program takes, of time and memory, as Markdown."""

from collections.abc import Callable
from functools import partial
from statistics import mean
from typing import Any

from docs.tables.markdown import result, table


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


def iteration() -> str:
    """An iteration against an earlier revision, in calibration units."""
    words = {
        "earlier": "earlier, 5 components",
        "same components": "now, 5 components",
        "defaults": "now, 30 components",
    }
    rows = result("iteration")

    def units(task: str, kind: str) -> float:
        own = [row for row in rows if (row["task"], row["kind"]) == (task, kind)]
        return mean(row["iteration"] / row["unit"] for row in own)

    return table(
        [
            {"task": task, "": words[kind], "units": f"{units(task, kind):.3f}"}
            | {"of the earlier": f"{units(task, kind) / units(task, 'earlier'):.2f}"}
            for task in dict.fromkeys(row["task"] for row in rows)
            for kind in words
            if any((row["task"], row["kind"]) == (task, kind) for row in rows)
        ]
    )


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


TABLES = (speed, gpu, iteration, gail_speed)
