"""Demonstrations: the data type, its file format, importers, preprocessing and the choice of what a run learns from.

A set lives in a folder: `demonstrations.json` says what it is, `demonstrations.npz` holds its arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from vigor import files
from vigor.errors import UserError
from vigor.evaluation import distinct_solutions
from vigor.promp import rollout
from vigor.tasks.task import Task

HEADER, ARRAYS = "demonstrations.json", "demonstrations.npz"
FORMAT, VERSION = "vigor-demonstrations", 1
FORMATS = ("published", "published-raw", "csv", "npz")
"""What `import_demonstrations` reads."""
REST = 0.01
"""Share of a recording's largest excursion up to which the robot counts as still resting."""
HOLD = 0.15
"""Share of a recording's length for which its last pose is repeated, so that the fit ends there."""
FIT_STEPS = 200
"""Steps that recordings of different lengths are resampled to, to be fitted together."""
ROUNDS = 30
"""Times that a generator is asked again for what still lacks in a context."""


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """Contexts of a task and what was demonstrated in them; checks itself."""

    task: str
    """Name of the task."""
    contexts: np.ndarray
    """[m, C]: all contexts of the set. Those without demonstrations are there to test on."""
    context_of: np.ndarray
    """[n]: the context of each demonstration, as an index into `contexts`."""
    weights: np.ndarray
    """[n, D]: the ProMP of each demonstration."""
    recordings: tuple[np.ndarray, ...] | None
    """What each demonstration was fitted to, [T, dimensions] with a T of its own; None where only weights are known."""
    source: str
    """Where the set comes from, in words."""

    def __post_init__(self) -> None:
        contexts = _numbers(self.contexts, 2, "the contexts")
        weights = _numbers(self.weights, 2, "the weights")
        context_of = np.array(self.context_of)
        if context_of.dtype.kind not in "iu":
            raise UserError("context_of must hold integers: the index of each demonstration's context")
        if context_of.shape != (len(weights),):
            raise UserError(
                f"context_of has shape {context_of.shape} for {len(weights)} weight vectors; give each one context"
            )
        if np.any(context_of < 0) or np.any(context_of >= len(contexts)):
            raise UserError(f"context_of must name contexts 0 to {len(contexts) - 1}; it holds others")
        recordings = self.recordings
        if recordings is not None:
            if len(recordings) != len(weights):
                raise UserError(
                    f"there are {len(recordings)} recordings for {len(weights)} weight vectors; give as many"
                )
            recordings = tuple(_numbers(item, 2, f"recording {i}") for i, item in enumerate(recordings))
            if len({item.shape[1] for item in recordings}) > 1 or min(len(item) for item in recordings) < 2:
                raise UserError("recordings must have the same number of columns and at least 2 steps each")
        for name, value in (("contexts", contexts), ("weights", weights), ("recordings", recordings)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "context_of", context_of.astype(np.int64))

    @property
    def demonstrated(self) -> np.ndarray:
        """Sorted indices of the contexts with at least one demonstration."""
        return np.unique(self.context_of)

    def of(self, context: int) -> np.ndarray:
        """Indices of a context's demonstrations."""
        return np.flatnonzero(self.context_of == context)


def _numbers(values: Any, axes: int, what: str) -> np.ndarray:
    """A copy in double precision, or one sentence about why these are not finite numbers with so many axes."""
    try:
        array = np.array(values)
    except ValueError:
        raise UserError(f"{what} must be a table of numbers with rows of equal length") from None
    if array.dtype.kind not in "iuf":
        raise UserError(f"{what} must be real numbers, not {array.dtype}")
    if array.ndim != axes or 0 in array.shape:
        raise UserError(f"{what} must have {axes} axes and none of them empty; the shape is {array.shape}")
    if not np.all(np.isfinite(array)):
        raise UserError(f"{what} must be finite; remove NaN and infinite values")
    return array.astype(np.float64)


def _check_fits(demonstrations: Demonstrations, task: Task) -> None:
    if demonstrations.task != task.name:
        raise UserError(f"these are demonstrations of {demonstrations.task}, not of {task.name}; choose that task")
    width, length = demonstrations.contexts.shape[1], demonstrations.weights.shape[1]
    if width != task.context_dimension:
        raise UserError(f"contexts have {width} numbers where {task.name} has {task.context_dimension}")
    if length != task.promp.weights:
        raise UserError(f"weight vectors have {length} numbers where {task.name} has {task.promp.weights}")
    if demonstrations.recordings is not None and demonstrations.recordings[0].shape[1] != task.promp.dimensions:
        columns = demonstrations.recordings[0].shape[1]
        raise UserError(f"recordings have {columns} columns where {task.name} moves {task.promp.dimensions} joints")


# Files


def save(demonstrations: Demonstrations, folder: Path) -> None:
    """Write a set into a folder of its own, whole or not at all: nothing loads without the header, which comes last."""
    if (folder / HEADER).exists() or (folder / ARRAYS).exists():
        try:
            same = _equal(load(folder), demonstrations)
        except UserError:
            same = False
        if not same:
            raise UserError(f"{folder} already holds other demonstrations; choose another --out")
    arrays = {
        "contexts": demonstrations.contexts,
        "context_of": demonstrations.context_of,
        "weights": demonstrations.weights,
    }
    if demonstrations.recordings is not None:
        arrays["samples"] = np.concatenate(demonstrations.recordings)
        arrays["lengths"] = np.array([len(recording) for recording in demonstrations.recordings])
    try:
        files.write_arrays(folder / ARRAYS, arrays)
        files.write_json(folder / HEADER, _header(demonstrations))
    except OSError as error:
        raise UserError(f"{folder} cannot be written to ({error}); choose another --out") from None


def load(folder: Path, task: Task | None = None) -> Demonstrations:
    """Read a set, and check that it is one of the task's if a task is given."""
    header = files.read_json(folder / HEADER)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UserError(f"{folder / HEADER} does not describe demonstrations; import them with `vigor demos import`")
    if header.get("version") != VERSION:
        raise UserError(f"{folder / HEADER} has version {header.get('version')}; this program reads version {VERSION}")
    if not isinstance(header.get("task"), str) or not isinstance(header.get("source"), str):
        raise UserError(f"{folder / HEADER} must name the task and the source of the demonstrations")
    path = folder / ARRAYS
    arrays = files.read_arrays(path)
    missing = [name for name in ("contexts", "context_of", "weights") if name not in arrays]
    if missing:
        raise UserError(f"{path} lacks {' and '.join(missing)}; make the demonstrations again")
    try:
        recordings = _cut(arrays["samples"], arrays.get("lengths")) if "samples" in arrays else None
        demonstrations = Demonstrations(
            header["task"], arrays["contexts"], arrays["context_of"], arrays["weights"], recordings, header["source"]
        )
        if task is not None:
            _check_fits(demonstrations, task)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    if header != _header(demonstrations):
        raise UserError(f"{path} does not belong to the {HEADER} beside it; make the demonstrations again")
    return demonstrations


def _header(demonstrations: Demonstrations) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "task": demonstrations.task,
        "source": demonstrations.source,
        "contexts": len(demonstrations.contexts),
        "demonstrations": len(demonstrations.weights),
        "recordings": demonstrations.recordings is not None,
    }


def _cut(samples: np.ndarray, lengths: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """Recordings of these lengths [n] out of one array [sum of lengths, dimensions]."""
    samples = _numbers(samples, 2, "the recordings' samples")
    if lengths is None or lengths.dtype.kind not in "iu" or lengths.ndim != 1 or np.any(lengths < 1):
        raise UserError("the recordings' lengths must be positive integers, one for each recording")
    if lengths.sum() != len(samples):
        raise UserError(f"the recordings' lengths add up to {lengths.sum()} for {len(samples)} samples")
    return tuple(np.split(samples, np.cumsum(lengths)[:-1]))


def _equal(a: Demonstrations, b: Demonstrations) -> bool:
    return (
        _header(a) == _header(b)
        and np.array_equal(a.contexts, b.contexts)
        and np.array_equal(a.context_of, b.context_of)
        and np.array_equal(a.weights, b.weights)
        and all(np.array_equal(x, y) for x, y in zip(a.recordings or (), b.recordings or (), strict=True))
    )


# From recordings to movements


def preprocess(
    task: Task, contexts: np.ndarray, recordings: Sequence[np.ndarray], context_of: np.ndarray, source: str
) -> Demonstrations:
    """Fit ProMPs to recordings [T, dimensions] of any lengths, and keep those that succeed when rolled out.

    The rest before a movement is dropped, and its last pose held for a while, so that the fit ends near the goal.
    """
    if not len(recordings):
        raise UserError("there are no recordings to make demonstrations of; record at least one movement")
    whole = Demonstrations(
        task.name, contexts, context_of, np.zeros((len(recordings), task.promp.weights)), tuple(recordings), source
    )
    _check_fits(whole, task)
    moving = [_without_rest(recording) for recording in whole.recordings or ()]
    weights = _fit(task, moving)
    distances = _distances(task, weights, whole.contexts[whole.context_of])
    kept = np.flatnonzero(task.succeeds(distances))
    if not len(kept):
        raise UserError(
            f"none of the {len(recordings)} recordings solves {task.name} (the best is {distances.min():.3g} away); "
            "check units, context indices and the start pose"
        )
    if len(kept) < len(recordings):
        source = f"{source}, {len(kept)} of {len(recordings)} recordings kept"
    return Demonstrations(
        task.name, whole.contexts, whole.context_of[kept], weights[kept], tuple(moving[i] for i in kept), source
    )


def _without_rest(recording: np.ndarray) -> np.ndarray:
    """The recording from its last step at rest on."""
    excursion = np.linalg.norm(recording - recording[0], axis=1)
    return recording[max(int(np.argmax(excursion > REST * excursion.max())) - 1, 0) :]


def _fit(task: Task, recordings: Sequence[np.ndarray]) -> np.ndarray:
    """Weights [n, D] of recordings [T, dimensions] whose last poses are held."""
    held = [np.pad(recording, ((0, max(1, round(HOLD * len(recording)))), (0, 0)), "edge") for recording in recordings]
    return task.promp.fit(np.stack([_resample(recording, FIT_STEPS) for recording in held]))


def _resample(recording: np.ndarray, steps: int) -> np.ndarray:
    """A recording [T, dimensions] at evenly spaced times [steps, dimensions]."""
    times = np.linspace(0.0, len(recording) - 1.0, steps)
    return np.stack([np.interp(times, np.arange(len(recording)), column) for column in recording.T], axis=1)


def _distances(task: Task, weights: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """How far each ProMP [n, D] is from solving its context [n, C]: [n]."""
    return task.distances(rollout(task.promp, jnp.asarray(weights)), contexts)


def trajectories(task: Task, demonstrations: Demonstrations, raw: bool = False) -> np.ndarray:
    """Movements [n, T, dimensions]: the ProMPs rolled out, or the recordings at T evenly spaced steps if raw."""
    if not raw:
        return np.asarray(rollout(task.promp, jnp.asarray(demonstrations.weights)))
    if demonstrations.recordings is None:
        raise UserError(f"these demonstrations ({demonstrations.source}) hold no recordings; train on their ProMPs")
    return np.stack([_resample(recording, task.promp.steps) for recording in demonstrations.recordings])


def generate(task: Task, seed: int, contexts: int = 12, per_context: int = 10, spare: int = 60) -> Demonstrations:
    """Demonstrations of the task's own generator, all successful, and spare contexts without any."""
    if task.generate is None:
        raise UserError(f"{task.name} has no generator of demonstrations; give some with --demos")
    if not 0 <= seed < 2**32 or contexts < 1 or per_context < 1 or spare < 0:
        raise UserError("seed must be from 0 to 2**32 - 1, contexts and demonstrations per context at least 1")
    if contexts * per_context > 10**6 or spare > 10**6:
        raise UserError("at most a million demonstrations and spare contexts can be generated")
    drawn = np.asarray(task.sample_contexts(np.random.default_rng(seed), contexts + spare), float)
    # Every context has random numbers of its own, so that one hard context changes no other.
    randomness = [np.random.default_rng([seed, index]) for index in range(contexts)]
    found: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in range(contexts)]
    for _ in range(ROUNDS):
        moving: list[np.ndarray] = []
        context_of: list[int] = []
        for index in range(contexts):
            lacking = per_context - len(found[index])
            fresh = _generated(task, randomness[index], drawn[index], lacking) if lacking else []
            moving += [_without_rest(recording) for recording in fresh[:lacking]]
            context_of += [index] * len(fresh[:lacking])
        if not moving:
            break
        weights = _fit(task, moving)
        for i in np.flatnonzero(task.succeeds(_distances(task, weights, drawn[context_of]))):
            found[context_of[i]].append((weights[i], moving[i]))
    short = next((index for index in range(contexts) if len(found[index]) < per_context), None)
    if short is not None:
        raise UserError(
            f"only {len(found[short])} of {per_context} demonstrations of context {np.round(drawn[short], 3).tolist()} "
            "could be generated; take another seed or fewer demonstrations"
        )
    chosen = [pair for pairs in found for pair in pairs]
    return Demonstrations(
        task.name,
        drawn,
        np.repeat(np.arange(contexts), per_context),
        np.stack([weights for weights, _ in chosen]),
        tuple(recording for _, recording in chosen),
        f"generated with seed {seed}",
    )


def _generated(task: Task, rng: np.random.Generator, context: np.ndarray, count: int) -> list[np.ndarray]:
    """What the task's generator makes, checked."""
    assert task.generate is not None
    try:
        recordings = [_numbers(item, 2, "a recording") for item in task.generate(rng, context, count)]
    except UserError as error:
        raise UserError(f"generate of {task.name}: {error}") from None
    except Exception as error:
        raise UserError(f"generate of {task.name} fails: {type(error).__name__}: {error}") from None
    if any(item.shape[1] != task.promp.dimensions or len(item) < 2 for item in recordings):
        raise UserError(
            f"generate of {task.name} must make recordings [T, {task.promp.dimensions}] of at least 2 steps"
        )
    return recordings


# Importers


def import_demonstrations(task: Task, format: str, path: Path) -> Demonstrations:
    """Demonstrations in one of FORMATS: see `import_published`, `import_csv` and `import_npz`."""
    if not path.exists():
        raise UserError(f"{path} does not exist")
    if format in ("published", "published-raw"):
        return import_published(task, path, raw=format == "published-raw")
    if format == "csv":
        return import_csv(task, path)
    if format == "npz":
        return import_npz(task, path)
    raise UserError(f"there is no format {format!r} of demonstrations; choose from {', '.join(FORMATS)}")


def import_published(task: Task, path: Path, raw: bool = False) -> Demonstrations:
    """The human demonstrations that the paper's authors published, from a clone of their repository.

    raw=False: the published ProMPs, which all succeed, without recordings. raw=True: the published recordings (planar
    reacher only), which all succeed as they are, with ProMPs fitted to them, of which 43% miss a target by a little.
    The two are different choices of 10 per context from what was recorded: 47 of the 120 published ProMPs are the fit
    of a published recording, the recordings of the others were not published. So each is a set of its own.
    """
    name = task.name.replace("-", "_")
    above = (path, *path.resolve().parents[:2])
    below = ("environments", "VIGOR/environments", "published/VIGOR/environments", "")
    folders = [base / inner / name for base in above for inner in below]
    folder = next((folder for folder in folders if (folder / "promp_fits" / "promp_weights.npz").exists()), None)
    if folder is None:
        raise UserError(
            f"{path} holds no published demonstrations of {task.name}; clone github.com/NiklasFreymuth/VIGOR"
        )
    if raw:
        if not (folder / "raw_demonstrations").exists():
            raise UserError(f"the authors published no recordings of {task.name}; import with --format published")
        source, file, axes, last = folder / "raw_demonstrations", "samples.npz", 4, task.promp.dimensions
    else:
        source, file, axes, last = folder / "promp_fits", "promp_weights.npz", 3, task.promp.weights
    contexts = files.read_array(source / "contexts.npy")
    movements = files.read_array(source / file)
    try:
        movements = _numbers(movements, axes, "the demonstrations")
        if movements.shape[-1] != last or len(contexts) < len(movements):
            raise UserError(
                "this is not the published layout [context, demonstration, ...]; clone the repository again"
            )
        context_of = np.repeat(np.arange(len(movements)), movements.shape[1])
        movements = movements.reshape(-1, *movements.shape[2:])
        demonstrations = Demonstrations(
            task.name,
            contexts.reshape(len(contexts), -1),
            context_of,
            task.promp.fit(movements) if raw else movements,
            tuple(movements) if raw else None,
            f"published by the authors of the paper, human{', recordings' if raw else ''}",
        )
        _check_fits(demonstrations, task)
    except UserError as error:
        raise UserError(f"{source / file}: {error}") from None
    return demonstrations


def import_csv(task: Task, path: Path) -> Demonstrations:
    """Recordings from a folder of comma-separated files, preprocessed.

    contexts.csv has a row for every context. demonstrations/<context>_<anything>.csv is one recording: a row a step, a
    column a joint; <context> is the row in contexts.csv, counted from 0. Each file may begin with a row of names.
    """
    recordings, context_of = [], []
    contexts = _read_csv(path / "contexts.csv")
    for file in sorted((path / "demonstrations").glob("*.csv")):
        index = file.stem.split("_")[0]
        if not (index.isascii() and index.isdigit()):
            raise UserError(f"{file} must begin with the number of its context, for instance 0_first.csv")
        if int(index) >= len(contexts):
            raise UserError(f"{file} names context {index}, but contexts.csv has {len(contexts)}, counted from 0")
        recordings.append(_read_csv(file))
        if recordings[-1].shape[1] != task.promp.dimensions:
            columns = recordings[-1].shape[1]
            raise UserError(f"{file} has {columns} columns where {task.name} moves {task.promp.dimensions} joints")
        if len(recordings[-1]) < 2:
            raise UserError(f"{file} must have at least 2 steps")
        context_of.append(int(index))
    if not recordings:
        raise UserError(
            f"{path / 'demonstrations'} holds no .csv files named CONTEXT_NAME.csv, for instance 0_first.csv"
        )
    return _imported(task, path, contexts, recordings, np.array(context_of, np.int64))


def _read_csv(path: Path) -> np.ndarray:
    try:
        rows = [line.split(",") for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not a readable text file: {error}") from None
    if rows and not any(_is_number(cell) for cell in rows[0]):
        rows = rows[1:]
    if not rows or len({len(row) for row in rows}) > 1 or not all(_is_number(cell) for row in rows for cell in row):
        raise UserError(f"{path} must hold rows of comma-separated numbers, as many in each row")
    values = np.array([[float(cell) for cell in row] for row in rows])
    if not np.all(np.abs(values) < 1e12):
        raise UserError(f"{path} must hold finite numbers of a sensible size; look for NaN")
    return values


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def import_npz(task: Task, path: Path) -> Demonstrations:
    """Recordings from an .npz, preprocessed.

    contexts [m, C], context_of [n], and either trajectories [n, T, dimensions] or, for recordings of different lengths,
    samples [sum of lengths, dimensions] and lengths [n].
    """
    arrays = files.read_arrays(path)
    if not {"contexts", "context_of"} <= set(arrays) or not {"trajectories", "samples"} & set(arrays):
        raise UserError(f"{path} must hold contexts, context_of, and trajectories or samples with lengths")
    try:
        if "trajectories" in arrays:
            recordings = tuple(_numbers(arrays["trajectories"], 3, "the trajectories"))
        else:
            recordings = _cut(arrays["samples"], arrays.get("lengths"))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    return _imported(task, path, arrays["contexts"], recordings, arrays["context_of"])


def _imported(
    task: Task, path: Path, contexts: np.ndarray, recordings: Sequence[np.ndarray], context_of: np.ndarray
) -> Demonstrations:
    try:
        return preprocess(task, contexts, recordings, context_of, f"imported from {path.name}")
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


# What a run learns from


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test contexts of a run, and the demonstrations it sees."""

    train: np.ndarray
    """[c]: training contexts, as indices into the set's contexts."""
    train_contexts: np.ndarray
    """[c, C]: their values."""
    test_contexts: np.ndarray
    """[t, C]"""
    demonstrations: np.ndarray
    """[c, per context]: demonstrations of each training context, as indices into the set's demonstrations."""


def split(
    demonstrations: Demonstrations,
    task: Task,
    seed: int,
    train_contexts: int,
    test_contexts: int | np.ndarray,
    per_context: int,
) -> Split:
    """Draw training contexts, demonstrations of each, and test contexts; the same for the same seed.

    Training contexts are drawn among those with enough demonstrations. Test contexts are those given, or are drawn
    among all other contexts of the set, and from the task's distribution once these are used up.
    """
    if not 0 <= seed < 2**32 or train_contexts < 1 or per_context < 1:
        raise UserError(
            "a run needs a seed from 0 to 2**32 - 1, at least 1 training context and 1 demonstration per context"
        )
    rng = np.random.default_rng(seed)
    indices, counts = np.unique(demonstrations.context_of, return_counts=True)
    enough = indices[counts >= per_context]
    if len(enough) < train_contexts:
        raise UserError(
            f"{train_contexts} training contexts with {per_context} demonstrations each were asked for, but only "
            f"{len(enough)} contexts have that many; lower --train-contexts or --demos-per-context"
        )
    train = rng.permutation(enough)[:train_contexts]
    chosen = np.stack([rng.permutation(demonstrations.of(context))[:per_context] for context in train])
    if isinstance(test_contexts, np.ndarray):
        test = _numbers(test_contexts, 2, "the test contexts")
        if test.shape[1] != task.context_dimension:
            raise UserError(
                f"the test contexts have {test.shape[1]} numbers each where {task.name} has {task.context_dimension}: "
                f"{', '.join(task.context_names)}"
            )
    else:
        if test_contexts < 0:
            raise UserError("the number of test contexts must not be negative")
        others = np.setdiff1d(np.arange(len(demonstrations.contexts)), train)
        test = demonstrations.contexts[rng.permutation(others)[:test_contexts]]
        test = np.concatenate([test, task.sample_contexts(rng, test_contexts - len(test))])
    return Split(train, demonstrations.contexts[train], test, chosen)


@dataclass(frozen=True, eq=False)
class Summary:
    """A set at a glance, by demonstrated context."""

    contexts: np.ndarray
    """[c]: indices of the demonstrated contexts."""
    counts: np.ndarray
    """[c]: demonstrations."""
    success: np.ndarray
    """[c]: share of the demonstrations whose ProMP succeeds."""
    distance: np.ndarray
    """[c]: mean distance of the ProMPs from solving the context."""
    solutions: np.ndarray
    """[c]: distinct solutions among them (see `evaluation.distinct_solutions`)."""
    spread: np.ndarray
    """[c]: mean difference between two demonstrations (root mean square over steps of the joints' distance)."""


def summary(task: Task, demonstrations: Demonstrations) -> Summary:
    """How many demonstrations each context has, how good and how different they are."""
    movements = trajectories(task, demonstrations)
    distances = task.distances(movements, demonstrations.contexts[demonstrations.context_of])
    rows = []
    for context in demonstrations.demonstrated:
        of = demonstrations.of(context)
        apart = movements[of, None] - movements[None, of]
        differences = np.sqrt(np.sum(apart**2, axis=-1).mean(axis=-1))
        distinct = np.unique(distinct_solutions(movements[of], task.distinct))
        spread = differences.sum() / max(1, len(of) * (len(of) - 1))
        success = np.mean(task.succeeds(distances[of]))
        rows.append((context, len(of), success, distances[of].mean(), len(distinct), spread))
    return Summary(*map(np.array, zip(*rows, strict=True)))
