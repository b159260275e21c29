"""Rows of a benchmark by configuration: their figures over seeds, with the paper's beside them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from vigor.basics.settings import value_of
from vigor.evaluation.evaluation import filled
from vigor.experiments import paper
from vigor.experiments.data import origin
from vigor.experiments.statistics import Summary, interval, interval_words, summary
from vigor.experiments.store import Row

Figure = Literal["success", "distance", "mixture"]
COLUMNS = {"success": "success_best", "distance": "distance_best", "mixture": "success_mixture"}
"""Figures of merit as rows have them: of the best component, and of samples of the mixture."""


@dataclass(frozen=True, eq=False)
class Group:
    """Rows that differ in their seed alone."""

    rows: tuple[Row, ...]

    @property
    def setup(self) -> dict[str, Any]:
        return self.rows[0]["setup"]

    @property
    def task(self) -> str:
        """Name of the task; of a user's own task, the file's and the variable's."""
        return Path(self.setup["task"]).name

    @property
    def method(self) -> str:
        return self.setup["method"]

    @property
    def preset(self) -> str:
        """Preset of the usual settings."""
        return self.rows[0].get("preset", "default")  # Rows of version 0.1 have no other.

    @property
    def name(self) -> str:
        """The method as the paper calls it, and whether it has the paper's settings where ours are others."""
        name = paper.NAMES.get(self.method, self.method)
        return f"{name}, paper's settings" if self.preset == "paper" else name

    @property
    def demonstrations(self) -> str:
        """Source of the demonstrations, in words."""
        return self.rows[0]["demonstrations"]

    @property
    def origin(self) -> str:
        """Kind of the demonstrations: "own" or "published"."""
        return origin(self.setup["demos"])

    @property
    def varied(self) -> str:
        """Name of the one setting that is not as usual; empty if all are."""
        return self.rows[0]["varied"].rpartition(".")[2]  # Rows of version 0.1 say in which part of the settings it is.

    @property
    def quick(self) -> bool:
        return self.rows[0]["quick"]

    def setting(self, name: str) -> Any:
        return value_of(self.setup, name)

    def values(self, figure: Figure, split: str = "test") -> np.ndarray:
        """A figure of merit, [seed]."""
        return np.array([row[split][COLUMNS[figure]] for row in self.rows])

    def summary(self, figure: Figure, split: str = "test") -> Summary:
        return summary(self.values(figure, split))

    @property
    def ranked(self) -> np.ndarray:
        """Success of the best, second best, ... component on test contexts, [component]: mean over seeds."""
        return np.nanmean(filled([row["test"]["success_components"] for row in self.rows]), axis=0)

    def versatility(self, name: str) -> float:
        return float(np.mean([row["test"]["versatility"][name] for row in self.rows]))

    def resemblance(self, name: str) -> float | None:
        """A figure by the demonstrations of training contexts that are held out; None where none are."""
        found = [row["train"]["resemblance"][name] for row in self.rows if "resemblance" in row["train"]]
        return float(np.mean(found)) if found else None

    @property
    def seconds(self) -> float:
        """A seed's share of the time that it took."""
        return float(np.mean([row["seconds"] / row["together"] for row in self.rows]))

    def paper(self, figure: Figure, split: str = "test") -> paper.Box | None:
        """Figures of the paper beside it; none for other settings than the usual."""
        usual = None if self.varied else paper.BOXES.get((self.task, figure, split))
        return usual.get(self.method) if usual else None


def groups(rows: Sequence[Row]) -> list[Group]:
    """Rows by configuration: tasks and methods as in the paper, usual settings first."""
    together: dict[Any, list[Row]] = {}
    for row in rows:
        settings = {name: value for name, value in row["setup"].items() if name not in ("seed", "version", "demos")}
        together.setdefault(repr((settings, row["quick"])), []).append(row)
    tasks = [task for task, _, _ in paper.BOXES]
    methods = list(paper.NAMES)

    def place(group: Group) -> tuple[Any, ...]:
        known = tasks.index(group.task) if group.task in tasks else len(tasks)
        order = methods.index(group.method) if group.method in methods else len(methods)
        task = known, group.task, group.quick, group.origin
        return *task, bool(group.varied), order, group.method, group.preset, group.varied

    return sorted((Group(tuple(rows)) for rows in together.values()), key=place)


def title(groups: Sequence[Group], group: Group) -> str:
    """A group's task, with its demonstrations where the task was learned from several, and whether it is quick."""
    origins = {other.origin for other in groups if other.task == group.task}
    source = f", demonstrations {group.demonstrations}" if len(origins) > 1 else ""
    return f"{group.task}{source}{' (quick)' if group.quick else ''}"


def titled(groups: Sequence[Group]) -> list[tuple[str, Group]]:
    """Groups with the usual settings, each with its title."""
    return [(title(groups, group), group) for group in groups if not group.varied]


def usual(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """Groups with the usual settings that can be compared, by title."""
    comparable: dict[str, list[Group]] = {}
    for name, group in titled(groups):
        comparable.setdefault(name, []).append(group)
    return comparable


def ablation(groups: Sequence[Group], reference: Group, name: str) -> list[Group]:
    """Groups that differ from a reference in one setting, with the reference among them, in the order of its values."""
    same = ("task", "method", "preset", "quick", "origin")
    others = [
        group
        for group in groups
        if group.varied == name and all(getattr(group, key) == getattr(reference, key) for key in same)
    ]
    if not others:
        return [reference]
    chosen = [reference, *others]
    numbers = all(isinstance(group.setting(name), int | float) for group in chosen)
    return sorted(chosen, key=lambda group: group.setting(name)) if numbers else chosen


def word(value: Any) -> str:
    """A setting's value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def plain(name: str) -> str:
    """A setting's name in words."""
    return name.replace("_", " ")


class Checked(NamedTuple):
    """A finding of the paper and what became of it here."""

    finding: paper.Finding
    components: str
    """Components whose success is compared."""
    reference: Group
    """Group with the usual settings, of which one was varied."""
    better: float
    """Mean success over the seeds that both values have."""
    worse: float
    interval: tuple[float, float] | None
    """95% interval of their difference, paired by seed."""

    @property
    def verdict(self) -> str:
        if self.interval is None:
            return "too few seeds"
        low, high = self.interval
        if low > 0:
            return "holds"
        if high < 0:
            return "does not hold"
        return "no clear difference"


SUCCESS: dict[str, Callable[[dict[str, Any]], float]] = {
    "best component": lambda test: test["success_best"],
    "all components": lambda test: float(np.mean(test["success_components"])),
}
"""Success on a row's test contexts: the paper's measure, and one that still tells methods apart where all know one good
solution."""


def findings(groups: Sequence[Group]) -> list[Checked]:
    """The paper's findings that rows say something about."""
    checked = []
    for reference in (group for group in groups if not group.varied):
        for finding in (item for item in paper.FINDINGS if item.method == reference.method):
            values = {group.setting(finding.setting): group for group in ablation(groups, reference, finding.setting)}
            if finding.better in values and finding.worse in values:
                for components, success in SUCCESS.items():
                    a, b = (
                        {row["setup"]["seed"]: success(row["test"]) for row in values[value].rows}
                        for value in (finding.better, finding.worse)
                    )
                    pairs = np.array([(a[seed], b[seed]) for seed in a if seed in b])
                    if len(pairs):
                        better, worse = (float(mean) for mean in pairs.mean(axis=0))
                        ends = interval(pairs[:, 0] - pairs[:, 1])
                        checked.append(Checked(finding, components, reference, better, worse, ends))
    return checked


def markdown(groups: Sequence[Group]) -> str:
    """The usual settings as a table for a README."""
    head = [
        "task",
        "method",
        "seeds",
        "success: paper",
        "ours",
        "95%",
        "mixture",
        "solutions",
        "distance: paper",
        "ours",
    ]
    lines = [head, ["---"] * len(head)]
    for name, group in titled(groups):
        success, distance = group.summary("success"), group.summary("distance")
        theirs, far = group.paper("success"), group.paper("distance")
        lines.append(
            [
                name,
                group.name,
                str(success.seeds),
                f"{theirs.mean:.3f}" if theirs else "",
                f"**{success.mean:.3f}**",
                interval_words(success.interval, 3),
                f"{group.summary('mixture').mean:.3f}",
                f"{group.versatility('distinct_solutions'):.1f}",
                f"{far.mean:.4f}" if far else "",
                f"{distance.mean:.4f}",
            ]
        )
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
