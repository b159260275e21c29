"""Settings of the box pusher by preset and method; the paper's are those of its appendix E."""

from typing import Any

SETTINGS: dict[tuple[str, str], dict[str, Any]] = {
    ("default", "vigor"): {
        "iterations": 30,
        "components": 12,
        "begin": "likeliest",
        "room": 0.2,
        "samples": 30,
        "layers": 2,
        "width": 32,
        "kernel": 7,
        "learning_rate": 5e-4,
    },
    ("paper", "vigor"): {"layers": 4, "width": 128},
    ("default", "em-drex"): {
        "begin": "likeliest",
        "room": 0.05,
        "kl_bound": 0.05,
        "reward_scale": 1e3,
        "layers": 4,
        "width": 64,
        "kernel": 7,
    },
    ("paper", "em-drex"): {
        "em_components": 1,
        "em_samples": 16384,
        "noise_levels": 5,
        "noise_multiplier": 2.0,
        "reward_scale": 1e3,
    },
    ("default", "bc-t"): {"components": 1, "layers": 3, "width": 128},
    ("default", "bc-gmm-t"): {"layers": 3, "width": 128},
    ("default", "bc-s"): {"components": 1, "layers": 3},
    ("default", "bc-gmm-s"): {"layers": 3},
    ("default", "gail"): {"layers": 3, "width": 64, "batch": 64, "policy_batch": 256},
}
