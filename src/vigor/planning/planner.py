"""Plans for contexts that training never saw: no demonstrations, no training.

A finished run keeps the networks of every iteration. Applied in their order to a fresh mixture, one policy update each,
they lead it where training would have led it: each network knows what was wrong with the policies of its time.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.demonstrations.dataset import check_size, numbers
from vigor.evaluation.policies import Policies
from vigor.learning import network_training
from vigor.learning.algorithm import VigorSettings
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.learning.starts import Starts
from vigor.planning import constraints, ranking
from vigor.planning.choice import ALL, Choice
from vigor.planning.constraints import Constraints
from vigor.planning.plans import Plan, Plans
from vigor.planning.replay import compiled, farther, lead, weigh
from vigor.runs import checkpoints, run
from vigor.tasks.task import Task

Array = jax.Array

BLOCK = 256
"""Most contexts that are planned for at once, to bound memory."""


@dataclass(frozen=True, eq=False, repr=False)
class Planner:
    """Everything that planning needs of a run. Plans for as many contexts as before need no new compilation."""

    task: Task
    settings: VigorSettings
    trained: np.ndarray
    """[m, C]: contexts with demonstrations, which are the trained range."""
    starts: Starts
    """The run's demonstrations, where mixtures begin."""
    common: Invariants
    """Invariants: what they have in common."""
    ensembles: Any
    """[iteration, network, ...]"""
    source: Path
    """Folder of the run, or file of the skill, that it is of."""
    every: int = 1
    """Use every n-th of the ensembles only, the last one among them; 2 takes half the time."""

    def __post_init__(self) -> None:
        if not 1 <= self.every <= self.stored:
            raise UserError(f"every must be from 1 to the run's {self.stored} iterations, not {self.every}")

    @property
    def stored(self) -> int:
        """Ensembles that there are, one of each iteration."""
        return jax.tree.leaves(self.ensembles)[0].shape[0]

    @property
    def updates(self) -> int:
        """Ensembles that are used, an update with each."""
        return (self.stored - 1) // self.every + 1

    def __repr__(self) -> str:
        return f"Planner({self.task.name}, {self.updates} ensembles)"

    def plan(
        self,
        contexts: Any,
        limits: Constraints | None = None,
        samples: int = 0,
        seed: int = 0,
        choice: Choice = ALL,
    ) -> Plans:
        """Ranked solutions for contexts [n, C], or for one [C].

        limits: those of the task's robot by default, see `constraints.of_task`; samples: movements that are drawn from
        each mixture beside the solutions; choice: which ways are given.
        """
        limits = constraints.of_task(self.task) if limits is None else limits
        values, task = checked(self.task, contexts), constraints.begun(self.task, limits.start)
        mixtures, rewards = self._replayed(values, limits, seed)
        import_module("scipy.cluster.hierarchy")  # What finds ways is loaded while they are computed.
        known = (values, mixtures, rewards, self.common, limits, self.trained, self.starts)
        plans = ranking.rank(task, *known, samples, seed, choice)
        return _plans(task, limits, plans, self.source)

    def mixtures(self, contexts: np.ndarray, limits: Constraints, seed: int = 0) -> tuple[Mixture, np.ndarray]:
        """Mixtures [context, ...] for contexts [context, C], and expected rewards [context, component]."""
        mixtures, rewards = self._replayed(contexts, limits, seed)
        ranking.checked(mixtures, rewards)
        return mixtures, np.asarray(rewards)

    def _replayed(self, contexts: np.ndarray, limits: Constraints, seed: int) -> tuple[Mixture, Array]:
        """The same, which may not be computed yet, and not be finite."""
        task = constraints.begun(self.task, limits.start)
        bound = constraints.bounds(task, limits) if limits else None
        blocks = -(-len(contexts) // BLOCK)
        # Blocks of the same size: one program for all of them.
        rows = np.resize(np.arange(len(contexts)), (blocks, -(-len(contexts) // blocks)))
        settings = farther(self.settings, self.updates) if limits.elsewhere else self.settings
        fixed = (np.uint32(seed), task, settings, self.starts, self.common)
        led, weighed = (compiled(step, jax.default_backend()) for step in (lead, weigh))
        parts = []
        for own in rows:
            asked = jax.device_put(contexts[own].astype(np.float32))
            mixtures, rewards = led(*fixed, self.ensembles, asked, bound, np.int32(self.every))
            parts.append((weighed(*fixed, asked, bound, mixtures), rewards))
        mixtures, rewards = parts[0]
        if blocks > 1:
            mixtures, rewards = jax.tree.map(lambda *leaves: jnp.concatenate(leaves)[: len(contexts)], *parts)
        return mixtures, rewards


def _plans(task: Task, limits: Constraints, plans: tuple[Plan, ...], source: Path) -> Plans:
    return Plans(task.origin or task.name, limits, plans, str(source), task.digest, loaded=task)


def load(folder: str | Path, every: int = 1, task: Task | str | None = None, stopped: bool = False) -> Planner:
    """A planner from the folder of a finished run.

    every: use every n-th ensemble only; task: see `run.task_of`.
    stopped: a run that was stopped will do, with what it has learned so far.
    """
    folder = Path(folder)
    setup, loaded, known = run.load_policies(folder, task)
    if setup.method != "vigor" or not isinstance(known, Policies):
        raise UserError(f"{folder} was trained with {setup.method}; only runs of vigor can plan for new contexts")
    if not stopped:
        run.read_result(folder)
    training = setup.settings.density_ratio.training
    like = network_training.parameters_like(training, loaded.features)
    stored = checkpoints.load_networks(folder, like, network=training.networks)
    at, common = (
        checkpoints.load_starts(folder, loaded.promp.weights),
        checkpoints.load_invariants(folder, loaded.features),
    )
    trained = known.contexts[: known.training]
    return Planner(loaded, setup.settings, trained, at, common, jax.device_put(stored), folder, every)


def by_turns(ensembles: Any, networks: int) -> Any:
    """So many networks of every ensemble of [iteration, network, ...]: the first ones of the first, then by turns."""
    count, of = jax.tree.leaves(ensembles)[0].shape[:2]
    if networks == of:
        return ensembles
    iterations = np.arange(count)[:, None]
    chosen = (iterations + np.arange(networks)) % of
    return jax.tree.map(lambda leaf: np.asarray(leaf)[iterations, chosen], ensembles)


def of_run(folder: Path, task: Task | str | None = None) -> Plans:
    """Plans of what a run learned for its own contexts; training contexts first."""
    setup, loaded, known = run.load_policies(folder, task)
    if not isinstance(known, Policies):
        raise UserError(f"{folder} was trained with {setup.method}, which acts step by step and makes no plans")
    limits = constraints.of_task(loaded)
    trained = known.contexts[: known.training]
    common = checkpoints.load_invariants(folder, loaded.features)
    at = checkpoints.load_starts(folder, loaded.promp.weights)
    plans = ranking.rank(loaded, known.contexts, known.mixtures, None, common, limits, trained, at)
    return _plans(loaded, limits, plans, folder)


def free_path(folder: Path) -> Path:
    """Place of a run's next plan: plans/NUMBER.json in its folder."""
    number = 1
    while (path := folder / "plans" / f"{number}.json").exists():
        number += 1
    return path


def keep(made: Plans, folder: Path) -> Path:
    """Write plans to the run's next free place, also where others write at the same moment; returns it."""
    path = free_path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        try:
            made.save(path, new=True)
            return path
        except FileExistsError:
            path = path.with_name(f"{int(path.stem) + 1}.json")


def checked(task: Task, contexts: Any) -> np.ndarray:
    """Contexts [n, C] of a task, or a sentence about what is wrong with them."""
    try:
        contexts = np.atleast_2d(np.asarray(contexts))
    except ValueError:
        raise UserError("the contexts must be rows of as many numbers each") from None
    contexts = numbers(contexts, 2, "the contexts")
    if contexts.shape[1] != task.context_dimension:
        names = ", ".join(task.context_names)
        raise UserError(
            f"a context of {task.name} has {task.context_dimension} numbers ({names}), not {contexts.shape[1]}"
        )
    check_size(contexts, "the contexts")
    return contexts
