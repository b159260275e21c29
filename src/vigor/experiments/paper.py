"""The paper's results, from its plots' coordinates. Each box is of 10 seeds.

Figures are named by their captions. "Mean target distance" of the reachers and the ablation studies of appendix D are
pictures without numbers: of the latter, FINDINGS has the statements of the text.
"""

from typing import Any, NamedTuple

NAMES = {
    "vigor": "VIGOR",
    "em-drex": "EM+D-REX",
    "bc-gmm-t": "BC-GMM(T)",
    "bc-t": "BC(T)",
    "gail": "GAIL",
    "bc-gmm-s": "BC-GMM(S)",
    "bc-s": "BC(S)",
    "carried": "carried",
    "copied": "copied",
}
"""Methods in the order of the paper's figures, then those without learning."""


class Box(NamedTuple):
    """One box of a box plot; distances are in metres."""

    mean: float
    low: float
    """Lower whisker."""
    q1: float
    median: float
    q3: float
    high: float
    """Upper whisker."""
    outliers: tuple[float, ...] = ()


BOXES: dict[tuple[str, str, str], dict[str, Box]] = {
    # "Mean success rates on test contexts for the Planar Reacher task".
    ("planar-reacher", "success", "test"): {
        "vigor": Box(0.99117, 0.99167, 0.99333, 0.99833, 1.0, 1.0, (0.93667,)),
        "em-drex": Box(0.82833, 0.51667, 0.67375, 0.87167, 1.0, 1.0),
        "bc-gmm-t": Box(0.08467, 0.005, 0.02833, 0.0775, 0.14333, 0.17333),
        "bc-t": Box(0.00217, 0.0, 0.0, 0.00167, 0.00333, 0.00667),
        "gail": Box(0.02083, 0.0, 0.0, 0.0, 0.03417, 0.08167),
        "bc-gmm-s": Box(0.0145, 0.0, 0.0025, 0.0125, 0.01625, 0.02833, (0.05,)),
        "bc-s": Box(0.0045, 0.0, 0.00333, 0.005, 0.00625, 0.00833),
    },
    # "Mean success rates on test contexts for the Panda Reacher task".
    ("panda-reacher", "success", "test"): {
        "vigor": Box(0.9965, 1.0, 1.0, 1.0, 1.0, 1.0, (0.965,)),
        "em-drex": Box(0.72283, 0.13167, 0.51458, 0.86167, 0.99292, 1.0),
        "bc-gmm-t": Box(0.00967, 0.0, 0.00042, 0.00583, 0.01, 0.01333, (0.05,)),
        "bc-t": Box(0.00033, 0.0, 0.0, 0.0, 0.0, 0.0, (0.00167, 0.00167)),
        "gail": Box(0.00933, 0.0, 0.00167, 0.0025, 0.01583, 0.035),
        "bc-gmm-s": Box(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        "bc-s": Box(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    },
    # "Mean target distance of samples from the best policy component on the Box Pushing task", left.
    ("box-pusher", "distance", "test"): {
        "vigor": Box(0.02286, 0.01257, 0.01618, 0.02121, 0.02799, 0.03962),
        "em-drex": Box(0.05064, 0.03018, 0.03858, 0.05393, 0.06005, 0.06873),
        "bc-gmm-t": Box(0.06443, 0.05499, 0.06132, 0.06391, 0.06751, 0.07398, (0.05017, 0.07897)),
        "bc-t": Box(0.07024, 0.05397, 0.06192, 0.06609, 0.0763, 0.08065, (0.10766,)),
        "gail": Box(0.06972, 0.05062, 0.05693, 0.06601, 0.07865, 0.10524),
        "bc-gmm-s": Box(0.06993, 0.02886, 0.044, 0.06356, 0.08264, 0.094, (0.15227,)),
        "bc-s": Box(0.14686, 0.05805, 0.07664, 0.13115, 0.20227, 0.29408),
    },
    # "Mean success rates on test contexts for the Box Pusher task".
    ("box-pusher", "success", "test"): {
        "vigor": Box(0.52, 0.13333, 0.30833, 0.55, 0.74167, 0.86667),
        "em-drex": Box(0.11667, 0.0, 0.0, 0.08333, 0.16667, 0.33333),
        "bc-gmm-t": Box(0.00667, 0.0, 0.0, 0.0, 0.0, 0.0, (0.06667,)),
        "bc-t": Box(0.02667, 0.0, 0.00833, 0.03333, 0.03333, 0.06667),
        "gail": Box(0.05333, 0.0, 0.0, 0.0, 0.03333, 0.03333, (0.33333, 0.13333)),
        "bc-gmm-s": Box(0.08333, 0.0, 0.03333, 0.06667, 0.11667, 0.2),
        "bc-s": Box(0.01333, 0.0, 0.0, 0.0, 0.025, 0.03333, (0.06667,)),
    },
    # "Mean distance to target for training contexts of the box pushing task".
    ("box-pusher", "distance", "train"): {
        "vigor": Box(0.0064, 0.00555, 0.00601, 0.00615, 0.00684, 0.00747),
        "em-drex": Box(0.0431, 0.02866, 0.03887, 0.04297, 0.04841, 0.05526),
        "bc-gmm-t": Box(0.07482, 0.06309, 0.0722, 0.07684, 0.07934, 0.08686, (0.05855,)),
        "bc-t": Box(0.04147, 0.02719, 0.03464, 0.0406, 0.04815, 0.05553),
        "gail": Box(0.06816, 0.05144, 0.06105, 0.07011, 0.07285, 0.08943),
        "bc-gmm-s": Box(0.06587, 0.04358, 0.05083, 0.06123, 0.07092, 0.08757, (0.11267,)),
        "bc-s": Box(0.11756, 0.05019, 0.06734, 0.09429, 0.16181, 0.25298),
    },
}
"""Boxes by task, figure of merit of the best component, and contexts; then by method."""

SEEDS: dict[tuple[str, str], tuple[float, ...]] = {
    ("planar-reacher", "vigor"): (0.93667, 0.99167, 0.99333, 0.99333, 0.99833, 0.99833, 1.0, 1.0, 1.0, 1.0),
    ("panda-reacher", "vigor"): (0.965, *[1.0] * 9),
}
"""Success of the ten seeds on test contexts where a box determines them, to .002: by task and method."""

CONTEXTS: dict[str, dict[str, dict[int, float]]] = {
    # "Mean target distance ... on the Box Pushing task", right; for GAIL with 6 it is not what the box plot shows.
    "box-pusher": {
        "vigor": {3: 0.04399, 6: 0.02286, 12: 0.01419, 18: 0.01415, 24: 0.00963},
        "em-drex": {3: 0.05349, 6: 0.05064, 12: 0.04366, 18: 0.04236, 24: 0.04569},
        "bc-t": {3: 0.10683, 6: 0.07024, 12: 0.06014, 18: 0.04687, 24: 0.04717},
        "gail": {3: 0.08091, 6: 0.10235, 12: 0.07241, 18: 0.06722, 24: 0.09283},
    },
}
"""Mean distance on test contexts over the number of training contexts: by task, then by method."""

LINES: dict[str, dict[str, float]] = {
    # The lines of the same figure.
    "box-pusher": {"human demonstrations (paper)": 0.00759, "untouched box (paper)": 0.07126},
}
"""Distances that a task's figures mark: by task, then by label."""

DIFFERENCES = {"box-pusher": "other contexts, demonstrations and simulation than the paper's"}
"""Differences of our tasks from the paper's, by task; tasks without one are the same."""


class Finding(NamedTuple):
    """Statement that one value of a setting is better than another, or at least as good."""

    method: str
    setting: str
    better: Any
    worse: Any
    words: str


FINDINGS = (
    Finding("vigor", "descriptors", "geometric", "angles", "geometric descriptors are better than joint angles"),
    Finding("vigor", "descriptors", "geometric", "jointwise", "geometric descriptors are better than jointwise ones"),
    Finding("vigor", "raw", False, True, "ProMPs are better to learn from than raw demonstrations"),
    Finding("vigor", "network", "cnn", "mlp", "the CNN is at least as good as an MLP"),
    Finding("vigor", "network", "cnn", "lstm", "the CNN is at least as good as an LSTM"),
    Finding("vigor", "components", 5, 1, "more components help"),
    Finding("vigor", "networks", 5, 1, "an ensemble of discriminators helps a little"),
    Finding("vigor", "loss", "stepwise", "trajectory", "the stepwise loss helps a little"),
    Finding("vigor", "train_contexts", 6, 2, "more training contexts help"),
    Finding("vigor", "demos_per_context", 5, 1, "more demonstrations help"),
)
"""Statements on the ablations (section 5 and appendix D), by success of the best component on test contexts."""
