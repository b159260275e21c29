"""A run and the folder it leaves: settings, checkpoints, evaluations, figures, results.

A run killed at any moment goes on from its last checkpoint and ends with exactly the result of one left alone: every
random number comes from the seed and the iteration, evaluations happen at fixed iterations, and a checkpoint is one
file that is written whole.
"""

import dataclasses
import hashlib
import json
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics import files, locks
from vigor.basics.errors import UserError
from vigor.basics.version import __version__
from vigor.demonstrations import dataset as demonstrations
from vigor.demonstrations import preprocessing as recordings
from vigor.demonstrations.dataset import Demonstrations, Split
from vigor.evaluation import evaluation, policies
from vigor.evaluation.policies import Learned
from vigor.learning import algorithm
from vigor.runs import checkpoints
from vigor.runs.methods import Method, method
from vigor.tasks import Task, absolute, check_stored, load_task

CONFIG, RESULT, METRICS, POLICIES = "config.json", "result.json", "metrics.jsonl", "policies.npz"
LOCK = ".lock"
"""File that is there while a process trains."""
EVERY = 10
"""Iterations from one evaluation and checkpoint to the next."""


@dataclass(frozen=True)
class Setup:
    """Everything needed to repeat a run: `config.json`."""

    task: str
    """A task's name, or path/to/file.py:NAME."""
    demos: str | None = None
    """Folder with demonstrations; without one, those that come with the task, or that it generates."""
    method: str = "vigor"
    seed: int = 0
    train_contexts: int = 6
    test_contexts: int | list[list[float]] = 6
    """How many, or their values."""
    demos_per_context: int = 5
    descriptors: str = "geometric"
    raw: bool = False
    """Learn from the recordings themselves instead of the ProMPs fitted to them."""
    config: Any = field(default_factory=algorithm.Config)
    """The method's settings."""
    command: str = ""
    version: str = __version__
    date: str = ""
    fingerprint: str = ""
    """Of the demonstrations and of the task's file, so that a run is not continued with others."""


class Interrupted(Exception):
    """The user stopped the run; its checkpoint is in the folder."""


@dataclass(frozen=True)
class Progress:
    """What a progress display shows."""

    iteration: int
    iterations: int
    seconds: float
    test: dict[str, Any]
    """The last evaluation's figures."""


def prepare(setup: Setup) -> tuple[Task, Demonstrations, Split]:
    """Load what a run needs and check that it fits together."""
    task = load_task(setup.task).with_descriptors(setup.descriptors)
    if setup.demos is not None:
        shown = demonstrations.load(Path(setup.demos), task)
    elif task.source.shipped is not None:
        shown = demonstrations.load(task.source.shipped, task)
    elif task.source.generate is not None:
        shown = recordings.generate(task, seed=0)
    else:
        raise UserError(f"{task.name} has no demonstrations of its own; give some with --demos DIR")
    test = setup.test_contexts
    split = demonstrations.split(
        shown,
        task,
        setup.seed,
        setup.train_contexts,
        test if isinstance(test, int) else np.asarray(test, float),
        setup.demos_per_context,
    )
    return task, shown, split


def train(setup: Setup, folder: Path, report: Callable[[Progress], None] = lambda progress: None) -> dict[str, Any]:
    """Start a run in a new folder; returns its result."""
    claim(folder)
    setup = dataclasses.replace(setup, task=absolute(setup.task))
    prepared = prepare(setup)
    # Settings that do not fit together show here, before there is a folder.
    way = method(setup.method)
    jax.eval_shape(partial(way.start, prepared[0], setup.config), _data(way, setup, prepared))
    setup = dataclasses.replace(setup, fingerprint=fingerprint(setup, prepared[1]))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        files.write_json(folder / CONFIG, dataclasses.asdict(setup), new=True)
    except FileExistsError:
        raise UserError(f"another process has just begun a run in {folder}; choose another --out") from None
    with _alone(folder):
        return _carry_on(setup, folder, prepared, report)


def _data(way: Method, setup: Setup, prepared: tuple[Task, Demonstrations, Split]) -> Any:
    """What the method learns from, as a batch of one run."""
    return batch(way, [setup], [prepared])


def batch(way: Method, setups: Sequence[Setup], prepared: Sequence[tuple[Task, Demonstrations, Split]]) -> Any:
    """What a method learns from, as a batch of runs that differ in their seeds alone."""
    problems = [
        algorithm.problem(task, shown, split, setup.seed, setup.raw)
        for setup, (task, shown, split) in zip(setups, prepared, strict=True)
    ]
    return way.prepare(prepared[0][0], setups[0].config, jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems))


def fingerprint(setup: Setup, shown: Demonstrations) -> str:
    """Of the demonstrations and of the task's file."""
    digest = hashlib.sha256()
    learned_from = shown.recordings if setup.raw and shown.recordings else (shown.weights,)
    for array in (shown.contexts, shown.context_of, *learned_from):
        digest.update(np.ascontiguousarray(array).tobytes())
    file = Path(setup.task.rpartition(":")[0])
    if file.is_file():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _prepare_again(setup: Setup, folder: Path) -> tuple[Task, Demonstrations, Split]:
    """What a run in a folder was begun with, or a sentence about what has changed."""
    try:
        prepared = prepare(setup)
    except UserError as error:
        raise UserError(f"the run in {folder} needs what it was begun with: {error}") from None
    if setup.fingerprint and setup.fingerprint != fingerprint(setup, prepared[1]):
        raise UserError(
            f"the demonstrations or the task file of the run in {folder} have changed since it began; put the old ones "
            "back or start a new run"
        )
    return prepared


def claim(folder: Path) -> None:
    """Refuse a folder that holds anything already."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; choose another --out")
    if (folder / CONFIG).exists():
        raise UserError(f"{folder} already holds a run; continue it with --resume {folder} or choose another --out")
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty; choose another --out")


def resume(folder: Path, report: Callable[[Progress], None] = lambda progress: None) -> dict[str, Any]:
    """Continue a run; returns its result. A finished run is left as it is."""
    setup = load_setup(folder)
    if (folder / RESULT).exists():
        return read_result(folder)
    with _alone(folder):
        return _carry_on(setup, folder, _prepare_again(setup, folder), report)


def read_result(folder: Path) -> dict[str, Any]:
    """The result of a finished run."""
    if not (folder / RESULT).exists():
        raise UserError(f"the run in {folder} has not finished; continue it with vigor train --resume {folder}")
    result = files.read_json(folder / RESULT)
    if not isinstance(result, dict) or not {"task", "method", "train", "test"} <= result.keys():
        raise UserError(f"{folder / RESULT} is damaged; delete it and finish the run with --resume {folder}")
    return result


def load_setup(folder: Path) -> Setup:
    """The settings of the run in a folder."""
    if not (folder / CONFIG).exists():
        raise UserError(f"{folder} holds no run; name a folder that `vigor train` wrote")
    values = files.read_json(folder / CONFIG)
    try:
        setup = Setup(**{**values, "config": _settings(method(values["method"]).settings, values["config"])})
        for name, kind in get_type_hints(Setup).items():
            # A list of test contexts is checked where it is used.
            if name not in ("config", "test_contexts") and not isinstance(getattr(setup, name), kind):
                raise TypeError(f"{name} is {getattr(setup, name)!r}")
        if not isinstance(setup.test_contexts, int | list):
            raise TypeError(f"test_contexts is {setup.test_contexts!r}")
        check_stored(setup.task, folder / CONFIG)
        return setup
    except (TypeError, KeyError, ValueError, AttributeError, UserError) as error:
        raise UserError(f"{folder / CONFIG} is damaged or of another version of vigor: {error}") from None


def _settings(kind: type, values: dict[str, Any]) -> Any:
    """A dataclass, with those in it, from what `dataclasses.asdict` and JSON made of it."""
    kinds = get_type_hints(kind)
    nested = {name: kinds[name] for name in values if dataclasses.is_dataclass(kinds.get(name))}
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    for name, value in plain.items():
        allowed = {int: (int,), bool: (bool,), float: (int, float)}.get(kinds.get(name, Any))
        if allowed and type(value) not in allowed:
            raise TypeError(f"{name} is {value!r}")
    return kind(**plain | {name: _settings(part, values[name]) for name, part in nested.items()})


def _carry_on(
    setup: Setup, folder: Path, prepared: tuple[Task, Demonstrations, Split], report: Callable[[Progress], None]
) -> dict[str, Any]:
    task, shown, split = prepared
    way, config = method(setup.method), setup.config
    steps, data = way.steps(config), _data(way, setup, prepared)
    states = way.start(task, config, data)
    states, seconds = checkpoints.load(folder, states)
    done = int(states.iteration[0])
    for part in checkpoints.network_parts(folder):
        if int(part.stem) > done:  # Written just before the run was killed; made again now.
            part.unlink()
    metrics = _read_metrics(folder, done)
    last = (metrics[-1]["test"] or metrics[-1]["train"]) if metrics else {}
    begun = time.perf_counter() - seconds
    with _interruptible() as interrupted:
        while done < steps:
            report(Progress(done, steps, time.perf_counter() - begun, last))
            stop = min(steps, done - done % EVERY + EVERY)
            networks = []
            while done < stop and not interrupted.is_set():
                # On a CPU an iteration takes long enough to be shown, and an interrupt is heard after it.
                count = 1 if jax.default_backend() == "cpu" else stop - done
                states, ensembles = way.advance(task, config, data, states, count)
                if ensembles is not None:
                    networks.append(jax.tree.map(lambda leaf, count=count: leaf[:count, 0], ensembles))
                done = int(states.iteration[0])
                if done < stop:
                    report(Progress(done, steps, time.perf_counter() - begun, last))
            if done == stop:
                current = policies_of(split, way.policies(task, config, data, states))
                judged = evaluation.evaluate(task, current)
                row = {
                    "iteration": done,
                    "seconds": time.perf_counter() - begun,
                    **{name: _without_contexts(part) for name, part in _parts(judged).items()},
                }
                metrics.append(row)
                last = row["test"] or row["train"]
                try:
                    lines = [json.dumps(row, allow_nan=False) + "\n" for row in metrics]
                except ValueError:
                    raise UserError(f"training has diverged by iteration {done}; lower --learning-rate") from None
                files.write_text(folder / METRICS, "".join(lines))
                current.save(folder / POLICIES)
            if networks:
                checkpoints.keep_networks(folder, done, networks)
            checkpoints.save(folder, states, time.perf_counter() - begun)
            if interrupted.is_set() and done < steps:
                raise Interrupted(f"stopped after {done} of {steps} iterations")
    seconds = time.perf_counter() - begun
    report(Progress(done, steps, seconds, last))
    checkpoints.merge_networks(folder)
    learned = policies_of(split, way.policies(task, config, data, states))
    return _finish(setup, folder, task, shown, learned, steps, seconds)


def policies_of(split: Split, learned: Any, number: int = 0) -> Learned:
    """What one run of a batch has learned."""
    contexts = np.concatenate([split.train_contexts, split.test_contexts])
    return policies.of(contexts, len(split.train_contexts), jax.tree.map(lambda leaf: leaf[number], learned))


def _parts(judged: evaluation.Evaluation) -> dict[str, Any]:
    return {"train": judged.train, "test": judged.test}


def _without_contexts(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "contexts"}


@contextmanager
def _alone(folder: Path):
    """Refuse to train in a folder that another process trains in."""
    lock = locks.take(folder / LOCK)
    if lock is None:
        raise UserError(f"another process is training in {folder}; wait for it or choose another --out")
    try:
        for part in (folder, folder / checkpoints.PARTS):
            files.remove_leftovers(part)
        yield
    finally:
        locks.drop(lock)


def _read_metrics(folder: Path, done: int) -> list[dict[str, Any]]:
    """Evaluations up to an iteration; later ones are made again."""
    path = folder / METRICS
    if not path.exists():
        return []
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [row for row in rows if row["iteration"] <= done]
    except (json.JSONDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is damaged: {error}; delete it to go on without the curves so far") from None


@contextmanager
def _interruptible():
    """An event that Ctrl-C sets; a second Ctrl-C interrupts at once."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number, frame):
        event.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, handle)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


# Results


def _finish(
    setup: Setup,
    folder: Path,
    task: Task,
    shown: Demonstrations,
    learned: Learned,
    steps: int,
    seconds: float,
) -> dict[str, Any]:
    judged = evaluation.evaluate(task, learned)
    learned.save(folder / POLICIES)
    result = {
        "task": task.name,
        "method": setup.method,
        "seed": setup.seed,
        "demos": shown.source,
        "iterations": steps,
        "seconds": seconds,
        "device": jax.devices()[0].device_kind,
        "version": __version__,
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        **_parts(judged),
    }
    files.write_json(folder / RESULT, result)
    return result


def load_policies(folder: Path) -> tuple[Setup, Task, Learned]:
    """What a run has learned so far."""
    setup = load_setup(folder)
    if not (folder / POLICIES).exists():
        what = "has lost its policies.npz; train it again" if (folder / RESULT).exists() else "has no policies yet"
        raise UserError(f"the run in {folder} {what}")
    task, learned = load_task(setup.task).with_descriptors(setup.descriptors), policies.load(folder / POLICIES)
    if not learned.fits(task):
        raise UserError(f"{folder / POLICIES} does not fit {task.name}; it belongs to another task")
    return setup, task, learned


def draw(folder: Path) -> Path:
    """Figures and `report.html` of a finished run; returns the report's path."""
    from vigor.reports import figures
    from vigor.reports.page import write_report

    setup, task, learned = load_policies(folder)
    read_result(folder)
    _, shown, split = _prepare_again(setup, folder)
    joints = demonstrations.trajectories(task, shown)
    seen = [joints[rows] for rows in split.demonstrations]
    judged = evaluation.evaluate(task, learned)
    metrics = _read_metrics(folder, method(setup.method).steps(setup.config))
    if metrics:
        figures.save(figures.learning_curves(metrics, task), folder / "figures" / "learning_curves.png")
    for name, rows in {
        "train": range(learned.training),
        "test": range(learned.training, len(learned.contexts)),
    }.items():
        if len(rows):
            traces = figures.traces(task, learned, seen, contexts=rows, success=judged.success)
            figures.save(traces, folder / "figures" / f"traces_{name}.png")
            if name == "test" and task.display.regions(learned.contexts[0]):
                distances = figures.distances(task, learned, seen, contexts=rows)
                figures.save(distances, folder / "figures" / f"distances_{name}.png")
            if name == "test" and task.display.pictures is not None:
                means = learned.movements(task, slice(rows.start, rows.stop), samples=1, seed=0).means
                made = task.display.pictures(learned.contexts[rows.start :], means, judged.success[rows.start :])
                for title, figure in made.items():
                    figures.save(figure, folder / "figures" / f"{title}.png")
    return write_report(folder)
