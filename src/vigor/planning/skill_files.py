"""Files of skills: packed from a run, and checked when they are read."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import jax
import numpy as np

from vigor.basics import contents, files
from vigor.basics.contents import Contents, Numbers
from vigor.basics.errors import UserError
from vigor.basics.serialisation import from_json, is_plain, to_json
from vigor.basics.version import __version__
from vigor.demonstrations import dataset
from vigor.learning import invariants, network_training, starts
from vigor.learning.invariants import Invariants
from vigor.learning.starts import Starts
from vigor.planning import eight_bits, planner
from vigor.planning.planner import Planner
from vigor.planning.skills import SUFFIX, Card, Provenance, Skill
from vigor.runs import checkpoints
from vigor.runs import run as runs
from vigor.runs.setup import check_complete
from vigor.tasks import Task

FORMAT, VERSION = "vigor-skill", "2"
LARGEST = 2**28
"""Most bytes of a skill."""
BYTES, SEVERAL = 7.9e6, 1.9e6
"""Most bytes of a skill's networks by default, and if it has more than one of an iteration; `benchmarks/skills.py`
measures what that costs."""


# From a run


def pack(
    folder: Path, path: Path, task: Task | str | None = None, licence: str = "", every: int | None = None
) -> Skill:
    """Write the skill of a finished run to a new file.

    task: see `run.task_of`; licence: that of the demonstrations, in words; every: keep every n-th ensemble, by default
    all if 8 MB hold a network of each. Of each ensemble as many networks are kept as 2 MB hold, or one; in 8 bits.
    """
    if path.suffix != SUFFIX:
        raise UserError(f"a skill is a {SUFFIX} file, not {path}")
    if not is_plain(licence) or len(licence) > 200:
        raise UserError("a licence is one line of at most 200 characters")
    made = planner.load(folder, task=task)
    made, every = _small(made, every)
    card = _card(folder, made, licence, every)
    arrays = _arrays(made)
    described, sizes = contents_of(card)
    contents.check(described, arrays, **sizes)
    text = json.dumps(to_json(card), allow_nan=False)
    metadata = {"format": FORMAT, "version": VERSION, "digest": digest_of(text, arrays), "card": text}
    try:
        contents.write_tensors(path, arrays, described, metadata, new=True)
    except FileExistsError:
        raise UserError(f"{path} exists already; choose another file") from None
    return load(path, made.task)


def _small(made: Planner, every: int | None) -> tuple[Planner, int]:
    """A planner with as many networks as the file may hold, and which iterations they are of: every n-th.

    Every ensemble moves the mixtures by a bounded step, so that all iterations count more than all networks of one.
    """
    leaves = jax.tree.leaves(made.ensembles)
    count, networks = leaves[0].shape[:2]
    one = sum(leaf.size for leaf in leaves) / count / networks
    if every is None:
        every = min(count, math.ceil(count * one / BYTES))
    made = replace(made, every=every)  # Which refuses a number that cannot be.
    ensembles = jax.tree.map(lambda leaf: np.asarray(leaf)[::-every][::-1], made.ensembles)
    most = max(1, int(SEVERAL / one / made.updates))
    # Samples are dealt out to the networks evenly.
    kept = max(n for n in range(1, networks + 1) if n <= most and made.settings.update.samples % n == 0)
    return replace(made, ensembles=planner.by_turns(ensembles, kept), every=1), every


def _card(folder: Path, made: Planner, licence: str, every: int) -> Card:
    setup, result, task = runs.load_setup(folder), runs.read_result(folder), made.task
    program = "" if task.data or not task.origin else Path(task.origin).name
    figures = {
        part: {name: value for name, value in result[part].items() if name.startswith(("success", "predicted"))}
        for part in ("train", "test")
    }
    return Card(
        task=task.name,
        program=program,
        digest=task.digest,
        scene=json.loads(task.data) if task.data else None,
        descriptors=setup.descriptors,
        context_names=task.context_names,
        features=task.features,
        weights=task.promp.weights,
        robot=task.arm.robot,
        settings=made.settings,
        figures={
            part: {name: value for name, value in row.items() if isinstance(value, float)}
            for part, row in figures.items()
        },
        common=tuple(invariants.in_words(made.common, task.feature_names)),
        provenance=Provenance(
            source=result["demos"],
            licence=licence,
            contexts=len(made.trained),
            demonstrations=len(made.starts.weights),
            seed=setup.seed,
            fingerprint=setup.fingerprint,
            iterations=result["iterations"],
            every=every,
            networks=jax.tree.leaves(made.ensembles)[0].shape[1],
            trained=setup.date,
            packed=datetime.now().astimezone().isoformat(timespec="seconds"),
            version=__version__,
        ),
    )


# Files


def load(path: Path, task: Task | str | None = None) -> Skill:
    """The skill in a file. task: the task itself, or where it is, if the skill has only its name."""
    if path.suffix != SUFFIX:
        raise UserError(f"{path} is no skill; name a {SUFFIX} file that `vigor pack` wrote")
    try:
        arrays, metadata = contents.read_tensors(path, largest=LARGEST)
    except UserError as error:
        raise UserError(f"{path} is no skill, or is damaged: {error}") from None
    if metadata.get("format") != FORMAT:
        raise UserError(f"{path} holds no skill; name a file that `vigor pack` wrote")
    if (version := metadata.get("version")) != VERSION:
        raise UserError(f"{path} has version {version!s:.20}; this program reads version {VERSION}")
    text = metadata.get("card", "")
    if metadata.get("digest") != digest_of(text, arrays):
        raise UserError(f"{path} is not as `vigor pack` wrote it: something in it was changed; pack it again")
    try:
        values = files.parse_json(text)
        card = from_json(Card, values)
        check_complete(values, card)
        described, sizes = contents_of(card)
        contents.check(described, arrays, **sizes)
    except UserError as error:
        raise UserError(f"{path} is damaged: {error}; pack it again") from None
    return _skill(path, card, arrays, task)


def _skill(path: Path, card: Card, arrays: Mapping[str, np.ndarray], task: Task | str | None) -> Skill:
    def part(prefix: str) -> dict[str, Any]:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    like = _network(card)
    return Skill(
        path,
        card,
        arrays["contexts"],
        Starts(**jax.device_put(part("starts."))),
        Invariants(**jax.device_put(part("invariants."))),
        checkpoints.tree_of(like, eight_bits.restored(part("networks"))),
        task,
    )


def _arrays(made: Planner) -> dict[str, np.ndarray]:
    """Arrays of a skill by name."""
    networks = {name: np.asarray(array) for name, array in checkpoints.named(made.ensembles).items()}
    parts = {
        "contexts": made.trained,
        **{f"starts.{name}": array for name, array in made.starts._asdict().items()},
        **{f"invariants.{name}": array for name, array in made.common._asdict().items()},
        **{f"networks{name}": array for name, array in eight_bits.rounded(networks).items()},
    }
    return {name: np.asarray(array) for name, array in parts.items()}


def contents_of(card: Card) -> tuple[Contents, dict[str, int]]:
    """Description of a skill's arrays, and the sizes of axes that its card knows."""
    networks = eight_bits.contents(checkpoints.network_contents(_network(card)))
    described = {"contexts": Numbers(("context", "coordinate"), -dataset.LARGEST, dataset.LARGEST)}
    described |= _within("starts.", starts.CONTENTS) | _within("invariants.", invariants.CONTENTS)
    described |= {f"networks{name}": meant for name, meant in networks.items()}
    sizes = {
        "coordinate": len(card.context_names),
        "context": card.provenance.contexts,
        "starts.weight": card.weights,
        "starts.demonstration": card.provenance.demonstrations,
        "invariants.feature": card.features,
        "invariants.statistic": 2 * card.features,
        "network": card.provenance.networks,
    }
    return described, sizes


def _within(prefix: str, part: Contents) -> Contents:
    """Arrays of a part of a file; its axes have sizes of their own."""
    return {
        prefix + name: Numbers(tuple(prefix + str(axis) for axis in meant.axes), meant.low, meant.high, meant.whole)
        for name, meant in part.items()
    }


def _network(card: Card) -> Any:
    """Shapes of a network's parameters."""
    training = card.settings.density_ratio.training
    return network_training.parameters_like(training, card.features)


def digest_of(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of a skill's card and arrays."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
