"""Runs for tests of the studio: fast ones, and folders that look like one."""

import time
from pathlib import Path

import numpy as np

from helpers import made_once
from vigor.basics import files
from vigor.runs.run import CONFIG, METRICS
from vigor.runs.setup import Setup, setup_to_json
from vigor.studio.trainer import Trainer
from vigor.tasks import load_task

FAST = Path(__file__).parent / "fast_tasks.py"
"""File with tasks that are learned fast and poorly: PLANAR, PUSHER."""


PUSHER_CONTEXT = np.array([0.07, 0.0, 0.0])


def pusher_runs(tmp_path_factory) -> Path:
    """Folder with a run of the box pusher that a studio has started, on the task's own demonstrations."""

    def make(folder: Path) -> None:
        trainer = Trainer(load_task(f"{FAST}:PUSHER"), folder)
        trainer.start(None, PUSHER_CONTEXT[None], 10)
        wait_for(lambda: not trainer.running, 300.0)
        trainer.close()

    return made_once(tmp_path_factory, "pusher_runs", make)


def wait_for(condition, seconds=300.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def row(iteration, **other):
    """An evaluation as a run writes it."""
    return {"iteration": iteration, "train": {"success_mixture": 0.5}, "test": {}} | other


def write_run(folder, *lines, task="planar-reacher"):
    """A run's folder with these evaluations."""
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / CONFIG, setup_to_json(Setup(task)))
    (folder / METRICS).write_text("".join(f"{line}\n" for line in lines))


def program(change: str) -> tuple[str, str]:
    """Python's arguments that run `vigor` after a change to the studio's recorder or trainer."""
    return "-c", f"from vigor.studio import recorder, trainer; {change}; from vigor.cli.main import main; main()"
