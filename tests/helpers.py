"""Common parts of tests: a small task with small settings, quick compilation, and where the published data lies."""

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from filelock import FileLock

from vigor.basics.settings import with_values
from vigor.demonstrations import preprocessing as recordings
from vigor.learning import networks
from vigor.learning.algorithm import VigorSettings
from vigor.motion.descriptors import distance_to, squared_acceleration, squared_velocity
from vigor.motion.kinematics import path
from vigor.motion.promp import ProMP
from vigor.tasks import Task
from vigor.tasks.reachers.planar_reacher import TASK as PLANAR
from vigor.tasks.task import Judge, Source

EXAMPLE = Path(__file__).parents[1] / "examples" / "01_own_task.py"
EXAMPLE_TASK = f"{EXAMPLE}:TASK"
SHARED = Path(__file__).parents[2] / "shared"

ITERATIONS = 12
"""Iterations of a small run: enough for a checkpoint at ten, and to be stopped before and after it."""

SPLIT = {"train_contexts": 2, "test_contexts": 2, "demos_per_context": 3}
SMALL = {
    "iterations": ITERATIONS,
    "components": 2,
    "samples": 20,
    "networks": 2,
    "width": 8,
    "layers": 1,
    "epochs": 12,
}
"""Settings that make a run fast and poor; runs with the same are compiled once."""
SMALL_SETTINGS = with_values(VigorSettings(), **SMALL)


def movement(goal: tuple[float, float], rest: int = 0, steps: int = 40) -> np.ndarray:
    """A smooth recording [rest + steps, 2] from the origin to a goal."""
    time = np.linspace(0.0, 1.0, steps)[:, None]
    return np.concatenate([np.zeros((rest, 2)), (3 * time**2 - 2 * time**3) * np.asarray(goal)])


def bent_movements(rng: np.random.Generator, goal: np.ndarray, count: int) -> list[np.ndarray]:
    """Recordings [T, 2] that end near a goal, each bent to a side."""
    bend = np.sin(np.linspace(0.0, np.pi, 40))[:, None] ** 2
    return [movement(goal + rng.normal(0, 0.02, 2)) + bend * rng.normal(0, 0.2, 2) for _ in range(count)]


POINT = Task(
    name="point",
    promp=ProMP(bases=4, dimensions=2, steps=25),
    context_names=("x", "y"),
    sample_contexts=lambda rng, count: rng.normal(size=(count, 2)),
    kinematics=path,
    descriptors=(distance_to(slice(0, 2)), squared_velocity, squared_acceleration),
    judge=Judge(distance=lambda motion: jnp.maximum(0.0, jnp.linalg.norm(motion.effector[-1] - motion.context) - 0.1)),
    source=Source(generate=bent_movements),
)
"""A point ends within .1 of its context."""


STEPS, FEATURES = 7, 2
"""Time steps, and descriptors of each, that small networks see."""

# Compilation takes longer than what small networks do: ask for little of it.
quick = partial(
    jax.jit, compiler_options={"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
)
logits = quick(networks.logits, static_argnums=1)


def some_descriptors(count: int = 4, steps: int = STEPS, seed: int = 0) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).normal(size=(count, steps, FEATURES)), jnp.float32)


def constant_network(width: int, output_bias: float) -> networks.Parameters:
    """An MLP: every hidden unit is 1 whatever the input, and so is every logit `output_bias`."""
    return {
        "layers": [{"weight": jnp.zeros((FEATURES + 1, width)), "bias": jnp.ones(width)}],
        "output": {"weight": jnp.zeros((width, 1)), "bias": jnp.full(1, output_bias)},
    }


def output_gradient(optimiser) -> dict[str, np.ndarray]:
    """The gradient of the loss by the output layer, which Adam's first moment holds after one step."""
    return jax.tree.map(lambda moment: np.asarray(moment) / 0.1, optax.tree.get(optimiser, "mu")["output"])


def member(tree, i: int):
    """One network, or one run, of a batch."""
    return jax.tree.map(lambda leaf: _by_numpy(lambda array: array[i], leaf), tree)


def stacked(trees):
    """A batch of networks or runs."""
    return jax.tree.map(lambda *leaves: _by_numpy(lambda *arrays: np.stack(arrays), *leaves), *trees)


def _by_numpy(change, *leaves):
    """A change of arrays for which JAX would compile a program for every shape; keys stay what they are."""
    if not jnp.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
        return jax.device_put(change(*map(np.asarray, leaves)), may_alias=False)
    return jax.random.wrap_key_data(change(*map(jax.random.key_data, leaves)))


def assert_same(one, other, **tolerance) -> None:
    """Two trees of arrays are the same."""
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, **tolerance), one, other)


def small(**changes: object) -> list[str]:
    """The small split and settings as words of `vigor train`; a change to None leaves one out."""
    options = {f"--{name.replace('_', '-')}": value for name, value in (SPLIT | SMALL | changes).items()}
    return [str(word) for option, value in options.items() if value is not None for word in (option, value)]


def made_once(tmp_path_factory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that one worker of a session makes, and all of them use."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    with FileLock(f"{folder}.lock"):
        if not Path(f"{folder}.made").exists():
            make(folder)
            Path(f"{folder}.made").touch()
    return folder


@cache
def generated():
    return recordings.generate(PLANAR, seed=0, contexts=1, per_context=3, spare=0)


def solving():
    """A context of the planar reacher, and three recordings that solve it."""
    return generated().contexts[0], *generated().recordings


def refused(capsys, *arguments) -> str:
    """The one sentence with which a command is refused."""
    from vigor.cli import main as cli  # Tests of other rooms can do without.

    with pytest.raises(SystemExit) as stop:
        cli.main(list(map(str, arguments)))
    assert stop.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("vigor: ")
    assert "\n" not in said
    return said
