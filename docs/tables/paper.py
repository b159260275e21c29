"""Tables of what was tried to settle the paper's settings and to shorten EM+D-REX, as Markdown."""

from statistics import mean

import numpy as np

from docs.tables.markdown import result, table
from vigor.experiments.statistics import interval_words, summary

LOST = 0.5
"""Success of its best component below which a context is lost."""


def differences() -> str:
    """Splits that lost a context, learned again with one difference from the authors' program at a time."""
    lines = []
    for one in result("differences"):
        splits = sorted({row["split"] for row in one["rows"]})
        best = np.array([row["best"] for row in one["rows"]])
        lines.append(
            {"task": one["task"], "settings": one["variant"], "on": one["device"]}
            | {"splits": ", ".join(map(str, splits)), "runs": str(len(best))}
            | {"best": f"{best.mean():.3f}", "95%": interval_words(summary(best.mean(axis=1)).interval, 3)}
            | {"contexts lost": f"{np.sum(best < LOST)} of {best.size}"}
            | {"mixture": f"{mean(row['mixture'] for row in one['rows']):.3f}"}
        )
    return table(lines)


def em_drex() -> str:
    """Candidates for the settings of EM+D-REX."""
    from em_drex import CANDIDATES

    def words(name: str) -> str:
        return ", ".join(f"{key} {value}" for key, value in CANDIDATES[name].items()).replace("_", " ")

    return table(
        [
            {"task": one["task"], "settings": words(one["candidate"]), "seeds": "{} to {}".format(*one["seeds"])}
            | {"best": f"{mean(one['best']):.3f}", "95%": interval_words(summary(one["best"]).interval, 3)}
            | {"mixture": f"{mean(one['mixture']):.3f}", "distinct": f"{mean(one['distinct']):.2f}"}
            for one in result("em_drex")
        ]
    )


TABLES = (differences, em_drex)
