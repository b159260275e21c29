"""Reference figures: what short runs of every method leave, to see that a change of the program changes no result.

    python benchmarks/reference.py                 # compare with docs/results/reference.json
    python benchmarks/reference.py --write --runs em-drex    # write some anew, where a result is meant to change

Everything goes through the command line, on a CPU. Policies are compared by their bytes: equal on the same kind of
machine with the same JAX, and elsewhere up to rounding, by their norms.
"""

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

FILE = Path(__file__).parents[1] / "docs" / "results" / "reference.json"
OWN_TASK = Path(__file__).parents[1] / "examples" / "01_own_task.py"
RUNS = {
    "planar": "planar-reacher --iterations 20",
    "planar-paper": "planar-reacher --preset paper --iterations 4",
    "planar-angles": "planar-reacher --descriptors angles --iterations 5 --seed 3",
    "planar-raw": "planar-reacher --raw --iterations 5 --seed 2",
    "panda": "panda-reacher --iterations 6",
    "box": "box-pusher --iterations 6",
    "em-drex": "planar-reacher --method em-drex --iterations 5 --epochs 30",
    "bc-t": "planar-reacher --method bc-t --epochs 60",
    "bc-gmm-t": "planar-reacher --method bc-gmm-t --epochs 60",
    "bc-s": "planar-reacher --method bc-s --epochs 20",
    "bc-gmm-s": "planar-reacher --method bc-gmm-s --epochs 20",
    "gail": "planar-reacher --method gail --timesteps 20000",
    "own": f"{OWN_TASK}:TASK --iterations 10",
}
PLAN = "--context 0.5 2.2 0.3 -2.8 --keep-out sphere:3,-2,0.25"


def vigor(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "vigor", *words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"vigor {' '.join(words)}: {done.stderr}")


def figures(array: np.ndarray) -> dict[str, Any]:
    content = np.ascontiguousarray(array)
    return {
        "digest": hashlib.sha256(content.tobytes()).hexdigest()[:16],
        "norm": float(np.sqrt(np.sum(np.square(array.astype(float))))),
    }


def measure(folder: Path, names: list[str]) -> dict[str, Any]:
    """Figures of every run, and of a plan of the first."""
    found: dict[str, Any] = {}
    for name in names:
        vigor("train", *RUNS[name].split(), "--device", "cpu", "--out", str(folder / name))
        with np.load(folder / name / "policies.npz") as arrays:
            policies = {key: figures(arrays[key]) for key in sorted(arrays.files) if arrays[key].dtype.kind in "fiu"}
        result = json.loads((folder / name / "result.json").read_text())
        parts = ("success_best", "success_mixture", "distance_best")
        found[name] = {"policies": policies, "test": {part: result["test"][part] for part in parts}}
        print(name, flush=True)
    if "planar" in names:
        vigor("plan", str(folder / "planar"), *PLAN.split(), "--device", "cpu", "--out", str(folder / "plan.json"))
        solutions = json.loads((folder / "plan.json").read_text())["contexts"][0]["solutions"]
        found["plan"] = figures(np.array([solution["movement"] for solution in solutions]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write these runs anew instead of comparing them")
    parser.add_argument("--runs", nargs="+", default=list(RUNS), choices=list(RUNS))
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = measure(Path(folder), given.runs)
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    if given.write:
        FILE.write_text(json.dumps(known | found, indent=1) + "\n")
        return
    changed = 0
    for name, own in found.items():
        pairs = zip(
            own.get("policies", {"": own}).items(), known[name].get("policies", {"": known[name]}).items(), strict=True
        )
        for (key, new), (_, old) in pairs:
            if new["digest"] != old["digest"]:
                changed += 1
                print(f"{name} {key}: norm {new['norm']!r} where it was {old['norm']!r}")
    print("all the same, to the byte" if not changed else f"{changed} arrays differ")
    raise SystemExit(bool(changed))


if __name__ == "__main__":
    main()
