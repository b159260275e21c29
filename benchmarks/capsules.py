"""Tightness of the capsules of robots: volumes, and random poses that they call collisions, beside convex hulls.

    python benchmarks/capsules.py [ROBOT ...] [--poses 300]

ROBOT: what `vigor.robot` takes. The hulls are those of each link's whole geometry, compared by MuJoCo; links next to
each other are left out of both, and pairs whose capsules always touch out of the capsules'.
"""

import argparse

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

import vigor
from vigor.motion.catalogue import find
from vigor.motion.collisions import self_clearance
from vigor.motion.description import meshes
from vigor.motion.description.reading import read


def compare(name: str, poses: int) -> None:
    robot = vigor.robot(name, capsules=True)
    description = read(find(name).path)
    hulls = {
        link.name: meshes.surface(link.solids, description.path).convex_hull
        for link in description.links
        if link.solids
    }
    ratio = sum(item.capsule.volume for item in robot.capsules) / sum(hull.volume for hull in hulls.values())
    drawn = robot.random_poses(poses, seed=5)
    by_capsules = np.asarray(jax.jit(lambda q: self_clearance(robot, q))(jnp.asarray(drawn, jnp.float32))) < 0
    by_hulls = _touching(robot, hulls, drawn)
    print(
        f"{name:<8} {len(robot.capsules):3} capsules, {len(robot.pairs):3} pairs, {ratio:.2f} times the hulls' volume; "
        f"collisions by hulls {by_hulls.mean():.3f} ({np.mean(by_hulls & ~by_capsules):.3f} by these alone), "
        f"by capsules {by_capsules.mean():.3f} ({np.mean(by_capsules & ~by_hulls):.3f})",
        flush=True,
    )


def _touching(robot: vigor.Robot, hulls: dict, poses: np.ndarray) -> np.ndarray:
    """Whether hulls of links touch that are not next to each other, by pose [n]."""
    spec = mujoco.MjSpec()
    for name, hull in hulls.items():
        spec.add_mesh(name=name, uservert=np.asarray(hull.vertices).flatten())
        body = spec.worldbody.add_body(name=name, mocap=True)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
    model = spec.compile()
    data, names = mujoco.MjData(model), list(hulls)
    frames = jax.jit(lambda q: robot.kinematics.frames(q, names))(jnp.asarray(poses, jnp.float32))
    carriers = [robot.kinematics.link(name).joint for name in names]
    pairs = [(i, j) for j in range(len(names)) for i in range(j) if abs(carriers[i] - carriers[j]) > 1]
    found = []
    for position, rotation in zip(np.asarray(frames.position), np.asarray(frames.rotation), strict=True):
        data.mocap_pos[:] = position
        data.mocap_quat[:] = Rotation.from_matrix(rotation).as_quat()[:, [3, 0, 1, 2]]
        mujoco.mj_kinematics(model, data)
        found.append(any(mujoco.mj_geomDistance(model, data, i, j, 0.01, None) < 0 for i, j in pairs))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=["so100", "ur5", "xarm7", "panda"])
    parser.add_argument("--poses", type=int, default=300)
    given = parser.parse_args()
    for name in given.robots:
        compare(name, given.poses)


if __name__ == "__main__":
    main()
