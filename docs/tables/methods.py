"""Tables of the benchmark's stored rows, by method and settings, as Markdown."""

from collections.abc import Iterator

import numpy as np

from docs.tables.markdown import RESULTS, result, table
from docs.tables.rows import EARLIER, OURS, TASKS, WORDS, groups, name, seeds, stored
from vigor.experiments import paper, tables
from vigor.experiments.statistics import Summary, chance, interval_words, summary
from vigor.experiments.tables import Group

FRESH = 400
"""First of the seeds on which nothing was chosen."""
ALIKE = ("coverage", "precision", "difference")
OUR_EM_DREX = ("em-drex", "default")


def success(group: Group) -> dict[str, str]:
    """Seeds and success on test contexts, beside the paper's."""
    best = group.summary("success")
    return {
        "seeds": seeds(group),
        "paper: best": _theirs(group, "success"),
        "best": f"{best.mean:.3f}",
        "95%": interval_words(best.interval, 3),
        "mixture": f"{group.summary('mixture').mean:.3f}",
    }


def ranked(group: Group) -> dict[str, str]:
    return {"five best components": " ".join(f"{share:.2f}" for share in group.ranked[:5])}


def distance(group: Group, split: str = "test") -> dict[str, str]:
    ours, words = group.summary("distance", split), "distance" if split == "test" else "distance, training contexts"
    return {f"paper: {words}": _theirs(group, "distance", split, 4), words: f"{ours.mean:.4f}"}


def _theirs(group: Group, figure: tables.Figure, split: str = "test", digits: int = 3) -> str:
    box = group.paper(figure, split)
    return f"{box.mean:.{digits}f}" if box else ""


def floor() -> list[dict[str, str]]:
    """Success of copied demonstrations."""
    found = result("floor")
    return [
        {"task": task, "method": "demonstrations copied", "seeds": which, "paper: best": ""}
        | {"best": f"{one['best']:.3f}", "95%": "", "mixture": f"{one['mixture']:.3f}"}
        for task, by_seeds in found.items()
        for which, one in by_seeds.items()
    ]


def box_pusher() -> dict[str, dict[str, Summary]]:
    """Success of the box pusher with 6 training contexts, best and mixture by method: rows of its own benchmark."""
    rows = result("box_pusher")
    known = [row for row in rows if row["training"] == 6 and row["seed"] >= FRESH]
    return {
        method: {key: summary([row[key] for row in known if row["method"] == method]) for key in ("best", "mixture")}
        for method in dict.fromkeys(row["method"] for row in known)
    }


def headline() -> str:
    """VIGOR, the next best method and a floor; seeds on which nothing was chosen, if there are any."""
    lines = []
    for group in groups(row for row in stored() if not row["varied"] and row["setup"]["method"] in OURS):
        if group.task == "box-pusher":
            continue
        fresh = tuple(row for row in group.rows if row["setup"]["seed"] >= FRESH)
        lines.append({"task": group.task, "method": name(group)} | success(Group(fresh or group.rows)))
    theirs = {method: paper.BOXES["box-pusher", "success", "test"][method].mean for method in OURS}
    words = {
        "vigor": "VIGOR",
        "paper": "VIGOR, paper's settings",
        "em-drex": "EM+D-REX",
        "carried": "demonstrations carried",
    }
    found = box_pusher()
    for method in (method for method in words if method in found):
        best, mixture = found[method]["best"], found[method]["mixture"]
        published = theirs.get("vigor" if method == "paper" else method)
        lines.append(
            {"task": "box-pusher", "method": words[method], "seeds": f"400 to {399 + best.seeds}"}
            | {"paper: best": "" if published is None else f"{published:.3f}", "best": f"{best.mean:.3f}"}
            | {"95%": interval_words(best.interval, 3), "mixture": f"{mixture.mean:.3f}"}
        )
    lines += [line for line in floor() if int(line["seeds"].split()[0]) >= FRESH]
    return table(sorted(lines, key=lambda line: TASKS.index(line["task"])))


def presets() -> str:
    """The paper's settings, ours, and each addition alone and removed."""
    lines = floor()
    for group in groups(row for row in stored() if row["varied"] in WORDS and row["setup"]["method"] in OURS):
        sign = "+" if group.preset == "paper" else "-"
        label = f"{sign} {WORDS[group.varied]}" if group.varied else f"**{name(group)}**"
        lines.append({"task": group.task, "method": label} | success(group))
    return table(lines)


def methods() -> str:
    """All methods on all tasks with their usual settings: figures of test contexts."""
    return table(
        [
            {"task": group.task, "method": name(group)}
            | success(group)
            | ranked(group)
            | {
                "distinct": f"{group.versatility('distinct_solutions'):.2f}",
                "entropy": f"{group.versatility('entropy'):.2f}",
            }
            | distance(group)
            | distance(group, "train")
            for group in groups(stored())
            if not group.varied
        ]
    )


def resemblance() -> str:
    """Likeness of what methods learn to the demonstrations of training contexts that are held out."""
    lines = []
    for group in (group for group in groups(stored()) if not group.varied):
        means = {one: group.resemblance(one) for one in ALIKE}
        known = Group(tuple(row for row in group.rows if "resemblance" in row["train"]) or group.rows)
        if means["coverage"] is not None:
            line = {"task": group.task, "method": name(group), "seeds": seeds(known)}
            success = {"success": f"{known.summary('mixture', 'train').mean:.3f}"}
            lines.append(line | success | {one: f"{value:.2f}" for one, value in means.items()})
    return table(lines)


def mended() -> str:
    """EM+D-REX with our settings, before and after its objective was mended."""
    usual = [row for row in stored() if not row["varied"] and (row["setup"]["method"], row["preset"]) == OUR_EM_DREX]
    own = [group for group in groups([*usual, *stored(EARLIER)]) if group.task != "box-pusher"]
    return table([{"task": group.task, "method": name(group)} | success(group) for group in own])


def verdicts() -> str:
    """Every box of the paper's plots beside ours."""
    usual = [group for group in groups(stored()) if not group.varied]
    lines = []
    for (task, figure, split), boxes in paper.BOXES.items():
        for group in (group for group in usual if group.task == task):
            theirs, ours = boxes[group.method].mean, group.summary(figure, split)
            digits = 3 if figure == "success" else 4
            lines.append(
                {"task": task, "figure": f"{figure}, {split} contexts", "method": name(group), "seeds": seeds(group)}
                | {"paper": f"{theirs:.{digits}f}", "ours": f"{ours.mean:.{digits}f}"}
                | {"95%": interval_words(ours.interval, digits), "verdict": _verdict(theirs, ours, figure == "success")}
            )
    return table(lines)


def _verdict(theirs: float, ours: Summary, more_is_better: bool) -> str:
    if ours.interval is None:
        return "too few seeds"
    if ours.interval[0] <= theirs <= ours.interval[1]:
        return "as the paper"
    return "better" if (ours.mean > theirs) == more_is_better else "worse"


def settled() -> str:
    """The paper's own ten seeds, where its plots determine them, beside ours with the paper's settings."""
    lines = []
    for (task, method), theirs in paper.SEEDS.items():
        rows = (row for row in stored() if row["setup"]["seed"] >= FRESH and row["preset"] == "paper")
        for group in groups(row for row in rows if not row["varied"]):
            if (group.task, group.method) == (task, method):
                ours, there = group.values("success"), summary(theirs)
                lines.append(
                    {"task": task, "paper": f"{there.mean:.3f}", "its 95%": interval_words(there.interval, 3)}
                    | {"seeds": seeds(group), "ours": f"{np.mean(ours):.3f}"}
                    | {"95%": interval_words(summary(ours).interval, 3)}
                    | {"chance": f"{chance(np.asarray(theirs), ours):.2f}"}
                )
    return table(lines)


def findings() -> str:
    """The paper's statements on ablations, and what became of them."""
    return table(
        [
            {"task": one.reference.task, "method": name(one.reference), "the paper finds": one.finding.words}
            | {"success of": one.components, "better": f"{one.better:.3f}", "worse": f"{one.worse:.3f}"}
            | {"95%": "{:+.3f} to {:+.3f}".format(*one.interval) if one.interval else "", "here": one.verdict}
            for one in tables.findings(groups(stored()))
        ]
    )


def _ablated() -> Iterator[tuple[Group, list[Group]]]:
    """Usual settings of the reachers that were changed, and what they were changed to."""
    kept = [group for group in groups(stored()) if group.task != "box-pusher" and group.method in OURS]
    for usual in (group for group in kept if not group.varied):
        alike = [one for one in kept if (one.task, one.name) == (usual.task, usual.name)]
        changed = [one for one in alike if one.varied not in WORDS]
        if changed:
            yield usual, changed


def _value(group: Group) -> str:
    return tables.word(group.setting(group.varied))


def sensitivity() -> str:
    """The least and the most success of the best component over the values of a setting."""
    lines = []
    for usual, changed in _ablated():
        for setting in dict.fromkeys(group.varied for group in changed):
            means = {_value(one): one.summary("success").mean for one in changed if one.varied == setting}
            means[f"usual, {tables.word(usual.setting(setting))}"] = usual.summary("success").mean
            low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
            lines.append(
                {"task": usual.task, "method": name(usual), "setting": tables.plain(setting)}
                | {"least": f"{means[low]:.3f}", "with": low, "most": f"{means[high]:.3f}", "with the value": high}
            )
    return table(lines)


def ablations() -> str:
    """Every setting of appendix D changed, one after the other."""
    return table(
        [
            {"task": group.task, "method": name(usual), "setting": tables.plain(group.varied) or "usual"}
            | {"value": _value(group) if group.varied else ""}
            | success(group)
            | ranked(group)
            for usual, changed in _ablated()
            for group in [usual, *changed]
        ]
    )


def gail_crosscheck() -> str:
    from gail_crosscheck import table

    return table(RESULTS) + "\n"


TABLES = (
    *(headline, presets, methods, resemblance, mended, settled, verdicts),
    *(findings, sensitivity, ablations, gail_crosscheck),
)
