"""Tables of what demonstrations have in common, and what that does, as Markdown."""

from collections.abc import Sequence
from statistics import mean
from typing import Any

from docs.tables.markdown import result, table

INVARIANTS = {"copied": "copied, no learning", "carried": "carried, no learning", "paper": "paper's settings"}
"""Words for what rows of invariants have in place of VIGOR's reward."""


CONTEXTS = {"test": "test", "new": "plans, new", "far": "plans, far"}


def parts_of(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Parts of a row of invariants by their contexts."""
    return {name: part for name in CONTEXTS if (part := row if name == "test" else row.get(name))}


def invariants() -> str:
    names = {"success_best": "best", "success_chosen": "chosen", "success_mixture": "mixture"}
    names["predicted_mixture"] = "mixture, predicted"
    order = list(dict.fromkeys(row["task"] for row in result("invariants")))
    rows = sorted(result("invariants"), key=lambda row: order.index(row["task"]))
    return table(
        [
            {"task": row["task"], "reward": INVARIANTS.get(row["variant"], row["variant"])}
            | {"seeds": "{} to {}".format(*row["seeds"]), "contexts": CONTEXTS[name]}
            | {label: f"{mean(run[figure] for run in part['runs']):.3f}" for figure, label in names.items()}
            | calibrated([part["calibration"]])
            for row in rows
            for name, part in parts_of(row).items()
        ]
    )


def calibrated(parts: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Calibration of some parts of rows together, and how many contexts are called unknown."""
    from invariants import error

    unknown, failing = (sum(part[name] for part in parts) for name in ("unknown", "unknown_failing"))
    return {
        "calibration": f"{error(parts):.3f}",
        "unknown": f"{unknown} of {sum(part['contexts'] for part in parts)}",
        "of these fail": f"{failing / unknown:.2f}" if unknown else "",
    }


def invariants_calibration() -> str:
    """Calibration of the default settings over all tasks together, and of the floors."""
    kinds = {"both": "VIGOR", "copied": INVARIANTS["copied"]}
    found = [
        (words, [parts_of(row) for row in result("invariants") if row["variant"] == kind])
        for kind, words in kinds.items()
    ]
    return table(
        [
            {"": words, "contexts": CONTEXTS[name], "tasks": str(len(own))} | calibrated(own)
            for words, rows in found
            for name in CONTEXTS
            if (own := [parts[name]["calibration"] for parts in rows if name in parts])
        ]
    )


def suggestions() -> str:
    from suggestions import WAYS, compared

    rows = result("suggestions")
    if not rows:
        return table([])
    return table(
        [
            {"task": row["task"], "seeds": "{} to {}".format(*row["seeds"]), "contexts before": str(row["contexts"])}
            | {
                words: f"{mean(run[words]['success_mixture'] for run in row['runs']):.3f}"
                for words in ("before", *WAYS)
            }
            | {"suggested less random": compared([row])}
            for row in rows
        ]
        + [
            {"task": "all tasks", "seeds": "", "contexts before": "", **dict.fromkeys(("before", *WAYS), "")}
            | {"suggested less random": compared(rows)}
        ]
    )


TABLES = (invariants, invariants_calibration, suggestions)
