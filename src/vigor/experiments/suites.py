"""Suites of the benchmark: plain functions that list cells.

`paper`: every method on every task. `ablations`: one setting after the other changed (appendix D). `contexts`: the box
pusher over the number of training contexts. `additions`: what VIGOR's defaults add to the paper, one by one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, get_args

import jax

from vigor.basics.errors import UserError
from vigor.basics.settings import value_of, with_values
from vigor.demonstrations import splits
from vigor.experiments.cell import Cell
from vigor.experiments.data import Data, Placed
from vigor.experiments.paper import CONTEXTS as OVER_CONTEXTS
from vigor.learning import networks
from vigor.learning.networks import Architecture
from vigor.runs.methods import METHODS, method
from vigor.runs.presets import Preset, descriptors, preset
from vigor.runs.setup import Setup, fingerprint
from vigor.tasks import TASKS, load_task

REACHERS = ("planar-reacher", "panda-reacher")
CONTEXTS = (3, 6, 12, 18, 24)
"""Training contexts of the box pusher."""
WITH_CONTEXTS = ("vigor", "em-drex", "bc-t", "gail", "bc-gmm-t", "copied", "carried")
"""Methods that are shown over them: the paper's four, and what is easily had without learning."""

# The paper's figures of the ablations are not in its text: these values lie around those that it uses throughout.
ABLATIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "vigor": {
        "descriptors": ("geometric", "angles", "jointwise"),
        "raw": (False, True),
        "network": ("cnn", "mlp", "lstm"),
        "components": (1, 2, 3, 4, 5),
        "networks": (1, 2, 5, 10),
        "loss": ("stepwise", "trajectory"),
        "train_contexts": (2, 4, 6, 9, 12),
        "demos_per_context": (1, 2, 3, 5, 10),
        "layers": (1, 2, 3, 4),
        "width": (16, 32, 64, 128),
    },
    "em-drex": {
        "em_components": (1, 3, 5),
        "base_noise": (0.1, 0.3, 1.0),
        "noise_levels": (2, 5, 10),
        "noise_multiplier": (2.0, 5.0, 10.0),
        "reward_scale": (10.0, 100.0, 1000.0),
        "layers": (1, 2, 3, 4),
        "width": (32, 64, 128),
    },
}
"""Settings by method, with all values that are compared; a method's own value is among them or beside them."""

ADDITIONS = ("begin", "misplaced", "scaled", "invariants", "sharpness", "weights", "decay", "stall")
"""Settings in which the project's defaults go beyond the paper's, with the values of either preset."""

_SMALL = {"layers": 2, "width": 32, "kernel": 5}
QUICK: dict[str, dict[str, Any]] = {
    "vigor": {"iterations": 40, "samples": 50} | _SMALL,
    "em-drex": {"iterations": 40, "em_samples": 512, "epochs": 20, "learning_rate": 3e-4} | _SMALL,
    "bc-t": {"epochs": 3000},
    "bc-gmm-t": {"epochs": 3000},
    "bc-s": {"epochs": 100},
    "bc-gmm-s": {"epochs": 100},
    "gail": {"timesteps": 20_000},
}
"""Settings that make a method fast and poor."""
QUICK_ABLATIONS = ("descriptors", "network", "em_components")
QUICK_SEEDS = 2


@dataclass(frozen=True)
class Choice:
    """Tasks and methods that a suite is narrowed to; empty for all that it has."""

    tasks: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    seeds: int = 10
    """Seeds of each configuration."""
    first_seed: int = 0
    """First of them."""
    presets: tuple[Preset, ...] = ("default",)
    """Presets of the usual settings."""
    quick: bool = False
    """A task, few seeds, shortened runs."""

    def __post_init__(self) -> None:
        if not 1 <= self.seeds <= 1000:
            raise UserError(f"--seeds must be from 1 to 1000, not {self.seeds}")
        if not 0 <= self.first_seed < 2**31:
            raise UserError(f"--first-seed must be from 0 to 2147483647, not {self.first_seed}")
        for name in self.methods:
            method(name)
        for name in self.tasks:
            load_task(name)

    def usual(self, data: Data, tasks: Sequence[str], methods: Sequence[str]) -> Iterator[Cell]:
        """Cells with usual settings of a suite that has these tasks and methods."""
        for task in self.tasks or (tasks[:1] if self.quick else tasks):
            for name in self.methods or [name for name in methods if _suits(name, task)]:
                for which in self.presets:
                    for seed in self.seed_numbers:
                        yield _usual(data, task, name, which, seed, self.quick)

    @property
    def seed_numbers(self) -> range:
        return range(self.first_seed, self.first_seed + (min(self.seeds, QUICK_SEEDS) if self.quick else self.seeds))


def paper(choice: Choice, data: Data) -> list[Cell]:
    """Every method on every task, those without learning among them."""
    return list(choice.usual(data, tuple(TASKS), tuple(METHODS)))


def contexts(choice: Choice, data: Data) -> list[Cell]:
    """Methods over the number of training contexts."""
    if choice.quick:
        choice = replace(choice, seeds=1)
    usual = choice.usual(data, tuple(OVER_CONTEXTS), ("vigor", "bc-t") if choice.quick else WITH_CONTEXTS)
    counts = CONTEXTS[1:3] if choice.quick else CONTEXTS
    return [cell for one in usual for count in counts for cell in _changed(one, data, "train_contexts", count)]


def ablations(choice: Choice, data: Data) -> list[Cell]:
    """Every setting of appendix D changed, one after the other, and the usual ones."""
    cells = []
    for usual in choice.usual(data, REACHERS, tuple(ABLATIONS)):
        name = usual.setup.method
        if name not in ABLATIONS:
            raise UserError(f"there are no ablations of {name}; choose from {', '.join(ABLATIONS)}")
        cells.append(usual)
        for key, values in ABLATIONS[name].items():
            if not choice.quick or key in QUICK_ABLATIONS:
                cells += [cell for value in values for cell in _changed(usual, data, key, value)]
    return cells


def additions(choice: Choice, data: Data) -> list[Cell]:
    """The project's additions to VIGOR, each removed from the default settings and each alone with the paper's."""
    if set(choice.methods) - {"vigor"}:
        raise UserError("additions are VIGOR's alone; leave --methods out")
    cells = []
    for usual in replace(choice, presets=get_args(Preset), methods=("vigor",)).usual(data, tuple(TASKS), ("vigor",)):
        cells.append(usual)
        other = preset(usual.setup.task, "paper" if usual.preset == "default" else "default", "vigor")
        if usual.preset == "default":  # Invariants alone, without the networks' logits.
            cells += _changed(usual, data, "ratio", False)
        for name in ADDITIONS:
            cells += _changed(usual, data, name, value_of(other, name))
    return cells


SUITES: dict[str, Callable[[Choice, Data], list[Cell]]] = {
    "paper": paper,
    "ablations": ablations,
    "contexts": contexts,
    "additions": additions,
}


def _suits(name: str, task: str) -> bool:
    """Whether a method is there for a task: nothing is carried where the task does not say how."""
    return name != "carried" or load_task(task).transfer.carry is not None


def _usual(data: Data, task: str, name: str, which: Preset, seed: int, quick: bool) -> Cell:
    """A cell with a method's settings by a preset."""
    shorter = QUICK.get(name, {}) if quick else {}
    settings = with_values(preset(task, which, name), **shorter)
    if settings == with_values(preset(task, "default", name), **shorter):
        which = "default"
    loaded = load_task(task)
    placed = data.of(task)
    assert placed is not None
    contexts, each = splits.suited(placed.shown, Setup.train_contexts, loaded.source.per_context)
    setup = Setup(
        task,
        None,
        name,
        seed,
        train_contexts=contexts,
        demos_per_context=each,
        descriptors=descriptors(loaded, which),
        settings=settings,
    )
    return Cell(_learning_from(placed, setup), "", which, quick)


def _changed(usual: Cell, data: Data, name: str, value: Any) -> list[Cell]:
    """A cell with another value of a setting: the usual cell for its own, none where task or demonstrations lack it."""
    if value_of(usual.setup, name) == value:
        return [usual]
    if name == "descriptors" and value not in load_task(usual.setup.task).other_descriptors:
        return []
    setup = with_values(usual.setup, **{name: value})
    if name == "network":
        # "Configured to be of similar size to the CNN" (appendix D).
        architecture = usual.setup.settings.density_ratio.training.architecture
        width = _similar_width(load_task(setup.task).features, architecture, value)
        setup = with_values(setup, width=width)
    placed = data.of(setup.task, setup.raw)
    if placed is None or not placed.suffice(setup.train_contexts, setup.demos_per_context):
        return []
    return [replace(usual, setup=_learning_from(placed, setup), varied=name)]


def _learning_from(placed: Placed, setup: Setup) -> Setup:
    setup = replace(setup, demos=placed.place)
    return replace(setup, fingerprint=fingerprint(setup, placed.shown))


@cache
def _similar_width(features: int, usual: Architecture, network: str) -> int:
    """Width of another kind of network that has about as many parameters."""

    def parameters(architecture: Architecture) -> int:
        leaves = jax.tree.leaves(
            jax.eval_shape(lambda: networks.random_parameters(jax.random.key(0), architecture, features))
        )
        return sum(leaf.size for leaf in leaves)

    aim = parameters(usual)
    kind: Any = network
    low, high = 1, 1024
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if parameters(replace(usual, network=kind, width=middle)) <= aim else (low, middle)
    return min((low, high), key=lambda width: abs(parameters(replace(usual, network=kind, width=width)) - aim))
