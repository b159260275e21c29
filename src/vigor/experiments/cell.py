"""A cell of the benchmark: one seed of one method on one task. Its row is what it leaves.

Cells that differ in their seed alone are a batch, which trains as one program.
"""

import dataclasses
import hashlib
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from vigor.basics.version import __version__
from vigor.experiments.store import Row
from vigor.runs.run import Setup

_WHEN = ("command", "version", "date")
"""Of a setup: what a row says for itself."""


@dataclass(frozen=True)
class Cell:
    """What is run, and what it is compared as."""

    setup: Setup
    """With `demos` relative to the benchmark's folder, and their fingerprint."""
    varied: str = ""
    """Dotted name of the one setting that is not as usual; empty if all are."""
    quick: bool = False
    """Shortened, to see that everything works; its figures mean little."""

    @property
    def id(self) -> str:
        """The same for the same configuration, whatever the machine, the version and the moment."""
        return _digest(self._configuration())

    @property
    def batch(self) -> str:
        """The same for cells that can train as one program."""
        return _digest(self._configuration() | {"seed": None})

    def _configuration(self) -> dict[str, Any]:
        settings = dataclasses.asdict(self.setup)
        # Which demonstrations it learns from, wherever they lie, is in the fingerprint.
        return {name: value for name, value in settings.items() if name not in (*_WHEN, "demos")}

    def __str__(self) -> str:
        value = f" {self.varied}={setting(dataclasses.asdict(self.setup), self.varied)}" if self.varied else ""
        return f"{self.setup.task} {self.setup.method}{value} seed {self.setup.seed}"


def _digest(configuration: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()[:20]


def setting(setup: dict[str, Any], name: str) -> Any:
    """What a setup, as `dataclasses.asdict` gives it, has under a dotted name; those of its method come first."""
    first, *rest = name.split(".")
    value = setup["config"][first] if first in setup["config"] else setup[first]
    for part in rest:
        value = value[part]
    return value


def with_setting(settings: Any, name: str, value: Any) -> Any:
    """A setup, or settings in it, with another value under a dotted name."""
    first, _, rest = name.partition(".")
    if isinstance(settings, Setup) and hasattr(settings.config, first):
        return replace(settings, config=with_setting(settings.config, name, value))
    return replace(settings, **{first: with_setting(getattr(settings, first), rest, value) if rest else value})


def measure(cells: Sequence[Cell], folder: Path) -> list[Row]:
    """Train and evaluate a batch of cells; what each found.

    folder: the benchmark's, with the demonstrations.
    """
    import jax

    from vigor.evaluation import evaluation
    from vigor.runs import run
    from vigor.runs.methods import method

    setups = [replace(cell.setup, demos=str(folder / (cell.setup.demos or ""))) for cell in cells]
    prepared = [run.prepare(setup) for setup in setups]
    way, task, config = method(setups[0].method), prepared[0][0], setups[0].config
    data = run.batch(way, setups, prepared)
    states = way.start(task, config, data)
    steps = way.steps(config)
    for done in range(0, steps, run.EVERY):
        states, _ = way.advance(task, config, data, states, min(run.EVERY, steps - done))
    learned = jax.block_until_ready(way.policies(task, config, data, states))
    facts = {"demonstrations": prepared[0][1].source, "device": jax.devices()[0].device_kind}
    judged = (evaluation.evaluate(task, run.policies_of(split, learned, i)) for i, (_, _, split) in enumerate(prepared))
    return [facts | {"train": each.train, "test": each.test} for each in judged]


def row(cell: Cell, found: Row) -> Row:
    """A cell's whole row: its configuration, what was found, and where and when."""
    return {
        "id": cell.id,
        "varied": cell.varied,
        "quick": cell.quick,
        "setup": {name: value for name, value in dataclasses.asdict(cell.setup).items() if name not in _WHEN},
        **found,
        "version": __version__,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
    }
