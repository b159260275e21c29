"""Contexts that the paper's settings lose, and which difference from the authors' program matters:

    python benchmarks/differences.py PATH [--device cpu|gpu] [--variants NAME ...] [--out FILE]

PATH: a clone of github.com/NiklasFreymuth/VIGOR. Splits of seeds that lose a context are learned again, each some times
with other random numbers, as the paper's settings have it and with one known difference at a time done as the authors
do it, or taken out, where it cannot differ. Splits were chosen because they lost: only variants compare.
"""

import argparse
import json
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from vigor.basics.device import Device, use_device
from vigor.basics.settings import with_values
from vigor.demonstrations.formats import published
from vigor.learning import network_training, networks, policy_samples, surrogate
from vigor.learning.density_ratio import Classes
from vigor.runs.presets import preset
from vigor.runs.setup import Setup, prepare
from vigor.runs.training import Training
from vigor.tasks import load_task

LOSING = {"planar-reacher": [109, 403, 409, 415], "panda-reacher": [405, 408, 414, 422]}
"""Seeds whose splits lost a context with the paper's settings."""
LOST = 0.5
"""Success of its best component below which a context is lost."""


class Variant(NamedTuple):
    """The paper's settings, but for some values and functions."""

    values: dict[str, Any]
    functions: tuple[tuple[Any, str, Callable[..., Any]], ...] = ()
    """Modules, names in them, and what stands there instead."""


def _held_out_alike(settings: Any, problem: Any, samples: jax.Array) -> tuple[Classes, Classes]:
    """Training and validation samples, the same demonstrations held out for all networks."""
    shown = problem.demonstrations.shape[0]
    order = jnp.argsort(jax.random.uniform(jax.random.fold_in(problem.key, 0), (shown,)))
    demonstrations = jnp.broadcast_to(problem.demonstrations[order], (samples.shape[0], *problem.demonstrations.shape))
    parts = []
    for part in (lambda leaf, held: leaf[:, held:], lambda leaf, held: leaf[:, :held]):
        policy = part(samples, network_training.held_out(settings, samples.shape[1]))
        own = part(demonstrations, network_training.held_out(settings, shown))
        parts.append(Classes(own, policy, jnp.ones(policy.shape[:2])))
    return parts[0], parts[1]


def _drawn_anew(key: jax.Array, noise: jax.Array, architecture: Any, units: int) -> list[jax.Array]:
    """Units that each layer keeps, drawn for every step."""
    return list(jax.random.bernoulli(key, 1 - architecture.dropout, (architecture.layers, units)))


VARIANTS = {
    "paper": Variant({}),
    "same demonstrations held out": Variant({}, ((policy_samples, "split", _held_out_alike),)),
    "single precision": Variant({}, ((networks, "hidden_precision", lambda descriptors: descriptors),)),
    "no ridge": Variant({}, ((surrogate, "from_values", partial(surrogate.from_values, ridge=1e-12)),)),
    "dropout drawn anew": Variant({}, ((networks, "_kept", _drawn_anew),)),
    "nothing held out": Variant({"validation": 0.0}),
    "no dropout": Variant({"dropout": 0.0}),
    "no least squares": Variant({"surrogate": "gradients", "samples": 100}),
}


def measure(name: str, path: Path, variant: Variant, splits: list[int], times: int) -> list[dict[str, Any]]:
    """Rows of the splits of some seeds, each learned so many times."""
    task = load_task(name)
    shown = published.load(task, path)
    settings = with_values(preset(name, "paper"), **variant.values)
    which = [(split, time) for split in splits for time in range(times)]
    prepared = [
        prepare(Setup(name, seed=split, settings=settings), task, shown)._replace(
            setup=Setup(name, seed=time, settings=settings)
        )
        for split, time in which
    ]
    with ExitStack() as replaced:
        for where, function, other in variant.functions:
            replaced.enter_context(mock.patch.object(where, function, other))
        jax.clear_caches()
        training = Training(prepared)
        states = training.start()
        for _, after, _ in training.advance(states):
            states = after
        found = [one.test for one in training.evaluate(states)]
    rows = []
    for (split, time), test in zip(which, found, strict=True):
        best = [max(context["success"]) for context in test["contexts"]]
        rows.append({"split": split, "time": time, "best": best, "mixture": test["success_mixture"]})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--tasks", nargs="+", choices=LOSING, default=list(LOSING))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--splits", nargs="+", type=int, help="default: all that lost")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--device", choices=get_args(Device), default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/differences.json"))
    given = parser.parse_args()
    use_device(given.device)
    device = jax.devices()[0].device_kind
    given.out.parent.mkdir(parents=True, exist_ok=True)
    measured = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else []
    for task in given.tasks:
        for variant in given.variants:
            rows = measure(task, given.path, VARIANTS[variant], given.splits or LOSING[task], given.times)
            measured.append({"task": task, "variant": variant, "device": device, "rows": rows})
            best = np.array([row["best"] for row in rows])
            mixture = np.mean([row["mixture"] for row in rows])
            print(
                f"{task}, {variant}: best {best.mean():.3f}, mixture {mixture:.3f}, "
                f"{np.sum(best < LOST)} of {best.size} contexts lost",
                flush=True,
            )
            given.out.write_text(json.dumps(measured) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
