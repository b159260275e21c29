"""Settings by method and task: the project's own defaults, and those of the paper (appendix E)."""

from dataclasses import replace
from typing import Any

from vigor.baselines import bc_state_action, bc_trajectory, em_drex, gail
from vigor.basics.errors import UserError
from vigor.learning import algorithm
from vigor.learning.density_ratio import DensityRatio

NAMES = ("default", "paper")

_VIGOR = {
    "planar-reacher": algorithm.Config(
        samples=50, density_ratio=DensityRatio(layers=2, width=32, kernel=5, near=(0.5, 0.5))
    ),
    "panda-reacher": algorithm.Config(
        samples=70,
        misplaced=0.3,
        density_ratio=DensityRatio(layers=3, width=64, kernel=7, near=(0.05, 0.05), learning_rate=2.3e-4, epochs=13),
    ),
    "box-pusher": algorithm.Config(
        samples=30, density_ratio=DensityRatio(layers=2, width=32, kernel=7, learning_rate=5e-4)
    ),
}
_VIGOR_PAPER_NETWORKS: dict[str, dict[str, Any]] = {"box-pusher": {"layers": 4, "width": 128}}
"""Where they differ from the default's."""
_VIGOR_PAPER_SAMPLES = {"planar-reacher": 512, "panda-reacher": 1536, "box-pusher": 512}

_EM_DREX = {
    "planar-reacher": em_drex.Config(layers=2, width=64, kernel=5),
    "panda-reacher": em_drex.Config(layers=2, width=64, kernel=7),
    "box-pusher": em_drex.Config(layers=4, width=64, kernel=7),
}
# Tables 6 to 10.
_EM_DREX_PAPER: dict[str, dict[str, Any]] = {
    "planar-reacher": {"em_components": 3, "em_samples": 8192, "noise_levels": 5, "noise_multiplier": 5.0},
    "panda-reacher": {
        "em_components": 1,
        "em_samples": 16384,
        "noise_levels": 10,
        "noise_multiplier": 10.0,
        "reward_scale": 1e3,
    },
    "box-pusher": {
        "em_components": 1,
        "em_samples": 16384,
        "noise_levels": 5,
        "noise_multiplier": 2.0,
        "reward_scale": 1e3,
    },
}
_BC_PAPER = {
    ("bc-t", "planar-reacher"): bc_trajectory.Config(components=1, layers=4, width=256),
    ("bc-t", "panda-reacher"): bc_trajectory.Config(components=1, layers=4, width=64),
    ("bc-t", "box-pusher"): bc_trajectory.Config(components=1, layers=3, width=128),
    ("bc-gmm-t", "planar-reacher"): bc_trajectory.Config(layers=4, width=64),
    ("bc-gmm-t", "panda-reacher"): bc_trajectory.Config(layers=3, width=64),
    ("bc-gmm-t", "box-pusher"): bc_trajectory.Config(layers=3, width=128),
    ("bc-s", "planar-reacher"): bc_state_action.Config(components=1, batch=128),
    ("bc-s", "panda-reacher"): bc_state_action.Config(components=1, width=32, target_encoding=True),
    ("bc-s", "box-pusher"): bc_state_action.Config(components=1, layers=3),
    ("bc-gmm-s", "planar-reacher"): bc_state_action.Config(frames=5, train_weights=True),
    ("bc-gmm-s", "panda-reacher"): bc_state_action.Config(target_encoding=True, train_weights=True),
    ("bc-gmm-s", "box-pusher"): bc_state_action.Config(layers=3),
}
_BC_DEFAULT = {("bc-gmm-t", "panda-reacher"): bc_trajectory.Config(layers=2, width=256, epochs=3000)}
"""Where the project's own differ."""
# Table 11.
_GAIL_PAPER = {
    "planar-reacher": gail.Config(frames=5, target_encoding=True),
    "panda-reacher": gail.Config(frames=5, width=64, batch=64, policy_batch=64, timesteps=3_000_000),
    "box-pusher": gail.Config(layers=3, width=64, batch=64, policy_batch=256),
}


def preset(task: str, name: str = "default", method: str = "vigor") -> Any:
    """Settings of a method for a task by name. A task that the package does not know has the planar reacher's."""
    if name not in NAMES:
        raise UserError(f"there is no preset {name!r}; choose from {', '.join(NAMES)}")
    match method:
        case "vigor":
            return _vigor(task, name)
        case "em-drex":
            return _em_drex(task if task in _EM_DREX else "planar-reacher", name)
        case "bc-t" | "bc-gmm-t" | "bc-s" | "bc-gmm-s":
            paper = _BC_PAPER.get((method, task), _BC_PAPER[method, "planar-reacher"])
            return _BC_DEFAULT.get((method, task), paper) if name == "default" else paper
        case "gail":
            return _GAIL_PAPER.get(task, _GAIL_PAPER["planar-reacher"])
    raise UserError(f"there is no method {method!r}")


def seen_through(descriptors: str, config: Any) -> Any:
    """Settings for a set of descriptors: among joint angles there are no distances to magnify, or to come near."""
    if descriptors != "angles" or not isinstance(config, algorithm.Config):
        return config
    return replace(config, density_ratio=replace(config.density_ratio, near=()))


def _vigor(task: str, name: str) -> algorithm.Config:
    default = _VIGOR.get(task, algorithm.Config())
    if name == "default":
        return default
    networks = replace(
        default.density_ratio,
        epochs=50,
        validation=0.1,
        learning_rate=3e-4,
        decay=1.0,
        batch=64,
        near=(),
        **_VIGOR_PAPER_NETWORKS.get(task, {}),
    )
    return _with_values(
        task,
        replace(
            default,
            iterations=301,
            kl_bound=0.2,
            misplaced=0.0,
            begin="normal",
            sharpness=0.0,
            weights="fixed",
            density_ratio=networks,
        ),
    )


def _em_drex(task: str, name: str) -> em_drex.Config:
    default = _EM_DREX[task]
    if name == "default":
        return default
    paper = replace(
        default, iterations=300, begin="normal", kl_bound=0.2, learning_rate=3e-5, epochs=1000, **_EM_DREX_PAPER[task]
    )
    return _with_values(task, paper)


def _with_values(task: str, config: Any) -> Any:
    """The quadratic model of the paper: from as many values as it needs."""
    return replace(config, surrogate="values", samples=_VIGOR_PAPER_SAMPLES.get(task, 512))
