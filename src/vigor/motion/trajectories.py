"""Trajectories [T, dimensions] as such: sampled anew, and compared."""

import math

import numpy as np
import scipy  # Its parts are loaded when they are used.


def resample(recording: np.ndarray, steps: int) -> np.ndarray:
    """A recording [T, dimensions] at evenly spaced times [steps, dimensions]."""
    times = np.linspace(0.0, len(recording) - 1.0, steps)
    return np.stack([np.interp(times, np.arange(len(recording)), column) for column in recording.T], axis=1)


def usual_difference(trajectories: np.ndarray) -> float:
    """Median difference of two trajectories [n, T, dimensions]: the root mean square over steps of their distance."""
    return float(np.median(scipy.spatial.distance.pdist(apart(trajectories)))) if len(trajectories) > 1 else 0.0


def distinct_solutions(joints: np.ndarray, threshold: float) -> np.ndarray:
    """A solution's number [n] for every trajectory [n, T, dimensions].

    Trajectories are clustered with average linkage by the root mean square over steps of the joints' distance; clusters
    that are on average more than `threshold` apart are different solutions.
    """
    if len(joints) < 2:
        return np.zeros(len(joints), int)
    hierarchy = scipy.cluster.hierarchy
    return hierarchy.fcluster(hierarchy.linkage(apart(joints), "average"), threshold, "distance") - 1


def apart(joints: np.ndarray) -> np.ndarray:
    """Points [n, T * dimensions] whose distances are the differences of trajectories [n, T, dimensions]."""
    return joints.reshape(len(joints), math.prod(joints.shape[1:])).astype(np.float64) / np.sqrt(joints.shape[1])
