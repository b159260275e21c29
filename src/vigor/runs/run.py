"""A run and the folder it leaves: its setup, its task and demonstrations, checkpoints, evaluations, the result.

A run killed at any moment goes on from its last checkpoint and ends with exactly the result of one left alone: every
random number comes from the seed and the iteration, evaluations happen at fixed iterations, and a checkpoint is one
file that is written whole. The folder can be moved: it has a copy of everything that the run was begun with.
"""

import json
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import jax
import numpy as np

from vigor.basics import files, locks
from vigor.basics.errors import Notice, OutOfRange, UserError
from vigor.basics.serialisation import from_json
from vigor.basics.version import __version__
from vigor.demonstrations import dataset
from vigor.demonstrations.dataset import Demonstrations
from vigor.demonstrations.preprocessing import settled
from vigor.demonstrations.repertoire import Repertoire
from vigor.evaluation import policies, summaries
from vigor.evaluation.evaluation import Evaluation
from vigor.evaluation.policies import Learned
from vigor.evaluation.summaries import Summary
from vigor.learning import invariants
from vigor.learning.invariants import Essential
from vigor.learning.prediction import distinct_of
from vigor.runs import checkpoints
from vigor.runs.setup import Prepared, Setup, fingerprint, held_out, prepare, setup_from_json, setup_to_json
from vigor.runs.training import EVERY, Training
from vigor.tasks import SCENE_FILE, TASK_FILE, TASKS, Task, copy_of, load_stored, load_task

CONFIG, RESULT, METRICS, POLICIES = "config.json", "result.json", "metrics.jsonl", "policies.npz"
DEMONSTRATIONS, LOCK = "demonstrations", ".lock"


class Result(TypedDict):
    """`result.json`, as far as the program reads it."""

    task: str
    method: str
    seed: int
    demos: str
    iterations: int
    seconds: float
    version: str
    train: Summary
    test: Summary
    stopped: NotRequired[str]
    common: NotRequired[list[Essential]]


class Metric(TypedDict):
    """An evaluation on the way: a line of `metrics.jsonl`."""

    iteration: int
    seconds: float
    promise: NotRequired[float]
    train: Summary
    test: Summary


class Interrupted(Exception):
    """The user stopped the run; its checkpoint is in the folder."""


@dataclass(frozen=True)
class Progress:
    """Progress of a run, for a display."""

    iteration: int
    iterations: int
    seconds: float
    figures: dict[str, Any]
    """Figures of the last evaluation; empty before the first."""
    doing: str = ""
    """Words for what is going on, where a run is part of something larger."""


Report = Callable[[Progress], None]


def _silent(progress: Progress) -> None:
    """Report nothing."""


def train(
    setup: Setup,
    folder: Path,
    report: Report = _silent,
    task: Task | None = None,
    demonstrations: Demonstrations | None = None,
    simulated: bool = True,
) -> dict[str, Any]:
    """Start a run in a new folder; returns its result. Task and demonstrations are those of the setup unless given.

    simulated: evaluations are those of the task's simulation, if it has one; without it they are quick, and predicted.
    """
    claim(folder)
    training = Training([prepare(setup, task, demonstrations)])
    own = training.prepared[0]
    setup = replace(setup, task=own.task.origin or own.task.name, task_digest=own.task.digest)
    setup = replace(setup, fingerprint=fingerprint(setup, own.demonstrations))
    copy = copy_of(own.task)
    training.prepared = [own._replace(setup=setup)]
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        claim(folder)  # Another process may have been faster.
        dataset.save(own.demonstrations, folder / DEMONSTRATIONS)
        if copy is not None:
            files.write_bytes(folder / copy[0], copy[1])
        files.write_json(folder / CONFIG, setup_to_json(setup))
        return _carry_on(folder, training, report, simulated)


def resume(
    folder: Path, report: Report = _silent, task: Task | str | None = None, simulated: bool = True
) -> dict[str, Any]:
    """Continue a run; returns its result. A finished run is left as it is."""
    setup = load_setup(folder)
    if (folder / RESULT).exists():
        return read_result(folder)
    with _alone(folder):
        return _carry_on(folder, Training([prepare_again(setup, folder, task)]), report, simulated)


def judge(folder: Path, task: Task | str | None = None) -> dict[str, Any]:
    """Evaluate a finished run again, by the task's simulation if it has one; returns its result."""
    (folder / RESULT).unlink()
    return resume(folder, task=task)


def claim(folder: Path) -> None:
    """Refuse a folder that holds anything but what a run leaves that was killed before it began."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; choose another --out")
    if (folder / CONFIG).exists():
        raise UserError(f"{folder} already holds a run; continue it with --resume {folder} or choose another --out")
    begun = (DEMONSTRATIONS, TASK_FILE, SCENE_FILE, LOCK)
    if folder.exists() and any(item.name not in begun and not files.is_leftover(item) for item in folder.iterdir()):
        raise UserError(f"{folder} is not empty; choose another --out")


# What a run has in its folder


def load_setup(folder: Path) -> Setup:
    """The setup of the run in a folder."""
    if not (folder / CONFIG).exists():
        raise UserError(f"{folder} holds no run; name a folder that `vigor train` wrote")
    try:
        return setup_from_json(files.read_json(folder / CONFIG))
    except UserError as error:
        raise UserError(f"{folder / CONFIG} is damaged or of another version of vigor: {error}") from None


def task_of(folder: Path, setup: Setup, task: Task | str | None = None) -> Task:
    """The task of a run, with the descriptors it learned from.

    task: the task itself, or where it is; if its file is another one than the run was begun with, that is said. Without
    it the run's own is loaded, if no program has to be run for it that was never run before: see `vigor.tasks.trust`.
    """
    if task is None:
        loaded = load_stored(setup.task, setup.task_digest, (folder,), folder / CONFIG)
        return loaded.with_descriptors(setup.descriptors)
    loaded = load_task(task)
    if loaded.settle is not None:
        loaded = settled(loaded, dataset.load(folder / DEMONSTRATIONS, loaded))
    if setup.task in TASKS and loaded.name != setup.task:
        raise UserError(f"the run in {folder} is of {setup.task}, not of {loaded.name}")
    if loaded.digest and setup.task_digest not in ("", loaded.digest):
        said = f"{loaded.origin} is not the task that the run in {folder} was begun with; it is used as you asked"
        warnings.warn(said, Notice, stacklevel=2)
    return loaded.with_descriptors(setup.descriptors)


def prepare_again(setup: Setup, folder: Path, task: Task | str | None = None) -> Prepared:
    """Everything that a run in a folder was begun with, or a sentence about what is missing."""
    try:
        loaded = task_of(folder, setup, task)
        prepared = prepare(setup, loaded, dataset.load(folder / DEMONSTRATIONS, loaded))
    except UserError as error:
        raise UserError(f"the run in {folder} needs what it was begun with: {error}") from None
    return prepared


def load_policies(folder: Path, task: Task | str | None = None) -> tuple[Setup, Task, Learned]:
    """Setup, task and policies of a run, as far as it has got."""
    setup = load_setup(folder)
    if not (folder / POLICIES).exists():
        what = "has lost its policies.npz; train it again" if (folder / RESULT).exists() else "has no policies yet"
        raise UserError(f"the run in {folder} {what}")
    loaded, learned = task_of(folder, setup, task), policies.load(folder / POLICIES)
    if not learned.fits(loaded):
        raise UserError(f"{folder / POLICIES} does not fit {loaded.name}; it belongs to another task")
    return setup, loaded, learned


def repertoire_of(folder: Path, setup: Setup, task: Task) -> Repertoire | None:
    """Repertoire of all demonstrations of a run; None if it learned from all of them, or has lost them."""
    if not all((folder / name).exists() for name in (DEMONSTRATIONS, checkpoints.INVARIANTS)):
        return None
    common = checkpoints.load_invariants(folder, task.features)
    return held_out(prepare_again(setup, folder, task), distinct_of(task, common))


def read_result(folder: Path) -> dict[str, Any]:
    """The result of a finished run."""
    if not (folder / RESULT).exists():
        raise UserError(f"the run in {folder} has not finished; continue it with vigor train --resume {folder}")
    try:
        result: Any = from_json(Result, files.read_json(folder / RESULT))
        summaries.check_alike((result["train"], result["test"]))
    except UserError as error:
        raise UserError(
            f"{folder / RESULT} is damaged: {error}; delete it and finish the run with --resume {folder}"
        ) from None
    return result


def read_metrics(folder: Path, done: int | None = None) -> list[dict[str, Any]]:
    """Evaluations in their order, up to an iteration if one is given."""
    path = folder / METRICS
    if not path.exists():
        return []
    try:
        rows: Any = [from_json(Metric, row) for row in files.read_json_lines(path)]
        for row in rows:  # From one evaluation to the next ways are found and lost.
            summaries.check_alike((row["train"], row["test"]))
        if len({(frozenset(row["train"]), frozenset(row["test"])) for row in rows}) > 1:
            raise UserError("its evaluations are of different kinds")
    except UserError as error:
        raise UserError(f"{path} is damaged: {error}; delete it to go on without the curves so far") from None
    return [row for row in rows if done is None or row["iteration"] <= done]


# Training


def _carry_on(folder: Path, training: Training, report: Report, simulated: bool) -> dict[str, Any]:
    """Train from the last checkpoint to the end; returns the result."""
    checkpoints.save_shown(folder, training.starts(), training.common())
    states = training.start()
    described = checkpoints.state_contents(states, training.steps)
    states, seconds = checkpoints.load(folder, states, described)
    done, begun = int(np.max(states.iteration)), time.perf_counter() - seconds
    metrics, judged, fresh = read_metrics(folder, done), None, []
    training.course = [[row["promise"]] for row in metrics if "promise" in row]

    def progress() -> Progress:
        last = (metrics[-1]["test"] or metrics[-1]["train"]) if metrics else {}
        return Progress(done, training.steps, time.perf_counter() - begun, last)

    report(progress())
    with _diverging(lambda: done), _interruptible() as interrupted:
        for done, after, networks in training.advance(states):
            states = after
            if networks is not None:
                fresh.append(jax.tree.map(lambda leaf: np.asarray(leaf)[:, 0], networks))
            due = done % EVERY == 0 or done == training.steps
            if due:
                judged = training.evaluate(states, simulated)[0]
                judged.policies.save(folder / POLICIES)
                promise = {"promise": training.course[-1][0]} if training.course and done % EVERY == 0 else {}
                metrics.append({"iteration": done, "seconds": time.perf_counter() - begun, **promise, **_means(judged)})
                _write_metrics(folder, metrics)
            report(progress())
            stopped = interrupted.is_set()
            if due or stopped:
                if fresh:
                    checkpoints.keep_networks(folder, done, fresh)
                    fresh = []
                checkpoints.save(folder, states, described, time.perf_counter() - begun)
            if stopped and done < training.steps and not all(training.stalled()):
                raise Interrupted(f"stopped after {done} of {training.steps} iterations")
    checkpoints.merge_networks(folder)
    if judged is None:  # The run was killed after its last step.
        with _diverging(lambda: done):
            judged = training.evaluate(states, simulated)[0]
    result = _result(training, judged, done, time.perf_counter() - begun)
    files.write_json(folder / RESULT, result)
    return result


@contextmanager
def _diverging(done: Callable[[], int]) -> Iterator[None]:
    """Say that training has diverged, and by which iteration, where numbers are beyond all bounds."""
    try:
        yield
    except OutOfRange as error:
        raise UserError(f"training has diverged by iteration {done()}: {error}; lower --learning-rate") from None


def _means(judged: Evaluation) -> dict[str, Any]:
    """Figures of training and test contexts, without those of each context."""
    parts = {"train": judged.train, "test": judged.test}
    return {name: {figure: part[figure] for figure in part if figure != "contexts"} for name, part in parts.items()}


def _write_metrics(folder: Path, metrics: list[dict[str, Any]]) -> None:
    files.write_text(folder / METRICS, "".join(json.dumps(row, allow_nan=False) + "\n" for row in metrics))


def _result(training: Training, judged: Evaluation, done: int, seconds: float) -> dict[str, Any]:
    prepared = training.prepared[0]
    return {
        "task": prepared.task.name,
        "method": prepared.setup.method,
        "seed": prepared.setup.seed,
        "demos": prepared.demonstrations.source,
        "iterations": done,
        "stopped": training.why_stopped(),
        "seconds": seconds,
        "device": jax.devices()[0].device_kind,
        "version": __version__,
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "train": judged.train,
        "test": judged.test,
        "common": invariants.in_words(training.common(), prepared.task.feature_names),
    }


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse to train in a folder that another process trains in."""
    lock = locks.take(folder / LOCK)
    if lock is None:
        raise UserError(f"another process is training in {folder}; wait for it or choose another --out")
    try:
        for part in (folder, folder / DEMONSTRATIONS, folder / checkpoints.PARTS):
            files.remove_leftovers(part)
        yield
    finally:
        locks.drop(lock)


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets; a second Ctrl-C interrupts at once."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: Any) -> None:
        event.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, handle)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)
