"""Plans for contexts that training never saw: no demonstrations, no training.

A finished run keeps the networks of every iteration. Applied in their order to a fresh mixture, one policy update each,
they lead it where training would have led it: each network knows what was wrong with the policies of its time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.errors import UserError
from vigor.basics.settings import with_values
from vigor.demonstrations.dataset import check_size, numbers
from vigor.evaluation.policies import Policies
from vigor.learning import density_ratio, network_training, policy_update, prediction, shares
from vigor.learning.algorithm import VigorSettings
from vigor.learning.invariants import Invariants
from vigor.learning.mixture import Mixture
from vigor.learning.starts import Starts
from vigor.planning import constraints, ranking
from vigor.planning.choice import ALL, Choice
from vigor.planning.constraints import Bounds, Constraints
from vigor.planning.plans import Plan, Plans
from vigor.runs import checkpoints, run
from vigor.tasks.task import Task

Array = jax.Array

BLOCK = 256
"""Most contexts that are planned for at once, to bound memory."""
UPDATES = 50
"""Updates with which a plan that may have to go elsewhere than was shown gets there; fewer take larger steps."""


def replay(
    key: Array,
    task: Task,
    settings: VigorSettings,
    at: Starts,
    common: Invariants,
    ensembles: Any,
    contexts: Array,
    limits: Bounds | None,
    every: Array | int = 1,
) -> tuple[Mixture, Array]:
    """Mixtures of contexts [context, C] after an update with each ensemble; also the last rewards [context, component].

    at: the run's demonstrations, where mixtures may begin; common: what they have in common; ensembles: [iteration,
    network, ...]; every: use every n-th of these only, the last one among them.
    Constraints count in the second half: mixtures know then how to solve their contexts, and are still wide enough to
    go another way. All share their random numbers, so that but for rounding a context's plan does not depend on which
    others are planned with it.
    """
    mixtures, rewards = lead(key, task, settings, at, common, ensembles, contexts, limits, every)
    return weigh(key, task, settings, at, common, contexts, limits, mixtures), rewards


def lead(
    key: Array,
    task: Task,
    settings: VigorSettings,
    at: Starts,
    common: Invariants,
    ensembles: Any,
    contexts: Array,
    limits: Bounds | None,
    every: Array | int = 1,
) -> tuple[Mixture, Array]:
    """`replay` without the weights that components have in the end."""
    key_start, key_updates = jax.random.split(key)
    start = jax.vmap(partial(policy_update.first_mixture, key_start, task, settings.update, at, common))(contexts)
    stored = jax.tree.leaves(ensembles)[0].shape[0]
    updates = (stored - 1) // every + 1
    reward = partial(density_ratio.reward, settings.density_ratio, common)

    # A condition within one loop: two loops would take twice as long to compile.
    def late(number: Array, limits: Bounds, weights: Array) -> Array:
        cost = partial(constraints.cost, task, limits)
        return jax.lax.cond(number < updates // 2, lambda _: jnp.zeros(()), cost, weights)

    def one(number: Array, before: tuple[Mixture, Array]) -> tuple[Mixture, Array]:
        place = stored - 1 - (updates - 1 - number) * every
        ensemble = jax.tree.map(lambda leaf: leaf[place].astype(jnp.float32), ensembles)
        key = jax.random.fold_in(key_updates, number)
        cost = None if limits is None else partial(late, number, limits)
        return policy_update.update(key, task, settings.update, reward, ensemble, contexts, before[0], cost)

    # A loop of as many steps as it is told: one program, however many of the ensembles are used.
    return jax.lax.fori_loop(0, updates, one, (start, jnp.zeros_like(start.log_weights)))


def weigh(
    key: Array,
    task: Task,
    settings: VigorSettings,
    at: Starts,
    common: Invariants,
    contexts: Array,
    limits: Bounds | None,
    mixtures: Mixture,
) -> Mixture:
    """Mixtures [context, ...] with the weights that components have in the end."""
    if settings.update.weights == "fixed":
        return mixtures
    key_start, _ = jax.random.split(key)
    success = prediction.component_success(key_start, task, common, contexts, mixtures)
    mixtures = shares.weighed(task, at, common, contexts, mixtures, success)
    if limits is None:
        return mixtures
    # Rewards, which have the cost in them, count within a way alone.
    cost = jax.vmap(jax.vmap(partial(constraints.cost, task, limits)))(mixtures.means)
    return mixtures._replace(log_weights=jax.nn.log_softmax(mixtures.log_weights - cost / constraints.STRENGTH))


def farther(settings: VigorSettings, updates: int) -> VigorSettings:
    """Settings for plans that may have to go elsewhere than was shown: with few updates, more room and larger steps."""
    update, times = settings.update, max(1.0, UPDATES / updates)
    room = max(update.room, min(1.0, times * update.room))
    return with_values(settings, room=room, kl_bound=times * update.kl_bound)


@cache
def compiled(step: Callable[..., Any], backend: str) -> Callable[..., Any]:
    """`lead` or `weigh` from a seed, compiled: with less care on a CPU, where that takes a quarter less time and
    computes as fast. They are two programs, so that the second is compiled while the first computes."""

    def seeded(seed: Array, task: Task, settings: VigorSettings, *others: Any) -> Any:
        return step(jax.random.key(seed), task, settings, *others)

    careless = {"xla_backend_optimization_level": 1} if backend == "cpu" else None
    return jax.jit(seeded, static_argnums=(1, 2), compiler_options=careless)


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
