"""Tables of the ways of people, as Markdown."""

from statistics import mean
from typing import Any

from docs.tables.markdown import result, table
from docs.tables.rows import ranges

KINDS = {
    "copied": "demonstrations of the nearest context, copied",
    "paper": "VIGOR, paper's settings",
    "default": "VIGOR",
    "five": "VIGOR, 5 components",
    "bc-t": "BC(T)",
    "bc-gmm-t": "BC-GMM(T)",
    "em-drex": "EM+D-REX",
}


PARTS = {"test": "without demonstrations", "train": "with"}
"""Contexts by whether demonstrations of them were learned from."""


def ways() -> str:
    """Ways of people found again, by task, kind of context and method."""
    lines = []
    ended = [row for row in result("ways")["rows"] if not row["stage"]]
    for task, part in ((task, part) for task in ("planar-reacher", "panda-reacher") for part in PARTS):
        for kind, words in KINDS.items():
            own = [row for row in ended if (row["task"], row["part"], row["kind"]) == (task, part, kind)]
            if own:
                more = {"entropy of ways": f"{mean(row['entropy'] for row in own):.2f}"}
                more |= {"of people": f"{mean(row['entropy_shown'] for row in own):.2f}"}
                more |= {"people like another": f"{mean(row['alike'] for row in own):.2f}"}
                known = {
                    "task": task,
                    "contexts": PARTS[part],
                    "method": words,
                    "seeds": ranges([row["seed"] for row in own]),
                }
                lines.append(known | _resemblance(own) | more)
    return table(lines)


def ways_lost() -> str:
    """Ways at the stages of runs of the defaults, and with weights and components as they were before."""
    rows = [row for row in result("ways")["rows"] if row["kind"] == "default"]
    words = {
        "start": "start",
        "iteration 10": "iteration 10",
        "iteration 30": "iteration 30",
        "end, all alike": "end, all components as likely",
        "one of a way, by reward and success": "end, by reward and success, the likeliest of each way alone",
        "end, by reward and success": "end, by reward and success",
        "": "end, by people and success: the result",
    }
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        for part in PARTS:
            for stage in words:
                own = [row for row in rows if (row["task"], row["part"], row["stage"]) == (task, part, stage)]
                if own:
                    known = {"task": task, "contexts": PARTS[part], "stage": words[stage]}
                    lines.append(known | _resemblance(own))
    return table(lines)


def ways_time() -> str:
    """Cost of a run with a component for every demonstration, and with five."""
    lines = []
    rows = [row for row in result("ways")["rows"] if not row["stage"] and row["part"] == "train"]
    for task in ("planar-reacher", "panda-reacher"):
        for kind in ("default", "five"):
            own = [row for row in rows if (row["task"], row["kind"]) == (task, kind)]
            if own:
                taken = {"iterations": f"{mean(row['iterations'] for row in own):.0f}"}
                taken |= {"CPU seconds": f"{mean(row['cpu'] for row in own):.0f}"}
                lines.append({"task": task, "method": KINDS[kind], "runs": str(len(own))} | taken)
    return table(lines)


def ways_people() -> str:
    """People beside each other."""
    return table(
        [
            {"task": own["task"], "demonstrations": str(own["demonstrations"])}
            | {"ways": "; ".join(f"{name} {share:.2f}" for name, share in own["ways"].items())}
            | {"like another of the context": f"{own['alike']:.2f}", "of another context": f"{own['elsewhere']:.2f}"}
            | {
                "five cover of the other five": f"{own['half']:.2f}",
                "difference of their shares": f"{own['difference']:.2f}",
                "those of other contexts like one of it": f"{own['others'][0]:.2f}",
                "difference of their shares from its": f"{own['others'][1]:.2f}",
            }
            for own in result("ways")["people"]
        ]
    )


def _resemblance(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Means of rows over seeds."""
    names = ("coverage", "precision", "difference")
    success = {"success": f"{mean(row['mixture'] for row in rows):.3f}"}
    return success | {name: f"{mean(row[name] for row in rows):.2f}" for name in names}


TABLES = (ways, ways_lost, ways_time, ways_people)
