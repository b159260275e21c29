"""A run and the folder it leaves: settings, checkpoints, evaluations, figures, results.

A run killed at any moment goes on from its last checkpoint and ends with exactly the result of one left alone: every
random number comes from the seed and the iteration, evaluations happen at fixed iterations, and a checkpoint is one
file that is written whole.
"""

import dataclasses
import json
import signal
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import jax
import numpy as np
import safetensors
import safetensors.numpy

from vigor import __version__, algorithm, demonstrations, evaluation, files, policies
from vigor.algorithm import Config, State
from vigor.demonstrations import Demonstrations, Split
from vigor.density_ratio import DensityRatio
from vigor.errors import UserError
from vigor.policies import Policies
from vigor.tasks import Task, load_task

CONFIG, RESULT, METRICS, POLICIES = "config.json", "result.json", "metrics.jsonl", "policies.npz"
CHECKPOINT, STATE, ENSEMBLES, PARTS = "checkpoint.safetensors", "state.json", "ensembles.safetensors", "ensembles"
EVERY = 10
"""Iterations from one evaluation and checkpoint to the next."""


@dataclass(frozen=True)
class Setup:
    """Everything needed to repeat a run: `config.json`."""

    task: str
    """A task's name, or path/to/file.py:NAME."""
    demos: str | None = None
    """Folder with demonstrations; without one, the task generates its own."""
    method: str = "vigor"
    seed: int = 0
    train_contexts: int = 6
    test_contexts: int | list[list[float]] = 6
    """How many, or their values."""
    demos_per_context: int = 5
    descriptors: str = "geometric"
    raw: bool = False
    """Learn from the recordings themselves instead of the ProMPs fitted to them."""
    config: Config = field(default_factory=Config)
    command: str = ""
    version: str = __version__
    date: str = ""


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
    elif task.generate is not None:
        shown = demonstrations.generate(task, seed=0)
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
    prepared = prepare(setup)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / CONFIG, dataclasses.asdict(setup))
    return _carry_on(setup, folder, prepared, report)


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
        return files.read_json(folder / RESULT)
    return _carry_on(setup, folder, prepare(setup), report)


def load_setup(folder: Path) -> Setup:
    """The settings of the run in a folder."""
    if not (folder / CONFIG).exists():
        raise UserError(f"{folder} holds no run; name a folder that `vigor train` wrote")
    values = files.read_json(folder / CONFIG)
    try:
        config = dict(values["config"])
        networks = DensityRatio(**config.pop("density_ratio"))
        return Setup(**{**values, "config": Config(**config, density_ratio=networks)})
    except (TypeError, KeyError, UserError) as error:
        raise UserError(f"{folder / CONFIG} is damaged or of another version of vigor: {error}") from None


def _carry_on(
    setup: Setup, folder: Path, prepared: tuple[Task, Demonstrations, Split], report: Callable[[Progress], None]
) -> dict[str, Any]:
    task, shown, split = prepared
    config = setup.config
    problems = _batch(algorithm.problem(task, shown, split, setup.seed, setup.raw))
    states = algorithm.start(task, config, problems)
    states, seconds = _load_checkpoint(folder, states)
    done = int(states.iteration[0])
    for part in (folder / PARTS).glob("*.safetensors"):
        if int(part.stem) > done:  # Written just before the run was killed; made again now.
            part.unlink()
    metrics = _read_metrics(folder, done)
    last = metrics[-1]["test"] if metrics else {}
    begun = time.perf_counter() - seconds
    with _interruptible() as interrupted:
        while done < config.iterations:
            report(Progress(done, config.iterations, time.perf_counter() - begun, last))
            stop = min(config.iterations, done - done % EVERY + EVERY)
            networks = []
            while done < stop and not interrupted.is_set():
                # On a CPU an iteration takes long enough to be shown, and an interrupt is heard after it.
                count = 1 if jax.default_backend() == "cpu" else stop - done
                states, ensembles = algorithm.advance(task, config, problems, states, count)
                networks.append(jax.tree.map(lambda leaf, count=count: leaf[:count, 0], ensembles))
                done = int(states.iteration[0])
                if done < stop:
                    report(Progress(done, config.iterations, time.perf_counter() - begun, last))
            if done == stop:
                current = _policies(split, states)
                judged = evaluation.evaluate(task, current)
                row = {
                    "iteration": done,
                    "seconds": time.perf_counter() - begun,
                    **{name: _without_contexts(part) for name, part in _parts(judged).items()},
                }
                metrics.append(row)
                last = row["test"] or row["train"]
                files.write_text(folder / METRICS, "".join(json.dumps(row) + "\n" for row in metrics))
                current.save(folder / POLICIES)
            _keep_networks(folder, done, networks)
            _save_checkpoint(folder, states, time.perf_counter() - begun)
            if interrupted.is_set() and done < config.iterations:
                raise Interrupted(f"stopped after {done} of {config.iterations} iterations")
    seconds = time.perf_counter() - begun
    report(Progress(done, config.iterations, seconds, last))
    _merge_ensembles(folder)
    return _finish(setup, folder, task, shown, split, _policies(split, states), metrics, seconds)


def _batch(problem: algorithm.Problem) -> algorithm.Problem:
    return jax.tree.map(lambda leaf: leaf[None], problem)


def _policies(split: Split, states: State) -> Policies:
    contexts = np.concatenate([split.train_contexts, split.test_contexts])
    return Policies(contexts, len(split.train_contexts), jax.tree.map(lambda leaf: leaf[0], states.mixtures))


def _parts(judged: evaluation.Evaluation) -> dict[str, Any]:
    return {"train": judged.train, "test": judged.test}


def _without_contexts(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "contexts"}


# Checkpoints


def _save_checkpoint(folder: Path, states: State, seconds: float) -> None:
    arrays = {name: np.asarray(leaf) for name, leaf in _named(states).items()}
    iteration = int(states.iteration[0])
    metadata = {"iteration": str(iteration), "seconds": repr(seconds)}
    _write_tensors(folder / CHECKPOINT, arrays, metadata)
    files.write_json(folder / STATE, {"iteration": iteration, "seconds": seconds, "version": __version__})


def _load_checkpoint(folder: Path, states: State) -> tuple[State, float]:
    """The states and seconds of the folder's checkpoint; those given if there is none yet."""
    path = folder / CHECKPOINT
    if not path.exists():
        return states, 0.0
    try:
        with safetensors.safe_open(path, "numpy") as file:
            metadata = file.metadata()
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, safetensors.SafetensorError) as error:
        raise UserError(f"{path} is damaged: {error}; delete it to start this run again") from None
    expected = _named(states)
    if arrays.keys() != expected.keys() or any(arrays[k].shape != v.shape for k, v in expected.items()):
        raise UserError(f"{path} does not fit this run's settings; delete it to start this run again")
    leaves = [jax.numpy.asarray(arrays[name]) for name in expected]
    return jax.tree.unflatten(jax.tree.structure(states), leaves), float(metadata["seconds"])


def _named(tree: Any) -> dict[str, Any]:
    """The leaves of a pytree by their path."""
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def _write_tensors(path: Path, arrays: dict[str, np.ndarray], metadata: dict[str, str] | None = None) -> None:
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    files.write_whole(path, lambda temporary: safetensors.numpy.save_file(contiguous, temporary, metadata))


def _keep_networks(folder: Path, done: int, networks: list[Any]) -> None:
    """Store the networks of the iterations up to `done`, a list of [iteration, network, ...]."""
    together = jax.tree.map(lambda *leaves: np.concatenate(leaves), *networks)
    _write_tensors(folder / PARTS / f"{done:06d}.safetensors", _named(together))


def _merge_ensembles(folder: Path) -> None:
    """Put the networks of all iterations into one file, [iteration, network, ...]."""
    parts = sorted((folder / PARTS).glob("*.safetensors"))
    if parts:
        loaded = [safetensors.numpy.load_file(part) for part in parts]
        together = {name: np.concatenate([part[name] for part in loaded]) for name in loaded[0]}
        _write_tensors(folder / ENSEMBLES, together)
        for part in parts:
            part.unlink()
        (folder / PARTS).rmdir()


def _read_metrics(folder: Path, done: int) -> list[dict[str, Any]]:
    """Evaluations up to an iteration; later ones are made again."""
    path = folder / METRICS
    if not path.exists():
        return []
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [row for row in rows if row["iteration"] <= done]
    except (json.JSONDecodeError, KeyError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is damaged: {error}") from None


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
    split: Split,
    learned: Policies,
    metrics: list[dict[str, Any]],
    seconds: float,
) -> dict[str, Any]:
    judged = evaluation.evaluate(task, learned)
    learned.save(folder / POLICIES)
    result = {
        "task": task.name,
        "method": setup.method,
        "seed": setup.seed,
        "demos": shown.source,
        "iterations": setup.config.iterations,
        "seconds": seconds,
        "device": jax.devices()[0].device_kind,
        "version": __version__,
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        **_parts(judged),
    }
    files.write_json(folder / RESULT, result)
    return result


def load_policies(folder: Path) -> tuple[Setup, Task, Policies]:
    """What a run has learned so far."""
    setup = load_setup(folder)
    if not (folder / POLICIES).exists():
        raise UserError(f"{folder} holds no policies yet; let the run go on with --resume {folder}")
    return setup, load_task(setup.task).with_descriptors(setup.descriptors), policies.load(folder / POLICIES)


def draw(folder: Path) -> Path:
    """Figures and `report.html` of a run, finished or not; returns the report's path."""
    from vigor import figures
    from vigor.report import write_report

    setup, task, learned = load_policies(folder)
    _, shown, split = prepare(setup)
    joints = demonstrations.trajectories(task, shown)
    seen = [joints[rows] for rows in split.demonstrations]
    judged = evaluation.evaluate(task, learned)
    metrics = _read_metrics(folder, setup.config.iterations)
    if metrics:
        figures.save(figures.learning_curves(metrics, task), folder / "figures" / "learning_curves.png")
    for name, rows in {
        "train": range(learned.training),
        "test": range(learned.training, len(learned.contexts)),
    }.items():
        if len(rows):
            traces = figures.traces(task, learned, seen, contexts=rows, success=judged.success)
            figures.save(traces, folder / "figures" / f"traces_{name}.png")
            if task.regions(learned.contexts[0]):
                distances = figures.distances(task, learned, seen, contexts=rows)
                figures.save(distances, folder / "figures" / f"distances_{name}.png")
    return write_report(folder)
