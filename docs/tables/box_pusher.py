"""Tables of the box pusher, as Markdown."""

from statistics import mean
from typing import Any

from docs.tables.markdown import result, table
from vigor.basics.settings import value_of
from vigor.runs.presets import preset

TRIED = {
    "reward_scale": 100.0,
    "room": 0.2,
    "kl_bound": 0.5,
    "iterations": 100,
    "em_samples": 4096,
    "em_components": 5,
    "noise_multiplier": 30.0,
}
"""Settings of EM+D-REX that were changed on the box pusher, with the values that the others were tried with."""


def box_pusher() -> str:
    from box_pusher import table as lines

    return table(lines(result("box_pusher")))


def box_ahead() -> str:
    from box_pusher import ahead

    return table(ahead(result("box_pusher")))


def box_em_drex() -> str:
    """Settings that were tried for EM+D-REX on the box pusher, the best first."""
    usual = preset("box-pusher", "default", "em-drex")
    tried: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in result("box_em_drex"):
        values = {name: row["changes"].get(name, TRIED[name]) for name in TRIED}
        tried.setdefault(tuple(f"{values[name]:g}" for name in TRIED), []).append(row)
    lines = []
    for values, rows in sorted(tried.items(), key=lambda one: -mean(row["mixture"] for row in one[1])):
        chosen = all(float(text) == value_of(usual, name) for name, text in zip(TRIED, values, strict=True))
        settings = {name.replace("_", " "): text for name, text in zip(TRIED, values, strict=True)}
        figures = {name: f"{mean(row[name] for row in rows):.3f}" for name in ("best", "mixture")}
        lines.append(settings | figures | {"": "the default" if chosen else ""})
    return table(lines)


def box_carrying() -> str:
    from box_carrying import table as lines

    return table(lines(result("box_carrying")))


def box_mechanics() -> str:
    return table(result("box_mechanics")["lines"])


def box_practice() -> str:
    """Practised runs beside the same runs before."""
    rows = result("box_pusher")
    lines = []
    for after in (row for row in rows if row["method"] == "practised"):
        (before,) = (
            row
            for row in rows
            if (row["method"], row["seed"], row["training"]) == ("vigor", after["seed"], after["training"])
        )
        for words, row in {"before": before, "after": after}.items():
            names = {
                "best": "best",
                "mixture": "mixture",
                "chosen": "chosen",
                "ways": "ways",
                "both": "inside and outside",
            }
            line = {"seed": str(row["seed"]), "practice": words}
            line |= {label: f"{row[name]:.2f}" for name, label in names.items()}
            more = {"planned first": "first", "movements tried": "rollouts", "rounds": "rounds"}
            line |= {label: f"{row[name]:g}" if name in row else "" for label, name in more.items()}
            minutes = f"{row['practice_seconds'] / 60:.0f}" if "practice_seconds" in row else ""
            lines.append(line | {"minutes": minutes})
    return table(lines)


TABLES = (box_pusher, box_ahead, box_em_drex, box_carrying, box_mechanics, box_practice)
