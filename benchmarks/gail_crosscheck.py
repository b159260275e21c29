"""GAIL beside that of the package `imitation`, on a small task: learning curves of both.

    python benchmarks/gail_crosscheck.py vigor            # in the project's own environment
    python benchmarks/gail_crosscheck.py imitation        # in one with `pip install imitation==1.0.1 "numpy<2"`
    python benchmarks/gail_crosscheck.py table            # with --out docs/results: of what is published

A point in the plane sees the way to its goal and the time, and must end within .25 of it after 8 steps. Both learn from
the same 24 demonstrations in the same units, with the same networks and settings. The first two write
gail_crosscheck_NAME.json into --out DIR (runs); the last prints the table that stands in docs/results/gail.md.
"""

import argparse
import json
from pathlib import Path

import numpy as np

STEPS, EPISODES, ROUNDS, EVERY, SEEDS = 8, 64, 40, 4, 5
LEARNING_RATE, WIDTH, BATCH, DISCRIMINATOR_STEPS = 2e-3, 32, 128, 16
ANGLES = np.arange(8) * np.pi / 4
GOALS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def observe(place: np.ndarray, goal: np.ndarray, step: int) -> np.ndarray:
    """Observations [..., 3] at places [..., 2]."""
    return np.concatenate([place - goal, np.full((*place.shape[:-1], 1), step / STEPS)], axis=-1)


def demonstrations() -> tuple[np.ndarray, np.ndarray]:
    """Observations [24 * STEPS, 3] and actions [24 * STEPS, 2] of smooth movements to the goals, and nearly to them."""
    rng, phase = np.random.default_rng(0), np.linspace(0, 1, STEPS)[:, None]
    seen, acted = [], []
    for goal in np.repeat(GOALS, 3, axis=0):
        path = (3 * phase**2 - 2 * phase**3) * (goal + rng.normal(0, 0.03, 2))
        before = np.concatenate([np.zeros((1, 2)), path[:-1]])
        seen.append(np.stack([observe(place, goal, step) for step, place in enumerate(before)]))
        acted.append(path - before)
    return np.concatenate(seen).astype(np.float32), np.concatenate(acted).astype(np.float32)


def vigor_curve(seed: int) -> list[float]:
    """Success after every EVERY updates."""
    import jax
    import jax.numpy as jnp

    from vigor.baselines import actors, gail
    from vigor.baselines.steps import Shown
    from vigor.evaluation import evaluation, policies
    from vigor.motion.kinematics import path
    from vigor.motion.promp import ProMP
    from vigor.tasks import Judge, Task

    task = Task(
        name="point",
        promp=ProMP(bases=3, dimensions=2, steps=STEPS),
        context_names=("x", "y"),
        sample_contexts=lambda rng, count: rng.normal(size=(count, 2)),
        kinematics=path,
        descriptors=(lambda motion: motion.effector - motion.context,),
        judge=Judge(
            distance=lambda motion: jnp.maximum(0.0, jnp.linalg.norm(motion.effector[-1] - motion.context) - 0.25)
        ),
    )
    settings = gail.GAILSettings(
        policy_steps=EPISODES * STEPS,
        learning_rate=LEARNING_RATE,
        width=WIDTH,
        batch=BATCH,
        discriminator_steps=DISCRIMINATOR_STEPS,
    )
    seen, acted = map(jnp.asarray, demonstrations())
    goals = jnp.asarray(GOALS, jnp.float32)
    one = Shown(jax.random.key(seed), goals, goals[:0], seen, acted, actors.units(seen, acted))
    shown = jax.tree.map(lambda leaf: leaf[None], one)
    states, curve = gail.start(task, settings, shown), []
    for done in range(ROUNDS + 1):
        if done % EVERY == 0:
            actor = jax.tree.map(lambda leaf: leaf[0], gail.actor(task, settings, shown, states))
            judged = evaluation.evaluate(task, policies.of(GOALS, len(GOALS), actor), seed=seed)
            curve.append(judged.train["success_best"])
        if done < ROUNDS:
            states = gail.advance(task, settings, shown, states, 1)
    return curve


def imitation_curve(seed: int) -> list[float]:
    """The same with imitation's GAIL, on environments in plain numpy."""
    import gymnasium
    import torch
    from imitation.algorithms.adversarial.gail import GAIL
    from imitation.data.types import Transitions
    from imitation.rewards.reward_nets import BasicRewardNet
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    seen, acted = demonstrations()
    units = [
        (values.mean(axis=0), np.where(values.std(axis=0) > 1e-6, values.std(axis=0), 1)) for values in (seen, acted)
    ]

    def standard(values: np.ndarray, which: int) -> np.ndarray:
        mean, deviation = units[which]
        return np.clip((values - mean) / deviation, -10, 10).astype(np.float32)

    class Point(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-10, 10, (3,), np.float32)
        action_space = gymnasium.spaces.Box(-10, 10, (2,), np.float32)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.goal, self.place, self.time = GOALS[self.np_random.integers(len(GOALS))], np.zeros(2), 0
            return standard(observe(self.place, self.goal, 0), 0), {}

        def step(self, action):
            self.place = self.place + units[1][0] + units[1][1] * action
            self.time += 1
            return standard(observe(self.place, self.goal, self.time), 0), 0.0, self.time == STEPS, False, {}

    torch.set_num_threads(1)
    venv = DummyVecEnv([Point] * EPISODES)
    venv.seed(seed)
    ppo = PPO(
        "MlpPolicy",
        venv,
        learning_rate=LEARNING_RATE,
        n_steps=STEPS,
        batch_size=BATCH,
        policy_kwargs={"net_arch": {"pi": [WIDTH] * 2, "vf": [WIDTH] * 2}},
        device="cpu",
        seed=seed,
    )
    following = np.concatenate([seen[1:], seen[:1]])
    over = np.arange(len(seen)) % STEPS == STEPS - 1
    shown = Transitions(
        obs=standard(seen, 0),
        acts=standard(acted, 1),
        infos=np.array([{}] * len(seen)),
        next_obs=standard(following, 0),
        dones=over,
    )
    network = BasicRewardNet(
        venv.observation_space, venv.action_space, use_next_state=False, use_done=False, hid_sizes=(WIDTH, WIDTH)
    )
    trainer = GAIL(
        demonstrations=shown,
        demo_batch_size=BATCH,
        gen_replay_buffer_capacity=EPISODES * STEPS,
        n_disc_updates_per_round=DISCRIMINATOR_STEPS,
        venv=venv,
        gen_algo=ppo,
        reward_net=network,
        disc_opt_kwargs={"lr": LEARNING_RATE},
        allow_variable_horizon=True,
    )

    def success() -> float:
        goal = np.repeat(GOALS, 100, axis=0)
        place = np.zeros_like(goal)
        for step in range(STEPS):
            action, _ = ppo.predict(standard(observe(place, goal, step), 0), deterministic=False)
            place = place + units[1][0] + units[1][1] * action
        return float(np.mean(np.linalg.norm(place - goal, axis=1) <= 0.25))

    curve = [success()]

    def after_round(number: int) -> None:
        if (number + 1) % EVERY == 0:
            curve.append(success())

    trainer.train(ROUNDS * EPISODES * STEPS, callback=after_round)
    return curve


def table(folder: Path) -> str:
    """Both curves side by side as Markdown."""
    files = [folder / f"gail_crosscheck_{name}.json" for name in ("vigor", "imitation")]
    curves = [np.array(json.loads(file.read_text())["curves"]) for file in files]
    rows = [
        f"| steps | vigor, mean of {SEEDS} seeds (lowest to highest) | imitation 1.0.1 |",
        "| --- | --- | --- |",
    ]
    for row in range(curves[0].shape[1]):
        cells = [f"{c[:, row].mean():.3f} ({c[:, row].min():.2f} to {c[:, row].max():.2f})" for c in curves]
        rows.append(f"| {row * EVERY * EPISODES * STEPS:,} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["vigor", "imitation", "table"])
    parser.add_argument("--out", type=Path, default=Path("runs"))
    given = parser.parse_args()
    what = given.what
    if what == "table":
        print(table(given.out))
        return
    curves = [{"vigor": vigor_curve, "imitation": imitation_curve}[what](seed) for seed in range(SEEDS)]
    found = {"success": "share of samples that end at their goal", "every": EVERY * EPISODES * STEPS, "curves": curves}
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / f"gail_crosscheck_{what}.json").write_text(json.dumps(found) + "\n")
    print(np.round(curves, 3))


if __name__ == "__main__":
    main()
