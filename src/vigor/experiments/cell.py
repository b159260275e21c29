"""A cell of the benchmark: one seed of one method on one task. Its row is its result with its configuration.

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

from vigor.basics.settings import value_of
from vigor.basics.version import __version__
from vigor.experiments.store import Row
from vigor.runs.presets import Preset
from vigor.runs.setup import Setup

_WHEN = ("command", "version", "date")
"""Fields of a setup that a row says for itself."""


@dataclass(frozen=True)
class Cell:
    """A run of the benchmark, and its place in comparisons."""

    setup: Setup
    """Setup of the run, with `demos` relative to the benchmark's folder, and their fingerprint."""
    varied: str = ""
    """Name of the one setting that is not as usual; empty if all are."""
    preset: Preset = "default"
    """Preset of its usual settings; "default" where the paper's are the same."""
    quick: bool = False
    """Whether it is shortened, to see that everything works; its figures mean little."""

    @property
    def id(self) -> str:
        """Hash of the configuration, whatever the machine, the version and the moment."""
        return _digest(self._configuration())

    @property
    def batch(self) -> str:
        """Hash of the configuration without its seed: the same for cells that can train as one program."""
        return _digest(self._configuration() | {"seed": None})

    def _configuration(self) -> dict[str, Any]:
        settings = dataclasses.asdict(self.setup)
        # Which demonstrations it learns from, wherever they lie, is in the fingerprint.
        return {name: value for name, value in settings.items() if name not in (*_WHEN, "demos")}

    def __str__(self) -> str:
        value = f" {self.varied}={value_of(self.setup, self.varied)}" if self.varied else ""
        preset = ", paper's settings" if self.preset == "paper" else ""
        return f"{self.setup.task} {self.setup.method}{preset}{value} seed {self.setup.seed}"


def _digest(configuration: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()[:20]


def measure(cells: Sequence[Cell], folder: Path) -> list[Row]:
    """Rows of a batch of cells that is trained and evaluated.

    folder: the benchmark's, with the demonstrations.
    """
    import jax

    from vigor.runs.setup import prepare
    from vigor.runs.training import Training

    training = Training([prepare(replace(cell.setup, demos=str(folder / (cell.setup.demos or "")))) for cell in cells])
    states = training.start()
    for _, after, _ in training.advance(states):
        states = after
    facts = {
        "demonstrations": training.prepared[0].demonstrations.source,
        "device": jax.devices()[0].device_kind,
    }
    return [facts | {"train": each.train, "test": each.test} for each in training.evaluate(states)]


def row(cell: Cell, result: Row) -> Row:
    """A cell's whole row: its configuration and result, with machine, version and date."""
    return {
        "id": cell.id,
        "varied": cell.varied,
        "preset": cell.preset,
        "quick": cell.quick,
        "setup": {name: value for name, value in dataclasses.asdict(cell.setup).items() if name not in _WHEN},
        **result,
        "version": __version__,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
    }
