"""Time of forward kinematics and of its gradient, for one batch of an iteration.

    python benchmarks/kinematics.py [ROBOT ...] [--against REVISION] [--repeats 30]

ROBOT: what `vigor.robot` takes, beside the built-in Panda. REVISION: a revision of this repository from before chains
of any joints, whose Panda is timed in turn with today's. Each figure is the fastest call of many; the ratio is the
median of the ratios of neighbouring calls, so that whatever else the machine does meets both alike.
"""

import argparse
import subprocess
import time
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vigor.motion import panda
from vigor.motion.kinematics import Chain

BATCH = (3840, 50)
"""Trajectories and steps."""


def timed(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, np.ndarray]:
    """Seconds [repeats] of every call, all in turn."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        jax.block_until_ready(call())
    for _ in range(repeats):
        for name, call in calls.items():
            begun = time.perf_counter()
            jax.block_until_ready(call())
            found[name].append(time.perf_counter() - begun)
    return {name: np.array(values) for name, values in found.items()}


def programs(points: Callable[[jax.Array], jax.Array], joints: int) -> dict[str, Callable[[], Any]]:
    """Points of a batch, and their gradient."""
    values = jnp.asarray(np.random.default_rng(0).uniform(-2, 2, (*BATCH, joints)), jnp.float32)
    pull = jnp.asarray(np.random.default_rng(1).normal(size=jax.eval_shape(points, values).shape), jnp.float32)
    forward, gradient = jax.jit(points), jax.jit(jax.grad(lambda q: jnp.sum(points(q) * pull)))
    return {"points": lambda: forward(values), "gradient": lambda: gradient(values)}


def with_tool_frame(chain: Chain, joints: int) -> dict[str, Callable[[], Any]]:
    """The same with the frame of the end effector, and slopes by its rotation."""

    def both(q: jax.Array) -> jax.Array:
        posed = chain.posture(q)
        return jnp.concatenate([posed.points, posed.frames.rotation[..., 0, :, :]], axis=-2)

    return {f"{name} with tool frame": call for name, call in programs(both, joints).items()}


def before(revision: str) -> Any:
    """The Panda of an earlier revision, in Denavit-Hartenberg parameters."""
    command = ["git", "show", f"{revision}:src/vigor/motion/kinematics.py"]
    shown = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    module = types.ModuleType("earlier")
    exec(shown.stdout, module.__dict__)
    return module.SerialChain(panda.DH, panda.TOOL)


def show(name: str, times: dict[str, np.ndarray], joints: int) -> None:
    for what, seconds in times.items():
        print(f"{name:<16} {what:<26} {1e3 * seconds.min():8.1f} ms {1e3 * seconds.min() / joints:8.1f} ms a joint")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*")
    parser.add_argument("--against")
    parser.add_argument("--repeats", type=int, default=30)
    given = parser.parse_args(arguments)
    calls = programs(panda.chain(), 6)
    if given.against:
        calls |= {f"{name} earlier": call for name, call in programs(before(given.against), 6).items()}
    times = timed(calls | with_tool_frame(panda.chain(), 6), given.repeats)
    show("built-in Panda", times, 6)
    for what in ("points", "gradient") if given.against else ():
        print(f"{what}: {np.median(times[what] / times[f'{what} earlier']):.2f} of the time of {given.against}")
    for name in given.robots:
        import vigor

        chain = vigor.robot(name).kinematics
        every = programs(chain, chain.coordinates) | with_tool_frame(chain, chain.coordinates)
        show(name, timed(every, given.repeats), chain.coordinates)


if __name__ == "__main__":
    main()
